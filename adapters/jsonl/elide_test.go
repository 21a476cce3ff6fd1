package jsonl

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestElide cuts random records in random chunks: what comes out must be JSON with the same shape and
// every string the beginning of its original.
func TestElide(t *testing.T) {
	pieces := []string{`\\`, `\"`, `\u00e9`, `\ud83d\ude00`, "é", "プ", "x", "{", "}", ","}
	rapid.Check(t, func(t *rapid.T) {
		text := func(label string) string {
			s := ""
			for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(t, label) {
				s += p
			}
			n := rapid.SampledFrom([]int{1, 10, keep/len(s) - 1, keep / len(s), keep/len(s) + 1, keep}).Draw(t, label+" times")
			return strings.Repeat("x", rapid.IntRange(0, 7).Draw(t, label+" shift")) + strings.Repeat(s, max(n, 1))
		}
		in := `{"a":"` + text("a") + `","b":["` + text("b") + `",1,"` + text("c") + `"]}`
		var e elider
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 90_000)).Draw(t, "chunk")
			e.feed([]byte(rest[:n]))
			rest = rest[n:]
		}
		var before, after struct {
			A string `json:"a"`
			B [3]any `json:"b"`
		}
		if err := json.Unmarshal([]byte(in), &before); err != nil {
			t.Fatalf("the test made no JSON: %v", err)
		}
		if err := json.Unmarshal(e.out, &after); err != nil {
			t.Fatalf("the elided line is not JSON: %v", err)
		}
		for _, pair := range [][2]string{{before.A, after.A}, {before.B[0].(string), after.B[0].(string)}, {before.B[2].(string), after.B[2].(string)}} {
			// Half a surrogate pair at the cut reads as one replacement character.
			if head := strings.TrimSuffix(pair[1], "\uFFFD"); !strings.HasPrefix(pair[0], head) || !utf8.ValidString(pair[1]) {
				t.Fatalf("a string of %d bytes became %d others", len(pair[0]), len(pair[1]))
			}
		}
		if len(e.out) > 3*(keep+8)+40 {
			t.Fatalf("%d bytes are left of %d", len(e.out), len(in))
		}
	})
}

func TestElideGivesUp(t *testing.T) {
	var e elider
	for range 2*giantKept/1000 + 1 {
		e.feed([]byte(strings.Repeat("1,", 500)))
	}
	if !e.overflow || e.out != nil {
		t.Errorf("a line of twice the limit: overflow %v, %d bytes kept", e.overflow, len(e.out))
	}
}

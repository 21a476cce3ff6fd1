package jsonedit

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ours(c string) bool { return strings.HasPrefix(c, "/t/hook ") }

var want = []Hook{
	{Event: "Start", Command: "/t/hook x Start", Timeout: 5},
	{Event: "Tool", Matcher: "A|B", Command: "/t/hook x Tool", Timeout: 5},
	{Event: "Stop", Command: "/t/hook x Stop"},
}

// texts are files as people and agents leave them.
var texts = map[string]string{
	"empty":                     "",
	"blank":                     " \n\t\n",
	"line end":                  "\n",
	"empty object":              "{}",
	"empty object, line end":    "{}\n",
	"empty object in lines":     "{\n}\n",
	"blank object":              "{ }",
	"settings":                  "{\n  \"model\": \"opus\",\n  \"env\": {\"A\": \"1\"}\n}\n",
	"no line end":               "{\n  \"model\": \"opus\"\n}",
	"tabs":                      "{\n\t\"model\": \"opus\",\n\t\"x\": [1,\n\t\t2]\n}\n",
	"four blanks":               "{\n    \"a\": {\n        \"b\": 1\n    }\n}\n",
	"one blank":                 "{\n \"a\": {\n  \"b\": 1\n }\n}\n",
	"CRLF":                      "{\r\n  \"model\": \"opus\"\r\n}\r\n",
	"one line":                  `{"model":"opus","n":[1,2]}`,
	"one line, blanks":          `{"model": "opus", "n": [1, 2]}` + "\n",
	"no indentation":            "{\n\"a\": 1\n}\n",
	"hooks empty":               "{\n  \"hooks\": {}\n}\n",
	"hooks empty in lines":      "{\n  \"hooks\": {\n  }\n}\n",
	"hooks empty, one line":     `{"hooks":{}}`,
	"event empty":               "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
	"event blank":               `{"hooks":{"Stop":[ ],"Tool":[]}}`,
	"foreign":                   "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"say done\"}\n        ]\n      }\n    ],\n    \"Other\": [ ]\n  },\n  \"z\": null\n}\n",
	"foreign, hugging":          "{\n  \"hooks\": {\n    \"Stop\": [{\n      \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }]\n    }]\n  }\n}\n",
	"foreign of odd shape":      `{"hooks":{"Stop":[1,{"hooks":7},{"hooks":[2,{"type":"http"}]}]}}`,
	"escapes and other scripts": "{\n  \"a\\u0062\": \"\\\"ü\\ud83d\\ude00\",\n  \"e\": -1.5e+3\n}",
	"comma before":              "{\n    \"a\": 1\n  , \"b\": 2\n}\n",
}

func TestInstallAndUninstall(t *testing.T) {
	for name, text := range texts {
		t.Run(name, func(t *testing.T) { roundTrip(t, []byte(text)) })
	}
	t.Run("no file", func(t *testing.T) { roundTrip(t, nil) })
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func roundTrip(t failer, text []byte) {
	t.Helper()
	added, err := AddHooks(text, want, ours)
	if err != nil {
		t.Fatalf("AddHooks(%q): %v", text, err)
	}
	if !json.Valid(added) {
		t.Fatalf("AddHooks(%q) = %q, not JSON", text, added)
	}
	found, err := Hooks(added)
	if err != nil {
		t.Fatalf("Hooks(%q): %v", added, err)
	}
	n := 0
	for _, h := range found {
		if ours(h.Command) {
			n++
		}
	}
	if n != len(want) {
		t.Fatalf("AddHooks(%q) holds %d of ours, want %d", text, n, len(want))
	}
	again, err := AddHooks(added, want, ours)
	if err != nil || string(again) != string(added) {
		t.Fatalf("AddHooks twice = %q, %v, want %q", again, err, added)
	}
	if got, want := foreign(added), foreign(text); !cmp.Equal(got, want) {
		t.Fatalf("foreign content changed: %s", cmp.Diff(want, got))
	}
	back, err := DropHooks(added, ours)
	if err != nil {
		t.Fatalf("DropHooks(%q): %v", added, err)
	}
	if string(back) != string(text) || (back == nil) != (text == nil) {
		t.Fatalf("DropHooks(AddHooks(%q)) = %q (nil: %v)\nbetween: %s", text, back, back == nil, added)
	}
}

// foreign returns what a text means, our entries, and containers left with nothing, taken out.
func foreign(text []byte) any {
	var v any
	_ = json.Unmarshal(text, &v)
	return strip(v)
}

func strip(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if c, ok := v["command"].(string); ok && ours(c) {
			return nil
		}
		out := map[string]any{}
		for k, x := range v {
			if s := strip(x); s != nil && !(k == "matcher" && x == "A|B") {
				out[k] = s
			}
		}
		if len(out) > 0 {
			return out
		}
	case []any:
		var out []any
		for _, x := range v {
			if s := strip(x); s != nil {
				out = append(out, s)
			}
		}
		if len(out) > 0 {
			return out
		}
	default:
		return v
	}
	return nil
}

// TestGolden shows the form in which entries arrive.
func TestGolden(t *testing.T) {
	one := []Hook{{Event: "Stop", Matcher: "A|B", Command: `"/a b/hook" <x>`, Timeout: 5}}
	for name, c := range map[string]struct{ text, want string }{
		"settings in lines": {
			"{\n\t\"model\": \"opus\"\n}\n",
			"{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n\t\t\t\t\"matcher\": \"A|B\",\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n\t\t\t\t\t\t\"command\": \"\\\"/a b/hook\\\" <x>\",\n\t\t\t\t\t\t\"timeout\": 5\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}\n",
		},
		"one line": {
			`{"model":"opus"}`,
			`{"model":"opus","hooks":{ "Stop":[ { "matcher":"A|B","hooks":[ { "type":"command","command":"\"/a b/hook\" <x>","timeout":5 } ] } ] }}`,
		},
		"CRLF, hugging": {
			"{\r\n  \"hooks\": {\r\n    \"Stop\": [{\r\n      \"k\": 1\r\n    }]\r\n  }\r\n}",
			"{\r\n  \"hooks\": {\r\n    \"Stop\": [{\r\n      \"k\": 1\r\n    }, {\r\n      \"matcher\": \"A|B\",\r\n      \"hooks\": [\r\n        {\r\n          \"type\": \"command\",\r\n          \"command\": \"\\\"/a b/hook\\\" <x>\",\r\n          \"timeout\": 5\r\n        }\r\n      ]\r\n    }]\r\n  }\r\n}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := AddHooks([]byte(c.text), one, func(string) bool { return false })
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAddMendsWhatWasAltered(t *testing.T) {
	text := []byte(`{"hooks":{
  "Tool": [
    {"matcher":"A","hooks":[{"type":"command","command":"/t/hook x Tool"}]},
    {"hooks":[{"type":"command","command":"/t/hook x Old"},{"type":"command","command":"mine"},{"type":"command","command":"/t/hook x Older"}]},
    {"hooks":[{"type":"command","command":"/t/hook x A"},{"type":"command","command":"/t/hook x B"}]}
  ],
  "Stop": [{"hooks":[{"type":"command","command":"/t/hook x Stop","timeout":99}]}]
}}`)
	got, err := AddHooks(text, want, ours)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Hooks(got)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]PlacedHook{
		{Hook{Event: "Tool", Command: "mine"}, 0, 0, true},
		{Hook{Event: "Tool", Matcher: "A|B", Command: "/t/hook x Tool", Timeout: 5}, 1, 0, true},
		{Hook{Event: "Stop", Command: "/t/hook x Stop", Timeout: 99}, 0, 0, true},
		{Hook{Event: "Start", Command: "/t/hook x Start", Timeout: 5}, 0, 0, true},
	}, found); d != "" {
		t.Errorf("%s\n%s", d, got)
	}
}

func TestRefusedText(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"comment":          {"{\n  // mine\n  \"a\": 1\n}", "line 2: a key is missing here"},
		"comment as value": {"{\"a\": // x\n 1}", "line 1: a comment, which JSON does not have"},
		"trailing comma":   {"{\n\"a\": 1,\n}", "line 3: a key is missing here"},
		"torn":             {`{"a": {"b": 1`, `line 1: a comma or "}" is missing here`},
		"torn string":      {`{"a": "b`, "line 1: a string without an end"},
		"two documents":    {"{}\n{}", "line 2: text behind the end of the document"},
		"mark":             {"\xef\xbb\xbf{}", "line 1: the file begins with a byte order mark"},
		"not UTF-8":        {"{\"a\": \"\xff\"}", "line 1: a string that is not UTF-8"},
		"number":           {`{"a": 01}`, "line 1: a malformed number"},
		"escape":           {`{"a": "\x"}`, "line 1: a string with a bad escape"},
		"control":          {"{\"a\": \"\n\"}", "line 1: a bare control character in a string"},
		"deep":             {strings.Repeat("[", 300), "line 1: nested too deeply"},
		"list":             {"[]", "the file is not an object"},
		"hooks a list":     {`{"hooks": []}`, `"hooks" is not an object`},
		"event a text":     {`{"hooks": {"Stop": "x"}}`, `"Stop" is not an array`},
		"hooks twice":      {`{"hooks": {}, "hooks": {}}`, `the key "hooks" stands twice`},
		"event twice":      {`{"hooks": {"Stop": [], "Stop": []}}`, `the key "Stop" stands twice`},
		"NUL":              {"{}\x00", "line 1: text behind the end of the document"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := AddHooks([]byte(c.text), want, ours)
			if err == nil || err.Error() != c.want {
				t.Errorf("AddHooks(%q) = %v, want %s", c.text, err, c.want)
			}
		})
	}
}

func TestRemoveOfNothing(t *testing.T) {
	for _, path := range [][]any{{}, {"b"}, {"a", 2}, {"a", "x"}, {1}, {"a", 0, "x"}} {
		if _, err := Remove([]byte(`{"a":[1,2]}`), path...); !errors.Is(err, ErrNoSuch) {
			t.Errorf("Remove(%v) = %v, want ErrNoSuch", path, err)
		}
	}
	if _, err := Remove(nil, "a"); !errors.Is(err, ErrNoSuch) {
		t.Errorf("Remove of no file = %v, want ErrNoSuch", err)
	}
}

// TestAnyFile draws documents in every layout JSON allows.
func TestAnyFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blank := rapid.StringMatching(`[ \t\n]{0,3}|\r\n {0,4}`)
		var value func(depth int, hooks bool) string
		value = func(depth int, hooks bool) string {
			kinds := 3
			if depth < 4 {
				kinds = 5
			}
			kind := rapid.IntRange(0, kinds-1).Draw(t, "kind")
			switch {
			case hooks || kind == 3:
				return document(t, blank, depth, hooks, value)
			case kind == 4:
				s := "[" + blank.Draw(t, "b")
				for i := range rapid.IntRange(0, 3).Draw(t, "n") {
					if i > 0 {
						s += "," + blank.Draw(t, "b")
					}
					s += value(depth+1, false) + blank.Draw(t, "b")
				}
				return s + "]"
			case kind == 0:
				b, _ := json.Marshal(rapid.String().Draw(t, "s"))
				return string(b)
			default:
				return rapid.SampledFrom([]string{"1", "-2.5e3", "null", "true"}).Draw(t, "plain")
			}
		}
		text := blank.Draw(t, "b") + document(t, blank, 0, rapid.Bool().Draw(t, "with hooks"), value) + blank.Draw(t, "b")
		roundTrip(t, []byte(text))
	})
}

// document draws an object; with hooks, one that holds the keys we write below.
func document(t *rapid.T, blank *rapid.Generator[string], depth int, hooks bool, value func(int, bool) string) string {
	keys := []string{"model", "permissions", "env"}
	if hooks {
		keys = append(keys, []string{"hooks", "", "Stop", "Tool"}[min(depth*2, 2):][:2]...)
	}
	keys = rapid.Permutation(keys).Draw(t, "keys")[:rapid.IntRange(0, len(keys)).Draw(t, "n")]
	s := "{" + blank.Draw(t, "b")
	for i, k := range keys {
		if i > 0 {
			s += "," + blank.Draw(t, "b")
		}
		v := ""
		switch {
		case hooks && k == "hooks":
			v = value(1, true)
		case hooks && depth > 0 && (k == "Stop" || k == "Tool"):
			v = "[" + blank.Draw(t, "b") + rapid.SampledFrom([]string{"", "1", `{"hooks":[{"type":"command","command":"f"}]}` + " "}).Draw(t, "groups") + "]"
		default:
			v = value(depth+1, false)
		}
		s += `"` + k + `"` + blank.Draw(t, "b") + ":" + blank.Draw(t, "b") + v + blank.Draw(t, "b")
	}
	return s + "}"
}

func FuzzRoundTrip(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		root, err := Parse(text)
		if valid := json.Valid(text); valid != (err == nil && root != nil) {
			if valid && (!utf8.Valid(text) || strings.Count(string(text), "[")+strings.Count(string(text), "{") > maxDepth) {
				return
			}
			if root == nil && err == nil {
				return // blank
			}
			t.Fatalf("Parse(%q) = %v, json.Valid = %v", text, err, valid)
		}
		if added, err := AddHooks(text, want, ours); err != nil || strings.Contains(string(text), "/t/hook ") || strings.Contains(string(text), `\u`) {
			_ = added
			return
		}
		roundTrip(t, text)
	})
}

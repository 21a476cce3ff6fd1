package jsonl_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tower/adapters/jsonl"
	"tower/core"
)

func TestObject(t *testing.T) {
	type member struct{ Key, Val string }
	tests := []struct {
		name string
		in   string
		want []member
		rest string
		bad  bool
	}{
		{name: "empty", in: `{}x`, rest: "x"},
		{name: "blanks everywhere", in: " { \"a\" :\t1 , \"b\"\r:\n[ ] } ", want: []member{{"a", "1"}, {"b", "[ ]"}}, rest: " "},
		{name: "every kind", in: `{"s":"x","n":-1.5e+3,"t":true,"f":false,"z":null,"a":[1,{"b":[]}],"o":{"p":{}}}`,
			want: []member{{"s", `"x"`}, {"n", "-1.5e+3"}, {"t", "true"}, {"f", "false"}, {"z", "null"}, {"a", `[1,{"b":[]}]`}, {"o", `{"p":{}}`}}},
		{name: "escaped key", in: `{"t\u0079pe":1}`, want: []member{{"type", "1"}}},
		{name: "duplicates in order", in: `{"a":1,"a":2}`, want: []member{{"a", "1"}, {"a", "2"}}},
		{name: "quotes and backslashes", in: `{"a":"\\","b":"\\\"","c":"}]\""}`, want: []member{{"a", `"\\"`}, {"b", `"\\\""`}, {"c", `"}]\""`}}},
		{name: "brackets in nested strings", in: `{"a":{"b":"}}]"}}`, want: []member{{"a", `{"b":"}}]"}`}}},
		{name: "cut in a value", in: `{"a":1,"b":tr`, want: []member{{"a", "1"}}, bad: true},
		{name: "cut in a string", in: `{"a":"x\"`, bad: true},
		{name: "no colon", in: `{"a" 1}`, bad: true},
		{name: "no comma", in: `{"a":1 "b":2}`, want: []member{{"a", "1"}}, bad: true},
		{name: "an array", in: `[1]`, bad: true},
		{name: "inside and outside exchanged", in: `{"a":{"b":"c{"type":"d"}}`, bad: true},
		{name: "nothing", in: ``, bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got, entered []member
			rest, ok := jsonl.Object([]byte(tt.in), func(key, val []byte) bool {
				got = append(got, member{string(key), string(val)})
				return true
			})
			if ok == tt.bad || ok && string(rest) != tt.rest {
				t.Errorf("Object(%q) = rest %q, %v, want %q, %v", tt.in, rest, ok, tt.rest, !tt.bad)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("Object(%q) (-want +got):\n%s", tt.in, d)
			}
			rest, ok = jsonl.Enter([]byte(tt.in), func(key, from []byte) []byte {
				val, rest, ok := jsonl.Skip(from)
				if !ok {
					return nil
				}
				entered = append(entered, member{string(key), string(val)})
				if len(entered)%2 == 0 {
					return nil // skipping must come to the same
				}
				return rest
			})
			if ok == tt.bad || ok && string(rest) != tt.rest {
				t.Errorf("Enter(%q) = rest %q, %v, want %q, %v", tt.in, rest, ok, tt.rest, !tt.bad)
			}
			if d := cmp.Diff(tt.want, entered); d != "" {
				t.Errorf("Enter(%q) (-want +got):\n%s", tt.in, d)
			}
		})
	}
}

func TestArray(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
		bad  bool
	}{
		{in: `[]`}, {in: ` [ 1 , "a" ,{"b":2}]`, want: []string{"1", `"a"`, `{"b":2}`}},
		{in: `[1`, want: []string{"1"}, bad: true}, {in: `[1 2]`, want: []string{"1"}, bad: true}, {in: `{}`, bad: true}, {in: `[x]`, bad: true},
	} {
		var got, entered []string
		_, ok := jsonl.Array([]byte(tt.in), func(val []byte) bool { got = append(got, string(val)); return true })
		_, ok2 := jsonl.EnterArray([]byte(tt.in), func(from []byte) []byte {
			val, rest, ok := jsonl.Skip(from)
			if !ok {
				return nil
			}
			entered = append(entered, string(val))
			return rest
		})
		if ok == tt.bad || ok2 == tt.bad {
			t.Errorf("Array(%q) ok = %v, EnterArray %v, want %v", tt.in, ok, ok2, !tt.bad)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("Array(%q) (-want +got):\n%s", tt.in, d)
		}
		if d := cmp.Diff(tt.want, entered); d != "" {
			t.Errorf("EnterArray(%q) (-want +got):\n%s", tt.in, d)
		}
	}
}

func TestObjectStopsCalling(t *testing.T) {
	calls := 0
	rest, ok := jsonl.Object([]byte(`{"a":1,"b":2}!`), func(_, _ []byte) bool { calls++; return false })
	if calls != 1 || !ok || string(rest) != "!" {
		t.Errorf("Object called f %d times, rest %q, %v; want once, \"!\", true", calls, rest, ok)
	}
}

func TestGet(t *testing.T) {
	in := []byte(`{"a":{"b":{"c":1}},"a":{"b":{"c":2}},"n":3}`)
	for _, tt := range []struct {
		path []string
		want string
	}{
		{[]string{"a", "b", "c"}, "2"}, {[]string{"n"}, "3"}, {[]string{"n", "x"}, ""}, {[]string{"q"}, ""}, {[]string{"a", "q", "c"}, ""},
	} {
		if got := string(jsonl.Get(in, tt.path...)); got != tt.want {
			t.Errorf("Get(%v) = %q, want %q", tt.path, got, tt.want)
		}
	}
}

func TestValues(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "-12": -12, "1e3": 1000, "2.0": 2} {
		if got, ok := jsonl.Int64([]byte(in)); !ok || got != want {
			t.Errorf("Int64(%s) = %d, %v, want %d", in, got, ok, want)
		}
	}
	for _, in := range []string{"", `"1"`, "1.5", "null", "true", "1e400", "99999999999999999999"} {
		if got, ok := jsonl.Int64([]byte(in)); ok {
			t.Errorf("Int64(%s) = %d, want none", in, got)
		}
	}
	if _, ok := jsonl.String([]byte("1")); ok {
		t.Error("String of a number is a string")
	}
	if !jsonl.Is([]byte(`"us\u0065r"`), "user") || !jsonl.Is([]byte(`"user"`), "user") || jsonl.Is([]byte(`user`), "user") || jsonl.Is(nil, "") {
		t.Error("Is does not compare strings")
	}
	if !jsonl.Null(nil) || !jsonl.Null([]byte("null")) || jsonl.Null([]byte(`""`)) {
		t.Error("Null is wrong")
	}
}

func TestHead(t *testing.T) {
	for _, tt := range []struct {
		in    string
		limit int
		want  string
	}{
		{`"abcdef"`, 3, "abc"},
		{`"ab\ncd"`, 3, "ab"},
		{`"ab\ncd"`, 4, "ab\n"},
		{`"a\u00e9b"`, 6, "a"},
		{`"a\u00e9b"`, 7, "aé"},
		{`"aé"`, 2, "a"},
		{`"\\\\\\"`, 3, `\`},
		{`"short"`, 99, "short"},
	} {
		if got, ok := jsonl.Head([]byte(tt.in), tt.limit); !ok || got != tt.want {
			t.Errorf("Head(%s, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
}

// FuzzObject holds the walker against encoding/json: what that accepts must come out the same. The
// reference decodes into a map, because struct tags match names ignoring case.
func FuzzObject(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":[{"c":"\"}"}],"a":"\u0041"}`, ` {"t\u0079pe" : "x\\" , "n":-0.1E+7}`, `{"a":{"b":"c{"type":"d"}}`, `[1,"x"]`, `{"":{}}`, "{\"\x00\":\"\x00\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]string{}
		rest, ok := jsonl.Object(data, func(key, val []byte) bool {
			got[string(key)] = string(val)
			return true
		})
		_, elements := jsonl.Array(data, func([]byte) bool { return true })
		if !utf8.Valid(data) || !json.Valid(data) {
			return
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil || want == nil {
			if ok || elements != (bytes.TrimLeft(data, " \t\r\n")[0] == '[') {
				t.Fatalf("Object(%q) ok = %v, Array %v", data, ok, elements)
			}
			return
		}
		if !ok || len(bytes.TrimSpace(rest)) > 0 {
			t.Fatalf("Object(%q) = rest %q, %v", data, rest, ok)
		}
		ref := map[string]string{}
		for k, v := range want {
			ref[k] = string(v)
		}
		if d := cmp.Diff(ref, got); d != "" {
			t.Fatalf("Object(%q) (-want +got):\n%s", data, d)
		}
	})
}

// FuzzString holds the string decoder against encoding/json.
func FuzzString(f *testing.F) {
	for _, s := range []string{`"x"`, `"\ud83d\ude00\ud800x\udc00"`, `"\\\"\/\b\f\n\r\t\u00e9"`, "\"\xff\xc3\"", `"\q\u12"`, `"\ud800\u0041"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, ok := jsonl.String(data)
		if ok && !utf8.ValidString(got) {
			t.Fatalf("String(%q) = %q, which is not UTF-8", data, got)
		}
		var want string
		if data = bytes.TrimSpace(data); json.Unmarshal(data, &want) != nil || data[0] != '"' {
			return
		}
		if got, ok = jsonl.String(data); !ok || got != want {
			t.Fatalf("String(%q) = %q, %v, want %q", data, got, ok, want)
		}
		for limit := range len(data) {
			if head, _ := jsonl.Head(data, limit); utf8.ValidString(string(data)) && !strings.HasPrefix(want, strings.TrimSuffix(head, "\uFFFD")) {
				t.Fatalf("Head(%q, %d) = %q, which is no beginning of %q", data, limit, head, want)
			}
		}
	})
}

// FuzzFollow reads lines nobody vouches for: every line that encoding/json accepts must come out,
// whatever stands around it; a good last line must come out, whatever stands before it; and stopping
// anywhere must change nothing.
func FuzzFollow(f *testing.F) {
	for _, s := range []string{"{\"a\":1}\n{\"b\":\"x\"}{\"c\":2}", "{\"a\":\"\n{\"b\":1}", "\xef\xbb\xbf// x\n{\"t\":{\"u\":{\"", "\x00\x00{\"a\":[}\r\n1\n"} {
		f.Add([]byte(s), uint16(7))
	}
	path := filepath.Join(f.TempDir(), "f.jsonl")
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		const last = `{"last":true}`
		data = append(bytes.Clone(data), "\n"+last+"\n"...)
		whole, _ := follow(t, write(t, path, data), core.Cursor{})
		if n := len(whole.Records); n == 0 || whole.Records[n-1] != last {
			t.Fatalf("the last line of %q is lost: %q", data, whole.Records)
		}
		if whole.Lines != bytes.Count(data, []byte("\n")) {
			t.Fatalf("%d lines of %q, want %d", whole.Lines, data, bytes.Count(data, []byte("\n")))
		}
		records := whole.Records
		for i, line := range bytes.Split(data, []byte("\n")) {
			if i == 0 {
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			if line = bytes.Trim(line, " \t\r"); !json.Valid(line) {
				continue
			}
			for len(records) > 0 && records[0] != string(line) {
				records = records[1:]
			}
			if len(records) == 0 {
				t.Fatalf("line %q of %q is lost: %q", line, data, whole.Records)
			}
			records = records[1:]
		}
		_, first := follow(t, write(t, path, data[:int(at)%len(data)]), core.Cursor{})
		second, _ := follow(t, write(t, path, data), first.Cursor)
		if d := cmp.Diff(whole, second); d != "" {
			t.Fatalf("split at %d of %q (-want +got):\n%s", int(at)%len(data), data, d)
		}
	})
}

func BenchmarkFollow(b *testing.B) {
	line := `{"parentUuid":"a","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"` +
		strings.Repeat(`some output\n with \"quotes\" in it `, 60) + `"}]},"uuid":"u","timestamp":"2026-11-30T17:20:18.299Z","cwd":"/p"}` + "\n"
	path := filepath.Join(b.TempDir(), "f.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 4000)), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(4000 * len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := jsonl.Follow(b.Context(), core.Source{Path: path}, core.Cursor{}, 1, func([]byte) (jsonl.Judge, error) { return silent{}, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// silent judges nothing: what is left is the cost of the walk.
type silent struct{}

func (silent) Record(jsonl.Record)    {}
func (silent) Line()                  {}
func (silent) Bad([]byte)             {}
func (silent) State() ([]byte, error) { return nil, nil }

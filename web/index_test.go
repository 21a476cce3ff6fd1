package web

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tower/core"
)

// TestSameRowKnowsWhatIsShown changes every field of a row in turn: the comparison has to see exactly the
// changes that the encoder shows. A field that is forgotten on one side fails here.
func TestSameRowKnowsWhatIsShown(t *testing.T) {
	full := func() *core.Row {
		r := picture(noon, 20, 0).Rows[0]
		s, l := *r.Session, *r.Live
		s.Tags = []string{"a"}
		l.Said = &core.Said{Class: core.OutputDone, Line: "Done.", At: 1}
		r.Session, r.Live = &s, &l
		return &r
	}
	var walk func(path string, at func(*core.Row) reflect.Value)
	checked := 0
	walk = func(path string, at func(*core.Row) reflect.Value) {
		a, b := full(), full()
		v := at(b)
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			} else if v.Elem().Kind() == reflect.Struct {
				for i := range v.Elem().NumField() {
					walk(path+"."+v.Elem().Type().Field(i).Name, func(r *core.Row) reflect.Value { return at(r).Elem().Field(i) })
				}
				if path == ".Session" {
					return
				}
				v.SetZero()
			} else {
				v.SetZero()
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, func(r *core.Row) reflect.Value { return at(r).Field(i) })
			}
			return
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 1000)
		case reflect.Uint64:
			v.SetUint(v.Uint() + 1)
		case reflect.Slice:
			v.Set(reflect.ValueOf([]string{"b"}))
		default:
			t.Fatalf("%s has kind %s: teach this test to change it", path, v.Kind())
		}
		checked++
		shown := string(appendRow(nil, a, -1)) != string(appendRow(nil, b, -1))
		if noticed := !sameRow(a, b); noticed != shown {
			t.Errorf("%s: shown %v, noticed %v", path, shown, noticed)
		}
	}
	row := reflect.TypeFor[core.Row]()
	for i := range row.NumField() {
		walk("."+row.Field(i).Name, func(r *core.Row) reflect.Value { return reflect.ValueOf(r).Elem().Field(i) })
	}
	if checked < 40 {
		t.Errorf("only %d fields were changed", checked)
	}
}

// TestRowIsPartOfCoreRow holds the hand-written encoder to encoding/json: same names, same values.
func TestRowIsPartOfCoreRow(t *testing.T) {
	rows := picture(noon, 40, 5).Rows
	s := *rows[3].Session
	s.AgentTitle, s.FirstMessage, s.Tags = "quote \" back \\ tab \t nul \x00 bad \xff sep \u2028 <b>&", strings.Repeat("ü", 300), []string{"x", "\"y\""}
	rows[3].Session, rows[3].TitleText = &s, s.Title()
	for i := range rows {
		var got, want map[string]any
		if err := json.Unmarshal(appendRow(nil, &rows[i], -1), &got); err != nil {
			t.Fatalf("row %d: %v: %s", i, err, appendRow(nil, &rows[i], -1))
		}
		b, err := json.Marshal(rows[i])
		if err != nil {
			t.Fatal(err)
		}
		json.Unmarshal(b, &want)
		want["first_message"] = cut(strings.ToValidUTF8(rows[i].FirstMessage, "\ufffd"), firstWords)
		if rows[i].Tags == nil {
			want["tags"] = []any{}
		}
		known(want)
		for k, v := range got {
			if diff := cmp.Diff(want[k], v); diff != "" {
				t.Errorf("row %d: %s (-encoding/json +appendRow):\n%s", i, k, diff)
			}
		}
	}
}

// known takes the empty texts out of a decoded object: what is not known is null.
func known(m map[string]any) {
	for k, v := range m {
		switch v := v.(type) {
		case string:
			if v == "" {
				m[k] = nil
			}
		case map[string]any:
			known(v)
		}
	}
}

// TestFactsHaveNoEmptyTexts writes texts that look like an empty value and are none.
func TestFactsHaveNoEmptyTexts(t *testing.T) {
	in := map[string]any{"a": "", "b": `:""`, `c:""`: `x:"",`, "d": []string{"", `:`, `""`}, "e": map[string]string{"": "", "f": ":"}, "g": ":"}
	b, err := facts(in)
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatalf("facts() = %s: %v", b, err)
	}
	want := map[string]any{"a": nil, "b": `:""`, `c:""`: `x:"",`, "d": []any{"", ":", `""`}, "e": map[string]any{"": nil, "f": ":"}, "g": ":"}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"", "\\", "\x00", "ü", "\xff", "\u2028", "a\u2029b", "\x7f", "\xe2\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got, want string
		if err := json.Unmarshal(appendString(nil, s), &got); err != nil {
			t.Fatalf("appendString(%q) = %s: %v", s, appendString(nil, s), err)
		}
		b, _ := json.Marshal(s)
		json.Unmarshal(b, &want)
		if got != want {
			t.Errorf("appendString(%q) reads back as %q, want %q", s, got, want)
		}
	})
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äöü…"}, {"", 0, ""}, {"a", 0, "…"}} {
		if got := cut(c.in, c.n); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

// TestDifferencesLeadToTheSameList plays a page: whatever happens to the rows between two questions, the
// list it keeps by the answers is the list of the tower.
func TestDifferencesLeadToTheSameList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := picture(noon, rapid.IntRange(0, 12).Draw(t, "rows"), 3)
		x, next := newIndex(), 100
		f := filter{all: rapid.Bool().Draw(t, "all"), agent: core.Agent(rapid.SampledFrom([]string{"", "codex"}).Draw(t, "agent"))}
		x.take(snap)
		var have []string
		known := int64(-1)
		restarts := 0
		look := func() {
			rows, gone, _, ok := x.since(known, &f)
			if known < 0 || !ok {
				restarts++
				page, _, _, _ := x.page("", 1000, &f)
				have = nil
				for _, r := range page {
					have = append(have, string(r.ID)+r.Name)
				}
			} else {
				out := map[string]bool{}
				for _, r := range rows {
					out[string(r.row.ID)] = true
				}
				for _, id := range gone {
					out[string(id)] = true
				}
				have = slices.DeleteFunc(have, func(s string) bool { return out[s[:36]] })
				for _, r := range rows {
					have = slices.Insert(have, r.at, string(r.row.ID)+r.row.Name)
				}
			}
			known = x.snap.Revision
		}
		look()
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			s := *x.snap
			s.Revision++
			s.Rows = slices.Clone(s.Rows)
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				n := len(s.Rows)
				switch kind := rapid.SampledFrom([]string{"add", "drop", "edit", "hide", "move", "swap"}).Draw(t, "kind"); {
				case kind == "add":
					next++
					r := picture(noon, 1, 0).Rows[0]
					v := *r.Session
					v.Native = fmt.Sprint("new", next)
					v.ID = core.NewSessionID(v.Agent, v.Native)
					r.Session = &v
					s.Rows = slices.Insert(s.Rows, rapid.IntRange(0, n).Draw(t, "at"), r)
				case n == 0:
				default:
					i := rapid.IntRange(0, n-1).Draw(t, "row")
					v := *s.Rows[i].Session
					switch kind {
					case "drop":
						s.Rows = slices.Delete(s.Rows, i, i+1)
					case "edit":
						v.Name += "x"
						s.Rows[i].Session = &v
					case "hide":
						if s.Rows[i].Hidden == "" {
							s.Rows[i].Hidden = core.HiddenByHand
						} else {
							s.Rows[i].Hidden = ""
						}
					case "move":
						v.Name += "m"
						r := s.Rows[i]
						r.Session = &v
						s.Rows = slices.Insert(slices.Delete(s.Rows, i, i+1), rapid.IntRange(0, n-1).Draw(t, "to"), r)
					case "swap":
						j := rapid.IntRange(0, n-1).Draw(t, "with")
						s.Rows[i], s.Rows[j] = s.Rows[j], s.Rows[i]
					}
				}
			}
			x.take(&s)
			if rapid.Bool().Draw(t, "ask") {
				look()
				var want []string
				for i := range s.Rows {
					if f.takes(&s.Rows[i]) {
						want = append(want, string(s.Rows[i].ID)+s.Rows[i].Name)
					}
				}
				if !slices.Equal(have, want) {
					t.Fatalf("the page has %v\nthe tower has %v", have, want)
				}
			}
		}
	})
}

func TestIndexForgetsWhoLeftLongAgo(t *testing.T) {
	x := newIndex()
	s := picture(noon, maxGone+10, 0)
	x.take(s)
	first := s.Revision
	empty := *s
	empty.Revision, empty.Rows = first+1, nil
	x.take(&empty)
	if _, _, _, ok := x.since(first, &filter{all: true}); ok {
		t.Error("a difference with forgotten departures was told")
	}
	if len(x.gone) > maxGone {
		t.Errorf("%d departures are kept", len(x.gone))
	}
	// An older picture that comes late changes nothing.
	x.take(s)
	if x.snap != &empty {
		t.Error("a late older picture became the current one")
	}
}

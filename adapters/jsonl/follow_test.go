package jsonl_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/adapters/jsonl"
	"tower/core"
)

// log is a judge that remembers, in its state, all it was told.
type log struct {
	Records []string
	Lines   int
	Broken  int
}

func (l *log) Record(r jsonl.Record) { l.Records = append(l.Records, string(r.Raw)) }
func (l *log) Line()                 { l.Lines++ }
func (l *log) Bad([]byte)            { l.Broken++ }

// State must keep any bytes, which JSON does not.
func (l *log) State() ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(l)
	return b.Bytes(), err
}

func startLog(state []byte) (jsonl.Judge, error) {
	l := &log{}
	if state == nil {
		return l, nil
	}
	return l, gob.NewDecoder(bytes.NewReader(state)).Decode(l)
}

func write(t testing.TB, path string, data []byte) core.Source {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return core.Source{Path: path}
}

func follow(t testing.TB, src core.Source, from core.Cursor) (*log, jsonl.Result) {
	t.Helper()
	j, res, err := jsonl.Follow(jsonl.Poison(context.Background()), src, from, 1, startLog)
	if err != nil {
		t.Fatal(err)
	}
	return j.(*log), res
}

func TestFollowLines(t *testing.T) {
	const a, b = `{"a":1}`, `{"type":"b","x":"y"}`
	long := `{"big":"` + strings.Repeat("x", 300<<10) + `"}`
	tests := []struct {
		name    string
		data    string
		records []string
		lines   int
		bad     int
		offset  int
	}{
		{name: "nothing"},
		{name: "two lines", data: a + "\n" + b + "\n", records: []string{a, b}, lines: 2, offset: 29},
		{name: "whole tail", data: a + "\n" + b, records: []string{a, b}, lines: 2, offset: 8},
		{name: "torn tail", data: a + "\n" + b[:9], records: []string{a}, lines: 1, offset: 8},
		{name: "two records on a line", data: a + b + "\n" + a + "\n", records: []string{a, b, a}, lines: 2, offset: 36},
		{name: "stub before a record", data: `{"type":"pr-link","prNu` + b + "\n" + a + "\n", records: []string{b, a}, lines: 2, bad: 1, offset: 52},
		{name: "stub cut inside a nested string", data: `{"type":"user","message":{"role":"user","content":"abc` + b + a + "\n", records: []string{b, a}, lines: 1, bad: 1, offset: 82},
		{name: "stub before a record whose text closes it", data: `{"type":"user","message":{"content":"abc` + `{"type":"user","t":",}},"}` + "\n", records: []string{`{"type":"user","t":",}},"}`}, lines: 1, bad: 1, offset: 67},
		{name: "record before a stub", data: a + b[:9] + "\n" + b + "\n", records: []string{a, b}, lines: 2, bad: 1, offset: 38},
		{name: "lost head", data: `ent":"x","m":{"role":"u"}}` + "\n" + a + "\n", records: []string{a}, lines: 2, bad: 1, offset: 35},
		{name: "lost head and a record", data: `ent":"x"}` + b + "\n", records: []string{b}, lines: 1, bad: 1, offset: 30},
		{name: "the inside of a torn record is no record", data: `{"type":"x","m":{"type":"user"}` + "\n" + a + "\n", records: []string{a}, lines: 2, bad: 1, offset: 40},
		{name: "byte order mark", data: "\xef\xbb\xbf" + a + "\n", records: []string{a}, lines: 1, offset: 11},
		{name: "byte order mark, no newline", data: "\xef\xbb\xbf" + a, records: []string{a}, lines: 1},
		{name: "carriage returns", data: a + "\r\n" + b + "\r\n", records: []string{a, b}, lines: 2, offset: 31},
		{name: "a run of NULs", data: "\x00\x00\x00" + a + "\n\x00\x00\n" + b + "\x00\n", records: []string{a, b}, lines: 3, offset: 36},
		{name: "NULs inside a string", data: `{"s":"` + "\x00\x00" + `"}` + "\n", records: []string{`{"s":"` + "\x00\x00" + `"}`}, lines: 1, offset: 11},
		{name: "comment lines", data: "// one\n  // two\n" + a + "\n", records: []string{a}, lines: 3, offset: 24},
		{name: "values that are no objects", data: "1\n\"x\"\n[2]\n" + a + "\n", records: []string{"1", `"x"`, "[2]", a}, lines: 4, offset: 18},
		{name: "blank lines", data: "\n\n" + a + "\n", records: []string{a}, lines: 3, offset: 10},
		{name: "garbage", data: "hello\n" + a + "\n", records: []string{a}, lines: 2, bad: 1, offset: 14},
		{name: "a line longer than the buffer", data: a + "\n" + long + "\n" + b + "\n", records: []string{a, long, b}, lines: 3, offset: 8 + len(long) + 1 + 21},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := write(t, filepath.Join(t.TempDir(), "f.jsonl"), []byte(tt.data))
			got, res := follow(t, src, core.Cursor{})
			want := &log{Records: tt.records, Lines: tt.lines, Broken: tt.bad}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("records differ (-want +got):\n%s", d)
			}
			if res.Cursor.Offset != int64(tt.offset) || !res.Reset || res.Size != int64(len(tt.data)) {
				t.Errorf("Follow: offset %d reset %v size %d, want %d, true, %d", res.Cursor.Offset, res.Reset, res.Size, tt.offset, len(tt.data))
			}
		})
	}
}

// TestFollowSplit stops at every byte and goes on: the outcome must be that of one pass.
func TestFollowSplit(t *testing.T) {
	data := []byte("\xef\xbb\xbf{\"a\":\"\u00e9\\\"}\"}\n\r\n{\"b\":1}{\"c\":2}\r\n{\"d\":\"x{\"e\":[1,{}]}\nzz\n// c\n\x00\x00{\"f\":null}\n7\n{\"tail\":true}")
	path := filepath.Join(t.TempDir(), "f.jsonl")
	want, _ := follow(t, write(t, path, data), core.Cursor{})
	if len(want.Records) != 7 || want.Broken != 2 {
		t.Fatalf("one pass found %d records and %d bad lines, want 7 and 2: %q", len(want.Records), want.Broken, want.Records)
	}
	for i := range data {
		_, first := follow(t, write(t, path, data[:i]), core.Cursor{})
		got, second := follow(t, write(t, path, data), first.Cursor)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("split at %d (-want +got):\n%s", i, d)
		}
		if first.Cursor.Offset > 0 && second.Reset {
			t.Errorf("split at %d: an append was read from the start", i)
		}
	}
}

func TestFollowCursor(t *testing.T) {
	line := func(i int) string { return fmt.Sprintf("{\"n\":%d,\"pad\":%q}\n", i, strings.Repeat("p", 90)) }
	var all []byte
	for i := range 200 {
		all = append(all, line(i)...)
	}
	path := filepath.Join(t.TempDir(), "f.jsonl")
	_, first := follow(t, write(t, path, all), core.Cursor{})

	changed := func(at int, with string) []byte {
		b := bytes.Clone(all)
		copy(b[at:], with)
		return b
	}
	more := []byte(line(200))
	tests := []struct {
		name    string
		data    []byte
		cursor  func(*core.Cursor)
		reset   bool
		records int
		read    int
	}{
		{name: "nothing new", data: all, records: 200, read: 8 << 10},
		{name: "appended", data: slices.Concat(all, more), records: 201, read: 8<<10 + len(more)},
		{name: "appended and torn", data: slices.Concat(all, more, more[:9]), records: 201, read: 8<<10 + len(more) + 9},
		{name: "shrunk", data: all[:len(all)-10], reset: true, records: 199},
		{name: "other head", data: slices.Concat(changed(5, "9"), more), reset: true, records: 201},
		{name: "other tail", data: slices.Concat(changed(len(all)-20, "qq"), more), reset: true, records: 201},
		{name: "other version", data: all, cursor: func(c *core.Cursor) { c.Version = 7 }, reset: true, records: 200},
		{name: "state nobody understands", data: all, cursor: func(c *core.Cursor) { c.State = []byte("{") }, reset: true, records: 200},
		{name: "no state", data: all, cursor: func(c *core.Cursor) { c.State = nil }, reset: true, records: 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cursor := first.Cursor
			if tt.cursor != nil {
				tt.cursor(&cursor)
			}
			got, res := follow(t, write(t, path, tt.data), cursor)
			if res.Reset != tt.reset || len(got.Records) != tt.records {
				t.Errorf("Follow: reset %v with %d records, want %v with %d", res.Reset, len(got.Records), tt.reset, tt.records)
			}
			if tt.read > 0 && res.Read != int64(tt.read) {
				t.Errorf("Follow read %d bytes, want %d", res.Read, tt.read)
			}
		})
	}
}

func TestFollowGiantLine(t *testing.T) {
	cut := func(s string) string { return s[:64<<10] }
	wide := strings.Repeat(`é\"`, 1<<20)
	tests := []struct {
		name string
		line string
		want string // "" = bad
	}{
		{name: "one long string", line: `{"a":"` + strings.Repeat("x", 5<<20) + `","b":2}`, want: `{"a":"` + strings.Repeat("x", 64<<10) + `","b":2}`},
		{name: "backslashes", line: `{"a":"` + strings.Repeat(`\\`, 2<<20) + `\"","b":2}`, want: `{"a":"` + cut(strings.Repeat(`\\`, 2<<20)) + `","b":2}`},
		{name: "escapes across the cut", line: `{"a":"x` + strings.Repeat(`\\`, 2<<20) + `","b":2}`, want: `{"a":"` + cut("x" + strings.Repeat(`\\`, 2<<20))[:64<<10-1] + `","b":2}`},
		{name: "wide characters", line: `{"a":"` + wide + `","b":2}`, want: `{"a":"` + wide[:64<<10] + `","b":2}`},
		{name: "too long without strings", line: `{"a":[` + strings.Repeat("1,", 9<<20) + `1]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.jsonl")
			before, after := `{"before":1}`, `{"after":1}`
			got, res := follow(t, write(t, path, []byte(before+"\n"+tt.line+"\n"+after+"\n")), core.Cursor{})
			want := &log{Records: []string{before, tt.want, after}, Lines: 3}
			if tt.want == "" {
				want = &log{Records: []string{before, after}, Lines: 3, Broken: 1}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("records differ (-want +got):\n%.2000s", d)
			}
			// The fingerprints must be right behind a giant line, too.
			again, res := follow(t, core.Source{Path: path}, res.Cursor)
			if res.Reset || len(again.Records) != len(want.Records) {
				t.Errorf("going on: reset %v, %d records, want false, %d", res.Reset, len(again.Records), len(want.Records))
			}
			// And an unfinished giant is neither a line nor bad.
			got, res = follow(t, write(t, path, []byte(before+"\n"+tt.line[:len(tt.line)-1])), core.Cursor{})
			if len(got.Records) != 1 || got.Broken != 0 || res.Cursor.Offset != int64(len(before)+1) {
				t.Errorf("unfinished: %d records, %d bad, offset %d", len(got.Records), got.Broken, res.Cursor.Offset)
			}
			got, _ = follow(t, write(t, path, []byte(before+"\n"+tt.line+"\n")), res.Cursor)
			if len(got.Records)+got.Broken != 2 {
				t.Errorf("finished later: %d records, %d bad", len(got.Records), got.Broken)
			}
		})
	}
}

// TestFollowMemory reads far more than it may hold: what is allocated must not grow with the file or
// with its longest line.
func TestFollowMemory(t *testing.T) {
	text := strings.Repeat(`pasted \"text\" `, 1000)
	for name, data := range map[string]string{
		"many lines":     strings.Repeat(`{"a":"`+text+"\"}\n", 20<<20/len(text)),
		"one giant line": `{"a":"` + strings.Repeat(text, 20<<20/len(text)) + "\"}\n",
	} {
		src := write(t, filepath.Join(t.TempDir(), "f"), []byte(data))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, err := jsonl.Follow(context.Background(), src, core.Cursor{}, 1, func([]byte) (jsonl.Judge, error) { return silent{}, nil }); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 3<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", name, n, len(data))
		}
	}
}

func TestFollowRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := jsonl.Follow(context.Background(), core.Source{Path: filepath.Join(dir, "gone")}, core.Cursor{}, 1, startLog); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a vanished file: %v, want not exist", err)
	}
	if _, _, err := jsonl.Follow(context.Background(), core.Source{Path: dir}, core.Cursor{}, 1, startLog); err == nil {
		t.Error("a folder was read")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	src := write(t, filepath.Join(dir, "f"), []byte("{}\n"))
	if _, _, err := jsonl.Follow(ctx, src, core.Cursor{}, 1, startLog); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	boom := errors.New("boom")
	if _, _, err := jsonl.Follow(context.Background(), src, core.Cursor{}, 1, func([]byte) (jsonl.Judge, error) { return nil, boom }); !errors.Is(err, boom) {
		t.Errorf("a start that fails: %v", err)
	}
}

// keeper keeps what it must not.
type keeper struct {
	log
	kept []byte
}

func (k *keeper) Record(r jsonl.Record) { k.kept = r.Raw }

func TestPoison(t *testing.T) {
	src := write(t, filepath.Join(t.TempDir(), "f"), []byte("{\"a\":1}\n"))
	k := &keeper{}
	start := func([]byte) (jsonl.Judge, error) { return k, nil }
	if _, _, err := jsonl.Follow(jsonl.Poison(context.Background()), src, core.Cursor{}, 1, start); err != nil {
		t.Fatal(err)
	}
	if string(k.kept) != "!!!!!!!" {
		t.Errorf("a kept record reads %q, want it overwritten", k.kept)
	}
}

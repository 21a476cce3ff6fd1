package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"tower/adapters/jsonl"
)

// pack writes content compressed beside path and returns where.
func pack(t *testing.T, path, content string) string {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	if err := os.WriteFile(path, enc.EncodeAll([]byte(content), nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func numbers(t *testing.T, path string, most int) (all []string) {
	t.Helper()
	err := newest(t.Context(), path, func(r jsonl.Record) bool {
		all = append(all, string(r.Get("n")))
		return len(all) < most
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNewest reads lines of all lengths backwards, around the sizes of the blocks they are read in.
func TestNewest(t *testing.T) {
	dir := t.TempDir()
	sizes := []int{0, 1, 100, firstBlock - 40, firstBlock - 12, firstBlock, firstBlock + 1, 3 * firstBlock, 5}
	var b strings.Builder
	want := []string{}
	for i, size := range sizes {
		fmt.Fprintf(&b, `{"n":%d,"pad":%q}`+"\n", i, strings.Repeat("x", size))
		want = append(want, fmt.Sprint(i))
	}
	slices.Reverse(want)
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		path string
		want []string
	}{
		"whole":                 {write("a.jsonl", b.String()), want},
		"packed":                {pack(t, filepath.Join(dir, "a.jsonl.zst"), b.String()), want},
		"no newline at the end": {write("b.jsonl", strings.TrimSuffix(b.String(), "\n")), want},
		"a line being written":  {write("c.jsonl", b.String()+`{"n":9,"pad":"x`), want},
		"a torn line between":   {write("d.jsonl", `{"n":1}`+"\n"+`{"n":2,"pa`+"\n"+`{"n":3}`+"\n"), []string{"3", "1"}},
		"two values in a line":  {write("e.jsonl", `{"n":1}{"n":2}`+"\n"), []string{"1", "2"}},
		"empty":                 {write("f.jsonl", ""), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := numbers(t, c.path, 100); !slices.Equal(got, c.want) {
				t.Errorf("newest = %v, want %v", got, c.want)
			}
			if len(c.want) > 2 {
				if got := numbers(t, c.path, 2); !slices.Equal(got, c.want[:2]) {
					t.Errorf("newest after two = %v, want %v", got, c.want[:2])
				}
			}
		})
	}
	if err := newest(t.Context(), filepath.Join(dir, "none"), func(jsonl.Record) bool { return true }); err == nil {
		t.Error("newest of no file succeeded")
	}
	if err := newest(t.Context(), write("g.jsonl.zst", "not packed"), func(jsonl.Record) bool { return true }); err == nil {
		t.Error("newest of a broken packed file succeeded")
	}
}

// TestNewestStops looks no farther than it says: a file without an answer costs no more than that.
func TestNewestStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "long.jsonl")
	line := `{"n":1,"pad":"` + strings.Repeat("x", 1<<20) + `"}` + "\n"
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for range farthest>>20 + 8 {
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	if got := len(numbers(t, path, 1000)); got < farthest>>20-1 || got > farthest>>20+4 {
		t.Errorf("newest went through %d MB, want about %d", got, farthest>>20)
	}
	whole := strings.Repeat(line, 2*(farthest>>20))
	if got := len(numbers(t, pack(t, path+".zst", whole), 1000)); got < farthest>>21-1 || got > farthest>>20+4 {
		t.Errorf("newest went through %d MB of a packed file, want between %d and %d", got, farthest>>21, farthest>>20)
	}
}

func TestNewestIsTheFileReversed(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-zé"\\]{0,40}`), 0, 30).Draw(t, "lines")
		var b strings.Builder
		var want []string
		for _, l := range lines {
			fmt.Fprintf(&b, "{\"n\":%q}\n", l)
			want = append(want, fmt.Sprintf("%q", l))
		}
		slices.Reverse(want)
		path := filepath.Join(dir, "x.jsonl")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := newest(t.Context(), path, func(r jsonl.Record) bool { got = append(got, string(r.Get("n"))); return true }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("newest = %q, want %q", got, want)
		}
	})
}

package term

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScripts holds the scripts for macOS to files, and to what no script may have.
func TestScripts(t *testing.T) {
	all := map[string]string{"open-terminal": openInTerminal, "open-iterm2": openInITerm, "frontmost": frontmost}
	for _, kind := range []string{KindTerminal, KindITerm2} {
		focus, ok := focusScript(kind)
		list, ok2 := listScript(kind)
		if !ok || !ok2 {
			t.Fatalf("no script for %s", kind)
		}
		all["focus-"+kind], all["list-"+kind] = focus, list
	}
	for name, text := range all {
		golden(t, name+".applescript", []byte(strings.TrimPrefix(text, "\n")))
		if strings.Contains(text, "%s") || strings.Contains(text, "do shell script") {
			t.Errorf("%s puts a value into a script", name)
		}
	}
	if _, ok := focusScript(KindX11); ok {
		t.Error("a script for windows of X")
	}
	if _, ok := listScript(KindKitty); ok {
		t.Error("a script for kitty")
	}
}

func TestReadScripts(t *testing.T) {
	want := []Window{{Kind: KindITerm2, ID: "/dev/ttys001", Terminal: KindITerm2, How: "tty", Shared: true}, {Kind: KindITerm2, ID: "/dev/ttys012", Terminal: KindITerm2, How: "tty", Shared: true}}
	if diff := cmp.Diff(want, readTTYs(KindITerm2, "/dev/ttys001\n\nmissing value\n/dev/ttys012")); diff != "" {
		t.Errorf("readTTYs differs (-want +got):\n%s", diff)
	}
	if w, err := readFront("terminal /dev/ttys003"); err != nil || w.Kind != KindTerminal || w.ID != "/dev/ttys003" {
		t.Errorf("readFront = %+v, %v", w, err)
	}
	for _, out := range []string{"", "terminal", "terminal missing value"} {
		if _, err := readFront(out); refusal(t, err).What != "No window in focus." {
			t.Errorf("readFront(%q) = %v", out, err)
		}
	}
}

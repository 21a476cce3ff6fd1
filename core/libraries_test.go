package core_test

import (
	"go/ast"
	"strconv"
	"strings"
	"testing"
)

// TestLibraries names what each chosen library is here for and where. One that no folder uses any
// more has to leave go.mod, and one that came without a promise has no row.
func TestLibraries(t *testing.T) {
	files := packages(t)
	for _, l := range []struct{ module, folder, promise string }{
		{"fyne.io/systray", "tray", "the icon and its menu on every desktop"},
		{"github.com/gen2brain/beeep", "core/alert", "a popup where buttons cannot be had"},
		{"github.com/mattn/go-sqlite3", "core/ledger", "the ledger"},
		{"github.com/shirou/gopsutil/v4", "core/load", "CPU and memory of process trees and of the machine"},
		{"github.com/google/uuid", "tray/cli", "ids as people copy them: capitals, braces, URN"},
		{"github.com/knadh/koanf/v2", "core/config", "settings in layers"},
		{"github.com/spf13/cobra", "tray/cli", "commands, help and completion"},
		{"github.com/fsnotify/fsnotify", "core/engine", "a new event wakes the drain at once"},
		{"github.com/godbus/dbus/v5", "tray", "whether a session bus answers, before the icon needs it"},
		{"github.com/gofrs/flock", "tray/cli", "one tower a home"},
		{"github.com/google/renameio/v2", "installer", "a foreign file is whole or not written"},
		{"github.com/jezek/xgb", "core/term", "which window is in front, and another one to the front"},
		{"golang.org/x/crypto", "web", "argon2id for the password"},
		{"github.com/google/go-cmp", "tray", "differences a person can read, in tests"},
		{"github.com/rogpeppe/go-internal", "tray", "whole programs as scripts, in tests"},
		{"pgregory.net/rapid", "core/ledger", "properties, in tests"},
		{"github.com/chromedp/chromedp", "web", "the page in a real browser, in tests"},
	} {
		if !imports(files[l.folder], l.module) {
			t.Errorf("%s is to serve %s (%s), but nothing there imports it", l.module, l.folder, l.promise)
		}
	}
}

func imports(files map[string]*ast.File, module string) bool {
	for _, f := range files {
		for _, spec := range f.Imports {
			if p, _ := strconv.Unquote(spec.Path.Value); p == module || strings.HasPrefix(p, module+"/") {
				return true
			}
		}
	}
	return false
}

//go:build cgo

package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"tower/core"
)

func TestPaths(t *testing.T) {
	for _, name := range []string{"plain", "wo?mode=memory", "q#f", "100%41 %", "ü ö", "a&b=c", "-", "semi;colon", `quote'"`} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name+".sqlite")
			d := openAt(t, path)
			apply(t, d, core.Writes{Sessions: testSessions})
			var found []string
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				found = append(found, e.Name())
				if info, err := e.Info(); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
					t.Errorf("mode of %s = %v, %v, want 0600", e.Name(), info.Mode(), err)
				}
			}
			base := name + ".sqlite"
			if want := []string{base, base + "-shm", base + "-wal"}; !slices.Equal(found, want) {
				t.Errorf("files = %q, want %q", found, want)
			}
			copied, err := d.Backup(t.Context(), filepath.Join(dir, "backup"))
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(copied); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("mode of the backup = %v, %v, want 0600", info.Mode(), err)
			}
			b, err := OpenReadOnly(t.Context(), copied)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if n := len(load(t, b).Sessions); n != len(testSessions) {
				t.Errorf("the backup holds %d sessions, want %d", n, len(testSessions))
			}
		})
	}
}

func TestModeOfOldFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mode says nothing there")
	}
	path := filepath.Join(t.TempDir(), "l.sqlite")
	d := openAt(t, path)
	d.Close()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	openAt(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
	}
}

func TestPragmas(t *testing.T) {
	d := openTest(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "1", "foreign_keys": "1", "busy_timeout": "200",
		"application_id": "1415008817", "user_version": strconv.Itoa(latest()), "journal_size_limit": "16777216"} {
		var got string
		if err := d.write.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("writer's %s = %q, %v, want %q", pragma, got, err, want)
		}
	}
	if _, err := d.read.Exec("DELETE FROM meta"); !errors.Is(kindOf(err), ErrReadOnly) {
		t.Errorf("writing through a reader = %v", err)
	}
}

// TestRefusesFile opens what is no ledger of this build and looks that it is left as it was.
func TestRefusesFile(t *testing.T) {
	cases := []struct {
		name string
		make func(t *testing.T, path string)
		want func(error) bool
	}{
		{"text", func(t *testing.T, path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("no database\n"), 100), 0o600); err != nil {
				t.Fatal(err)
			}
		}, func(err error) bool { return errors.Is(err, ErrCorrupt) }},
		{"a torn header", func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte("SQLite format 3\x00"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, func(err error) bool { return errors.Is(err, ErrCorrupt) }},
		{"damaged pages", func(t *testing.T, path string) {
			openAt(t, path).Close()
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := 100; i < len(b); i++ {
				b[i] ^= 0x5a
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}, func(err error) bool { return errors.Is(err, ErrCorrupt) }},
		{"another program's", func(t *testing.T, path string) {
			mustExec(t, raw(t, path), "CREATE TABLE cookies (v)")
		}, func(err error) bool { return errors.Is(err, ErrForeign) }},
		{"a newer schema", func(t *testing.T, path string) {
			openAt(t, path).Close()
			mustExec(t, raw(t, path), "PRAGMA user_version = 99")
		}, func(err error) bool {
			var newer *NewerError
			return errors.As(err, &newer) && newer.Has == 99 && newer.Knows == latest()
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.sqlite")
			c.make(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Open(t.Context(), path, t.TempDir())
			if err == nil {
				d.Close()
			}
			if !c.want(err) || !strings.Contains(err.Error(), path) {
				t.Errorf("Open = %v", err)
			}
			if d, err := OpenReadOnly(t.Context(), path); !c.want(err) || d != nil {
				t.Errorf("OpenReadOnly = %v, %v", d, err)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed: %v, %d bytes, had %d", err, len(after), len(before))
			}
		})
	}
}

func TestRefusesPlace(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"a missing folder": filepath.Join(dir, "none", "l.sqlite"),
		"below a file":     filepath.Join(file, "l.sqlite"),
		"a folder":         filepath.Join(dir, "folder"),
	} {
		if d, err := Open(t.Context(), path, dir); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("Open of %s = %v, %v", name, d, err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.sqlite")
	if _, err := OpenReadOnly(t.Context(), path); !errors.Is(err, ErrNoLedger) {
		t.Errorf("OpenReadOnly of nothing = %v, want ErrNoLedger", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("OpenReadOnly made the file")
	}
	w := openAt(t, path)
	apply(t, w, core.Writes{Sessions: testSessions[:1]})
	r, err := OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := len(load(t, r).Sessions); n != 1 {
		t.Errorf("beside the writer: %d sessions, want 1", n)
	}
	apply(t, w, core.Writes{Sessions: testSessions})
	if n := len(load(t, r).Sessions); n != len(testSessions) {
		t.Errorf("after another write: %d sessions, want %d", n, len(testSessions))
	}
	if _, err := r.Apply(t.Context(), core.Writes{Sessions: testSessions}); err == nil {
		t.Error("Apply on a ledger opened for reading gave no error")
	}
	if r.SetSetting(t.Context(), "a", "b") == nil || r.Checkpoint(t.Context()) == nil {
		t.Error("a ledger opened for reading was written")
	}
	if err := r.Check(t.Context()); err != nil {
		t.Error(err)
	}
	// And after the writer has gone.
	if err := errors.Join(r.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err = OpenReadOnly(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := len(load(t, r).Sessions); n != len(testSessions) {
		t.Errorf("without a writer: %d sessions, want %d", n, len(testSessions))
	}
}

func TestMigrate(t *testing.T) {
	step := func(sql string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(sql)} }
	files, released := fstest.MapFS{}, embeddedList(t)
	for _, m := range released {
		files["migrations/"+m.name] = step(m.sql)
	}
	next := func(n int, name string) string { return fmt.Sprintf("migrations/%04d_%s.sql", len(released)+n, name) }
	more, bad := next(1, "more"), next(2, "bad")
	files[more] = step("ALTER TABLE meta ADD COLUMN more TEXT; UPDATE meta SET more = 'x'; CREATE TABLE extra (a TEXT) STRICT")
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	backups := filepath.Join(filepath.Dir(path), "backup")
	d := openAt(t, path)
	apply(t, d, corpus(2, 3)[0])
	list, err := migrations(files)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.migrate(t.Context(), list, backups); err != nil {
		t.Fatal(err)
	}
	var has string
	if err := d.write.QueryRow("SELECT more FROM meta").Scan(&has); err != nil || has != "x" {
		t.Errorf("after the migration: %q, %v", has, err)
	}
	copies, err := filepath.Glob(filepath.Join(backups, fmt.Sprintf("ledger-schema%d-*.sqlite", len(released))))
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies = %v, %v, want one", copies, err)
	}
	old, err := OpenReadOnly(t.Context(), copies[0])
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if n := len(load(t, old).Sessions); n != 2 {
		t.Errorf("the copy holds %d sessions, want 2", n)
	}
	if err := d.migrate(t.Context(), list, backups); err != nil {
		t.Errorf("migrating again = %v", err)
	}

	for name, sql := range map[string]string{
		"a mistake":            "CREATE TABLE third (a TEXT) STRICT; INSERT INTO nowhere VALUES (1)",
		"a broken foreign key": "CREATE TABLE third (a TEXT) STRICT; INSERT INTO runs (asm_id, shared) VALUES ('nobody', 0)",
	} {
		files[bad] = step(sql)
		list, err := migrations(files)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.migrate(t.Context(), list, backups); err == nil || !strings.Contains(err.Error(), filepath.Base(bad)) {
			t.Errorf("%s: migrate = %v, want an error that names the file", name, err)
		}
		var v, tables int
		if err := errors.Join(d.write.QueryRow("PRAGMA user_version").Scan(&v),
			d.write.QueryRow("SELECT count(*) FROM sqlite_schema WHERE name = 'third'").Scan(&tables)); err != nil || v != len(released)+1 || tables != 0 {
			t.Errorf("%s: version %d with %d of its tables, %v: want the schema before", name, v, tables, err)
		}
	}

	delete(files, more)
	if _, err := migrations(files); err == nil {
		t.Error("a gap in the numbers was not seen")
	}
}

func embeddedList(t *testing.T) []migration {
	t.Helper()
	list, err := migrations(embedded)
	if err != nil || len(list) != latest() {
		t.Fatal(len(list), err)
	}
	return list
}

// TestPastSchemas opens a file of every released schema, with rows in it.
func TestPastSchemas(t *testing.T) {
	list := embeddedList(t)
	for _, m := range list {
		t.Run(m.name, func(t *testing.T) {
			rows, err := os.ReadFile(filepath.Join("testdata", "rows-"+m.name))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "ledger.sqlite")
			d, err := openSchema(t, path, list[:m.version])
			if err != nil {
				t.Fatal(err)
			}
			mustExec(t, d.write, string(rows))
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			d = openAt(t, path)
			l := load(t, d)
			if len(l.Sessions) != 2 || len(l.Open) != 1 || len(l.Launches) != 1 || len(l.Settings) != 1 || len(l.Fingerprints) != 1 {
				t.Fatalf("loaded %d sessions, %d runs, %d launches, %d settings, %d sources", len(l.Sessions), len(l.Open), len(l.Launches),
					len(l.Settings), len(l.Fingerprints))
			}
			if first := l.Launches[0]; first.Token != "t1" || !first.Waits() {
				t.Errorf("loaded launch = %+v, want t1 as one that waits", first)
			}
			open := map[int]int{1: 0, 2: 1}[m.version] // intents are written since schema 2
			if n, err := d.Interrupt(t.Context(), noon); err != nil || n != open {
				t.Errorf("%d intents interrupted, %v, want %d", n, err, open)
			}
			n := 0
			if err := d.Turns(t.Context(), func(core.SessionID, core.Instant) error { n++; return nil }); err != nil || n != 2 {
				t.Errorf("%d turns, %v, want 2", n, err)
			}
			if err := d.Check(t.Context()); err != nil {
				t.Error(err)
			}
			apply(t, d, corpus(2, 2)[0])
		})
	}
}

func openSchema(t *testing.T, path string, list []migration) (*DB, error) {
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	d := newWriter(path, time.Second)
	return d, d.migrate(t.Context(), list, t.TempDir())
}

func TestSchema(t *testing.T) {
	d := openTest(t)
	schema, err := d.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"sessions", "runs", "events", "launches", "sprint_links", "import_state", "meta", "turns", "turn_sources",
		"folders", "skills", "usage_readings", "alerts", "settings", "board_lists", "board_cards", "mail", "intents", "session_sprints"} {
		if len(schema[table]) == 0 {
			t.Errorf("no table %s", table)
		}
		delete(schema, table)
	}
	if len(schema) > 0 {
		t.Errorf("unnamed tables: %v", schema)
	}
	rows, err := d.read.Query("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		t.Errorf("table %s is not STRICT", name)
	}
}

// TestSprintColumns reads the columns that the board's links add to a session.
func TestSprintColumns(t *testing.T) {
	d := openTest(t)
	apply(t, d, core.Writes{Sessions: testSessions[:2]})
	mustExec(t, d.write, `INSERT INTO sprint_links (node_id, asm_id, origin, bound_at, dropped, completed) VALUES
		('old', ?1, 'start', '2026-01-01T00:00:00.000Z', 0, 1), ('new', ?1, 'adopt', '2026-02-01T00:00:00.000Z', 0, 0)`, string(testSessions[0].ID))
	for i, want := range []string{"new adopt", " "} {
		var got string
		if err := d.read.QueryRow("SELECT coalesce(sprint_node, '') || ' ' || coalesce(sprint_origin, '') FROM session_sprints WHERE asm_id = ?",
			string(testSessions[i].ID)).Scan(&got); err != nil || got != want {
			t.Errorf("sprint columns of session %d = %q, %v, want %q", i, got, err, want)
		}
	}
}

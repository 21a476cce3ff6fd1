//go:build cgo

package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"
	"tower/core"
)

// children are the programs this test binary can be instead of running tests.
var children = map[string]func(path string) error{"write": childWrite, "cut": childCut, "lock": childLock}

const childVar = "LEDGER_TEST_CHILD"

func TestMain(m *testing.M) {
	if f := children[os.Getenv(childVar)]; f != nil {
		if err := f(os.Getenv("LEDGER_TEST_PATH")); err != nil {
			fmt.Println("child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child starts this binary as one of the children. The caller waits for it.
func child(t *testing.T, name, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+name, "LEDGER_TEST_PATH="+path)
	return cmd
}

// batchOf is the write with number n: everything in it carries the number.
func batchOf(n int) core.Writes {
	var w core.Writes
	for i := range 40 {
		s := session(fmt.Sprintf("%d/%d", n, i))
		s.Project = fmt.Sprint(n)
		w.Sessions = append(w.Sessions, s)
		b := core.TurnBatch{Session: s.ID, Source: fmt.Sprintf("/%d/%d", n, i), Folders: map[string]int64{"/f": 1}}
		for j := range 50 {
			b.Turns = append(b.Turns, core.Turn{UID: int64(n)*1_000_000 + int64(i)*1000 + int64(j), At: noon, Kind: 1})
		}
		w.Turns = append(w.Turns, b)
		w.Sources = append(w.Sources, core.SourceState{Path: b.Source, Agent: "fake", Session: s.ID})
	}
	w.Events = []core.Event{{ID: fmt.Sprint(n), Kind: core.EventFacts, Agent: "fake", Native: "x"}}
	return w
}

// childWrite applies one write after the other, telling of each when it begins and when it is kept.
func childWrite(path string) error {
	d, err := Open(context.Background(), path, filepath.Dir(path))
	if err != nil {
		return err
	}
	l, err := d.Load(context.Background())
	if err != nil {
		return err
	}
	for n := len(l.Sessions)/40 + 1; ; n++ {
		fmt.Println("begin", n)
		if _, err := d.Apply(context.Background(), batchOf(n)); err != nil {
			return err
		}
		fmt.Println("kept", n)
	}
}

// TestKilled kills the writer again and again. Of a write that was not told as kept there may be all
// or nothing, and of one that was there must be all.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	cut, kept := 0, 0
	for round := range 5 {
		cmd := child(t, "write", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		last := ""
		for i := 0; lines.Scan(); i++ {
			last = lines.Text()
			if strings.HasPrefix(last, "child:") {
				t.Fatal(last)
			}
			if n := 0; i > round && strings.HasPrefix(last, "begin") {
				cmd.Process.Kill() // it is some way into the write, each time another
			} else if _, err := fmt.Sscanf(last, "kept %d", &n); err == nil {
				kept = max(kept, n)
			}
		}
		cmd.Wait()
		if strings.HasPrefix(last, "begin") {
			cut++
		}
		inspectWrites(t, path, kept)
	}
	if cut == 0 {
		t.Error("no write was cut short: the test shows nothing")
	}
}

// childCut applies the second write and kills itself at the change of a row named by its number, 0
// being the commit.
func childCut(path string) error {
	at, err := strconv.Atoi(os.Getenv("LEDGER_TEST_AT"))
	if err != nil {
		return err
	}
	d, err := Open(context.Background(), path, filepath.Dir(path))
	if err != nil {
		return err
	}
	conn, err := d.write.Conn(context.Background())
	if err != nil {
		return err
	}
	die := func() {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			self.Kill()
		}
		select {}
	}
	err = conn.Raw(func(c any) error {
		changed := 0
		c.(*sqlite3.SQLiteConn).RegisterUpdateHook(func(int, string, string, int64) {
			if changed++; changed == at {
				die()
			}
		})
		c.(*sqlite3.SQLiteConn).RegisterCommitHook(func() int {
			if at == 0 {
				die()
			}
			return 0
		})
		return nil
	})
	if err := errors.Join(err, conn.Close()); err != nil {
		return err
	}
	_, err = d.Apply(context.Background(), batchOf(2))
	return errors.Join(err, errors.New("the write came to its end"))
}

// TestCut lets the writer die between two rows of a write, at every tenth of them.
func TestCut(t *testing.T) {
	for at := 0; at <= 160; at += 10 { // 40 sessions, 1 event, 40 origins, 40 counts, 40 sources
		path := filepath.Join(t.TempDir(), "ledger.sqlite")
		d := openAt(t, path)
		apply(t, d, batchOf(1))
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := child(t, "cut", path)
		cmd.Env = append(cmd.Env, fmt.Sprint("LEDGER_TEST_AT=", at))
		if out, err := cmd.CombinedOutput(); err == nil || len(out) > 0 {
			t.Fatalf("killed at row %d: %v %s", at, err, out)
		}
		inspectWrites(t, path, 1)
		d, err := OpenReadOnly(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		l := load(t, d)
		if len(l.Sessions) != 40 || len(l.Fingerprints) != 40 {
			t.Errorf("killed at row %d: %d sessions, %d sources, want the 40 of the write before", at, len(l.Sessions), len(l.Fingerprints))
		}
		d.Close()
	}
}

// inspectWrites looks that every write is there whole or not at all, and those up to kept are.
func inspectWrites(t *testing.T, path string, kept int) {
	t.Helper()
	d, err := Open(t.Context(), path, filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows, err := d.read.Query(`SELECT CAST(s.project AS INTEGER), count(*), sum(s.turns),
			sum((SELECT count(*) FROM turns AS t WHERE t.session = s.key AND t.copy = 0)),
			sum((SELECT count(*) FROM import_state AS i WHERE i.asm_id = s.asm_id)),
			sum((SELECT count(*) FROM turn_sources AS o JOIN folders USING (origin) WHERE o.session = s.key)),
			(SELECT count(*) FROM events AS e WHERE e.id = s.project)
		FROM sessions AS s GROUP BY s.project ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var number, sessions, turns, owned, sources, folders, events int
		if err := rows.Scan(&number, &sessions, &turns, &owned, &sources, &folders, &events); err != nil {
			t.Fatal(err)
		}
		if n++; number != n || sessions != 40 || turns != 2000 || owned != 2000 || sources != 40 || folders != 40 || events != 1 {
			t.Errorf("write %d (the %dth) has %d sessions, %d turns, %d owned, %d sources, %d folders, %d events", number, n, sessions, turns, owned, sources, folders, events)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if n < kept {
		t.Errorf("%d writes are there, %d were told as kept", n, kept)
	}
}

// childLock holds the write lock until its standard input ends.
func childLock(path string) error {
	d, err := Open(context.Background(), path, filepath.Dir(path))
	if err != nil {
		return err
	}
	tx, err := d.write.Begin()
	if err != nil {
		return err
	}
	fmt.Println("locked")
	bufio.NewReader(os.Stdin).ReadByte()
	return errors.Join(tx.Rollback(), d.Close())
}

func TestLockedByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.sqlite")
	d := openAt(t, path)
	cmd := child(t, "lock", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "locked" {
		t.Fatal(lines.Text())
	}
	start := time.Now()
	_, err = d.Apply(t.Context(), core.Writes{Sessions: testSessions})
	if waited := time.Since(start); !errors.Is(err, ErrBusy) || waited < 150*time.Millisecond {
		t.Errorf("Apply under another's lock = %v after %v, want ErrBusy after the 200 ms of the timeout", err, waited)
	}
	if n := len(load(t, d).Sessions); n != 0 { // readers are not held up
		t.Errorf("%d sessions", n)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	apply(t, d, core.Writes{Sessions: testSessions})
}

// TestFull lets the database reach its largest size: the driver tells it as it tells a full disk.
func TestFull(t *testing.T) {
	d := openTest(t)
	apply(t, d, batchOf(1))
	mustExec(t, d.write, "PRAGMA max_page_count = 1")
	var err error
	n := 2
	for ; err == nil && n < 100; n++ {
		_, err = d.Apply(t.Context(), batchOf(n))
	}
	if !errors.Is(err, ErrFull) {
		t.Fatalf("write %d = %v, want ErrFull", n, err)
	}
	inspectOpen := len(load(t, d).Sessions)
	mustExec(t, d.write, "PRAGMA max_page_count = 1000000")
	apply(t, d, batchOf(n-1))
	if got := len(load(t, d).Sessions); got != inspectOpen+40 || inspectOpen%40 != 0 {
		t.Errorf("%d sessions, then %d: want whole writes of 40", inspectOpen, got)
	}
}

// TestLogShrinks writes beside an open reader, which keeps the log from being folded in.
func TestLogShrinks(t *testing.T) {
	d := openTest(t)
	size := func() int64 {
		info, err := os.Stat(d.path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	apply(t, d, batchOf(1))
	reader, err := d.read.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := reader.QueryRow("SELECT count(*) FROM sessions").Scan(&n); err != nil {
		t.Fatal(err)
	}
	for i := 2; i <= 40; i++ {
		apply(t, d, batchOf(i))
	}
	if err := d.Checkpoint(t.Context()); err != nil {
		t.Errorf("checkpoint beside a reader = %v", err)
	}
	if size() < 4<<20 {
		t.Errorf("the log has %d bytes: the reader did not hold it", size())
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := d.Checkpoint(t.Context()); err != nil || size() != 0 {
		t.Errorf("after the checkpoint the log has %d bytes, %v, want 0", size(), err)
	}
}

// TestReadersEnd looks that no call leaves a read transaction behind: then the log could not be cut.
func TestReadersEnd(t *testing.T) {
	d := openTest(t)
	apply(t, d, batchOf(1))
	id := core.NewSessionID("fake", "1/1")
	stop := errors.New("stop")
	calls := map[string]func() error{
		"Load":        func() error { _, err := d.Load(t.Context()); return err },
		"Turns":       func() error { return d.Turns(t.Context(), func(core.SessionID, core.Instant) error { return nil }) },
		"Detail":      func() error { _, _, _, err := d.Detail(t.Context(), id); return err },
		"Events":      func() error { _, err := d.Events(t.Context(), id, 3); return err },
		"KnownEvents": func() error { _, err := d.KnownEvents(t.Context(), []string{"1"}); return err },
		"Source":      func() error { _, _, err := d.Source(t.Context(), "/1/1"); return err },
		"Totals":      func() error { _, _, err := d.Totals(t.Context()); return err },
		"Schema":      func() error { _, err := d.Schema(t.Context()); return err },
		"Check":       func() error { return d.Check(t.Context()) },
		"Backup":      func() error { _, err := d.Backup(t.Context(), filepath.Dir(d.path)); return err },
		"stopped Turns": func() error {
			if err := d.Turns(t.Context(), func(core.SessionID, core.Instant) error { return stop }); !errors.Is(err, stop) {
				return err
			}
			return nil
		},
	}
	for name, call := range calls {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		apply(t, d, batchOf(2+len(name)))
		var busy, log, done int
		if err := d.write.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &done); err != nil || busy != 0 {
			t.Errorf("after %s the log could not be cut: busy %d, %v", name, busy, err)
		}
	}
}

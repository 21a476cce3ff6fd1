//go:build linux

package alert

import (
	"bufio"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"tower/core"
)

// startBus starts a session bus of the test's own, which starts nothing by itself, and makes it the
// one this process finds.
func startBus(t *testing.T) *dbus.Conn {
	t.Helper()
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("TOWER_TEST_SKIP"), ","), "dbus-daemon") {
			t.Skip("dbus-daemon is not installed, and TOWER_TEST_SKIP names it")
		}
		t.Fatal("dbus-daemon is not installed; install it, or set TOWER_TEST_SKIP=dbus-daemon")
	}
	dir := t.TempDir()
	address := "unix:path=" + filepath.Join(dir, "bus")
	config := filepath.Join(dir, "bus.conf")
	xml := `<busconfig><type>session</type><listen>` + address + `</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`
	if err := os.WriteFile(config, []byte(xml), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(daemon, "--config-file="+config, "--nofork", "--print-address=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("dbus-daemon: %q, %v", line, err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	t.Setenv("PATH", dir) // neither notify-send nor kdialog may help out
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// notice is what a notification daemon is asked to show.
type notice struct {
	App, Icon, Title, Body string
	Hints                  map[string]dbus.Variant
}

// daemon is a notification daemon that shows nothing, and answers only while hang is nil.
type daemon struct {
	notices chan notice
	hang    chan struct{}
}

func (d *daemon) Notify(app string, _ uint32, icon, title, body string, _ []string, hints map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	d.notices <- notice{app, icon, title, body, hints}
	if d.hang != nil {
		<-d.hang
	}
	return 1, nil
}

func startDaemon(t *testing.T, conn *dbus.Conn, hang chan struct{}) *daemon {
	t.Helper()
	d := &daemon{notices: make(chan notice, 100), hang: hang}
	if err := conn.Export(d, "/org/freedesktop/Notifications", "org.freedesktop.Notifications"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName("org.freedesktop.Notifications", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *daemon) next(t *testing.T) notice {
	t.Helper()
	select {
	case n := <-d.notices:
		return n
	case <-time.After(20 * time.Second):
		t.Fatal("no popup arrived")
		return notice{}
	}
}

// live runs the real thing over pictures.
func live(t *testing.T) (publish func(...core.Row), end func() time.Duration) {
	t.Helper()
	var newest atomic.Pointer[core.Snapshot]
	newest.Store(snapshot())
	updates := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	icon, err := os.ReadFile("testdata/icon.png")
	if err != nil {
		t.Fatal(err)
	}
	p := NewPopups(icon, slog.New(slog.NewTextHandler(t.Output(), nil)))
	seen := make(chan struct{}, 1)
	done := make(chan error, 1)
	go func() {
		done <- p.Run(ctx, updates, func() *core.Snapshot {
			select {
			case seen <- struct{}{}:
			default:
			}
			return newest.Load()
		})
	}()
	<-seen // the first picture, in which nobody waits
	publish = func(rows ...core.Row) {
		newest.Store(snapshot(rows...))
		updates <- struct{}{}
	}
	end = func() time.Duration {
		began := time.Now()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
		return time.Since(began)
	}
	return publish, end
}

// waitsNow begins to ask a moment from now, so that it is later than the start by any clock.
func waitsNow(id, ask string) core.Row {
	r := asks(id, core.WaitPermission, ask, 0)
	r.Live.Since = core.InstantOf(time.Now().Add(time.Second))
	return r
}

func TestRealPopup(t *testing.T) {
	d := startDaemon(t, startBus(t), nil)
	publish, end := live(t)
	publish(waitsNow("a", "Bash test 1 < 2 && rm <b>x</b>"))
	n := d.next(t)
	if n.App != "Tower" || n.Title != "Codex asks permission" {
		t.Errorf("app %q, title %q", n.App, n.Title)
	}
	if want := "Title of a: Bash test 1 &lt; 2 &amp;&amp; rm &lt;b&gt;x&lt;/b&gt;\nOpen Tower to answer."; n.Body != want {
		t.Errorf("body %q, want %q", n.Body, want)
	}
	if _, ok := n.Hints["image-data"]; !ok {
		t.Errorf("no picture among the hints %v", n.Hints)
	}
	if u := n.Hints["urgency"].Value(); u == byte(2) {
		t.Error("the popup rings as critical")
	}
	end()
	if n := len(d.notices); n != 0 {
		t.Errorf("%d more popups", n)
	}
}

// TestRealHang: a daemon that took the call and does not answer holds up nothing, not even the end.
func TestRealHang(t *testing.T) {
	hang := make(chan struct{})
	d := startDaemon(t, startBus(t), hang)
	publish, end := live(t)
	publish(waitsNow("a", "Bash 1"))
	d.next(t)
	for i := range 20 {
		publish(waitsNow(string(rune('b'+i)), "Bash 2"))
	}
	if took := end(); took > 2*time.Second {
		t.Errorf("the end took %v", took)
	}
	if n := len(d.notices); n != 0 {
		t.Errorf("%d popups were sent behind the one that hangs", n)
	}
	close(hang)
}

// TestNoBus: without a bus nothing is started and the error says why.
func TestNoBus(t *testing.T) {
	dir := t.TempDir()
	marker := filepath.Join(dir, "ran")
	if err := os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte("#!/bin/sh\necho ran >'"+marker+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, address := range []string{"", "autolaunch:", "autolaunch:scope=install-path", "unix:path=" + dir + "/nobody"} {
		t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
		if address == "" && busNamed() {
			continue // this machine has a bus where every program finds it
		}
		if err := send("title", "body", nil); err == nil {
			t.Errorf("address %q: no error", address)
		}
		if _, err := os.Stat(marker); err == nil {
			t.Fatalf("address %q: dbus-launch was run", address)
		}
	}
}

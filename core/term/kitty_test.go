package term

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// what a kitty of two versions tells: one window of the desktop with two tabs.
const (
	listOld = `[{"id":1,"is_active":true,"is_focused":true,"platform_window_id":4194316,"tabs":[
		{"id":1,"is_active_tab":false,"is_focused":false,"windows":[{"id":1,"pid":10,"title":"a","is_focused":false,"is_active_window":true,"env":{"SECRET":"s"}}]},
		{"id":2,"is_active_tab":true,"is_focused":true,"windows":[{"id":2,"pid":11,"title":"b","is_focused":true,"is_active_window":true}]}]}]`
	listNew = `[{"id":1,"is_active":true,"is_focused":false,"platform_window_id":null,"tabs":[
		{"id":1,"is_active":true,"windows":[{"id":1,"pid":10,"title":"a","is_active":true},{"id":3,"pid":12,"title":"c","is_active":false}]}]}]`
)

func TestReadList(t *testing.T) {
	type row struct {
		ID, PID, OS    int
		Front, Focused bool
	}
	for _, c := range []struct {
		name, list string
		want       []row
	}{
		{"old", listOld, []row{{1, 10, 4194316, false, false}, {2, 11, 4194316, true, true}}},
		{"new, without X", listNew, []row{{1, 10, 0, true, false}, {3, 12, 0, false, false}}},
		{"none", "[]", nil},
	} {
		quoted, _ := json.Marshal(c.list)
		for _, data := range []string{c.list, string(quoted)} {
			all, err := readList(json.RawMessage(data))
			if err != nil {
				t.Fatal(err)
			}
			var got []row
			for _, w := range all {
				got = append(got, row{w.ID, w.PID, w.os, w.front, w.focused})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: list differs (-want +got):\n%s", c.name, diff)
			}
		}
	}
	if _, err := readList(json.RawMessage(`"no list"`)); err == nil {
		t.Error("what is no list was read")
	}
}

func TestDialKitty(t *testing.T) {
	dir := t.TempDir()
	for _, address := range []string{"", "unix:", "unix", "tcp:far.example:1", "tcp:192.0.2.1:1", "udp:localhost:1", "fd:3"} {
		if _, err := dialKitty(t.Context(), address); err == nil || errors.Is(err, errKittyGone) {
			t.Errorf("dialKitty(%q) = %v", address, err)
		}
	}
	gone := "unix:" + filepath.Join(dir, "gone")
	if _, err := dialKitty(t.Context(), gone); !errors.Is(err, errKittyGone) {
		t.Errorf("dialKitty of nobody = %v", err)
	}
	if there, err := NewDesk(nil, nil).Exists(t.Context(), Window{Kind: KindKitty, ID: "1", Socket: gone}); there || err != nil {
		t.Errorf("Exists = %v, %v after kitty's end", there, err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "k"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		bufio.NewReader(c).ReadString('\\')
		c.Write([]byte("\x1bP@kitty-cmd{\"ok\": false, \"error\": \"Remote control is disabled\"}\x1b\\"))
	}()
	k, err := dialKitty(t.Context(), "unix:"+filepath.Join(dir, "k"))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	var refused kittyError
	if _, err := k.list(kittyAny); !errors.As(err, &refused) || !strings.Contains(err.Error(), "disabled") {
		t.Errorf("list of a kitty that refuses = %v", err)
	}
	if _, err := k.list(kittyAny); err == nil {
		t.Error("a kitty that hung up answered")
	}
}

func FuzzReadKitty(f *testing.F) {
	quoted, _ := json.Marshal(listOld)
	f.Add([]byte("\x1bP@kitty-cmd{\"ok\":true,\"data\":" + string(quoted) + "}\x1b\\"))
	f.Add([]byte("\x1bP@kitty-cmd{}\\\x1b\\"))
	f.Add([]byte("\x1b\\"))
	f.Fuzz(func(t *testing.T, b []byte) {
		body, err := readKitty(bufio.NewReaderSize(bytes.NewReader(b), 16))
		if err != nil {
			return
		}
		if whole := append(append(bytes.Clone(kittyOpen), body...), kittyClose...); !bytes.HasPrefix(b, whole) {
			t.Errorf("read %q of %q", body, b)
		}
		var answer struct{ Data json.RawMessage }
		if json.Unmarshal(body, &answer) == nil {
			readList(answer.Data)
		}
	})
}

package term

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// entry is one row of an authority file.
func entry(family uint16, fields ...string) []byte {
	b := binary.BigEndian.AppendUint16(nil, family)
	for _, f := range fields {
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(f))), f...)
	}
	return b
}

func TestCookie(t *testing.T) {
	key := strings.Repeat("k", 16)
	fits := entry(familyLocal, "here", "1", cookieName, key)
	for _, c := range []struct {
		name string
		file []byte
		ok   bool
	}{
		{"fits", fits, true},
		{"any display", entry(familyLocal, "here", "", cookieName, key), true},
		{"any host", entry(familyWild, "", "1", cookieName, key), true},
		{"after others", bytes.Join([][]byte{entry(0, "\x7f\x00\x00\x01", "1", cookieName, key), entry(familyLocal, "there", "1", cookieName, key),
			entry(familyLocal, "here", "2", cookieName, key), entry(familyLocal, "here", "1", "XDM-AUTHORIZATION-1", key), fits}, nil), true},
		{"other host", entry(familyLocal, "there", "1", cookieName, key), false},
		{"other display", entry(familyLocal, "here", "2", cookieName, key), false},
		{"short key", entry(familyLocal, "here", "1", cookieName, "short"), false},
		{"cut", fits[:len(fits)-1], false},
		{"empty", nil, false},
		{"damaged before", append([]byte{1, 0, 0xff, 0xff}, fits...), false},
	} {
		if got := cookie(c.file, "here", "1"); (got != nil) != c.ok || c.ok && string(got) != key {
			t.Errorf("%s: cookie = %q", c.name, got)
		}
	}
}

func TestDisplaySocket(t *testing.T) {
	for _, c := range []struct{ display, number, socket string }{
		{":0", "0", "/tmp/.X11-unix/X0"},
		{":12.1", "12", "/tmp/.X11-unix/X12"},
		{"unix:3", "3", "/tmp/.X11-unix/X3"},
		{"/private/tmp/com.apple.launchd.x/org.xquartz:0", "0", "/private/tmp/com.apple.launchd.x/org.xquartz:0"},
		{"localhost:10.0", "", ""}, {"far.example:0", "", ""}, {"tcp/far:0", "", ""}, {"", "", ""}, {":", "", ""}, {":x", "", ""},
		{":-1", "", ""}, {":../../x", "", ""}, {"0", "", ""}, {":123456", "", ""}, {"::1", "", ""},
	} {
		number, socket, ok := displaySocket(c.display)
		if number != c.number && ok || socket != c.socket || ok != (c.socket != "") {
			t.Errorf("displaySocket(%q) = %q, %q, %v", c.display, number, socket, ok)
		}
	}
}

func FuzzCookie(f *testing.F) {
	f.Add(entry(familyLocal, "here", "1", cookieName, strings.Repeat("k", 16)))
	f.Add([]byte{1, 0, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, file []byte) {
		if got := cookie(file, "here", "1"); got != nil && (len(got) != 16 || !bytes.Contains(file, got)) {
			t.Errorf("cookie = %q, which is not in the file", got)
		}
	})
}

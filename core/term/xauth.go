package term

import (
	"encoding/binary"
	"strings"
)

// cookieName is the one way of opening a display that is spoken here; local displays know no other.
const cookieName = "MIT-MAGIC-COOKIE-1"

// The kinds of addresses in an authority file that can be of a display of this machine.
const (
	familyLocal = 256
	familyWild  = 65535
)

// cookie finds the key to a display of this machine in the bytes of an authority file: a row of family,
// address, display number, name and data, each but the family with its length before it, in network order.
// nil when none fits or the file is damaged before it comes.
func cookie(file []byte, host, display string) []byte {
	for len(file) >= 2 {
		family := binary.BigEndian.Uint16(file)
		file = file[2:]
		var field [4][]byte
		for i := range field {
			if len(file) < 2 {
				return nil
			}
			n := int(binary.BigEndian.Uint16(file))
			if len(file) < 2+n {
				return nil
			}
			field[i], file = file[2:2+n], file[2+n:]
		}
		address, number, name, data := string(field[0]), string(field[1]), string(field[2]), field[3]
		if (family == familyWild || family == familyLocal && address == host) && (number == "" || number == display) &&
			name == cookieName && len(data) == 16 {
			return data
		}
	}
	return nil
}

// displaySocket returns the number of a display of this machine and the path of its socket. Displays of other
// machines, among them those ssh forwards, are not: whatever has a window there is not a process of ours.
func displaySocket(display string) (number, socket string, ok bool) {
	host, rest, found := cutLast(display, ':')
	number, _, _ = strings.Cut(rest, ".")
	if !found || number == "" || len(number) > 5 || strings.Trim(number, "0123456789") != "" {
		return "", "", false
	}
	switch {
	case host == "" || host == "unix":
		return number, "/tmp/.X11-unix/X" + number, true
	case strings.HasPrefix(host, "/"): // as macOS's X server names its own
		return number, host + ":" + number, true
	}
	return "", "", false
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

//go:build linux || freebsd || openbsd || netbsd

package alert

import (
	"errors"
	"fmt"
	"html"
	"os"
	"strconv"
	"strings"

	"github.com/gen2brain/beeep"
)

var errNoBus = errors.New("no session bus is named")

// send shows a popup. The desktop reads the body as markup, so it is escaped here.
func send(title, body string, icon []byte) error {
	if !busNamed() {
		return errNoBus
	}
	if strings.HasPrefix(body, "-") {
		body = " " + body // where notify-send has to help out, it must not be taken for an option
	}
	if err := beeep.Notify(title, html.EscapeString(body), picture(icon)); err != nil {
		return fmt.Errorf("show popup: %w", err)
	}
	return nil
}

// busNamed tells whether the library finds a bus by itself. When it does not it would run dbus-launch,
// and the bus that starts outlives the program.
func busNamed() bool {
	if a := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); a != "" {
		return !strings.HasPrefix(a, "autolaunch:")
	}
	_, err := os.Stat("/run/user/" + strconv.Itoa(os.Getuid()) + "/bus")
	return err == nil
}

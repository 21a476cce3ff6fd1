// Package home says where everything of Tower lies on this machine, creates those folders, and
// refuses a place that cannot keep a ledger safe. Any package may use it; the hook does, so it holds
// nothing but the standard library. It never reads or writes a file of its own and never removes
// anything: the worst it does is to make an empty folder that only its owner can enter.
//
// A home is three folders. Config is the person's, Data is Tower's memory, Runtime holds what ends
// with the process (sockets and where to find them). TOWER_HOME puts the first two into one folder.
package home

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// EnvHome names the variable that puts config and data together in one folder.
const EnvHome = "TOWER_HOME"

// socketMax is the longest path of a socket in bytes: 108 with a closing NUL on Linux, 104 on the
// BSDs and macOS. One limit for all keeps a home usable when it moves.
const socketMax = 103

// Home is the set of folders of one Tower. Its zero fields are places that this process does not
// need and must not touch.
type Home struct {
	Config  string // the person's files
	Data    string // the ledger, the inbox, the logs
	Runtime string // sockets; gone after a reboot
}

// Resolve finds the home that the environment asks for on the operating system goos. It makes
// nothing. A variable that is set to something unusable is an error in one sentence, never silently
// skipped: events and a ledger in a place nobody looks would be worse than not starting.
func Resolve(getenv func(string) string, goos string) (Home, error) {
	h, err := folders(getenv, goos)
	if err != nil {
		return Home{}, err
	}
	h.Runtime, err = runtimeFolder(getenv, goos, h.Data)
	if err != nil {
		return Home{}, err
	}
	return h, nil
}

// ForHook returns the home of the hook whose program file is executable: the folder above the one
// that holds it. The environment has no say, because an agent's terminal may carry any value of
// TOWER_HOME, HOME or XDG_*, and its events belong to the Tower that installed the hook. Only Data
// is set.
func ForHook(executable string) Home {
	return Home{Data: filepath.Dir(filepath.Dir(executable))}
}

func folders(getenv func(string) string, goos string) (Home, error) {
	if dir := getenv(EnvHome); dir != "" {
		if !isAbs(goos, dir) {
			return Home{}, fmt.Errorf("%s must be an absolute path, it is %q", EnvHome, dir)
		}
		dir = clean(goos, dir)
		return Home{Config: dir, Data: dir}, nil
	}
	switch goos {
	case "windows":
		local := getenv("LOCALAPPDATA")
		if local == "" {
			profile := getenv("USERPROFILE")
			if profile == "" {
				return Home{}, fmt.Errorf("neither LOCALAPPDATA nor USERPROFILE is set: set %s to a folder for Tower", EnvHome)
			}
			local = join(goos, profile, "AppData", "Local")
		}
		if !isAbs(goos, local) {
			return Home{}, fmt.Errorf("LOCALAPPDATA must be an absolute path, it is %q", local)
		}
		dir := join(goos, local, "tower")
		return Home{Config: dir, Data: dir}, nil
	case "darwin", "ios":
		user, err := userHome(getenv, goos)
		if err != nil {
			return Home{}, err
		}
		dir := join(goos, user, "Library", "Application Support", "tower")
		return Home{Config: dir, Data: dir}, nil
	}
	config, err := xdg(getenv, goos, "XDG_CONFIG_HOME", ".config")
	if err != nil {
		return Home{}, err
	}
	data, err := xdg(getenv, goos, "XDG_DATA_HOME", ".local/share")
	if err != nil {
		return Home{}, err
	}
	return Home{Config: config, Data: data}, nil
}

func xdg(getenv func(string) string, goos, name, otherwise string) (string, error) {
	if dir := getenv(name); dir != "" {
		if !isAbs(goos, dir) {
			return "", fmt.Errorf("%s must be an absolute path, it is %q", name, dir)
		}
		return join(goos, dir, "tower"), nil
	}
	user, err := userHome(getenv, goos)
	if err != nil {
		return "", err
	}
	return join(goos, user, otherwise, "tower"), nil
}

func userHome(getenv func(string) string, goos string) (string, error) {
	dir := getenv("HOME")
	if dir == "" {
		return "", fmt.Errorf("HOME is not set: set it, or set %s to a folder for Tower", EnvHome)
	}
	if !isAbs(goos, dir) {
		return "", fmt.Errorf("HOME must be an absolute path, it is %q", dir)
	}
	return dir, nil
}

// runtimeFolder picks the first folder for short-lived files that exists, is ours to write and short
// enough for a socket in it. Its name hangs on the data folder, so two homes of one person never
// meet, and on nothing else, so every program of one home arrives at the same one.
func runtimeFolder(getenv func(string) string, goos, data string) (string, error) {
	sum := sha1.Sum([]byte(canonical(goos, data)))
	name := "tower-" + hex.EncodeToString(sum[:4])
	var tried []string
	for _, c := range runtimeBases(getenv, goos) {
		if c.dir == "" || !isAbs(goos, c.dir) {
			continue
		}
		dir := join(goos, c.dir, name)
		switch {
		case len(join(goos, dir, "tower.sock")) > socketMax:
			tried = append(tried, c.dir+" (too long for a socket)")
		case goos == runtime.GOOS && !usable(c.dir, c.own):
			tried = append(tried, c.dir+" (not a folder to write in)")
		default:
			return dir, nil
		}
	}
	return "", fmt.Errorf("no folder for sockets: tried %s; set XDG_RUNTIME_DIR to a short path of yours", strings.Join(tried, ", "))
}

type base struct {
	dir string
	own bool // only good when it belongs to this user
}

func runtimeBases(getenv func(string) string, goos string) []base {
	if goos == "windows" {
		return []base{{dir: getenv("TEMP")}, {dir: getenv("TMP")}, {dir: `C:\Windows\Temp`}}
	}
	bases := []base{{getenv("XDG_RUNTIME_DIR"), true}}
	if goos == "linux" {
		// A shell from cron or su lacks the variable, and still has to find the tower of the desktop.
		bases = append(bases, base{fmt.Sprintf("/run/user/%d", os.Geteuid()), true})
	}
	return append(bases, base{dir: getenv("TMPDIR")}, base{dir: "/tmp"})
}

// canonical follows the links in the part of a path that exists, so that two spellings of one folder
// are one, before it is made as well as after.
func canonical(goos, dir string) string {
	if goos != runtime.GOOS {
		return clean(goos, dir)
	}
	rest := ""
	for at := filepath.Clean(dir); ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(at)
		if up == at {
			return filepath.Clean(dir)
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = up
	}
}

func isAbs(goos, p string) bool {
	if goos != "windows" {
		return strings.HasPrefix(p, "/")
	}
	p = strings.ReplaceAll(p, "/", `\`)
	return strings.HasPrefix(p, `\\`) || len(p) > 2 && p[1] == ':' && p[2] == '\\'
}

func clean(goos, p string) string {
	if goos == runtime.GOOS {
		return filepath.Clean(p)
	}
	if goos == "windows" && len(p) > 3 {
		return strings.TrimRight(p, `\/`)
	}
	if p != "/" {
		return strings.TrimRight(p, "/")
	}
	return p
}

func join(goos string, parts ...string) string {
	if goos == runtime.GOOS {
		return filepath.Join(parts...)
	}
	sep := "/"
	if goos == "windows" {
		sep = `\`
	}
	for i := range parts[:len(parts)-1] {
		parts[i] = strings.TrimRight(parts[i], `\/`)
	}
	return strings.Join(parts, sep)
}

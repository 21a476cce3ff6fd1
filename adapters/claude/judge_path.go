package claude

import "strings"

// Transcripts come from any system, so paths are read by their own form, not by that of this machine.

// drive returns the length of the part of a Windows path that names a volume: "C:" or "\\host\share".
func drive(p string) int {
	if len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z') {
		return 2
	}
	if len(p) < 5 || p[:2] != `\\` {
		return 0
	}
	host := strings.IndexByte(p[2:], '\\')
	if host <= 0 {
		return 0
	}
	share := strings.IndexAny(p[2+host+1:], `\/`)
	if share < 0 {
		return len(p)
	}
	return 2 + host + 1 + share
}

// absolute tells whether p is an absolute path of any system.
func absolute(p string) bool { return strings.HasPrefix(p, "/") || drive(p) > 0 }

// separators of the path's own system: a backslash is an ordinary character elsewhere.
func separators(p string) string {
	if strings.HasPrefix(p, "/") {
		return "/"
	}
	return `\/`
}

// parentOf returns the folder of an absolute path, or "".
func parentOf(p string) string {
	if !absolute(p) {
		return ""
	}
	i := strings.LastIndexAny(p, separators(p))
	return trimSlash(p[:i+1])
}

// trimSlash removes separators at the end, but for a root.
func trimSlash(p string) string {
	root := max(drive(p), 0)
	end := strings.TrimRight(p[root:], separators(p))
	if end == "" && len(p) > root {
		return p[:root+1]
	}
	return p[:root] + end
}

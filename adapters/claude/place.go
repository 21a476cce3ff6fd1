package claude

import (
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"tower/core"
)

// rootEnv is the variable that moves the agent's folder.
const rootEnv = "CLAUDE_CONFIG_DIR"

// moved tells whether the root is another folder than the one the agent takes without being told. The
// two differ in more than the place: a moved root holds the account file, which else lies beside it.
func (a *Adapter) moved() bool {
	if a.home == "" {
		return false
	}
	usual := filepath.Join(a.home, ".claude")
	if filepath.Clean(a.info.Root) == usual {
		return false
	}
	one, err1 := os.Stat(usual)
	two, err2 := os.Stat(a.info.Root)
	return err1 != nil || err2 != nil || !os.SameFile(one, two)
}

// environ returns what a command of the agent needs in its environment. A root that was moved is named
// again, because the scrubbing takes its variable away with the others; the usual one is not, because
// naming it would have the agent look for its account file inside it.
func (a *Adapter) environ() map[string]string {
	if !a.moved() {
		return nil
	}
	return map[string]string{rootEnv: a.info.Root}
}

// account returns the file in which the agent keeps what it knows of its user and of folders.
func (a *Adapter) account() string {
	if old := filepath.Join(a.info.Root, ".config.json"); isFile(old) {
		return old
	}
	if a.moved() {
		return filepath.Join(a.info.Root, ".claude.json")
	}
	return filepath.Join(filepath.Dir(a.info.Root), ".claude.json")
}

// longest is how much of a folder's name the agent keeps of a start directory; a longer one ends in a
// hash of the whole.
const longest = 200

// folderName is the name of the project folder for a start directory: whatever is no ASCII letter or
// digit reads as a dash, counted in UTF-16. whole is false when a hash would follow.
func folderName(dir string) (name string, whole bool) {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(dir)) {
		if u < 0x80 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	if b.Len() > longest {
		return b.String()[:longest], false
	}
	return b.String(), true
}

// transcript returns the session's file: where it was recorded, else where the agent keeps the session
// of that id and start directory. It is "" when there is none in either place.
func (a *Adapter) transcript(s core.Session) string {
	if s.Transcript != "" && isFile(s.Transcript) {
		return s.Transcript
	}
	if !core.IsUUID(s.Native) || s.CWD == "" {
		return ""
	}
	name, whole := folderName(realPath(s.CWD))
	tops := a.info.Transcripts
	if len(tops) == 0 {
		tops = []string{"projects"}
	}
	for _, top := range tops {
		top = filepath.Join(a.info.Root, top)
		dirs := []string{name}
		if !whole {
			dirs = nil
			entries, _ := list(top) // a folder that cannot be read holds nothing that can be resumed
			for _, e := range entries {
				if strings.HasPrefix(e.Name(), name+"-") {
					dirs = append(dirs, e.Name())
				}
			}
		}
		for _, dir := range dirs {
			if file := filepath.Join(top, dir, s.Native+suffix); isFile(file) {
				return file
			}
		}
	}
	return ""
}

// realPath resolves links as far as the path exists.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// repository returns the folder of the git repository around dir as the agent sees it, and the one
// that a worktree belongs to; both are "" outside of one.
func repository(dir string) (root, of string) {
	for at := dir; ; at = filepath.Dir(at) {
		st, err := os.Stat(filepath.Join(at, ".git"))
		switch {
		case err == nil && st.IsDir():
			return at, at
		case err == nil && st.Mode().IsRegular():
			return at, worktreeOf(at)
		}
		if filepath.Dir(at) == at {
			return "", ""
		}
	}
}

// worktreeOf returns the main folder of the repository whose worktree root is, or root itself. Both
// sides must name each other: a .git file alone may say anything.
func worktreeOf(root string) string {
	link, ok := strings.CutPrefix(firstLine(filepath.Join(root, ".git")), "gitdir:")
	if !ok {
		return root
	}
	own := against(root, strings.TrimSpace(link))
	common := firstLine(filepath.Join(own, "commondir"))
	back := firstLine(filepath.Join(own, "gitdir"))
	if common == "" || back == "" {
		return root
	}
	common = against(own, common)
	if filepath.Dir(own) != filepath.Join(common, "worktrees") || realPath(back) != filepath.Join(realPath(root), ".git") {
		return root
	}
	if filepath.Base(common) != ".git" {
		return common
	}
	return filepath.Dir(common)
}

func against(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// firstLine reads a small file of one line; "" is what cannot be read.
func firstLine(path string) string {
	b, err := readSmall(path, 16<<10)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

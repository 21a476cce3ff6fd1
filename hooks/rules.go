package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxRules is the most the hook prints; more than a pipe holds could make it wait for its reader.
const maxRules = 64 << 10

// printRules prints the standing rules that the tower prepared for the agent, those of the repository
// the session works in if there are any. The folder may lie on a disk that does not answer, so that
// question has the deadline too, and the agent's general rules are the answer then.
func (c *call) printRules(cwd string) {
	repository := make(chan string, 1)
	go func() {
		defer func() { _ = recover() }()
		repository <- repositoryName(cwd)
	}()
	timer := time.NewTimer(c.left(rulesDeadline))
	defer timer.Stop()
	paths := []string{c.home.PreparedRules(c.agent)}
	select {
	case name := <-repository:
		if name != "" {
			paths = []string{c.home.PreparedProject(c.agent, name), paths[0]}
		}
	case <-timer.C:
		c.note("the session's folder does not answer")
	}
	for _, path := range paths {
		rules, err := readRules(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = emit(rules)
		}
		if err != nil {
			c.note("no rules: " + err.Error())
		} else if len(rules) > 0 {
			c.note("rules of " + strconv.Itoa(len(rules)) + " bytes")
		}
		return
	}
}

// readRules reads a file whole or not at all: half of it may be no valid answer to the agent.
func readRules(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRules+1))
	if err == nil && len(b) > maxRules {
		err = errors.New(path + " has more than " + strconv.Itoa(maxRules) + " bytes")
	}
	return b, err
}

// emit writes to standard output past the os package, which ends the program by a signal when the
// reader is gone.
func emit(b []byte) error {
	for len(b) > 0 {
		n, err := syscall.Write(syscall.Stdout, b)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// repositoryName returns the name of the folder of the repository that holds dir: that of the main
// one for a worktree, so that rules hold in all of them. Without a repository it is the folder's own.
// It never returns more than the name of a folder.
func repositoryName(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	dir = filepath.Clean(dir)
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(filepath.Join(at, ".git"))
		if err == nil {
			if !info.IsDir() {
				return folderName(mainRepository(at))
			}
			return folderName(at)
		}
		if filepath.Dir(at) == at {
			return folderName(dir)
		}
	}
}

func folderName(dir string) string {
	name := filepath.Base(dir)
	if name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		return ""
	}
	return name
}

// mainRepository follows the .git file of a worktree, "gitdir: MAIN/.git/worktrees/NAME". That of a
// submodule leads elsewhere, and it is a repository of its own.
func mainRepository(dir string) string {
	f, err := os.Open(filepath.Join(dir, ".git"))
	if err != nil {
		return dir
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 16<<10))
	if err != nil {
		return dir
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir:")
	if !ok {
		return dir
	}
	to = filepath.FromSlash(strings.TrimSpace(to))
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	worktrees := filepath.Dir(filepath.Clean(to))
	if filepath.Base(worktrees) != "worktrees" {
		return dir
	}
	git := filepath.Dir(worktrees)
	if filepath.Base(git) == ".git" {
		return filepath.Dir(git)
	}
	return strings.TrimSuffix(git, ".git") // a bare repository
}

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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
	paths := []string{c.home.PreparedRules(c.agent)}
	name, ok := await(repository, c.until(rulesDeadline))
	switch {
	case !ok:
		c.note("the session's folder does not answer")
	case name != "":
		paths = []string{c.home.PreparedProject(c.agent, name), paths[0]}
	}
	for _, path := range paths {
		// Whole or not at all: half of it may be no valid answer to the agent.
		rules, err := readSmall(path, maxRules)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = emit(rules)
		}
		if err != nil {
			c.note("no rules: " + path + ": " + err.Error())
		} else if len(rules) > 0 {
			c.note("rules of " + strconv.Itoa(len(rules)) + " bytes")
		}
		return
	}
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
	b, err := readSmall(filepath.Join(dir, ".git"), 16<<10)
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

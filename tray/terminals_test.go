package main

import (
	"slices"
	"testing"

	"tower/core/config"
	"tower/core/term"
)

// TestTerminalsAreOfOneMind: a person may configure exactly the terminals that can be opened.
func TestTerminalsAreOfOneMind(t *testing.T) {
	a, b := slices.Sorted(slices.Values(config.Terminals)), slices.Sorted(slices.Values(term.Names()))
	if !slices.Equal(a, b) {
		t.Errorf("config knows %q, term knows %q", a, b)
	}
}

// TestMuxEnv: what the tmux server is started with stays in it for ever, so no key of the person is there.
func TestMuxEnv(t *testing.T) {
	got := muxEnv([]string{"HOME=/h", "PATH=/usr/bin", "OPENAI_API_KEY=secret", "CLAUDECODE=1", "TMUX=/x,1,0", "DISPLAY=:1", "LANG=C.UTF-8"})
	want := []string{"TERM=xterm-256color", "HOME=/h", "PATH=/usr/bin", "LANG=C.UTF-8"}
	if !slices.Equal(got, want) {
		t.Errorf("muxEnv = %q, want %q", got, want)
	}
}

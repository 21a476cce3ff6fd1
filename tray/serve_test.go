package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tower/tray/cli"
)

// A tower told to end before it is up ends like any other.
func TestToldToEndBeforeItIsUp(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	if err := os.Mkdir(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	set := map[string]string{"HOME": dir, "TOWER_HOME": filepath.Join(dir, "tower"), "XDG_RUNTIME_DIR": filepath.Join(dir, "run"), "TOWER_PORT": "0"}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var said strings.Builder
	code := cli.Run(ctx, cli.Program{
		Out: &said, Err: &said, Getenv: func(k string) string { return set[k] },
		Serve: func(ctx context.Context, env *cli.Env, icon bool) error { return serve(ctx, env, icon, nil) },
	}, []string{"serve"})
	if code != cli.ExitDone {
		t.Errorf("exit code %d, said %q", code, said.String())
	}
}

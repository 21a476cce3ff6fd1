package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"tower/tray/cli"
)

// version is that of the next release.
const version = "0.1.0"

func main() {
	runMain(func(first mainThread) int { return run(first, os.Args[1:]) })
}

// run carries out one command line. An interrupt ends what runs in an orderly way.
func run(first mainThread, args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Run(ctx, cli.Program{
		Version: version, HookName: hookName, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv,
		Serve: func(ctx context.Context, env *cli.Env, icon bool) error { return serve(ctx, env, icon, first) },
	}, args)
}

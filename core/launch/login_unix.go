//go:build unix

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// output runs a program in a session of its own, without a terminal or input, until done is
// satisfied by what it has printed, it has ended, or the context has. In the last case its group is
// killed, in the first it may end by itself: what a start file leaves running is the person's.
func output(ctx context.Context, program string, args, env []string, done func([]byte) bool) ([]byte, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Stdout = env, out
	if home, ok := lookup(env, "HOME"); ok && isFolder(home) {
		cmd.Dir = home
	} else {
		cmd.Dir = "/"
	}
	// In the tower's own session an interactive shell would stop at taking the terminal for itself.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	out.Close()
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer context.AfterFunc(ctx, func() { in.Close() })() // wakes the reading

	var text []byte
	buf := make([]byte, 32<<10)
	for len(text) < maxEnviron && !done(text) {
		n, err := in.Read(buf)
		text = append(text, buf[:n]...)
		if err != nil {
			break
		}
	}
	why := errors.New("its output does not end")
	if len(text) < maxEnviron {
		// A process that the start files left behind may hold the pipe, so the end of the shell counts,
		// not the end of what can be read.
		select {
		case err = <-ended:
			if err != nil {
				err = fmt.Errorf("it printed %d bytes: %w", len(text), err)
			}
			return text, err
		case <-ctx.Done():
			why = ctx.Err()
		}
	}
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	cmd.Process.Kill() // it may have left its group
	<-ended
	return text, why
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

package launch

import (
	"errors"
	"os"
	"os/exec"
	"strings"

	"tower/core"
	"tower/core/proc"
)

// Not verified: compiled only.

// become starts the program and stays beside it, since nothing can take a process over here. The
// report names the child.
func (l *launcher) become(program string, argv, env []string) error {
	cmd := exec.Command(program, argv[1:]...)
	cmd.Args[0], cmd.Env = argv[0], env
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if !l.order.NullIn {
		cmd.Stdin = os.Stdin
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	child := core.Process{Boot: proc.Boot(), PID: cmd.Process.Pid}
	child.Start, _ = proc.Start(child.PID)
	_ = l.tell(EventExec, child, "") // the tower finds it by the token as well
	err := cmd.Wait()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return Exit(ended.ExitCode())
	}
	if err != nil {
		return err
	}
	return Exit(0)
}

func hangUp() {}

func nullIn() error { return nil } // the child's, see become

func ttyName(uint64) string { return "" }

func executable(string) error { return nil } // the ending says it

// endings are those that a program's name may lack.
func endings(name string, env []string) []string {
	if strings.Contains(name, ".") {
		return []string{""}
	}
	list, ok := lookup(env, "PATHEXT")
	if !ok {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	return strings.Split(list, ";")
}

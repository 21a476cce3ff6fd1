package proc

import (
	"io"
	"os"
	"os/exec"
	"testing"
)

const envChild = "TOWER_TEST_CHILD"

// TestMain turns the test program into a child that says that it runs and waits for the end of its
// standard input.
func TestMain(m *testing.M) {
	if os.Getenv(envChild) != "" {
		becomes()
		os.Stdout.WriteString("up\n")
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type child struct {
	pid int
	end func() // ends it and waits
}

// start runs a child with these arguments, and returns once it runs.
func start(t *testing.T, dir string, files []*os.File, args ...string) child {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), envChild+"=1", "TOWER_TEST_VALUE=a=b")
	cmd.Dir = dir
	cmd.ExtraFiles = files
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			in.Close()
			cmd.Wait()
		}
	}
	t.Cleanup(end)
	if _, err := io.ReadFull(out, make([]byte, 3)); err != nil {
		t.Fatalf("child did not start: %v", err)
	}
	return child{cmd.Process.Pid, end}
}

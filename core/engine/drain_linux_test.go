package engine

import (
	"os/exec"
	"testing"
	"time"

	"tower/core"
	"tower/core/proc"
)

// TestAliveIsNoZombie: what has ended and was not waited for has a start still, and does not live.
func TestAliveIsNoZombie(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	start, _ := proc.Start(cmd.Process.Pid)
	p := core.Process{Boot: proc.Boot(), PID: cmd.Process.Pid, Start: start}
	if !alive(p) {
		t.Error("a running process is not alive")
	}
	cmd.Process.Kill()
	defer cmd.Wait()
	for deadline := time.Now().Add(5 * time.Second); alive(p); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a zombie is alive")
		}
	}
}

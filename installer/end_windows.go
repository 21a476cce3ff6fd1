package installer

import "os/exec"

// endAll leaves the default: the agent alone is ended at the deadline.
func endAll(*exec.Cmd) {}

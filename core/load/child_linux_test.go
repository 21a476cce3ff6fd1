package load

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

func childOf(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Skip(err)
	}
	// A Go program may fork from any of its threads.
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		more, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err == nil {
			b = append(append(b, ' '), more...)
		}
	}
	child, err := strconv.Atoi(strings.Fields(string(b) + " none")[0])
	if err != nil {
		t.Fatalf("process %d has no child", pid)
	}
	return child
}

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tagName is the variable whose value marks every process of a run.
const tagName = "E2E_TAG"

// patience multiplies the deadlines of agents and rig.
var patience = 4.0

// st is the stage of this run. There is one: agents, services and the tower are what the gates are
// about, and each gate's place in their table is part of the story they tell.
var st *stage

// gate is one thing that has to be shown with the real parts.
type gate struct {
	name  string
	needs []string // the parts it cannot do without
	run   func(t *testing.T)
}

// outcome of a gate.
type outcome struct {
	name, word string
	took       time.Duration
}

var outcomes []outcome

func TestMain(m *testing.M) {
	os.Exit(play(m))
}

func play(m *testing.M) int {
	if v := os.Getenv("E2E_PATIENCE"); v != "" {
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || f < 1 {
			fmt.Fprintf(os.Stderr, "E2E_PATIENCE=%q is not a number from 1\n", v)
			return 2
		}
		patience = f
	}
	var err error
	st, err = newStage()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare:", err)
		return 1
	}
	defer st.close()
	code := m.Run()
	fmt.Println("\ngates:")
	for _, o := range outcomes {
		fmt.Printf("  %-44s %6.1f s  %s\n", o.name, o.took.Seconds(), o.word)
	}
	return code
}

// TestGates runs every gate in the order of the table: later ones count what earlier ones left.
func TestGates(t *testing.T) {
	skip := strings.Split(os.Getenv("E2E_SKIP"), ",")
	for _, g := range gates {
		o := outcome{name: g.name, word: "RAN"}
		began := time.Now()
		t.Run(g.name, func(t *testing.T) {
			defer func() {
				o.took = time.Since(began)
				switch {
				case t.Skipped() && o.word == "RAN":
					o.word = "SKIPPED(by the test itself)"
				case t.Failed():
					o.word = "FAILED"
					st.tidy()
				}
				outcomes = append(outcomes, o)
			}()
			for _, part := range g.needs {
				if slices.Contains(skip, part) {
					o.word = "SKIPPED(E2E_SKIP names " + part + ")"
					t.Skip("E2E_SKIP names " + part)
				}
				if err := st.missing[part]; err != nil {
					t.Fatalf("%s cannot be had: %v", part, err)
				}
			}
			g.run(t)
		})
	}
}

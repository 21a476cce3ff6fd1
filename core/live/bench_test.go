package live

import (
	"fmt"
	"testing"

	"tower/core"
)

// BenchmarkRows orders ten thousand sessions, fifty of them live: what one new Snapshot costs.
func BenchmarkRows(b *testing.B) {
	p := New(nil)
	for i := range 10_000 {
		native := fmt.Sprintf("%08d-0000-4000-8000-000000000000", i)
		at := core.Instant(1_700_000_000_000 + (i*7919)%10_000*60_000)
		p.Apply(core.Event{Kind: core.EventFacts, At: at, Agent: agent, Native: native, Transcript: "/t/" + native,
			Facts: &core.Facts{Agent: agent, Native: native, Class: core.ClassMain, Lines: 10, Bytes: 1000, Turns: 5, FirstAt: at, LastAt: at + 1000, First: "a prompt"}})
		if i%200 == 0 {
			p.Apply(core.Event{Kind: core.EventStart, At: at + 2000, Agent: agent, Native: native, Alive: true, Proc: core.Process{Boot: "b", PID: i + 2, Start: uint64(i + 2)}})
		}
	}
	for b.Loop() {
		if rows, counts, _ := p.Rows(); len(rows) != 10_000 || counts.Live != 50 {
			b.Fatalf("%d rows, %+v", len(rows), counts)
		}
	}
}

package adaptertest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tower/core"
)

func (s Suite) evidence(t *testing.T) {
	a, _ := s.adapter(t)
	for _, table := range []*RecordedTable{NewTable("boot"), NewTable("boot", RecordedProc{Proc: core.Proc{PID: 1, Start: 1}})} {
		if got, err := a.Evidence(t.Context(), table); err != nil || len(got) != 0 {
			t.Errorf("Evidence in an empty folder = %v, %v", got, err)
		}
	}
	if len(s.Evidence) == 0 {
		t.Skip("no recorded evidence")
	}
	for _, c := range s.Evidence {
		t.Run(c.Name, func(t *testing.T) { s.evidenceCase(t, c) })
	}
}

func (s Suite) evidenceCase(t *testing.T, c EvidenceCase) {
	see := func(t *testing.T, a core.Adapter, table core.Table) []string {
		t.Helper()
		seen, err := a.Evidence(t.Context(), table)
		if err != nil {
			t.Fatalf("Evidence: %v", err)
		}
		ids := []string{}
		for _, x := range seen {
			s.sighting(t, table, x)
			s.commands(t, a, x)
			ids = append(ids, x.Native)
		}
		slices.Sort(ids)
		return ids
	}
	want := append([]string{}, c.Want...)
	slices.Sort(want)
	none := []string{}
	a, root := s.adapter(t)
	if c.Fill != nil {
		c.Fill(t, root, c.Table)
	}
	is := func(t *testing.T, what string, want, got []string) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s:\n%s", what, d)
		}
	}
	is(t, "as recorded", want, see(t, a, c.Table))
	is(t, "asked again", want, see(t, a, c.Table))
	is(t, "no process left", none, see(t, a, NewTable(c.Table.Boot())))
	is(t, "only remains of processes left", none, see(t, a, c.Table.Each(func(p *RecordedProc) bool {
		p.State = 'Z'
		return true
	})))
	if c.Table.Locks() == nil {
		is(t, "every pid used again", none, see(t, a, c.Table.Each(func(p *RecordedProc) bool {
			p.Start += 100
			return true
		})))
	}
	is(t, "other programs under the same pids", none, see(t, a, c.Table.Each(func(p *RecordedProc) bool {
		p.Exe, p.Args = "/usr/bin/vim", []string{"vim"}
		return true
	})))
	is(t, "executables that cannot be read", none, see(t, a, c.Table.Each(func(p *RecordedProc) bool {
		p.Hidden = append(p.Hidden, "exe", "args")
		return true
	})))
	// Files, folder and environment only help; without them what is proved stays proved.
	see(t, a, c.Table.Each(func(p *RecordedProc) bool {
		p.Hidden = append(p.Hidden, "cwd", "env", "files")
		return true
	}))
	narrow := s.Info
	narrow.Root, narrow.Exe, narrow.Argv = root, []string{"/nowhere/at/all"}, nil
	is(t, "an agent whose executables are elsewhere", none, see(t, s.New(narrow), c.Table))
	if c.Spoil != nil {
		c.Spoil(t, root, c.Table)
		is(t, "beside a record that cannot be read", want, see(t, a, c.Table))
	}
}

// sighting checks one claim.
func (s Suite) sighting(t *testing.T, table core.Table, x core.Sighting) {
	t.Helper()
	if x.Agent != s.Info.Agent || x.Native == "" || !core.Alive(table, x.Proc) || x.Grade == "" {
		t.Errorf("sighting without agent, session, living process or grade: %+v", x)
	}
	if (len(x.Signal) == 0) != (x.Caution != "" || x.NoEnd != "") {
		t.Errorf("sighting of %s: %d processes to signal, caution %q, %q", x.Native, len(x.Signal), x.Caution, x.NoEnd)
	}
	if x.Shared && len(x.Signal) > 0 {
		t.Errorf("sighting of %s would signal a shared process", x.Native)
	}
	for _, p := range append(slices.Clone(x.Signal), x.MustGo...) {
		if !core.Alive(table, p) {
			t.Errorf("sighting of %s names %+v, which the table does not hold", x.Native, p)
		}
	}
	if (x.Pill == core.PillOther) && x.Raw == "" {
		t.Errorf("sighting of %s has an unknown state without the agent's word for it", x.Native)
	}
	if x.Wait != "" && x.Pill != core.PillWaiting {
		t.Errorf("sighting of %s waits for %q and is %q", x.Native, x.Wait, x.Pill)
	}
}

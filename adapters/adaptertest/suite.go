package adaptertest

import (
	"testing"

	"tower/core"
)

// Suite holds one adapter against the contract of [core.Adapter] and of the second interfaces it
// implements. What a field does not give is not tested, and the sub-test says so by being skipped;
// Info and New are required.
type Suite struct {
	// Info are the facts of the agent; Root is replaced by folders of the suite's own.
	Info core.AgentInfo
	New  func(info core.AgentInfo) core.Adapter

	// Hooks is a folder of recorded hook objects, a file each, named EVENT.json or EVENT.more.json
	// or EVENT-more.json: the object itself, or one that holds it as "stdin".
	Hooks string

	// Fill lays out a root that holds transcripts, at least one of them as the agent would find it when
	// it takes the session up again. Whole says that a source cannot be cut into
	// pieces, as a database cannot.
	Fill  func(t *testing.T, root string)
	Whole bool

	Evidence []EvidenceCase

	// Session is one that can be resumed.
	Session core.Session
	// Malformed are hook files the installer must refuse.
	Malformed []string
	// Contents are hook files as people leave them.
	Contents []string
}

// EvidenceCase is a recorded moment: what the agent's folder and the process table held, and which
// sessions they prove.
type EvidenceCase struct {
	Name  string
	Table *RecordedTable
	// Fill lays out the agent's records. It may add to the table what depends on them, such as locks.
	Fill func(t *testing.T, root string, table *RecordedTable)
	// Spoil makes one more record, unreadable or half-written, beside the others; nil is no such test.
	Spoil func(t *testing.T, root string, table *RecordedTable)
	// Want are the native ids, in any order; an id driven by two processes stands twice.
	Want []string
}

// Run runs everything the fields allow.
func (s Suite) Run(t *testing.T) {
	t.Run("facts", s.facts)
	t.Run("decode", s.decode)
	t.Run("transcripts", s.transcripts)
	t.Run("scan", s.scan)
	t.Run("evidence", s.evidence)
	t.Run("launch", s.launch)
	t.Run("hooks", s.hooks)
	t.Run("keeper and teller", s.kept)
	t.Run("confirmer", s.confirms)
	t.Run("doorkeeper", s.doors)
	t.Run("screener", s.screens)
	t.Run("skiller", s.skills)
	t.Run("adopter", s.adopts)
}

// adapter returns one for a fresh root.
func (s Suite) adapter(t *testing.T) (core.Adapter, string) {
	info := s.Info
	info.Root = t.TempDir()
	return s.New(info), info.Root
}

func (s Suite) facts(t *testing.T) {
	a, root := s.adapter(t)
	info := a.Agent()
	if info.Agent == "" || info.Root != root || info.Display == "" || info.Tag == "" || len(info.Code) != 2 || info.Install == "" {
		t.Errorf("Agent() = %+v, not all that every face shows", info)
	}
	if w, ok := a.(core.Watched); ok {
		for _, dir := range w.Watch() {
			below(t, root, dir)
		}
	}
}

// Package claim says who is at work on what: while an action on a card, a session or a launch is under
// way, nobody else may begin one on it.
//
// It promises that a key has one holder at the most, that an action which needs several keys gets all
// of them or none, and that a release frees what its own claim took and nothing else. The engine takes
// a claim after every refusal has been decided and before the action's intent is written, and releases
// it when the action's last event is applied; the board takes part in the same [Set]. A face reads
// what is under way from the snapshot and never from here.
//
// Claims live in memory only and nothing waits for one: a key that is held is an answer, given at once.
// A tower that starts anew holds none but those of launches that are still on their way, so no claim outlives
// what was done under it.
package claim

import (
	"slices"
	"sync"

	"tower/core"
)

// Key names one thing that can be claimed. "" is the key of nothing: it is never held.
type Key string

// Session returns the key of a session, "" for none.
func Session(id core.SessionID) Key { return key("session", string(id)) }

// Card returns the key of a card by the outliner's id of its node, "" for none.
func Card(node string) Key { return key("card", node) }

// Launch returns the key of a launch by its token, "" for none.
func Launch(token string) Key { return key("launch", token) }

func key(kind, id string) Key {
	if id == "" {
		return ""
	}
	return Key(kind + ":" + id)
}

// Claim is what is done to a thing, by whom and since when.
type Claim struct {
	What  string // "ending", "resuming", "typing": as a row shows that it is busy
	By    string // the face or the part that asked
	Since core.Instant
}

// Held is the claim that stands in the way of another.
type Held struct {
	Key   Key
	Claim Claim
}

// Set holds the claims. Its methods are safe for concurrent use. The zero value is not ready: see [New].
type Set struct {
	mu       sync.Mutex
	held     map[Key]*Claim // the pointer is the holder's identity
	watchers []func()
}

// New returns a set that holds nothing.
func New() *Set { return &Set{held: map[Key]*Claim{}} }

// Take claims all the keys, or none when one of them is held: held then names the first such key in the
// order given, with its claim, and release does nothing. Otherwise held is nil and the keys are the
// caller's until release is called; calling it again does nothing. The same key given twice counts once.
func (s *Set) Take(c Claim, keys ...Key) (release func(), held *Held) {
	s.mu.Lock()
	for _, k := range keys {
		if other := s.held[k]; other != nil {
			s.mu.Unlock()
			return func() {}, &Held{Key: k, Claim: *other}
		}
	}
	mine := &c
	own := make([]Key, 0, len(keys))
	for _, k := range keys {
		if k != "" && s.held[k] == nil {
			s.held[k] = mine
			own = append(own, k)
		}
	}
	s.unlock(len(own) > 0)
	return func() { s.free(mine, own) }, nil
}

func (s *Set) free(mine *Claim, own []Key) {
	s.mu.Lock()
	changed := false
	for _, k := range own {
		if s.held[k] == mine {
			delete(s.held, k)
			changed = true
		}
	}
	s.unlock(changed)
}

// unlock ends a change and tells it. A watcher may come back to the set, so it is called unlocked.
func (s *Set) unlock(changed bool) {
	var tell []func()
	if changed {
		tell = slices.Clone(s.watchers)
	}
	s.mu.Unlock()
	for _, f := range tell {
		f()
	}
}

// Get returns the claim that holds the key, and whether one does.
func (s *Set) Get(k Key) (Claim, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.held[k]; c != nil {
		return *c, true
	}
	return Claim{}, false
}

// Len returns how many keys are held.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// Watch has f called after every change, from the goroutine that made it and outside the lock. Calls of
// changes that happen at the same time may overlap and may come in any order, so f should only wake
// somebody who then looks.
func (s *Set) Watch(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, f)
}

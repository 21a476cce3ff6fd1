package web

import (
	"fmt"
	"sync"
)

// token is the bearer token of scripts. There is none until a person turns it on, and only its digest
// is kept: it is shown once.
type token struct {
	mu      sync.Mutex
	hash    string
	secrets Secrets
}

func openToken(s Secrets) *token {
	hash, _ := s.Get(secretToken)
	return &token{hash: hash, secrets: s}
}

// on makes a new token; the former one is void.
func (t *token) on() (string, error) {
	secret := "tower_" + newSecret()
	return secret, t.set(digest(secret))
}

func (t *token) off() error { return t.set("") }

func (t *token) set(hash string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.secrets.Set(secretToken, hash); err != nil {
		return fmt.Errorf("keep token: %w", err)
	}
	t.hash = hash
	return nil
}

func (t *token) isOn() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.hash != ""
}

func (t *token) ok(secret string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return matches(secret, t.hash)
}

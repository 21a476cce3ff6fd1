package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"
)

// The cost of one guess, after the second recommended option of RFC 9106 as OWASP lowered it.
const (
	argonMemory  = 19 << 10 // KiB
	argonTime    = 2
	argonThreads = 1
	argonKey     = 32

	minPassword = 8
	maxPassword = 1000
	longestLock = 5 * time.Minute
)

// password lets a browser in that has no ticket. Every wrong guess doubles the wait before the next
// one, for everybody: on loopback there is no address to tell guessers apart, and a ticket always works.
type password struct {
	mu      sync.Mutex
	hash    string
	secrets Secrets
	now     func() time.Time
	wrong   int
	until   time.Time
}

func openPassword(s Secrets, now func() time.Time) *password {
	hash, _ := s.Get(secretPassword)
	return &password{hash: hash, secrets: s, now: now}
}

// set keeps a new password, or none for "".
func (p *password) set(word string) error {
	hash := ""
	if word != "" {
		salt := make([]byte, 16)
		rand.Read(salt)
		key := argon2.IDKey([]byte(word), salt, argonTime, argonMemory, argonThreads, argonKey)
		hash = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
			base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.secrets.Set(secretPassword, hash); err != nil {
		return fmt.Errorf("keep password: %w", err)
	}
	p.hash, p.wrong, p.until = hash, 0, time.Time{}
	return nil
}

func (p *password) isSet() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hash != ""
}

// try compares a guess. wait is how long the next guess has to wait; a guess that comes earlier is not
// compared at all. One guess is compared at a time, which also bounds the memory it takes.
func (p *password) try(word string) (ok bool, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if now.Before(p.until) {
		return false, p.until.Sub(now)
	}
	if p.hash != "" && len(word) <= maxPassword && verify(word, p.hash) {
		p.wrong, p.until = 0, time.Time{}
		return true, 0
	}
	p.wrong++
	wait = min(time.Second<<min(p.wrong-1, 16), longestLock)
	p.until = now.Add(wait)
	return false, wait
}

// locked returns how long the next guess has to wait.
func (p *password) locked() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.until.Sub(p.now()))
}

func verify(word, hash string) bool {
	var version, memory, passes, threads int
	var rest string
	if n, err := fmt.Sscanf(hash, "$argon2id$v=%d$m=%d,t=%d,p=%d$%s", &version, &memory, &passes, &threads, &rest); n != 5 || err != nil {
		return false
	}
	if version != argon2.Version || memory < 1 || memory > 1<<20 || passes < 1 || passes > 64 || threads < 1 || threads > 64 {
		return false
	}
	for i := range rest {
		if rest[i] == '$' {
			salt, err1 := base64.RawStdEncoding.DecodeString(rest[:i])
			want, err2 := base64.RawStdEncoding.DecodeString(rest[i+1:])
			if err1 != nil || err2 != nil || len(want) < 16 {
				return false
			}
			got := argon2.IDKey([]byte(word), salt, uint32(passes), uint32(memory), uint8(threads), uint32(len(want)))
			return subtle.ConstantTimeCompare(got, want) == 1
		}
	}
	return false
}

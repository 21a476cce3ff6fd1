package core

import (
	"crypto/rand"
	"crypto/sha1"
	"encoding/hex"
	"errors"
)

// SessionID identifies one session of one agent for ever, across restarts and resumes. It is called
// asm_id in the ledger and in the hook's event file.
type SessionID string

// Namespace is the name space of [NewSessionID]. It must never change: every stored id hangs on it.
const Namespace = "5b0f7a1e-6f0c-4b5e-9a53-2f1f8d6f7a10"

// NewSessionID derives the id of an agent's session from the agent's own id for it. The hook can
// compute it with the tower down, and every later event of the same session arrives at the same id.
func NewSessionID(agent Agent, native string) SessionID {
	return SessionID(UUID5(Namespace, string(agent)+":"+native))
}

// UUID4 returns a random UUID (RFC 9562, version 4) in lower-case text form.
func UUID4() string {
	var u [16]byte
	rand.Read(u[:]) // never fails: the runtime ends the program instead
	return format(u, 4)
}

// UUID5 returns the UUID (RFC 9562, version 5) of name within the name space, which is itself a UUID
// in text form. A name space that is no UUID is a mistake in the program and panics.
func UUID5(namespace, name string) string {
	ns, err := parse(namespace)
	if err != nil {
		panic("core: name space " + namespace + ": " + err.Error())
	}
	h := sha1.New()
	h.Write(ns[:])
	h.Write([]byte(name))
	var u [16]byte
	copy(u[:], h.Sum(nil))
	return format(u, 5)
}

func format(u [16]byte, version byte) string {
	u[6] = u[6]&0x0f | version<<4
	u[8] = u[8]&0x3f | 0x80
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:], u[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

func parse(s string) (u [16]byte, err error) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return u, errors.New("not a UUID")
	}
	_, err = hex.Decode(u[:], []byte(s[0:8]+s[9:13]+s[14:18]+s[19:23]+s[24:]))
	return u, err
}

// IsUUID tells whether s is a UUID in its 36-character text form.
func IsUUID(s string) bool {
	_, err := parse(s)
	return err == nil
}

package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
)

// Names of the values kept in Secrets.
const (
	secretDevices  = "web.devices"
	secretToken    = "web.token"
	secretPassword = "web.password"
)

// newSecret returns 256 random bits in a form that fits a cookie, a header and a URL.
func newSecret() string {
	var b [32]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// digest is what is kept of a secret. The secrets are random, so a plain hash is as good as a slow one.
func digest(secret string) string {
	h := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(h[:])
}

// matches compares a secret with a digest without telling by its time where they differ.
func matches(secret, kept string) bool {
	return kept != "" && subtle.ConstantTimeCompare([]byte(digest(secret)), []byte(kept)) == 1
}

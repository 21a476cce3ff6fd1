package core

import (
	"bytes"
	"encoding/json"
	"time"
)

// Instant is a point in time in milliseconds since 1970 UTC; 0 means unknown. Its text form, used in
// the ledger, in every file and in every JSON document, is ISO 8601 in UTC with milliseconds
// ("2026-11-30T19:32:37.042Z"); unknown is null there.
type Instant int64

const isoMillis = "2006-01-02T15:04:05.000Z"

// InstantOf converts a time; the zero time becomes the unknown Instant.
func InstantOf(t time.Time) Instant {
	if t.IsZero() {
		return 0
	}
	return Instant(t.UnixMilli())
}

// ParseInstant reads any RFC 3339 time, with any number of decimals and any zone. What it cannot
// read is unknown, never an error: callers read foreign files.
func ParseInstant(s string) Instant {
	if s == "" {
		return 0
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0
	}
	return InstantOf(t)
}

// Time returns the time in UTC, or the zero time for the unknown Instant.
func (i Instant) Time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(i)).UTC()
}

// String returns the text form, or "" for the unknown Instant.
func (i Instant) String() string {
	if i == 0 {
		return ""
	}
	return i.Time().Format(isoMillis)
}

// MarshalJSON writes the text form, or null.
func (i Instant) MarshalJSON() ([]byte, error) {
	if i == 0 {
		return []byte("null"), nil
	}
	return []byte(`"` + i.String() + `"`), nil
}

// UnmarshalJSON reads the text form or null.
func (i *Instant) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*i = 0
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*i = ParseInstant(s)
	return nil
}

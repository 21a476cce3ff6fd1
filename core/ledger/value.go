package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"tower/core"
)

func now() core.Instant { return core.InstantOf(time.Now()) }

// What goes in: the zero value becomes NULL.

func text[T ~string](s T) any {
	if s == "" {
		return nil
	}
	return string(s)
}

func instant(i core.Instant) any {
	if i == 0 {
		return nil
	}
	return i.String()
}

func number(n int) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}

// bits keeps all 64 bits of a number SQLite has no type for; the sign is an accident.
func bits(n uint64) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}

func maybe(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}

func maybeFlag(b *bool) any {
	if b == nil {
		return nil
	}
	return *b
}

// tags become a JSON array; none is NULL.
func tags(list []string) any {
	if len(list) == 0 {
		return nil
	}
	b, _ := json.Marshal(list) // strings cannot fail
	return string(b)
}

func counts(m map[string]int64) any {
	if len(m) == 0 {
		return nil
	}
	b, _ := json.Marshal(m) // strings and numbers cannot fail
	return string(b)
}

// What comes out: each type scans into the variable it points to and turns NULL into the zero value.
// A target is bound once to a row that is used again for every row read.

type textInto[T ~string] struct {
	to   *T
	pool pool // shares equal strings, nil for strings that are seldom equal
}

func (t textInto[T]) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*t.to = ""
	case string:
		*t.to = T(t.pool.share(v))
	default:
		return fmt.Errorf("%T where text should be", v)
	}
	return nil
}

// pool keeps one copy of each string. Ten thousand sessions have a few hundred folders and models.
type pool map[string]string

func (p pool) share(s string) string {
	if p == nil {
		return s
	}
	if have, ok := p[s]; ok {
		return have
	}
	p[s] = s
	return s
}

type instantInto struct{ to *core.Instant }

func (t instantInto) Scan(v any) error {
	s, _ := v.(string)
	*t.to = core.ParseInstant(s)
	return nil
}

type numberInto[T int | int64 | uint64] struct{ to *T }

func (t numberInto[T]) Scan(v any) error {
	n, _ := v.(int64)
	*t.to = T(n)
	return nil
}

type flagInto struct{ to *bool }

func (t flagInto) Scan(v any) error {
	n, _ := v.(int64)
	*t.to = n != 0
	return nil
}

type maybeInto struct{ to **int64 }

func (t maybeInto) Scan(v any) error {
	*t.to = nil
	if n, ok := v.(int64); ok {
		*t.to = &n
	}
	return nil
}

type maybeFlagInto struct{ to **bool }

func (t maybeFlagInto) Scan(v any) error {
	*t.to = nil
	if n, ok := v.(int64); ok {
		b := n != 0
		*t.to = &b
	}
	return nil
}

type jsonInto struct{ to any } // a pointer to a slice or map that is nil

func (t jsonInto) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	return json.Unmarshal([]byte(s), t.to)
}

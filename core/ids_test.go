package core_test

import (
	"strings"
	"testing"

	"tower/core"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestUUID5EqualsGoogle(t *testing.T) {
	space := uuid.MustParse(core.Namespace)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		if got, want := core.UUID5(core.Namespace, name), uuid.NewSHA1(space, []byte(name)).String(); got != want {
			t.Fatalf("UUID5(%q) = %s, want %s", name, got, want)
		}
		other := uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "space"))
		if got, want := core.UUID5(strings.ToUpper(other.String()), name), uuid.NewSHA1(other, []byte(name)).String(); got != want {
			t.Fatalf("UUID5(%s, %q) = %s, want %s", other, name, got, want)
		}
	})
	// The one example of RFC 9562, appendix A.4.
	if got := core.UUID5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com"); got != "2ed6657d-e927-568b-95e1-2665a8aea6a2" {
		t.Errorf("UUID5 of the example = %s", got)
	}
}

func TestUUID5NeedsNamespace(t *testing.T) {
	for _, space := range []string{"", "x", "5b0f7a1e6f0c4b5e9a532f1f8d6f7a10", "5b0f7a1e-6f0c-4b5e-9a53-2f1f8d6f7a1g"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("UUID5 took the name space %q", space)
				}
			}()
			core.UUID5(space, "x")
		}()
	}
}

func TestUUID4IsOneToGoogle(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := core.UUID4()
		u, err := uuid.Parse(id)
		if err != nil || u.Version() != 4 || u.Variant() != uuid.RFC4122 || u.String() != id {
			t.Fatalf("UUID4 = %s: version %v, variant %v, %v", id, u.Version(), u.Variant(), err)
		}
		if seen[id] {
			t.Fatalf("UUID4 gave %s twice", id)
		}
		seen[id] = true
	}
}

func TestIsUUID(t *testing.T) {
	for s, want := range map[string]bool{
		uuid.NewString():                                  true,
		strings.ToUpper(uuid.NewString()):                 true,
		"00000000-0000-0000-0000-000000000000":            true,
		"":                                                false,
		"01a22d7d-7cab-7020-9eae-186e3191078":             false,
		"01a22d7d-7cab-7020-9eae-186e319107811":           false,
		"01a22d7d_7cab-7020-9eae-186e31910781":            false,
		"01a22d7d-7cab-7020-9eae-186e3191078z":            false,
		"{01a22d7d-7cab-7020-9eae-186e31910781}":          false,
		"01a22d7d7cab-7020-9eae-186e31910781-":            false,
		"../../../../../../../../../../../etc/x":          false,
		"01a22d7d-7cab-7020-9eae-186e31910781\n":          false,
		"urn:uuid:01a22d7d-7cab-7020-9eae-186e31910781":   false,
		"\xff1a22d7d-7cab-7020-9eae-186e31910781":         false,
		"01a22d7d-7cab-7020-9eae-186e31910781-and-beyond": false,
	} {
		if got := core.IsUUID(s); got != want {
			t.Errorf("IsUUID(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestSessionIDs(t *testing.T) {
	a, b := core.NewSessionID("claude", "x"), core.NewSessionID("codex", "x")
	if a == b {
		t.Error("two agents share a session id")
	}
	if want := core.SessionID(core.UUID5(core.Namespace, "claude:x")); a != want {
		t.Errorf("NewSessionID = %s, want %s", a, want)
	}
	// Stored ids hang on it: this value never changes.
	if want := core.SessionID(uuid.NewSHA1(uuid.MustParse("5b0f7a1e-6f0c-4b5e-9a53-2f1f8d6f7a10"), []byte("claude:x")).String()); a != want {
		t.Errorf("NewSessionID = %s, want %s: the name space has changed", a, want)
	}
	e := core.Event{Agent: "claude", Native: "x"}
	if e.Session() != a {
		t.Errorf("Event.Session = %s, want %s", e.Session(), a)
	}
}

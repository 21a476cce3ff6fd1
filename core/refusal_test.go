package core

import "testing"

func TestRefusalSentence(t *testing.T) {
	for _, c := range []struct {
		r             Refusal
		verdict, says string
	}{
		{Refusal{What: "Not ended.", Why: "It is over.", Hint: "Resume it."}, "Not ended. It is over.", "Not ended. It is over. Resume it."},
		{Refusal{What: "Not ended. It is over."}, "Not ended. It is over.", "Not ended. It is over."}, // as the API hands it on
		{Refusal{What: "Not ended.", Hint: "Resume it."}, "Not ended.", "Not ended. Resume it."},
	} {
		if got := c.r.Verdict(); got != c.verdict {
			t.Errorf("Verdict of %+v = %q, want %q", c.r, got, c.verdict)
		}
		if got := c.r.Error(); got != c.says {
			t.Errorf("Error of %+v = %q, want %q", c.r, got, c.says)
		}
	}
}

package core

import "strings"

// Refusal is an action that was asked for and will not be done, with the reason. Every face shows
// its sentence as it stands. It is an error, so it travels the ordinary way; callers find it with
// errors.As. The command line exits with 3 on one.
type Refusal struct {
	What string `json:"what"` // the verdict, a past participle: "Not renamed."
	Why  string `json:"why"`  // the fact that forbids it
	Hint string `json:"hint"` // the way on, or ""
}

// Error returns the whole sentence.
func (r *Refusal) Error() string {
	return sentences(r.What, r.Why, r.Hint)
}

// Verdict is the sentence without the way on.
func (r *Refusal) Verdict() string { return sentences(r.What, r.Why) }

func sentences(list ...string) string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return strings.Join(out, " ")
}

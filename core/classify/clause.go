package classify

import (
	"regexp"
	"strings"
)

// rule is a phrase that states something. need are words of which one must stand in a sentence before
// the phrase is looked for: the expression is slow beside that.
type rule struct {
	need []string
	re   *regexp.Regexp
	with *regexp.Regexp // must be found beside it or just before, nil for nothing
	but  *regexp.Regexp // must not be found beside it, nil for nothing
}

func phrase(need, expr string) rule {
	return rule{need: strings.Split(need, " "), re: regexp.MustCompile(expr)}
}

func (r rule) given(expr string) rule {
	r.with = regexp.MustCompile(expr)
	return r
}

func (r rule) unless(expr string) rule {
	r.but = regexp.MustCompile(expr)
	return r
}

func (r *rule) possible(low, before string) bool {
	for _, n := range r.need {
		if strings.Contains(low, n) {
			return (r.with == nil || r.with.MatchString(low) || r.with.MatchString(before)) && (r.but == nil || !r.but.MatchString(low))
		}
	}
	return false
}

// most is how many times a phrase is looked at in one sentence. Only a text made to be slow has more.
const most = 20

// find returns the places where the phrase stands in a sentence.
func (r *rule) find(low string) [][]int { return r.findAfter(low, "") }

// findAfter is find for a sentence that may take what it is about from the one before it.
func (r *rule) findAfter(low, before string) [][]int {
	if !r.possible(low, before) {
		return nil
	}
	return r.re.FindAllStringIndex(low, most)
}

func (r *rule) in(low string) bool { return r.possible(low, "") && r.re.MatchString(low) }

func anyOf(rules []rule, low string) bool {
	for i := range rules {
		if rules[i].in(low) {
			return true
		}
	}
	return false
}

// near is how many bytes before and after a phrase may change what it says: about twelve words. It
// keeps the work linear in a text that is one endless sentence.
const near = 80

var (
	barrier  = regexp.MustCompile(`[;:—–]|\.\s| - |\b(?:but|however|though|although|yet|whereas|except|while)\b`)
	comma    = regexp.MustCompile(`,\s`)
	notWord  = regexp.MustCompile(`\b(?:not|never|cannot|hardly|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|won't|can't|couldn't|haven't|hasn't|hadn't|shouldn't|wouldn't|instead of|rather than|avoid(?:s|ed|ing)?|prevent(?:s|ed|ing)?|stop(?:s|ped)?)\b`)
	noWord   = regexp.MustCompile(`\b(?:no|zero|none|neither|nor|without|nothing|nobody|free of|any)\b|(?:^|[^\d.,/])0\b`)
	ifWord   = regexp.MustCompile(`\b(?:if|unless|whether|in case|so that|to see|make sure|making sure|ensures?|would|could|might|may|should|expect(?:ed|s)? to|supposed to|meant to|designed to|intended to|in order to|assuming|provided|suppose)\b`)
	whenWord = regexp.MustCompile(`\b(?:when|whenever|until|till|once|after|before|as soon as|will|to be)\b`)
	ifAfter  = regexp.MustCompile(`^[^,;.]{0,40}\b(?:if|unless|until|once)\b`)
)

// clauseBefore returns what precedes an offset within its clause, and the part of it after the last
// comma.
func clauseBefore(low string, at int) (clause, tight string) {
	clause = low[max(0, at-near):at]
	if all := barrier.FindAllStringIndex(clause, -1); all != nil {
		clause = clause[all[len(all)-1][1]:]
	}
	tight = clause
	if all := comma.FindAllStringIndex(clause, -1); all != nil {
		tight = clause[all[len(all)-1][1]:]
	}
	return clause, tight
}

func clauseAfter(low string, at int) string {
	clause := low[at:min(len(low), at+near)]
	if m := barrier.FindStringIndex(clause); m != nil {
		clause = clause[:m[0]]
	}
	return clause
}

// negated tells whether the phrase at [from,to) is denied. A "not" reaches to the next comma, a "no"
// over a list ("no type errors, failures or warnings") unless the phrase begins with its own number.
func negated(low string, from int) bool {
	clause, tight := clauseBefore(low, from)
	if notWord.MatchString(tight) || noWord.MatchString(tight) {
		return true
	}
	if c := low[from]; c >= '1' && c <= '9' {
		return false
	}
	return noWord.MatchString(clause) && !strings.Contains(tight, " is ") && !strings.Contains(tight, " are ")
}

// conditional tells whether the phrase at [from,to) states nothing of now: it is supposed, wanted,
// expected or yet to come.
func conditional(low string, from, to int) bool {
	clause, tight := clauseBefore(low, from)
	return ifWord.MatchString(clause) || whenWord.MatchString(tight) || ifAfter.MatchString(clauseAfter(low, to))
}

package classify

import (
	"regexp"
	"strings"
)

// What stands in the place of quoted words: a word no text has, whose last letter says what the words
// name, so that a sentence keeps its subject.
const (
	mention      = "Xq"
	mentionTests = "Xqt"
	mentionTypes = "Xqc"
)

var (
	namesTests = regexp.MustCompile(`(?i)test|spec\b|specs|pytest|jest|vitest|mocha|rspec`)
	namesTypes = regexp.MustCompile(`(?i)\b(?:tsc|mypy|pyright|pyre|rustc|javac|cargo (?:build|check|clippy)|go (?:build|vet)|type-?check|typecheck)\b`)
)

var closers = map[string]string{"“": "”", "„": "“", "«": "»", "‘": "’"}

const longQuote = 300 // what is further apart than this is no pair

// testName is the name of a test in plain words or of a file with tests. It says what a quoted name says.
var testName = regexp.MustCompile(`\b(?:Test[A-Z]\w*|test_\w+|\w+\.(?:test|spec)\.[cm]?[jt]sx?|\w+_(?:test|spec)\.\w+)(?:/\w+)*`)

// hideQuoted replaces what stands between backticks or quotation marks. A mark without its partner is
// left alone.
func hideQuoted(s string) string {
	if !strings.ContainsAny(s, "`\"'“„«‘") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		open, inner, after := quotedAt(s, i)
		if open == "" {
			after = max(after, i+1)
			b.WriteString(s[i:after])
			i = after
			continue
		}
		switch {
		case open[0] != '`':
			b.WriteString(mention)
			// A quoted sentence keeps its end outside the marks only where the agent set one there.
			if after < len(s) && s[after] != ' ' && strings.IndexByte(".,;:!?)", s[after]) < 0 {
				b.WriteByte(' ')
			}
		case namesTests.MatchString(inner):
			b.WriteString(mentionTests)
		case namesTypes.MatchString(inner):
			b.WriteString(mentionTypes)
		default:
			b.WriteString(mention)
		}
		i = after
	}
	return b.String()
}

// quotedAt returns the opening mark at i with what it encloses and where that ends; "" without a pair,
// then with the end of what is no opening mark either, where that is known.
func quotedAt(s string, i int) (open, inner string, after int) {
	rest := s[i:]
	limit := func(from int) string { return rest[from:min(len(rest), from+longQuote)] }
	switch rest[0] {
	case '`':
		n := 1
		for n < len(rest) && rest[n] == '`' {
			n++
		}
		if k := strings.Index(limit(n), rest[:n]); k > 0 {
			return rest[:n], rest[n : n+k], i + n + k + n
		}
		return "", "", i + n
	case '"':
		if k := strings.IndexByte(limit(1), '"'); k > 0 {
			return `"`, rest[1 : 1+k], i + k + 2
		}
	case '\'':
		// Only where it cannot be an apostrophe: it opens a word and closes one.
		if i > 0 && strings.IndexByte(" (\t[:,", s[i-1]) < 0 {
			return "", "", 0
		}
		part := limit(1)
		for k := 1; k < len(part); k++ {
			if part[k] == '\'' && part[k-1] != ' ' && (1+k+1 >= len(rest) || strings.IndexByte(" .,;:!?)]", rest[1+k+1]) >= 0) {
				return "'", part[:k], i + k + 2
			}
		}
	case 0xe2, 0xc2:
		for o, c := range closers {
			if strings.HasPrefix(rest, o) {
				if k := strings.Index(limit(len(o)), c); k > 0 {
					return o, rest[len(o) : len(o)+k], i + len(o) + k + len(c)
				}
			}
		}
	}
	return "", "", 0
}

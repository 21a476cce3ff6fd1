package classify

import "regexp"

const (
	tests    = `(?:xqt|(?:unit|integration|e2e|regression|snapshot|smoke|api|ui|race) (?:suite|run|checks)|(?:test ?|e2e |unit |integration )?suite|tests?|test cases?|test run|specs?|pytest|jest|vitest|ctest|assertions?)`
	stillIs  = `(?:(?:[ ,]+(?:are|is|still|now|currently|also|both|all|have|has|been|keep|keeps|just|again|continue to|which|does|do|did|run|runs|suite|suites|cases?|run|file|step|job|itself|consistently|sometimes|intermittently|locally|(?:in|on|for|from|of|under|against|with|named|called) (?:the )?[^\s,;]+|xq[tc]?|\(xq[tc]?\)))*[ ,:]+)`
	failing  = `(?:fail(?:s|ed|ing)?|errored|crash(?:es|ed)|tim(?:e|es|ed) out|broken|red|exit(?:s|ed) (?:with )?(?:code |status |non-zero)[1-9]?)\b`
	oneLeft  = `\b(?:[1-9]\d*|one|two|three|some|several|a few)(?: of them| more| others?)? (?:still )?(?:remains?|persists?|(?:is|are) left)\b`
	existing = `(?:[1-9]\d*|one|two|three|four|five|six|seven|eight|nine|ten|several|some|many|multiple|a few|a couple of|still|remaining|new|there (?:is|are|was|were)(?: an?)?|has|have|with|got|sees?|hit|hits|getting|shows?|reports?|reported|gives|produces|throws|due to|because of|caused|left|leaves)`
)

// What says in words that tests fail.
var testPhrases = []rule{
	phrase("fail error crash time timed tim broken red exit", `\b`+tests+stillIs+failing),
	phrase("test spec suite", `\b`+tests+` (?:still |currently |now )*(?:do not|don't|does not|doesn't|did not|didn't|are not|aren't|is not|isn't|won't|will not|never) (?:all |yet |currently )*(?:pass(?:ing)?|succeed|green)\b`),
	phrase("not", `\bnot (?:all|every)(?: of)?(?: the)? (?:\S+ ){0,2}(?:tests?|specs?|suites?|checks?) (?:are |is |were )?(?:pass|green|succe)`),
	phrase("fail broken red", `\b`+existing+` (?:\S+ ){0,3}?(?:failing|failed|broken|red) (?:\S+ ){0,2}?(?:tests?|specs?|test cases?|assertions?|suites?)\b`),
	phrase("failure failing", `\b`+existing+` (?:\S+ ){0,3}?(?:test|spec|assertion) failures?\b`),
	phrase("failure failed failing errored fail", `(?:^|[^\d.\w])[1-9]\d*(?:/\d+| of \d+| out of \d+)? (?:of (?:the|them|those) )?(?:(?:unit |integration |e2e )?(?:tests?|specs?|suites?|cases|examples|assertions|packages) )?(?:are |is |still |now |have |has |also )*(?:failed|failures?|failing|errored|fail)\b`).
		given(`test|spec|suite|passed|passing|jest|assert|xqt`), // a bare number that failed may be of anything
	phrase("fail", `\b(?:(?:the |an)?(?:other|others|third|second|last|remaining|rest|first|fourth)(?: one| two| ones)?|[1-9]\d* of them|one of them|both) (?:still |is |are )*(?:fails?|failing)\b`).
		given(`tests?\b|specs?\b|xqt`),
	phrase("remain left persist", oneLeft).given(`(?:failing|failed|broken) (?:\S+ )?(?:tests?|specs?)|test failures`),
	phrase("failure", `\b(?:remaining|only|last) failures? (?:is|are|in)\b`).given(`test|spec|suite|xqt`),
	phrase("fix resolve address repair", `\b(?:tried to|trying to|couldn't|could not|unable to|can't|cannot|didn't|did not|needs? to|have to|must|left to) (?:fix|resolve|address|repair) (?:\S+ ){0,3}?(?:failing|failed|broken) (?:\S+ )?(?:tests?|specs?)\b`),
	phrase("pass", `\b(?:tests?|suites?|specs?|they|everything|all|xqt)\b[^.;]{0,40}\bpass(?:es|ed|ing)?,? (?:except|apart from|other than|aside from|but not|with the exception)\b`).
		given(`test|spec|suite|jest|xqt`),
}

// testLines are lines that test programs print.
var testLines = []rule{
	phrase("FAIL Error", `^(?:FAILED \((?:failures|errors)=|make(?:\[\d+\])?: \*+ \[\S*test\S*\] Error|FAILED \S*(?:::|\.|/|test)\S*|--- FAIL: |FAIL[ \t:]+\S+|FAIL$|\(FAIL\) |\[(?: )*FAIL(?:ED)?(?: )*\] |FAILURES!|.{0,120} \.\.\. FAILED$|test result: FAILED|Failed!\s+- )`).unless(`\[build failed\]`),
	phrase("FAILED", `^(?:The following tests FAILED|\d+% tests passed, [1-9]\d* tests? failed|.*\.\.\. \.*\s*\*{0,3}FAILED)`),
	phrase("failed failing failures failure Failures", `^(?:=+ .*\b[1-9]\d* (?:failed|errors?)\b.*=+|(?:Tests|Test Suites|Test Files|Suites|Snapshots):?\s+.*\b[1-9]\d* failed\b.*|[1-9]\d* failing|[1-9]\d* failed(?:, .*)?|\d+ passed[,;] [1-9]\d* failed.*|\d+ (?:examples?|tests?|runs?|assertions?),.* [1-9]\d* (?:failures?|errors?|failed)\b.*|.*\bExecuted \d+ tests?, with [1-9]\d* failures?\b.*|[1-9]\d* tests? (?:failed|completed, [1-9]\d* failed).*)`),
	phrase("Failures: Errors: fail not", `^(?:\[ERROR\] )?Tests run: \d+, (?:Failures: [1-9]|Failures: \d+, Errors: [1-9])|^# fail [1-9]|^not ok \d+|^Failures: ?[1-9]`),
	phrase("ERROR", `^ERROR (?:collecting )?\S*test\S*\.py`),
	phrase("✕ ✗ ✘ ×", `^[✕✗✘×] .*\(\d+(?:\.\d+)? ?m?s\)$`),
}

// What says in words that types or the compiler do not agree.
var typePhrases = []rule{
	phrase("error", `\b`+existing+` (?:\S+ ){0,3}?(?:type(?:-check(?:ing|er)?| checking| checker|script)?|typing|compile(?:r|-time)?|compilation|tsc|mypy|pyright|xqc|borrow checker|linker)[ -]errors?\b`),
	phrase("remain left persist", oneLeft).given(`(?:type|typing|compile|compiler|compilation|xqc) errors?`),
	phrase("error", `\b(?:type(?:-check(?:ing|er)?|script)?|typing|compile(?:r)?|compilation|xqc)[ -]errors? (?:still )?(?:remain|in|at|on|from|about|persist|left)\b`),
	phrase("fail report complain error reject red", `\b(?:xqc|tsc|mypy|pyright|rustc|javac|typescript|the compiler|(?:the )?type[ -]?check(?:er|ing|s)?|compilation|compile step|typecheck)`+stillIs+`(?:fail(?:s|ed|ing)?\b|red\b|complain(?:s|ed|ing)?\b|rejects?\b|errors? out\b|report(?:s|ed|ing)? (?:[1-9]\d* |one |two |three |several |some |many |an? |new |type )*errors?\b|find(?:s)? (?:[1-9]\d* )errors?\b|exit(?:s|ed) (?:with )?(?:code |status |non-zero))`),
	phrase("compile type-check typecheck", `\b(?:does not|doesn't|do not|don't|did not|didn't|won't|will not|cannot|can't|no longer|fails? to|failed to|failing to|not) (?:yet |currently |even )?(?:compile|type[ -]?check)\b`),
	phrase("build", `\bbuild`+stillIs+`(?:fail(?:s|ed|ing)?|broken|red)\b.*\b(?:compil\w*|types?|undefined|undeclared|imports?|signature|xqc|argument)\b`),
	phrase("ts", `\bts\d{4,5}\b.*\b(?:error|remain|in)\b|\berrors? ts\d{4,5}\b`),
}

// typeLines are lines that compilers and type checkers print.
var typeLines = []rule{
	phrase("error TS", `\berror TS\d{4,5}\b`),
	phrase("error", `^error\[E\d{4}\]|^error: could not compile|^error: aborting due to|\berror (?:CS|FS|BC)\d{4}\b|^\S+:\d+(?::\d+)?: error: |^\S+:\d+:\d+ - error(?:: | TS)`),
	phrase(".go:", `^(?:vet: |\./)?\S*\.go:\d+:\d+: (?:undefined: |undefined|cannot use |declared and not used|.* imported and not used|missing return|too many arguments|not enough arguments|invalid operation|syntax error|.* redeclared|.* undefined \(|cannot assign|assignment mismatch|.* is not a type|.* does not implement|unknown field|undeclared name)`),
	phrase("Found", `^Found [1-9]\d* errors?\b`),
	phrase("error", `^[1-9]\d* errors?, \d+ warnings?`),
	phrase("TypeError Type", `^(?:Uncaught |Unhandled )?TypeError: |^Type error: `),
	phrase("ompil", `^Failed to compile\b|^\[ERROR\] COMPILATION ERROR|^Compilation failed\b|\[build failed\]`),
	phrase("[ERROR]", `^\[ERROR\] \S+\.(?:java|kt|scala):\[`),
}

// What takes back the failures told before it.
var (
	testsPass = []rule{
		phrase("pass green succe", `\b(?:all|every|everything|entire|whole|full)\b[^.;]{0,60}\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?)\b`),
		phrase("pass green", `\b(?:tests?|specs?|suites?|xqt|they|it|both|those|these|that|which) (?:now |are |is |all |both |should )*(?:pass(?:es|ed|ing)? (?:now|again|cleanly|locally)|now pass|all pass|green)`),
		phrase("pass", `\bnow (?:all )?pass(?:es|ing)?\b`),
		phrase("passed", `^(?:=+ )?[1-9]\d* (?:tests? )?passed\b|^(?:tests|test suites|test files):?\s+[1-9]\d* passed\b|^test result: ok`),
		phrase("fail", `\b(?:no|zero|0) (?:\w+ )?(?:tests? )?(?:failures?|failed|failing tests?|fail)\b`),
	}
	typesPass = []rule{
		phrase("pass clean green", `\b(?:xqc|tsc|mypy|pyright|type[ -]?check(?:er|ing|s)?|typecheck|compiler|compilation|build|everything|it)\b[^.;]{0,40}\b(?:pass(?:es|ed|ing)?|clean|cleanly|green|happy)\b`),
		phrase("compile build", `\b(?:compiles|builds|type-checks|typechecks|compiling|building) (?:now|again|cleanly|fine|without)\b|\bnow (?:compiles|builds|type-checks|typechecks)\b`),
		phrase("error issues", `\b(?:no|zero|0) (?:\w+ )?(?:type |compile |compiler |typescript )?(?:errors?|issues found)\b`),
	}
	partly = regexp.MustCompile(`\b(?:other|others|remaining|rest|else|except|apart from|aside from|besides|but|not all|only|unit|individually|in isolation|on (?:main|master))\b|[1-9]\d* (?:fail|error)`)
	// mended begins before a failure that is over, unfixed before one that is not for all the words.
	mended  = regexp.MustCompile(`\b(?:fix(?:ed|es|ing)?|resolv(?:e|ed|es|ing)|address(?:ed|es|ing)?|repair(?:ed|ing|s)?|correct(?:ed|s|ing)|clear(?:ed|s|ing)|eliminat(?:ed|es|ing)|unbr(?:oke|eak)|debug(?:ged|ging)?|previously|formerly|earlier|originally|initially|used to|why|caus(?:e|ed|es|ing)|made|makes?|handles?|catch\w*|investigat\w*|look(?:ed|ing) (?:at|into)|reproduc\w+|simulat\w+|detect\w*|skip\w*|retr(?:y|ies|ied)\w*|report\w* when|first)\b`)
	unfixed = regexp.MustCompile(`\b(?:n't|not|unable to|tried to|trying to|try to|attempt\w* to|failed to|needs? to|must|have to|left to|yet to|cannot) (?:\w+ )?(?:fix|resolve|address|repair|correct)\b|\b\w+n't (?:\w+ )?(?:fix|resolve|address|repair|correct)\b`)
	was     = regexp.MustCompile(`\b(?:was|were|had been) (?:\w+ )?$`)
	gone    = regexp.MustCompile(`^[^.;]{0,50}\b(?:now pass(?:es)?|pass(?:es)? now|(?:is|are|was|were|been|get|got|gets) (?:now |all |both )*(?:fixed|resolved|green|gone|repaired|addressed|corrected)|no longer|on purpose|intentionally|by design|as (?:expected|intended|documented|planned)|first\b|before (?:the|this|my|that|it)|without (?:the|this|my|that) (?:fix|change|patch))`)
	wasIn   = regexp.MustCompile(`\b(?:was|were|had been) (?:\w+ )?(?:fail|broken|red|crash|report|complain|error)`)
)

// kind is one of the two sorts of failure.
type kind struct {
	phrases, lines, pass []rule
}

var (
	testKind = kind{testPhrases, testLines, testsPass}
	typeKind = kind{typePhrases, typeLines, typesPass}
)

func (t *reading) testFailed() (proof, bool) { return t.failed(&testKind) }
func (t *reading) typeError() (proof, bool)  { return t.failed(&typeKind) }

// failed returns the first failure that nothing further down takes back.
func (t *reading) failed(k *kind) (proof, bool) {
	found, ok := proof{}, false
	said := 0 // sentences of the lines before are judged when their line is
	for n := range t.lines {
		for ; said < len(t.sentences) && t.sentences[said].starts[0].line == n; said++ {
			s := &t.sentences[said]
			before := ""
			if said > 0 {
				before = t.sentences[said-1].low
			}
			passes, at := t.passes(k, s)
			if passes {
				ok = false
			}
			if p, fails := t.states(k, s, before, at); fails && !ok {
				found, ok = p, true
			}
		}
		if l := &t.lines[n]; !ok && l.plain != "" && anyOf(k.lines, l.plain) {
			found, ok = proof{line: n}, true
		}
	}
	return found, ok
}

// passes tells whether the sentence says that all is well, and where it says so.
func (t *reading) passes(k *kind, s *sentence) (bool, int) {
	if s.end == '?' {
		return false, 0
	}
	for r := range k.pass {
		for _, m := range k.pass[r].find(s.low) {
			clause, tight := clauseBefore(s.low, m[0])
			if notWord.MatchString(tight) || ifWord.MatchString(clause) || whenWord.MatchString(tight) || ifAfter.MatchString(clauseAfter(s.low, m[1])) {
				continue
			}
			if around := s.low[m[0]:m[1]] + clauseAfter(s.low, m[1]); partly.MatchString(around) || partly.MatchString(tight) {
				continue
			}
			return true, m[1]
		}
	}
	return false, 0
}

// states tells whether the sentence says, from an offset on, that something fails now.
func (t *reading) states(k *kind, s *sentence, before string, from int) (proof, bool) {
	if s.end == '?' {
		return proof{}, false
	}
	for r := range k.phrases {
		for _, m := range k.phrases[r].findAfter(s.low, before) {
			if m[0] < from {
				continue
			}
			m[0] += leading(s.low[m[0]:m[1]])
			clause, _ := clauseBefore(s.low, m[0])
			after := clauseAfter(s.low, m[1])
			if unfixed.MatchString(clause) {
				return s.at(m[0]), true
			}
			if negated(s.low, m[0]) || conditional(s.low, m[0], m[1]) || mended.MatchString(clause) || was.MatchString(clause) ||
				wasIn.MatchString(s.low[m[0]:m[1]]) || gone.MatchString(after) {
				continue
			}
			return s.at(m[0]), true
		}
	}
	return proof{}, false
}

// leading returns how much of a match is not yet the phrase.
func leading(match string) int {
	for i := 0; i < len(match); i++ {
		if c := match[i]; c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 0x80 {
			return i
		}
	}
	return 0
}

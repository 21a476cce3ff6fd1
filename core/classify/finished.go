package classify

import (
	"regexp"
	"strings"
)

const whole = `(?:task|implementation|migration|refactor(?:ing)?|feature|work|project|plan|upgrade|port|rewrite|cleanup|clean-up|job|request|setup|conversion|rollout|integration|redesign|release|overhaul|assignment|sprint|ticket|issue|pr|pull request|change)`

// What says that the task as a whole is finished.
var completePhrases = []rule{
	phrase("everything all every", `\b(?:everything|all (?:of )?(?:the |your |these |those |its )?(?:\S+ ){0,3}?(?:tasks?|steps?|items?|todos?|to-dos|work|changes|phases|parts|requirements?|features?|files|points|issues|milestones|acceptance criteria|criteria|subtasks|boxes|call sites|endpoints|modules|packages)|every (?:\w+ )?(?:task|step|item|todo|requirement|point|issue|file))\b(?: \S+){0,5}? (?:is|are|has been|have been|was|were)(?: now| all| fully| also)* (?:complete|completed|done|finished|implemented|in place|addressed|resolved|migrated|converted|checked off|met|fulfilled|satisfied)\b`),
	phrase("all", `\ball (?:done|set|finished|complete|completed|wrapped up)\b|\ball (?:\S+ ){1,4}(?:complete|completed|done|finished)(?:[.!:,)]|$)`),
	phrase("complete finished done", `\b`+whole+`(?: (?:of|to|from|for|in|on) .{1,50}?)? (?:is|are|has been|was)(?: now| fully| all| officially)* (?:complete|completed|finished|done)\b`),
	phrase("complete completed finished", `^(?:the |this |your )?(?:\S+ ){0,3}?`+whole+` (?:complete|completed|finished|done)(?:[.!:,)]| successfully|$)`),
	phrase("completed finished implemented complete done", `\b(?:completed|finished|implemented|done with|migrated|converted|addressed|resolved|worked through) (?:all\b|everything|the (?:whole|entire|full|requested|assigned)|every\b|each of)`),
	phrase("finished completed done", `\b(?:finished|completed|done) (?:with )?(?:\w+ing )(?:everything|all|the (?:whole|entire|full|plan|requested))\b`),
	phrase("completed finished", `\b(?:i've|i have|we've|we have|i|successfully) (?:now |successfully |just )*(?:completed|finished) (?:the|your|this) (?:\S+ ){0,4}?`+whole+`\b`),
	phrase("fully end-to-end", `\bfully (?:implemented|migrated|complete|completed|converted|done|working|functional)\b|\bimplemented end[- ]to[- ]end\b`),
	phrase("completes finishes wraps concludes", `\b(?:that|this) (?:completes|finishes|wraps up|concludes) (?:the|all|your|this|everything)\b`),
	phrase("ready", `\bready (?:to merge|for (?:review|merge|merging|final review|release)|to ship|to be merged|to deploy|to go)\b`),
	phrase("nothing", `\bnothing (?:else )?(?:is |was )?(?:left|remains|remaining|outstanding|more)(?: to (?:do|be done|implement|fix))?\b`),
	phrase("complete", `\b(?:is|are) (?:now )?100 ?% (?:complete|done)\b`),
}

var (
	partDone = regexp.MustCompile(`\b(?:almost|nearly|partially|partly|mostly|half|halfway|largely|basically|step|phase|part|stage|milestone|batch|chunk|section|first|second|\d\d? ?%|only|of \d+|done with|next)\b`)
	leaves   = regexp.MustCompile(`^[^.;]{0,30}\b(?:except|besides|apart from|other than|aside from|but|once|until|when|so far|as of|in theory|\d+ of \d+|with)\b`)
	butOne   = regexp.MustCompile(`^[^.;]{0,60}(?:\b(?:except|besides|apart from|other than|aside from|with the exception)\b|, but\b| but (?:the|one|not|for|i))`)
	undone   = []rule{
		phrase("still remain left todo to-do", `\b(?:still|remains?|remaining|left)(?: to (?:do|be done|implement|migrate|convert|finish|fix|wire|write)| (?:needs?|has|have) to|:| (?:work|tasks?|steps?|items?)\b)`),
		phrase("not", `\bnot (?:yet )?(?:done|finished|implemented|complete|completed|migrated|converted|wired|started|covered) ?(?:yet)?\b`),
		phrase("haven't hasn't didn't", `\b(?:haven't|hasn't|didn't) (?:yet )?(?:\w+ )?(?:done|finish|finished|implement|implemented|get to|gotten to|touch|touched|start|started|migrate|migrated)\b`),
	}
	noneLeft = regexp.MustCompile(`^\W*(?:none|nothing|n/a|0\b|-)`)
)

// complete looks for the last sentence that calls the whole finished. Unticked boxes, named leftovers
// and an announcement of more work say otherwise.
func (t *reading) complete() (proof, bool) {
	if t.open >= 0 {
		return proof{}, false
	}
	if _, on := t.working(); on {
		return proof{}, false
	}
	found, ok := proof{}, false
	for i := range t.sentences {
		s := &t.sentences[i]
		if s.end == '?' {
			continue
		}
		if t.leftover(s) {
			return proof{}, false
		}
		for r := range completePhrases {
			for _, m := range completePhrases[r].find(s.low) {
				clause, tight := clauseBefore(s.low, m[0])
				after := s.low[m[1]:min(len(s.low), m[1]+near)]
				if negated(s.low, m[0]) || notWord.MatchString(tight) || conditional(s.low, m[0], m[1]) || partDone.MatchString(clause) ||
					partDone.MatchString(s.low[m[0]:m[1]]) || butOne.MatchString(after) || leaves.MatchString(clauseAfter(s.low, m[1])) {
					continue
				}
				found, ok = s.at(m[0]), true
			}
		}
	}
	return found, ok
}

// leftover tells whether the sentence names something of the task that is not done.
func (t *reading) leftover(s *sentence) bool {
	for r := range undone {
		for _, m := range undone[r].find(s.low) {
			if !negated(s.low, m[0]) && !conditional(s.low, m[0], m[1]) && !noneLeft.MatchString(s.low[m[1]:]) {
				return true
			}
		}
	}
	return false
}

const finishedWord = `(?:done|finished|fixed|updated|added|removed|renamed|created|implemented|committed|pushed|merged|refactored|moved|replaced|installed|deleted|reverted|documented|wrote|written|patched|cleaned up|worked|ran|listed|changed|bumped|extracted|formatted|completed|resolved|deployed|configured|converted|migrated|generated|tested|verified|touched|closed|edited|rebased|switched|simplified|split|rewrote|corrected|made|set up|applied|restored|dropped|tightened|wired|cut|published|recorded|saved|opened|raised|filed|reviewed|checked|confirmed|answered|reworked|inlined|enabled|disabled|upgraded|cherry-picked|squashed|tagged|ported)`

var donePhrases = []*regexp.Regexp{
	regexp.MustCompile(`^(?:and |also |successfully |all )?` + finishedWord + `\b`),
	regexp.MustCompile(`^(?:i|i've|i have|we|we've|we have)(?: \w+ly| now| also| just)* ` + finishedWord + `\b`),
	regexp.MustCompile(`\b(?:is|are|has been|have been|was|were) (?:now |also |all )*(?:fixed|done|in place|updated|live|gone|committed|pushed|merged|added|removed|renamed|working|deployed|implemented|finished|resolved)\b`),
	regexp.MustCompile(`\b(?:tests?|suite|xqt|checks?|build|everything|lint)\b.{0,30}\b(?:pass(?:es|ed)?|green|clean)\b`),
}

// done looks for the first sentence that says what was done, unless the last one says that the agent
// goes on: the turn's end is then no end of the work.
func (t *reading) done() (proof, bool) {
	if _, on := t.working(); on {
		return proof{}, false
	}
	for i := range t.sentences {
		s := &t.sentences[i]
		if s.end == '?' || s.head {
			continue
		}
		for _, re := range donePhrases {
			m := re.FindStringIndex(s.low)
			if m == nil {
				continue
			}
			if _, tight := clauseBefore(s.low, m[0]); notWord.MatchString(tight) || ifWord.MatchString(tight) || whenWord.MatchString(tight) || noWord.MatchString(tight) {
				continue
			}
			if ifAfter.MatchString(clauseAfter(s.low, m[1])) && m[0] > 0 {
				continue
			}
			return s.at(m[0]), true
		}
	}
	return proof{}, false
}

var (
	goesOn = []*regexp.Regexp{
		regexp.MustCompile(`^(?:(?:ok|okay|right|good|great|now|next|first|then|so|meanwhile|after that|and)[,:]? )*(?:let me|let's|i'll|i will|i'm going to|i am going to|we'll|going to) (?:now |next |then |also |first |start by |continue |keep )*\w+`),
		regexp.MustCompile(`^(?:next up|next|up next|now|next step)[:,]? (?:up[:,]? )?(?:i'll|i'm|i am|the|to|is|running|\w+ing\b)`),
		regexp.MustCompile(`^(?:now |next |still |currently |meanwhile |i'm |i am |we're )*(?:running|checking|working|investigating|looking|reading|building|compiling|updating|fixing|writing|testing|starting|continuing|proceeding|monitoring|watching|installing|searching|analy[sz]ing|re-?running|applying|moving on|digging|fetching|downloading|deploying|migrating|refactoring|implementing|exploring|generating|debugging|resuming|adding|waiting (?:for|on) (?:the|it|ci|tests|both|all|sub|agents?|them|its|\d+|background|xq))\b`),
		regexp.MustCompile(`\b(?:in progress|still (?:running|going|in flight|building|working|compiling)|under ?way|running in the background|(?:started|launched|running|kicked off|spawned|queued)\b.{0,50}\b(?:in (?:the )?background|agents?|subagents?|sub-agents?|waiting)|(?:tests?|build|suite|ci|job|migration|import|scan|xqt|xqc|agents?|pipeline|workflow|benchmark) (?:is|are) (?:now )?(?:running|building|in flight))\b`),
		regexp.MustCompile(`\bi'll (?:report|update you|let you know|check (?:back|on|in)|get back|ping you|notify|continue|resume|keep (?:going|you|watching|an eye)|follow up|pick (?:this|it) up)\b`),
	}
	goesNot   = regexp.MustCompile(`^(?:\w+,? )?(?:let me know|let's (?:talk|discuss|decide)|i'll (?:wait|stop|leave|hold|pause|need|be (?:here|ready|happy)|not|defer|skip)|i will (?:wait|stop|not|need|hold)|i'm (?:waiting for you|ready|happy|done|unable|stuck|blocked|not)|waiting for you)\b`)
	clauseEnd = regexp.MustCompile(`[;—–] ?| - `)
	ifAsked   = regexp.MustCompile(`\b(?:if|when|whenever|once|as soon as|unless|until) (?:you|that|this|it|needed|necessary|desired|wanted|there|approved|the)\b|\bon request\b|\blater\b`)
	awaiting  = regexp.MustCompile(`\b(?:when|once|as soon as|until) (?:it|they|the|all|both|that|this|ci|tests?|everything|xqt?)\b.{0,40}\b(?:finish(?:es|ed)?|complet(?:es|ed?|e)|ends?|returns?|done|pass(?:es)?|report(?:s)?|is (?:done|finished|up)|are (?:done|finished)|lands?|comes? (?:back|in))\b`)
)

// working looks whether the last sentence says what the agent does next.
func (t *reading) working() (proof, bool) {
	if t.goes == nil {
		p, on := t.goingOn()
		t.goes = &goes{p, on}
	}
	return t.goes.proof, t.goes.on
}

func (t *reading) goingOn() (proof, bool) {
	i := len(t.sentences) - 1
	for n := 0; i >= 0 && n < 3 && t.sentences[i].item && !t.sentences[i].head; n++ {
		i-- // a short list of what comes next
	}
	for _, k := range []int{len(t.sentences) - 1, i} {
		if k < 0 {
			continue
		}
		s := &t.sentences[k]
		if s.end == '?' || s.head || k != len(t.sentences)-1 && s.end != ':' || goesNot.MatchString(s.low) {
			continue
		}
		if ifAsked.MatchString(s.low) && !awaiting.MatchString(s.low) {
			continue
		}
		from := 0 // what comes last in it counts, too: "The parser is done; next I'll do the printer."
		if b := clauseEnd.FindAllStringIndex(s.low, most); b != nil {
			from = b[len(b)-1][1]
		}
		for _, re := range goesOn {
			m := re.FindStringIndex(s.low)
			if m == nil && from > 0 && !goesNot.MatchString(s.low[from:]) {
				if m = re.FindStringIndex(s.low[from:]); m != nil {
					m[0] += from
				}
			}
			if m == nil {
				continue
			}
			if _, tight := clauseBefore(s.low, m[0]); notWord.MatchString(tight) || ifWord.MatchString(tight) || noWord.MatchString(tight) || strings.Contains(tight, "was ") {
				continue
			}
			return s.at(m[0]), true
		}
	}
	return proof{}, false
}

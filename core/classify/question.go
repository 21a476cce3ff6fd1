package classify

import "regexp"

var (
	// directed is a question that is put to the person, whatever stands after it.
	directed = phrase("shall should you we which what how where who prefer ok okay proceed want", `\b(?:shall|should|may|can|could|must|do) (?:i|we)\b|\b(?:do|would|could|can|will|did|are|have|is) you(?:r)?\b|\bwould it be\b|\b(?:you|your) (?:want|like|prefer|mean|agree|okay|ok|preference|call|choice|intent)|\bwant me to\b|^(?:which|what|how|where|who|when) .*\b(?:should|shall|do you|would you|i|we|you|prefer)\b|^(?:ok|okay|ready|safe|fine|good|alright) (?:to|with|for|if)\b|\b(?:proceed|go ahead|sound good|sound right|look right|look good)\b`)
	// choosing is a question that its options may follow, and nothing else.
	choosing = regexp.MustCompile(`^(?:so,? |and )?which\b`)
	// asksFor leads to a list of options without a question mark.
	asksFor = regexp.MustCompile(`^(?:would you|do you want|should i|shall i|which|how should|(?:please )?(?:choose|pick|select)) .*:$`)
	// courtesy is asked out of habit.
	courtesy = phrase("anything questions help today", `\banything (?:else|more|further|you(?:'d| would| want))\b|\b(?:any|other|further|more) questions\b|\bhow (?:can|may|could) i (?:help|assist)\b|\bwhat (?:can|may) i (?:help|do for)\b|\bwhat would you like .*today\b|\bneed anything\b`)
	// answer begins a sentence in which the agent answers its own question.
	answer = regexp.MustCompile(`^(?:yes|no|nope|because|since|so|a:|answer|the (?:answer|reason|cause|short answer)|turns out|it turn(?:s|ed) out|probably|not really|i (?:decided|went|chose|picked|kept|opted|used|did|added|made|left|found|traced|checked|fixed|assumed)|i've|we (?:decided|chose|went|kept)|for now,? i|that(?:'s| is| was))\b`)
	// remark begins a sentence that may stand after a question which is still open.
	remark = regexp.MustCompile(`^(?:\(|let me know|i(?:'d| would)? (?:\w+ )?(?:recommend|suggest|lean|prefer|propose|default|think)|i(?:'m| am) (?:leaning|inclined|happy|fine)|my (?:recommendation|suggestion|preference|default|pick)|recommend|otherwise|if (?:so|not|yes|no|you)|either|both|the (?:first|second|former|latter|default|trade-?off)|option|i'll (?:wait|hold|stop|pause|go with|default|assume|start|do|take)|i (?:can|could|won't|haven't|have not)|happy|just|say|reply|pick|thanks|once you|until|note|it would|nothing|in the meantime|waiting|your call|also)\b`)
	// choice asks without a question mark. need names the words that are looked for first.
	choice = []rule{
		phrase("know tell", `\b(?:let me know|tell me|just say|please say|please specify|advise) (?:\w+ )?(?:which|whether|what|how|where|who|if (?:i should|i can|that's ok|that is ok|this is ok|it's ok|you agree|you approve|you(?:'d| would)? prefer))\b`),
		phrase("confirm choose pick decide advise clarify approve", `\bplease (?:confirm|choose|pick|decide|advise|clarify|approve|select|answer)\b`),
		phrase("decision decide answer confirm choice preference approval go-ahead call input sign-off", `\b(?:need|await(?:ing)?|want|would like|wait(?:ing)? (?:for|on)) (?:you to (?:decide|choose|confirm|pick|approve|answer|say)|your (?:\w+ )?(?:decision|answer|confirmation|choice|preference|approval|go-ahead|call|input|sign-off|ok|reply|response|feedback))\b`),
		phrase("call word", `\b(?:it's|it is|that's) your call\b|^your call\b|\bsay the word\b`),
		phrase("confirm approve go-ahead", `\b(?:before (?:i )?(?:proceed|continu|go|start|appl|delet|push|merg|deploy)\w*[^.]*\b(?:confirm|approve|go-ahead)|confirm (?:that|whether|before|which))\b`),
	}
	questionsHead = regexp.MustCompile(`^(?:open |a few |some |two |three |my |clarifying |remaining )*(?:questions?|decisions?)(?: (?:for you|to answer|needed|before i \w+|remaining|first))*\s*:?$`)
)

// What may stand after a question put to the person: this many sentences that are no remark, and this
// many altogether.
const (
	facts   = 2
	closing = 6
)

// question looks for what the person is asked at the end, from the last sentence upward, and returns
// the first of the questions that stand there together.
func (t *reading) question() (proof, bool) {
	var found proof
	ok := false
	var after struct {
		items, remarks, facts int
		answered              bool
	}
	for i := len(t.sentences) - 1; i >= 0; i-- {
		s := &t.sentences[i]
		asks := (s.end == '?' || s.end == ':' && after.items > 0 && asksFor.MatchString(s.low)) && !s.head && !courtesy.in(s.low)
		put := asks && directed.in(s.low)
		only := asks && after.facts == 0 && (after.items == 0 || choosing.MatchString(s.low) || s.end == ':')
		switch {
		case !after.answered && (put && after.facts <= facts || only):
			found, ok = s.at(len(s.low)-1), true
		case t.asksWithout(i):
			found, ok = s.at(0), true
		case ok && !s.item && s.end != ':':
			return found, true
		case s.item:
			after.items++
			continue
		case s.end == '?' || remark.MatchString(s.low) || len(s.low) <= short:
			after.remarks++
			after.answered = after.answered || answer.MatchString(s.low)
		default:
			after.facts++
			after.answered = after.answered || s.head || answer.MatchString(s.low)
		}
		if after.remarks+after.facts > closing {
			break
		}
	}
	if ok {
		return found, true
	}
	return t.listed()
}

// short is a sentence that is no more than a word or two: "Thanks.", "(y/n)".
const short = 12

func (t *reading) asksWithout(i int) bool {
	s := &t.sentences[i]
	if s.head || s.end == '?' {
		return false
	}
	for r := range choice {
		for _, m := range choice[r].find(s.low) {
			clause, _ := clauseBefore(s.low, m[0])
			if !negated(s.low, m[0]) && !ifWord.MatchString(clause) {
				return true
			}
		}
	}
	return false
}

// listed finds a list of things to decide that ends the text under a heading which says so, though no
// item is put as a question.
func (t *reading) listed() (proof, bool) {
	i := len(t.sentences) - 1
	for i >= 0 && t.sentences[i].item && !t.sentences[i].head {
		i--
	}
	if i < 0 || i == len(t.sentences)-1 || !questionsHead.MatchString(t.sentences[i].low) {
		return proof{}, false
	}
	return t.sentences[i].at(0), true
}

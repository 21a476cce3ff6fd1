package classify

import "regexp"

// What says that the agent cannot go on by itself.
var helpPhrases = []rule{
	phrase("help", `\b(?:i|we) (?:still |really |now |do |would |could )*(?:need|require|want|could use)(?: some| your| a little| more| human| a person's)* (?:help|assistance|hand)(?: (?:with|from|here|to|on|in|getting|understanding|deciding)\b|[.,:;!)]|$)|^(?:need|needs|requesting|asking for) (?:some |your |human )*help(?: (?:with|from|here|to|on|in)\b|[.,:;!)]|$)|\bcan you help me\b`),
	phrase("need require", `\b(?:i|we)(?:'ll| will)? (?:still |now |also )*(?:need|require) (?:you to|someone to|a human to|access to|(?:your|an?|the|valid|working|additional|more|admin|write|read|elevated)(?: \S+){0,3} (?:access|credentials?|permissions?|passwords?|tokens?|api keys?|key|secrets?|login|intervention|input))\b`),
	phrase("need require", `\b(?:needs?|requires?) (?:your |a |some )?(?:human|manual|your)(?: \w+)? ?(?:intervention|attention|action|help|assistance|credentials|login)\b`),
	phrase("stuck", `\b(?:i'm|i am|we're|we are|i got|i remain|still) (?:\w+ )?stuck\b|^stuck (?:on|at|with|here)\b`),
	phrase("blocked blocker", `\b(?:i'm|i am|we're|we are|this is|that is|that's|work is|everything is|task is|migration is|deployment is|i remain|currently|still|now) (?:\w+ )?blocked\b|^blocked\b|^blockers?:? `),
	phrase("proceed continue further", `\b(?:cannot|can't|can not|unable to|not able to|couldn't|could not|impossible to|no way to) (?:\w+ )?(?:proceed|continue|go on|go any further|move forward|make (?:any )?(?:further )?progress|get any further|go further)\b`),
	phrase("complete finish", `\b(?:cannot|can't|(?:was |were )?unable to|(?:was |were )?not able to|wasn't able to|couldn't|could not) (?:\w+ )?(?:complete|finish) (?:the|this|that|it|your)\b`),
	phrase("before until unless", `\b(?:you'll|you will|you|someone|somebody|an admin|a maintainer) (?:need|needs|have|has|must|will need|will have)(?: to)? .{1,80} before (?:i|we) can\b|\bbefore i can (?:continue|proceed|go on|finish|run|deploy|push|test)\b|\b(?:i can't|i cannot|i can not) .{1,60} (?:until|unless) you\b`),
	phrase("once after when", `\b(?:once|after|when|as soon as) (?:you've|you have|that's|that is|it's|it is|the \w+ is|this is|you(?:'re| are)?|those are|they are|they're|access is)\b.{0,80}(?:, | )(?:i'll|i will|i can|we can|i'd)\b(?: \w+)? (?:continue|proceed|resume|retry|re-run|rerun|finish|run|push|deploy|pick|carry|go|try|test|start|complete|move)\b`),
	phrase("know tell", `\b(?:let me know|tell me|ping me|message me|reply) (?:when|once|as soon as|after) (?:you|it|that|this|the|they|access|those|done)\b`),
	phrase("access permission credential authori log", `\b(?:i|we) (?:don't|do not|lack|currently don't|currently lack|still don't|no longer) (?:have )?(?:the |any |enough |sufficient |required |necessary |write |read |network |admin )*(?:access|permissions?|credentials?|authori[sz]ation|rights)\b|\bi'm not (?:authori[sz]ed|allowed|permitted|logged in)\b`),
	phrase("you'll you will", `\byou(?:'ll| will)? (?:need|have) to (?:grant|provide|supply|log in|sign in|authenticate|authori[sz]e|approve|request access|give me|add (?:me|my)|unlock)\b`),
	phrase("without", `\b(?:i|we)(?: can't| cannot| can not|'m unable to| am unable to|'m not able to) [^.;]{1,60} without (?:it|that|them|access|your|permissions?|credentials|approval|network access|a person)\b`),
	phrase("denied", `\bpermission to use \w+ (?:has been|was|is) denied\b`),
	phrase("waiting", `\b(?:i'm|i am|we're|now|still|currently)? ?(?:waiting (?:for|on) you to\b|waiting (?:for|on) (?:your )?(?:access|credentials|manual \w+|human \w+))`),
	phrase("please", `\bplease (?:run|log|sign|authenticate|provide|grant|give|enable|install|restart|start|set|add|approve|unlock|share|send|paste|export|configure|create|rotate|connect|free|fix)\b.{1,120}\b(?:and|so|then) (?:i|we|that i|let me|tell me|ping me|say|reply)\b`),
}

// What the agents' own programs say in the place of a message when a turn could not be had.
var failedTurn = regexp.MustCompile(`^(?:api error\b|you've (?:hit|reached) your .{0,30}limit|(?:claude |claude ai )?usage limit reached|credit balance is too low|invalid api key|please run /login|oauth (?:token|session) |prompt is too long|stream (?:error|disconnected)|exceeded retry limit|unexpected status [45]\d\d|request (?:rejected|timed out)|not logged in)`)

var helped = regexp.MustCompile(`\b(?:was|were|had been|got) (?:\w+ )?$|\b(?:users?|people|customers|they|it|he|she|you|who) (?:\w+ )?$`)

func (t *reading) help() (proof, bool) {
	if len(t.sentences) > 0 && len(t.lines) <= 4 && failedTurn.MatchString(t.sentences[0].low) {
		return t.sentences[0].at(0), true
	}
	for i := len(t.sentences) - 1; i >= 0; i-- {
		s := &t.sentences[i]
		if s.head {
			continue
		}
		for r := range helpPhrases {
			for _, m := range helpPhrases[r].find(s.low) {
				clause, tight := clauseBefore(s.low, m[0])
				if negated(s.low, m[0]) || ifWord.MatchString(clause) || whenWord.MatchString(tight) || helped.MatchString(clause) || t.over(i, m) {
					continue
				}
				return s.at(m[0]), true
			}
		}
	}
	return proof{}, false
}

var unblocked = phrase("unblocked solved fixed resolved worked figured", `\b(?:unblocked|(?:is|that's|i've|i have|i|now|got it) (?:now |since |finally )*(?:solved|fixed|resolved|worked around|figured (?:it )?out)|worked around it)\b`)

// over tells whether the agent says further down, or in the same sentence, that it helped itself.
func (t *reading) over(i int, m []int) bool {
	s := &t.sentences[i]
	rest := s.low[m[1]:min(len(s.low), m[1]+2*near)]
	for _, u := range unblocked.find(rest) {
		if !negated(rest, u[0]) {
			return true
		}
	}
	for j := i + 1; j < min(len(t.sentences), i+4); j++ {
		for _, u := range unblocked.find(t.sentences[j].low) {
			if !negated(t.sentences[j].low, u[0]) && !conditional(t.sentences[j].low, u[0], u[1]) {
				return true
			}
		}
	}
	return false
}

package core

import "context"

// The interfaces here are what an agent may be able to do when the tower acts on it. All are optional;
// each says what its absence means. None starts or signals anything: they tell how.

// Keeper is an Adapter that can prove that a transcript belongs to a session. Without it RESUME relies
// on the agent's own refusal.
type Keeper interface {
	// Holds returns nil when the session's transcript exists and is of that very session, else a
	// *Refusal whose What is "Not resumed.".
	Holds(ctx context.Context, s Session) error
}

// Teller is an Adapter that can read a session's last message back from its transcript. Without it
// CONTINUE WITH names no last message, and a class is known only of what was heard.
type Teller interface {
	// LastMessage returns the text of the agent's last answer, "" when there is none. It reads the tail
	// of the transcript only.
	LastMessage(ctx context.Context, s Session) (string, error)
}

// Doorkeeper is an Adapter that knows from its agent's own records which dialogs stand between a start
// in a folder and the session. Without it a launch that leads to no session is told as just that.
type Doorkeeper interface {
	// Dialogs returns what the agent will ask first when it is started in dir, in words that end a
	// sentence: "whether this folder is trusted". Empty when its records show that it will not ask.
	Dialogs(dir string) []string
}

// Deliverer is an Adapter whose agent takes a prompt for a running session without keystrokes. Without
// it text is pasted into the proven pane.
type Deliverer interface {
	// Deliver returns the command that hands over text; false when this text or this session cannot go
	// that way.
	Deliver(s Session, x Sighting, text string) (Launch, bool)
	// Delivered tells whether the agent's records hold the text as taken or as waiting for its turn.
	Delivered(ctx context.Context, s Session, text string, since Instant) (bool, error)
}

// Confirmer is an Adapter that can tell from its agent's records that a typed text arrived. Without it
// only a hook's prompt event confirms.
type Confirmer interface {
	// Typed tells whether the session's records hold the text, as taken or as waiting for its turn, at
	// or after since. The text is compared as it was typed.
	Typed(ctx context.Context, s Session, text string, since Instant) (bool, error)
}

// Prompter is an Adapter whose agent takes a first prompt on the command line that resumes a session.
// Without it the prompt is typed once the session runs.
type Prompter interface {
	// WithPrompt returns the launch with the prompt as its last argument; l is what Resume returned and
	// stays as it is.
	WithPrompt(l Launch, prompt string) Launch
}

// Stopper is an Adapter whose agent has a command that ends a session which no signal may end. Without
// it such a session cannot be ended from here.
type Stopper interface {
	Stop(s Session, x Sighting) (Launch, bool)
}

// Attacher is an Adapter whose agent has a command that shows a session which runs in its background.
// Without it such a session has no window.
type Attacher interface {
	Attach(s Session, x Sighting) (Launch, bool)
}

// Adopter is an Adapter that can list the threads its agent began lately, for a launch that nothing
// else ties to its thread. Without it a launch is matched by its process and its token alone.
type Adopter interface {
	// Begun returns threads begun in dir at or after since, by the agent's own records.
	Begun(ctx context.Context, dir string, since Instant) ([]Begun, error)
}

// Begun is one thread an agent began.
type Begun struct {
	Native string
	CWD    string
	At     Instant
}

// Screener is an Adapter that reads its agent's screen. Without it a screen is shown and never judged.
type Screener interface {
	// Screen judges a terminal's title and its last lines.
	Screen(title, tail string) Screen
}

// Screen is what a screen shows.
type Screen struct {
	Dialog string // what is asked by a dialog that is open, a line; "" = none is seen
	Input  bool   // the input box is seen, and empty or holding typed text
}

// Skiller is an Adapter that knows how its agent runs a skill when a person asks for it. Without it
// there is no closeout for that agent.
type Skiller interface {
	// Skill returns the prompt that runs the skill, and whether the skill is installed for work in dir.
	Skill(name, dir string) (prompt string, installed bool)
}

package launch

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// loginTime is how long a login shell may take for all its start files.
const loginTime = 5 * time.Second

// maxEnviron bounds an environment. What the system takes is less.
const maxEnviron = 4 << 20

// envProgram is where every Unix has it, and no alias of a person's shell is in the way of a path.
const envProgram = "/usr/bin/env"

// Login asks the person's shell for the environment of a new login, as a terminal would give it: the
// start files of a login and of an interactive shell have run, without a terminal, without input, in
// a session of their own, in the person's home. base is what the shell begins with, usually the
// environment of the tower; it is scrubbed here. It takes 5 s at the most, then the shell's whole
// group is killed. What start files print does not disturb; a shell that cannot say its environment
// (nologin, one that is absent or of another kind) is an error. A start file that goes elsewhere when
// the shell is interactive, to tmux for instance, is asked once more without that.
//
// The answer holds a person's keys: keep it in memory, never write it, log it or pass it as argument.
func Login(ctx context.Context, shell string, base []string) ([]string, error) {
	if !filepath.IsAbs(shell) {
		return nil, fmt.Errorf("ask login shell %q: it is not a full path", shell)
	}
	ctx, stop := context.WithTimeout(ctx, loginTime)
	defer stop()
	// A terminal that understands nothing keeps start files from drawing prompts.
	base = append(without(Scrub(base), terminal), "TERM=dumb")
	env, err := login(ctx, shell, "-lic", base)
	if err != nil && ctx.Err() == nil {
		env, err = login(ctx, shell, "-lc", base)
	}
	if ctx.Err() != nil && env == nil {
		err = fmt.Errorf("it did not answer: %w", ctx.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("ask login shell %q: %w", shell, err)
	}
	return env, nil
}

func login(ctx context.Context, shell, flags string, base []string) ([]string, error) {
	// Nothing here needs quoting, in no shell. The marks are told apart from a shell that shows the
	// commands it runs, in a title for instance, by the NUL behind them.
	mark := markName + "=" + rand.Text()
	command := fmt.Sprintf("%[1]s -i -0 %[2]s1; %[1]s -0; %[1]s -i -0 %[2]s2", envProgram, mark)
	from, to := []byte(mark+"1\x00"), []byte(mark+"2\x00")
	out, err := output(ctx, shell, []string{flags, command}, base, func(b []byte) bool { return bytes.Contains(b, to) })
	if _, rest, ok := bytes.Cut(out, from); ok {
		if text, _, ok := bytes.Cut(rest, to); ok {
			return variables(text), nil
		}
	}
	if err == nil {
		err = errors.New("its answer holds no environment")
	}
	return nil, err
}

const markName = "TOWER_MARK"

// variables reads what env prints. Whatever a shell printed before stands directly before the first
// name, and what it prints afterwards has no NUL behind it.
func variables(text []byte) []string {
	var env []string
	for pair := range strings.SplitSeq(string(text), "\x00") {
		name, value, ok := strings.Cut(pair, "=")
		if len(env) == 0 {
			name = name[strings.LastIndexFunc(name, func(r rune) bool { return !isWord(r) })+1:]
		}
		if ok && name != "" && !strings.ContainsFunc(name, unicode.IsControl) {
			env = append(env, name+"="+value)
		}
	}
	return last(without(without(env, momentary), []string{"TERM", "PWD", markName}))
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"tower/core"
	"tower/core/home"
	"tower/core/proc"
)

// Version is that of the order files this build writes and reads.
const Version = 1

// MaxArg is how many bytes one argument can hold on Linux, whatever room there is for all of them. A
// prompt that is longer has to be launched with a short one that names its file; whoever writes the
// order decides that.
const MaxArg = 128<<10 - 1

// maxOrder bounds an order file. What the system takes as arguments is less.
const maxOrder = 4 << 20

// Order is what the launcher is to start. It holds no value of any environment but those in Set.
type Order struct {
	V        int               `json:"v"`
	Token    string            `json:"token"`
	Agent    core.Agent        `json:"agent"`
	Argv     []string          `json:"argv"`
	PromptAt int               `json:"prompt_at"` // index in Argv that the content of Prompt replaces; -1 none
	Prompt   string            `json:"prompt"`    // the file; Write sets it
	Dir      string            `json:"cwd"`
	Set      map[string]string `json:"set"`
	Unset    []string          `json:"unset"` // a trailing '*' is a family
	NullIn   bool              `json:"null_stdin"`
	Socket   string            `json:"socket"` // of the tower
	Inbox    string            `json:"inbox"`
	// Umask is that of the person, which the tower has replaced by a narrower one of its own that the
	// terminal inherits; nil leaves what the launcher has.
	Umask *int `json:"umask"`
	// Boot is the boot the order was written in; Write sets it. A session manager that opens yesterday's
	// windows again must not start yesterday's agents.
	Boot string `json:"boot_id"`
}

// Endings of the files of a launch. All of them are "TOKEN" and one of these.
const (
	orderSuffix   = ".json"
	promptSuffix  = ".prompt"
	startedSuffix = ".started" // the launcher has taken the order; its content is pid and start
)

// Ours tells whether a file in the folder of launches has a name that this package gives.
func Ours(name string) bool {
	for _, suffix := range []string{orderSuffix, promptSuffix, startedSuffix} {
		if stem, ok := strings.CutSuffix(name, suffix); ok {
			return isToken(stem)
		}
	}
	return false
}

// isToken tells whether a token can be a file's name everywhere.
func isToken(s string) bool {
	for i, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c != '-' || i == 0) {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// Write puts an order into the folder dir, which it makes if it has to, and returns the path of what
// `tower exec` is to be given. A prompt goes into a file of its own. Both are for their owner only
// and new: a token that was used before is an error. Nothing is left behind by an error.
func Write(dir string, o Order, prompt string) (path string, err error) {
	stem := filepath.Join(dir, o.Token)
	o.V, o.Boot, o.Prompt = Version, proc.Boot(), ""
	if prompt != "" {
		o.Prompt = stem + promptSuffix
	}
	if err := o.check(stem); err != nil {
		return "", fmt.Errorf("write launch: %w", err)
	}
	if strings.ContainsRune(prompt, 0) {
		return "", errors.New("write launch: the prompt holds a NUL, which no argument can")
	}
	text, err := json.Marshal(o)
	if err == nil && len(text) > maxOrder {
		err = fmt.Errorf("the order has %d bytes, more than %d", len(text), maxOrder)
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("write launch: %w", err)
	}
	if prompt != "" {
		if err := create(o.Prompt, []byte(prompt)); err != nil {
			return "", fmt.Errorf("write prompt: %w", err)
		}
	}
	path = stem + orderSuffix
	if err := create(path, text); err != nil {
		if prompt != "" {
			os.Remove(o.Prompt)
		}
		return "", fmt.Errorf("write launch: %w", err)
	}
	return path, nil
}

// create writes a file that must not exist, whole or not at all.
func create(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}

// Read reads an order back. It takes nothing that Write does not write: another version, an unknown
// field, a token that is not the file's own name.
func Read(path string) (Order, error) {
	o, err := read(path)
	if err != nil {
		return Order{}, fmt.Errorf("read launch %q: %w", path, err)
	}
	return o, nil
}

func read(path string) (o Order, err error) {
	stem, ok := strings.CutSuffix(path, orderSuffix)
	if !ok || !filepath.IsAbs(path) {
		return o, errors.New("it is not the full path of a launch file")
	}
	text, err := home.ReadFile(path, maxOrder)
	if err != nil {
		return o, err
	}
	o.PromptAt = -1
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return o, fmt.Errorf("it is not an order of this version: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return o, errors.New("something stands behind the order")
	}
	if o.V != Version {
		return o, fmt.Errorf("it is of version %d, this program reads %d", o.V, Version)
	}
	return o, o.check(stem)
}

// check tells what is wrong with an order whose files begin with stem.
func (o *Order) check(stem string) error {
	switch {
	case !isToken(o.Token) || o.Token != filepath.Base(stem):
		return fmt.Errorf("its token %q is not the name of its file", o.Token)
	case len(o.Argv) == 0 || o.Argv[0] == "":
		return errors.New("it names no program")
	case o.PromptAt < -1 || o.PromptAt == 0 || o.PromptAt >= len(o.Argv):
		return fmt.Errorf("it has the prompt as argument %d of %d", o.PromptAt, len(o.Argv))
	case o.PromptAt > 0 && o.Prompt == "":
		return errors.New("it names no file of the prompt")
	case o.PromptAt < 0 && o.Prompt != "":
		return errors.New("it has a prompt and no place for it")
	case o.Prompt != "" && o.Prompt != stem+promptSuffix:
		return fmt.Errorf("its prompt lies elsewhere: %q", o.Prompt)
	case o.Umask != nil && (*o.Umask < 0 || *o.Umask > 0o777):
		return fmt.Errorf("its umask is %#o", *o.Umask)
	}
	for what, path := range map[string]string{"folder": o.Dir, "socket": o.Socket, "inbox": o.Inbox} {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("its %s %q is not a full path", what, path)
		}
	}
	for name, value := range o.Set {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return fmt.Errorf("it sets the variable %q, which no environment can hold", name)
		}
	}
	return o.isText()
}

// isText refuses what would come out of the file as something else.
func (o *Order) isText() error {
	words := append([]string{o.Dir, o.Socket, o.Inbox}, o.Argv...)
	words = append(words, o.Unset...)
	for name, value := range o.Set {
		words = append(words, name, value)
	}
	for _, w := range words {
		if !utf8.ValidString(w) {
			return fmt.Errorf("%q is not UTF-8", w)
		}
		if strings.ContainsRune(w, 0) {
			return fmt.Errorf("%q holds a NUL", w)
		}
	}
	return nil
}

// take claims the order for this run, so that nothing starts it twice: not a window that a session
// manager opens anew, not a key repeated in a shell's history. A folder that cannot be written to is
// no reason against the launch.
func (o *Order) take(path string) error {
	if boot := proc.Boot(); o.Boot != boot && o.Boot != "" && boot != "" {
		return say("This launch was asked for before the machine was started anew.")
	}
	self := proc.Self()
	err := create(strings.TrimSuffix(path, orderSuffix)+startedSuffix, fmt.Appendf(nil, "%d %d\n", self.PID, self.Start))
	if errors.Is(err, fs.ErrExist) {
		return say("This launch has been started before.")
	}
	return nil
}

package engine

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tower/core"
	"tower/core/ledger"
	"tower/core/live"
)

// Do carries out what a person asked for. What will not be done is a *core.Refusal, decided before
// anything is touched.
func (e *Engine) Do(ctx context.Context, c core.Command) (core.Result, error) {
	if c.By == "" {
		c.By = "tower"
	}
	e.log.Info("command", "kind", c.Kind, "session", c.Session, "by", c.By)
	switch c.Kind {
	case core.CommandRename, core.CommandDescribe, core.CommandTag, core.CommandHide, core.CommandUnhide:
		return e.edit(ctx, c)
	case core.CommandLaunch:
		return e.act(ctx, func(ctx context.Context) (core.Result, error) { return e.launch(ctx, c) })
	case core.CommandResume:
		return e.act(ctx, func(ctx context.Context) (core.Result, error) { return e.resume(ctx, c) })
	case core.CommandContinue:
		return e.act(ctx, func(ctx context.Context) (core.Result, error) { return e.continueWith(ctx, c) })
	case core.CommandAttach:
		return e.act(ctx, func(ctx context.Context) (core.Result, error) { return e.attach(ctx, c) })
	case core.CommandJump:
		return e.act(ctx, func(ctx context.Context) (core.Result, error) { return e.jump(ctx, c) })
	case core.CommandEnd:
		return e.act(ctx, func(ctx context.Context) (core.Result, error) { return e.end(ctx, c) })
	case core.CommandType:
		return e.act(ctx, func(ctx context.Context) (core.Result, error) { return e.typeText(ctx, c) })
	case core.CommandCloseout:
		return e.act(ctx, func(ctx context.Context) (core.Result, error) { return e.closeout(ctx, c) })
	case core.CommandImport:
		r, err := e.importNow(ctx, c.Text == "full")
		if err == nil {
			err = e.post(ctx, func(context.Context) error { e.publish(); return nil })
		}
		if err != nil {
			return core.Result{}, err
		}
		return core.Result{Said: fmt.Sprintf("Imported: %d of %d transcripts read.", r.Opened, r.Sources), Import: &r}, nil
	case core.CommandStop:
		if e.o.Stop == nil {
			return core.Result{}, &core.Refusal{What: "Not stopped.", Why: "This tower cannot stop itself."}
		}
		e.o.Stop()
		return core.Result{Said: "Stopping."}, nil
	case core.CommandRestart:
		if e.o.Restart == nil {
			return core.Result{}, &core.Refusal{What: "Not restarted.", Why: "This tower cannot restart itself."}
		}
		e.o.Restart()
		return core.Result{Said: "Restarting."}, nil
	}
	return core.Result{}, &core.Refusal{What: "Not done.", Why: fmt.Sprintf("There is no command %q.", c.Kind)}
}

// edit changes what a person may change on a session.
func (e *Engine) edit(ctx context.Context, c core.Command) (core.Result, error) {
	edit, said, err := editOf(c)
	if err != nil {
		return core.Result{}, err
	}
	err = e.post(ctx, func(ctx context.Context) error {
		s := e.picture.Session(c.Session)
		if s == nil {
			return &core.Refusal{What: "Not found.", Why: fmt.Sprintf("No session %q is known.", c.Session)}
		}
		if c.Kind == core.CommandUnhide && !s.ByHand {
			if why := s.HiddenWhy(); why != "" {
				return &core.Refusal{What: "Not shown.", Why: "It was not hidden by hand: " + why + ".", Hint: "It stays listed under --all."}
			}
			return &core.Refusal{What: "Not shown.", Why: "It is not hidden."}
		}
		err := e.take(core.Event{Kind: core.EventEdit, At: core.InstantOf(time.Now()), Agent: s.Agent, Native: s.Native, Edit: &edit})
		if err == nil {
			err = e.commit(ctx)
		}
		e.publish() // who asked looks at the answer next
		return err
	})
	if err != nil {
		return core.Result{}, err
	}
	return core.Result{Said: said}, nil
}

// editOf checks the free text of a command.
func editOf(c core.Command) (core.Edit, string, error) {
	var d core.Edit
	yes, no := true, false
	switch c.Kind {
	case core.CommandRename:
		name, err := text("Not renamed.", "The name", c.Text, core.MaxName, false)
		if err != nil {
			return d, "", err
		}
		d.Name = &name
		if name == "" {
			return d, "Name taken away.", nil
		}
		return d, fmt.Sprintf("Renamed to %q.", name), nil
	case core.CommandDescribe:
		t, err := text("Not described.", "The description", c.Text, core.MaxDescription, true)
		if err != nil {
			return d, "", err
		}
		d.Description = &t
		return d, "Description kept.", nil
	case core.CommandTag:
		if len(c.Tags) > core.MaxTags {
			return d, "", &core.Refusal{What: "Not tagged.", Why: fmt.Sprintf("%d tags are more than %d.", len(c.Tags), core.MaxTags)}
		}
		tags := []string{}
		for _, t := range c.Tags {
			t, err := text("Not tagged.", "A tag", strings.TrimPrefix(t, "#"), core.MaxTag, false)
			if err != nil {
				return d, "", err
			}
			if t != "" && !slices.Contains(tags, t) {
				tags = append(tags, t)
			}
		}
		d.Tags = &tags
		if len(tags) == 0 {
			return d, "Tags taken away.", nil
		}
		return d, "Tagged " + strings.Join(tags, ", ") + ".", nil
	case core.CommandHide:
		d.Hidden = &yes
		return d, "Hidden. It stays listed under --all.", nil
	default:
		d.Hidden = &no
		return d, "Shown again.", nil
	}
}

// text cleans what a person typed: valid UTF-8, no control characters, one line unless lines are
// allowed. Too long is refused, not cut.
func text(what, which, s string, limit int, lines bool) (string, error) {
	if !utf8.ValidString(s) {
		return "", &core.Refusal{What: what, Why: which + " is not valid UTF-8."}
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case lines && (r == '\n' || r == '\t'):
			return r
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if len(s) > limit {
		return "", &core.Refusal{What: what, Why: fmt.Sprintf("%s has %d bytes, more than %d.", which, len(s), limit)}
	}
	return s, nil
}

// Detail returns everything known of one session; fs.ErrNotExist when there is none.
func (e *Engine) Detail(ctx context.Context, id core.SessionID) (core.Detail, error) {
	return detail(ctx, e.db, e.snap.Load().Rows, id)
}

func detail(ctx context.Context, db *ledger.DB, rows []core.Row, id core.SessionID) (core.Detail, error) {
	var d core.Detail
	for _, r := range rows {
		if r.ID == id {
			d.Row = r
			break
		}
	}
	if d.Session == nil {
		return d, fmt.Errorf("session %q: %w", id, fs.ErrNotExist)
	}
	var err error
	d.Runs, d.Skills, d.Folders, err = db.Detail(ctx, id)
	if d.Runs == nil {
		d.Runs = []core.Run{}
	}
	d.Chain = live.Chain(rows, id)
	return d, err
}

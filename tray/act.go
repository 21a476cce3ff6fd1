package main

import (
	"context"
	"errors"

	"tower/core"
	"tower/core/alert"
	"tower/tray/menu"
)

// commands are what clicks on the menu ask the engine for.
var commands = map[menu.Do]core.CommandKind{
	menu.DoRestart: core.CommandRestart,
	menu.DoQuit:    core.CommandStop,
	menu.DoJump:    core.CommandJump,
	menu.DoEnd:     core.CommandEnd,
	menu.DoResume:  core.CommandResume,
	menu.DoLaunch:  core.CommandLaunch,
}

// act does what a click on the menu asks for. What was refused, and how an END came out, is told by a
// popup: the menu has closed by then.
func (a *app) act(ctx context.Context, act menu.Action) {
	kind, ok := commands[act.Do]
	if !ok {
		if _, err := a.env.OpenPage(ctx, act.Path); err != nil {
			a.log.Error("page not opened", "path", act.Path, "error", err)
			a.tell("The dashboard was not opened.", err.Error())
		}
		return
	}
	r, err := a.command(ctx, core.Command{Kind: kind, Session: act.Session, Agent: act.Agent, CWD: act.Folder})
	var refused *core.Refusal
	switch {
	case errors.As(err, &refused):
		body := refused.Why
		if refused.Hint != "" {
			body += " " + refused.Hint
		}
		a.tell(refused.What, body)
	case err != nil && ctx.Err() == nil:
		a.tell("Not done.", err.Error())
	case err == nil && (kind == core.CommandEnd || r.Launch != nil && len(r.Launch.Cautions) > 0):
		a.tell(r.Said, "")
	}
}

// tell shows a popup about a click.
func (a *app) tell(title, body string) {
	a.popups.Show(alert.Popup{Kind: alert.New, Title: title, Body: body})
}

// command sends a command as the tray's, the way every face does.
func (a *app) command(ctx context.Context, c core.Command) (core.Result, error) {
	c.By = "tray"
	r, err := a.engine.Do(ctx, c)
	var refused *core.Refusal
	if err != nil && !errors.As(err, &refused) {
		a.log.Error("command of the tray not done", "kind", c.Kind, "error", err)
	}
	return r, err
}

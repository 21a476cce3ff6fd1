package term

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"tower/core"
)

// findKitty asks the kitty the process's environment names. It is believed when the process it started in a
// window is p or above p and both have the same terminal: a kitty inside a kitty hands on the address of the
// outer one, whose windows show another terminal.
func (d *Desk) findKitty(ctx context.Context, s *sight) (Window, bool) {
	n := s.sameTTY()
	address := s.environ(n, "KITTY_LISTEN_ON")
	if address == "" {
		return Window{}, false
	}
	k, err := dialKitty(ctx, address)
	if err != nil {
		d.log.Debug("kitty does not answer", "error", err)
		return Window{}, false
	}
	defer k.Close()
	all, err := k.list(kittyAny)
	if err != nil {
		d.log.Debug("kitty does not answer", "error", err)
		return Window{}, false
	}
	for _, kw := range all {
		i := slices.IndexFunc(s.line[:n], func(p core.Proc) bool { return p.PID == kw.PID })
		if i < 0 {
			continue
		}
		w := Window{Kind: KindKitty, ID: strconv.Itoa(kw.ID), Terminal: kitty, Title: kw.Title, Socket: address,
			PID: s.line[i].PPID, How: "kitty remote control", Shared: len(all) > 1}
		if w.Display, w.XAuthority = d.displayOf(s, i+1); kw.os > 0 && w.Display != "" {
			w.XID = strconv.Itoa(kw.os)
		}
		return w, true
	}
	return Window{}, false
}

// withKitty connects to the kitty of a window, and refuses when the window is gone.
func (d *Desk) withKitty(ctx context.Context, w Window, what string, f func(*kittyConn, kittyWindow) error) error {
	k, err := dialKitty(ctx, w.Socket)
	if errors.Is(err, errKittyGone) {
		return gone(w, what)
	}
	if err != nil {
		return err
	}
	defer k.Close()
	kw, ok, err := k.window(w.ID)
	if err == nil && ok {
		err = f(k, kw)
	} else if err == nil {
		return gone(w, what)
	}
	if hungUp(err) && ended(ctx, w) {
		return gone(w, what)
	}
	return err
}

func gone(w Window, what string) *core.Refusal {
	return &core.Refusal{What: what, Why: fmt.Sprintf("Its window (%s %s) is closed.", w.name(), w.ID)}
}

func (d *Desk) focusKitty(ctx context.Context, w Window) error {
	return d.withKitty(ctx, w, noWindow, func(k *kittyConn, kw kittyWindow) error {
		if _, err := k.ask(kittyCommand{Cmd: "focus-window", Version: kittyAny, Payload: one(kw)}); err != nil {
			return fmt.Errorf("focus window: %w", err)
		}
		// kitty asks the window manager as an application does, which may be refused; a pager is not.
		inX := false
		if w.XID != "" {
			x := w
			x.Kind, x.ID = KindX11, w.XID
			if err := d.focusNative(ctx, x); err != nil {
				return err
			}
			inX = true
		}
		seen := poll(ctx, focusLimit, func() bool {
			now, ok, err := k.window(w.ID)
			return err == nil && ok && now.front && (inX || now.focused)
		})
		if !seen {
			return &core.Refusal{What: notFocused, Why: fmt.Sprintf("kitty did not bring its window %s to the front within %v.", w.ID, focusLimit),
				Hint: "Bring it to the front by hand."}
		}
		return nil
	})
}

func (d *Desk) existsKitty(ctx context.Context, w Window) (bool, error) {
	k, err := dialKitty(ctx, w.Socket)
	if errors.Is(err, errKittyGone) {
		return false, nil // its windows are those of its process
	}
	if err != nil {
		return false, err
	}
	defer k.Close()
	_, ok, err := k.window(w.ID)
	if hungUp(err) && ended(ctx, w) {
		return false, nil
	}
	return ok, err
}

// hungUp tells whether kitty closed the connection while it was asked, as it does when it ends.
func hungUp(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// ended tells whether a kitty that hung up is gone: nobody listens in its place any more.
func ended(ctx context.Context, w Window) bool {
	return poll(ctx, kittyLimit, func() bool {
		k, err := dialKitty(ctx, w.Socket)
		if err == nil {
			k.Close()
		}
		return errors.Is(err, errKittyGone)
	})
}

func (d *Desk) textKitty(ctx context.Context, w Window) (text string, err error) {
	err = d.withKitty(ctx, w, "Not read.", func(k *kittyConn, kw kittyWindow) error {
		payload := one(kw)
		payload["extent"] = "screen"
		data, err := k.ask(kittyCommand{Cmd: "get-text", Version: kittyAny, Payload: payload})
		if err != nil {
			return fmt.Errorf("read screen: %w", err)
		}
		if err := json.Unmarshal(data, &text); err != nil {
			return fmt.Errorf("read screen: %w", err)
		}
		return nil
	})
	return text, err
}

// The markers around a paste.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// typeKitty sends text to a window's program. A kitty that can is left to bracket a paste as the program asked;
// else, and for a text of several messages, each of which it would bracket alone, the markers are sent along:
// agents ask for them.
func (d *Desk) typeKitty(ctx context.Context, w Window, text string, paste bool) error {
	return d.withKitty(ctx, w, notSent, func(k *kittyConn, kw kittyWindow) error {
		version := kittyAny
		payload := one(kw)
		if paste && text == "" {
			return nil
		}
		if paste {
			_, err := k.list(kittyBracketing)
			var old kittyError
			switch {
			case err == nil && len(text) <= kittyChunk:
				version, payload["bracketed_paste"] = kittyBracketing, "auto"
			case err == nil || errors.As(err, &old) && strings.HasPrefix(string(old), kittyTooOld):
				text = pasteBegin + text + pasteEnd
			default:
				return err
			}
		}
		for part := range slices.Chunk([]byte(text), kittyChunk) {
			payload["data"] = "base64:" + base64.StdEncoding.EncodeToString(part)
			if err := k.tell(kittyCommand{Cmd: "send-text", Version: version, NoResponse: true, Payload: payload}); err != nil {
				return err
			}
		}
		// kitty answers no send-text. It takes commands in turn, so that an answer to a later one tells that
		// the text has been handed over, and whether the window was there for it.
		if _, ok, err := k.window(w.ID); err != nil {
			return fmt.Errorf("send text: %w", err)
		} else if !ok {
			return gone(w, notSent)
		}
		return nil
	})
}

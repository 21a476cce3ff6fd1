package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"

	"tower/core"
	"tower/core/home"
	"tower/core/proc"
)

// Endpoint is what the running tower leaves in its runtime folder.
type Endpoint struct {
	URL    string       `json:"url"`
	Socket string       `json:"socket"`
	PID    int          `json:"pid"`
	Start  uint64       `json:"start"`
	Boot   string       `json:"boot_id"`
	Build  string       `json:"build"`
	Since  core.Instant `json:"since"`
}

// client speaks to the running tower through its socket.
type client struct {
	Endpoint
	http http.Client
}

// endpoint reads where the running tower answers. The file alone proves nothing: the process it names
// has to live.
func (e *Env) endpoint() (Endpoint, error) {
	var p Endpoint
	text, err := home.ReadFile(e.Home.Endpoint(), 64<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return p, errNotRunning
	}
	if errors.Is(err, fs.ErrPermission) {
		return p, hinted{fmt.Errorf("this home belongs to another user: %w", err), "Set HOME to your own, or TOWER_HOME to a folder of yours."}
	}
	if err != nil {
		return p, fmt.Errorf("read endpoint: %w", err)
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, errNotRunning
	}
	if start, ok := proc.Start(p.PID); !ok || start != p.Start || p.Boot != proc.Boot() {
		return p, errNotRunning
	}
	return p, nil
}

func (e *Env) client() (*client, error) {
	p, err := e.endpoint()
	if err != nil {
		return nil, err
	}
	c := &client{Endpoint: p}
	c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", p.Socket)
	}}
	return c, nil
}

// fault is the API's answer to what it did not do.
type fault struct {
	Error   string `json:"error"`
	Hint    string `json:"hint"`
	Refused bool   `json:"refused"`
}

// call sends one request and decodes the answer into out.
func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://tower"+path, body)
	if err != nil {
		return err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		var refused *net.OpError
		if errors.As(err, &refused) {
			return fmt.Errorf("%w: its process %d lives but its socket does not answer (%v)", errNotRunning, c.PID, refused.Err)
		}
		return fmt.Errorf("ask the tower: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		var f fault
		if err := json.NewDecoder(io.LimitReader(res.Body, 1<<16)).Decode(&f); err != nil || f.Error == "" {
			return fmt.Errorf("ask the tower: %s", res.Status)
		}
		if f.Refused || res.StatusCode == http.StatusNotFound {
			return &core.Refusal{What: f.Error, Hint: f.Hint}
		}
		return hinted{errors.New(f.Error), f.Hint}
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}

// snapshot fetches the picture; without rows it costs little however many sessions there are.
func (c *client) snapshot(ctx context.Context, rows bool) (*core.Snapshot, error) {
	var s struct {
		core.Snapshot
		Rows []core.Row `json:"rows"`
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	path := "/api/snapshot"
	if !rows {
		path += "?rows=0"
	}
	if err := c.call(ctx, http.MethodGet, path, nil, &s); err != nil {
		return nil, err
	}
	s.Snapshot.Rows = s.Rows
	return &s.Snapshot, nil
}

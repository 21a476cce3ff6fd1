package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// over is what the tower says of a launch that must not start any more.
type over string

func (o over) Error() string { return string(o) }

// errAgain is an answer of a tower that is just starting.
var errAgain = errors.New("it is not ready")

// ask gets the person's login environment from the tower. While the tower does not answer it asks
// again, for a tower that restarts; then it gives up. The answer 410 ends the launch with the
// tower's own sentence.
func (l *launcher) ask(ctx context.Context) ([]string, error) {
	c := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", l.order.Socket)
		},
	}}
	for deadline := time.Now().Add(l.patience); ; {
		env, err := l.askOnce(ctx, &c)
		var called net.Error // whatever came from the way there, a time-out too
		if err == nil || ctx.Err() != nil || !errors.As(err, &called) && !errors.Is(err, errAgain) {
			return env, err
		}
		next := time.NewTimer(min(l.patience/25, max(0, time.Until(deadline))))
		select {
		case <-next.C:
		case <-ctx.Done():
		}
		next.Stop()
		if !time.Now().Before(deadline) {
			return nil, err
		}
	}
}

func (l *launcher) askOnce(ctx context.Context, c *http.Client) ([]string, error) {
	ctx, stop := context.WithTimeout(ctx, l.each)
	defer stop()
	url := "http://tower/api/launches/" + l.order.Token + "/environment"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var answer struct {
		Env   []string `json:"env"`
		Error string   `json:"error"`
	}
	err = json.NewDecoder(io.LimitReader(res.Body, maxEnviron)).Decode(&answer)
	switch {
	case res.StatusCode == http.StatusGone && answer.Error != "":
		return nil, over(answer.Error)
	case res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusBadGateway:
		return nil, errAgain
	case res.StatusCode != http.StatusOK && answer.Error != "":
		return nil, errors.New(strings.TrimSuffix(answer.Error, "."))
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered %s", res.Status)
	case err != nil:
		return nil, fmt.Errorf("its answer cannot be read: %w", err)
	case len(answer.Env) == 0:
		return nil, errors.New("its answer is empty")
	}
	return answer.Env, nil
}

package tmux

import "context"

// gate keeps a control client that attaches apart from every tmux that is spawned meanwhile. A server
// crashes, and takes all sessions with it, when a session is made or ended in the moment in which a
// control client introduces itself: it tells the news to a client whose control state does not exist
// yet (seen in tmux 3.3a, and reported of later ones). The same happens when the client goes in that
// moment. A spawned tmux takes one of the places; the control client, and the end of the server, all.
type gate chan struct{}

const places = 16

func newGate() gate { return make(gate, places) }

// enter takes places, and tells false when the context ended first.
func (g gate) enter(ctx context.Context, n int) bool {
	for i := range n {
		select {
		case g <- struct{}{}:
		case <-ctx.Done():
			g.leave(i)
			return false
		}
	}
	return true
}

func (g gate) leave(n int) {
	for range n {
		<-g
	}
}

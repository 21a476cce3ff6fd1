package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"tower/core"
)

// Engine is what the page needs from the tower's engine.
type Engine interface {
	// Snapshot returns the published picture; it is never nil.
	Snapshot() *core.Snapshot
	// Wait returns as soon as the revision is above since, or when ctx ends, then the current picture.
	Wait(ctx context.Context, since int64) *core.Snapshot
	// Do carries a command out. A decision against it is a *core.Refusal.
	Do(ctx context.Context, c core.Command) (core.Result, error)
	// Detail returns everything known of one session; fs.ErrNotExist when there is none.
	Detail(ctx context.Context, id core.SessionID) (core.Detail, error)
	// Heat returns the turns of every day and agent.
	Heat() []core.Heat
}

// Resumer is an Engine that can say how a session would be taken up again. Without it the page shows
// no command for that. It starts nothing.
type Resumer interface {
	ResumeCommand(ctx context.Context, id core.SessionID) (core.Launch, error)
}

// Secrets keeps the few values that let a browser, a script or a password in again after a restart.
// Only hashes are handed to it. An empty value means that there is none.
type Secrets interface {
	Get(key string) (string, bool)
	Set(key, value string) error
}

// Options are what a Server is built from. Engine and Secrets are required.
type Options struct {
	Engine  Engine
	Build   string
	Port    int // of the canonical origin; 0 = that of the first TCP listener
	Log     *slog.Logger
	Secrets Secrets
	Now     func() time.Time
}

// Limits of every request.
const (
	maxBody     = 64 << 10
	maxHeader   = 16 << 10
	maxWaiting  = 64 // long polls at a time
	longestWait = 55 * time.Second
	graceful    = 3 * time.Second
)

// Server answers the document and the API. It is safe for concurrent use.
type Server struct {
	engine Engine
	build  string
	port   int
	log    *slog.Logger
	now    func() time.Time
	since  core.Instant
	run    string // differs from process to process: a revision means nothing without it

	doc     *document
	list    *index
	tickets tickets
	devices *devices
	token   *token
	word    *password
	waiting chan struct{}
	mux     *http.ServeMux
}

// New builds a server. It reads the secrets and assembles the document; it opens nothing.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		engine: o.Engine, build: o.Build, port: o.Port, log: o.Log, now: o.Now,
		since:   core.InstantOf(o.Now()),
		run:     core.UUID4()[:8],
		doc:     assemble(o.Build),
		list:    newIndex(),
		waiting: make(chan struct{}, maxWaiting),
	}
	s.devices = openDevices(o.Secrets, o.Now, o.Log)
	s.token = openToken(o.Secrets)
	s.word = openPassword(o.Secrets, o.Now)
	s.mux = s.routes()
	return s
}

// Serve answers on the listeners until ctx ends, then lets what is being answered finish for a moment.
// It closes the listeners. Either kind may be absent. It returns nil when ctx ended it.
func (s *Server) Serve(ctx context.Context, tcp []net.Listener, unix net.Listener) error {
	if s.port == 0 && len(tcp) > 0 {
		if a, ok := tcp[0].Addr().(*net.TCPAddr); ok {
			s.port = a.Port
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	serve := func(l net.Listener, h http.Handler, writing time.Duration) {
		srv := &http.Server{
			Handler:           h,
			ReadHeaderTimeout: 5 * time.Second,
			ReadTimeout:       15 * time.Second,
			WriteTimeout:      writing,
			IdleTimeout:       2 * time.Minute,
			MaxHeaderBytes:    maxHeader,
			BaseContext:       func(net.Listener) context.Context { return ctx },
			ConnContext:       withPeer,
			ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		}
		group.Go(func() error {
			if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", l.Addr(), err)
			}
			return nil
		})
		group.Go(func() error {
			<-ctx.Done()
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceful)
			defer cancel()
			if srv.Shutdown(end) != nil {
				srv.Close()
			}
			return nil
		})
	}
	for _, l := range tcp {
		serve(l, s.TCP(), longestWait+20*time.Second)
	}
	if unix != nil {
		// Programs may wait for a whole import; the kernel has proven who they are.
		serve(unix, s.Socket(), 0)
	}
	return group.Wait()
}

// URL returns the canonical origin.
func (s *Server) URL() string { return fmt.Sprintf("http://127.0.0.1:%d", s.port) }

// peerKey carries what the kernel told of the other end of a connection.
type peerKey struct{}

func withPeer(ctx context.Context, c net.Conn) context.Context {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, peerOf(u))
}

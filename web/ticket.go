package web

import (
	"bytes"
	"html/template"
	"sync"
	"time"
)

const (
	ticketLife = 30 * time.Second
	maxTickets = 16
)

// tickets are the one-time entries minted through the socket. They live in memory only: a ticket that
// outlives its process would be a password.
type tickets struct {
	mu   sync.Mutex
	open []ticket
}

type ticket struct {
	hash  string
	until time.Time
	path  string
}

// mint returns a new ticket that leads to path. The oldest is dropped when too many are out.
func (t *tickets) mint(now time.Time, path string) string {
	secret := newSecret()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep(now)
	if len(t.open) >= maxTickets {
		t.open = t.open[1:]
	}
	t.open = append(t.open, ticket{hash: digest(secret), until: now.Add(ticketLife), path: path})
	return secret
}

// take uses a ticket up and returns where it leads.
func (t *tickets) take(now time.Time, secret string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep(now)
	for i, o := range t.open {
		if matches(secret, o.hash) {
			t.open = append(t.open[:i], t.open[i+1:]...)
			return o.path, true
		}
	}
	return "", false
}

func (t *tickets) sweep(now time.Time) {
	kept := t.open[:0]
	for _, o := range t.open {
		if now.Before(o.until) {
			kept = append(kept, o)
		}
	}
	t.open = kept
}

var ticketPage = template.Must(template.New("ticket").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Tower</title>
<body onload="document.forms[0].submit()"><form method="post" action="{{.URL}}/login"><input type="hidden" name="ticket" value="{{.Ticket}}"><button>Open Tower</button></form></body></html>
`))

// TicketPage is the page to write with mode 0600 and to open in a browser: it posts the ticket. The
// ticket thereby never stands in an argument list, where every user of the machine could read it.
func TicketPage(url, ticket string) []byte {
	var b bytes.Buffer
	if err := ticketPage.Execute(&b, struct{ URL, Ticket string }{url, ticket}); err != nil {
		panic("web: ticket page: " + err.Error()) // a fixed template over two strings cannot fail
	}
	return b.Bytes()
}

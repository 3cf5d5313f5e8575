package server

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// connections bounds the open connections. At the limit a new one is let in and the connection that has been without a
// request for longest is closed for it: a crowd of clients that hold connections and send nothing, or a header byte
// by byte, then ends its own connections and nobody else's. If every connection has a request in a handler, the new
// one is closed.
type connections struct {
	limit   int
	evicted atomic.Int64 // connections closed to let others in, or because they could not be let in

	mu   sync.Mutex
	all  map[*connection]struct{}
	idle list.List // of *connection without a request in a handler, longest first
}

type connection struct {
	net.Conn
	owner   *connections
	idle    *list.Element // guarded by owner.mu; nil while a handler runs
	waiting atomic.Int64  // when the read that waits for bytes began, Unix nanoseconds; 0 if none does
}

type connectionKey struct{}

func newConnections(limit int) *connections {
	return &connections{limit: limit, all: map[*connection]struct{}{}}
}

// listen wraps ln so that its connections are counted.
func (c *connections) listen(ln net.Listener) net.Listener {
	return &countedListener{Listener: ln, owner: c}
}

// context is for [http.Server.ConnContext]: it lets a handler find its connection.
func (c *connections) context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// handling marks the connection of r as one with a request in a handler until the returned function is called.
// A request that came another way, as in tests without a listener, is none of its business.
func (c *connections) handling(r *http.Request) (done func()) {
	conn, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return func() {}
	}
	conn.setIdle(false)
	return func() { conn.setIdle(true) }
}

// sender returns the connection of r as what its body comes from.
func (c *connections) sender(r *http.Request) sender {
	if conn, ok := r.Context().Value(connectionKey{}).(*connection); ok {
		return conn
	}
	return nobody{}
}

// nobody sends the body of a request that came without a connection, as in tests: all of it is there at once.
type nobody struct{}

func (nobody) stalled() time.Duration { return 0 }
func (nobody) cut()                   {}

// open reports how many connections are open.
func (c *connections) open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all)
}

// admit registers raw, or closes it and returns nil.
func (c *connections) admit(raw net.Conn) net.Conn {
	c.mu.Lock()
	var victim *connection
	if len(c.all) >= c.limit {
		c.evicted.Add(1)
		longest := c.idle.Front()
		if longest == nil {
			c.mu.Unlock()
			raw.Close()
			return nil
		}
		victim = longest.Value.(*connection)
		c.forgetLocked(victim)
	}
	conn := &connection{Conn: raw, owner: c}
	c.all[conn] = struct{}{}
	conn.idle = c.idle.PushBack(conn)
	c.mu.Unlock()
	if victim != nil {
		victim.Conn.Close()
	}
	return conn
}

func (c *connections) forgetLocked(conn *connection) {
	delete(c.all, conn)
	if conn.idle != nil {
		c.idle.Remove(conn.idle)
		conn.idle = nil
	}
}

func (conn *connection) setIdle(idle bool) {
	c := conn.owner
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.all[conn]; !open {
		return // evicted in this very moment
	}
	switch {
	case idle && conn.idle == nil:
		conn.idle = c.idle.PushBack(conn)
	case !idle && conn.idle != nil:
		c.idle.Remove(conn.idle)
		conn.idle = nil
	}
}

// Close ends the connection and frees its place. It may be called more than once.
func (conn *connection) Close() error {
	conn.owner.mu.Lock()
	conn.owner.forgetLocked(conn)
	conn.owner.mu.Unlock()
	return conn.Conn.Close()
}

// Read notes that somebody waits.
func (conn *connection) Read(p []byte) (int, error) {
	conn.waiting.Store(time.Now().UnixNano())
	defer conn.waiting.Store(0)
	return conn.Conn.Read(p)
}

func (conn *connection) stalled() time.Duration {
	if since := conn.waiting.Load(); since != 0 {
		return time.Since(time.Unix(0, since))
	}
	return 0
}

func (conn *connection) cut() { conn.SetReadDeadline(time.Unix(1, 0)) }

// Write replaces what net/http says to a request that it cannot read.
func (conn *connection) Write(p []byte) (int, error) {
	refusal := parserRefusal(p)
	if refusal == nil {
		return conn.Conn.Write(p)
	}
	if _, err := conn.Conn.Write(refusal); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite lets net/http end an answer cleanly while the client is still sending; without it the client may lose the
// answer to a reset.
func (conn *connection) CloseWrite() error {
	if half, ok := conn.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type countedListener struct {
	net.Listener
	owner *connections
}

// Accept waits for a connection that is let in.
func (l *countedListener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if conn := l.owner.admit(raw); conn != nil {
			return conn, nil
		}
	}
}

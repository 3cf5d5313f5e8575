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

// connections bounds the open connections. At the limit a new one is let in and the connection whose client has kept the
// server waiting for longest is closed for it: without a request, or with an answer that it does not read. A crowd of
// clients that hold connections and send nothing, or a header byte by byte, or read nothing, then ends its own
// connections and nobody else's. If the handlers of all connections are at work, the new one is closed.
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
	since   time.Time     // guarded by owner.mu; when it became idle
	waiting atomic.Int64  // when the read that waits for bytes began, Unix nanoseconds; 0 if none does
	writing atomic.Int64  // the same of the write that waits for room
}

// writePatience is how long an answer may wait for room before its connection can be closed for a new one: a client that
// reads takes what is there in a fraction of that.
const writePatience = 250 * time.Millisecond

// socketBytes bounds what the kernel holds of the answers on one connection. Left alone it takes up to 4 MiB of each,
// which for 512 clients that ask for the module and do not read is 2 GiB; Linux doubles this, which makes 128 MiB. A
// client a tenth of a second away still gets the module in a second.
const socketBytes = 128 << 10

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
		if victim = c.slowestLocked(); victim == nil {
			c.mu.Unlock()
			raw.Close()
			return nil
		}
		c.forgetLocked(victim)
	}
	if socket, ok := raw.(interface{ SetWriteBuffer(int) error }); ok {
		socket.SetWriteBuffer(socketBytes)
	}
	conn := &connection{Conn: raw, owner: c, since: time.Now()}
	c.all[conn] = struct{}{}
	conn.idle = c.idle.PushBack(conn)
	c.mu.Unlock()
	if victim != nil {
		victim.Conn.Close()
	}
	return conn
}

// slowestLocked returns the connection whose client has kept the server waiting for longest, nil if none does.
func (c *connections) slowestLocked() (slowest *connection) {
	longest := writePatience
	for conn := range c.all {
		if waits := elapsed(&conn.writing); waits >= longest {
			slowest, longest = conn, waits
		}
	}
	if front := c.idle.Front(); front != nil {
		conn := front.Value.(*connection)
		if slowest == nil || time.Since(conn.since) > longest {
			return conn
		}
	}
	return slowest
}

// elapsed is how long ago since was, 0 if it is not set.
func elapsed(since *atomic.Int64) time.Duration {
	if began := since.Load(); began != 0 {
		return time.Since(time.Unix(0, began))
	}
	return 0
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
		conn.idle, conn.since = c.idle.PushBack(conn), time.Now()
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

func (conn *connection) stalled() time.Duration { return elapsed(&conn.waiting) }

func (conn *connection) cut() { conn.SetReadDeadline(time.Unix(1, 0)) }

// Write notes that it waits, and replaces what net/http says to a request that it cannot read.
func (conn *connection) Write(p []byte) (int, error) {
	conn.writing.Store(time.Now().UnixNano())
	defer conn.writing.Store(0)
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

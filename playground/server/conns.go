package server

import (
	"container/list"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// connections bounds the open connections. Up to limit of them are served; further ones, up to
// most, are answered with 503 and closed; beyond that the kernel keeps them in its queue.
//
// At the limit a new connection is let in if the client of another one has kept the server waiting
// for longer than patience: without a request, with half of one, or with an answer that it does not
// read. That one is told so and closed. A crowd of clients that hold connections and send nothing,
// or a header byte by byte, or read nothing, then ends its own connections and nobody else's.
type connections struct {
	limit, most int
	began       time.Time     // what durations are counted from: the clock on the wall may be set
	places      chan struct{} // holds one for each open connection
	full        func()        // called for each connection that is refused; nil for none
	failed      func(error)   // called for each failure to accept that passes; nil for none

	refused  atomic.Int64   // connections that got 503 because all others were at work
	evicted  atomic.Int64   // connections closed to let others in
	failures atomic.Int64   // attempts to accept a connection that failed
	refusing sync.WaitGroup // goroutines that refuse a connection

	mu      sync.Mutex
	all     map[*connection]struct{} // those that are served
	idle    list.List                // of those without a request in a handler, longest first
	leaving int                      // evicted and not closed yet
}

type connection struct {
	net.Conn
	owner   *connections
	idle    *list.Element // guarded by owner.mu; nil while a request is answered
	since   time.Duration // guarded by owner.mu; when it became idle, since owner.began
	waiting atomic.Int64  // when the read that waits for bytes began, nanoseconds since owner.began; 0 if none does
	writing atomic.Int64  // the same for the write that waits for room
	counted bool          // guarded by owner.mu; it is one of owner.leaving
	heard   atomic.Bool   // something of the request that is to be answered next has come
	asked   atomic.Bool   // something of a request has come
	late    atomic.Bool   // it has been said that a request did not come in time
	closing sync.Once

	mu      sync.Mutex // held while a deadline is set
	leaving bool       // evicted: the next read refuses
	refused bool       // that has happened
}

const (
	// patience is how long a client may keep the server waiting before its connection can be closed
	// for a new one: a client that reads takes what is there in a fraction of that, and one that is
	// about to ask asks in a fraction of that.
	patience = 250 * time.Millisecond
	// refusalWait is how long a connection that will be refused may take for the first byte of its
	// request. Some clients take an answer that comes before the request for a fault.
	refusalWait = 2 * time.Second
	// refusalLinger is how long the server then reads on, because closing a connection with unread
	// bytes takes back the answer.
	refusalLinger = 500 * time.Millisecond
	// refusalHurry takes the place of both when most places are taken: others wait in the kernel's
	// queue.
	refusalHurry = 100 * time.Millisecond
	// firstAcceptWait and longestAcceptWait bound the pause after a failure to accept.
	firstAcceptWait, longestAcceptWait = 5 * time.Millisecond, 200 * time.Millisecond
)

// socketBytes bounds what the kernel holds of the answers on one connection. Left alone it takes up
// to 4 MiB of each, which for 512 clients that ask for the module and do not read is 2 GiB; Linux
// doubles this, which makes 128 MiB. A client a tenth of a second away still gets the module in a
// second.
const socketBytes = 128 << 10

type connectionKey struct{}

// newConnections serves up to limit connections and keeps up to most open. Fewer are served if most
// leaves no room to refuse any.
func newConnections(limit, most int) *connections {
	return &connections{
		limit: min(limit, max(1, most*3/4)), most: most,
		// A moment ago, so that no moment of a connection is 0, which stands for none.
		began:  time.Now().Add(-time.Millisecond),
		places: make(chan struct{}, most),
		all:    map[*connection]struct{}{},
	}
}

// mostConnections is how many connections may be open where the system allows so many descriptors:
// half of them, since the program needs some for itself, at most want. 0 descriptors: unknown.
func mostConnections(want, descriptors int) int {
	if descriptors > 0 {
		return max(2, min(want, descriptors/2))
	}
	return want
}

// now is a moment on the clock that nobody sets.
func (c *connections) now() time.Duration { return time.Since(c.began) }

// listen wraps ln so that its connections are counted.
func (c *connections) listen(ln net.Listener) net.Listener {
	return &countedListener{Listener: ln, owner: c, closed: make(chan struct{})}
}

// context is for [http.Server.ConnContext]: it lets a handler find its connection.
func (c *connections) context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// handling marks the connection of r as one whose request is being answered, until
// [connections.state] says that the answer is out. It reports whether the connection has been
// evicted in this very moment. A request that came another way, as in tests without a listener, is
// none of its business.
func (c *connections) handling(r *http.Request) (evicted bool) {
	conn, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok || conn.setIdle(false) {
		return false
	}
	conn.mu.Lock()
	defer conn.mu.Unlock()
	conn.leaving = false // the handler refuses
	return true
}

// state is for [http.Server.ConnState]: a connection is idle again when the whole answer is
// written.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	if conn, ok := conn.(*connection); ok && state == http.StateIdle {
		conn.heard.Store(false)
		conn.setIdle(true)
	}
}

// sender returns the connection of r as what its body comes from.
func (c *connections) sender(r *http.Request) sender {
	if conn, ok := r.Context().Value(connectionKey{}).(*connection); ok {
		return conn
	}
	return nobody{}
}

// nobody sends the body of a request that came without a connection, as in tests: all of it is
// there at once.
type nobody struct{}

func (nobody) stalled() time.Duration { return 0 }
func (nobody) cut()                   {}

// open reports how many connections are served.
func (c *connections) open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all)
}

// admit registers raw, or refuses it and returns nil. The caller holds a place for it.
func (c *connections) admit(raw net.Conn) net.Conn {
	if socket, ok := raw.(interface{ SetWriteBuffer(int) error }); ok {
		socket.SetWriteBuffer(socketBytes)
	}
	conn := &connection{Conn: raw, owner: c}
	c.mu.Lock()
	if len(c.all) >= c.limit && !c.evictLocked() {
		c.mu.Unlock()
		c.refused.Add(1)
		if c.full != nil {
			c.full()
		}
		c.refusing.Go(func() {
			defer conn.Close()
			conn.refuse()
		})
		return nil
	}
	c.all[conn] = struct{}{}
	conn.idle, conn.since = c.idle.PushBack(conn), c.now()
	c.mu.Unlock()
	return conn
}

// evictLocked makes room for one connection and reports whether it could. Not more are told to
// leave at once than are served, so that their buffers stay within the arithmetic of the package.
func (c *connections) evictLocked() bool {
	victim := c.slowestLocked()
	if victim == nil || c.leaving >= c.limit {
		return false
	}
	stuck := victim.idle == nil
	c.forgetLocked(victim)
	c.leaving, victim.counted = c.leaving+1, true
	c.evicted.Add(1)
	if stuck { // in the middle of an answer: there is nothing to say
		victim.Conn.Close()
		return true
	}
	victim.mu.Lock()
	defer victim.mu.Unlock()
	victim.leaving = true
	victim.Conn.SetReadDeadline(time.Now()) // wakes the read that waits for a request
	return true
}

// slowestLocked returns the connection whose client has kept the server waiting for longest, nil if
// none does.
func (c *connections) slowestLocked() (slowest *connection) {
	longest := patience
	for conn := range c.all {
		if waits := c.elapsed(&conn.writing); waits >= longest {
			slowest, longest = conn, waits
		}
	}
	if front := c.idle.Front(); front != nil {
		if conn := front.Value.(*connection); c.now()-conn.since >= longest {
			return conn
		}
	}
	return slowest
}

// elapsed is how long ago since was, 0 if it is not set.
func (c *connections) elapsed(since *atomic.Int64) time.Duration {
	if began := since.Load(); began != 0 {
		return c.now() - time.Duration(began)
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

// setIdle notes whether conn waits for a request. It reports false for a connection that is closed
// or evicted.
func (conn *connection) setIdle(idle bool) bool {
	c := conn.owner
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, open := c.all[conn]; !open {
		return false
	}
	switch {
	case idle && conn.idle == nil:
		conn.idle, conn.since = c.idle.PushBack(conn), c.now()
	case !idle && conn.idle != nil:
		c.idle.Remove(conn.idle)
		conn.idle = nil
	}
	return true
}

// Close ends the connection and frees its place. It may be called more than once.
func (conn *connection) Close() error {
	err := conn.Conn.Close()
	conn.closing.Do(func() {
		c := conn.owner
		c.mu.Lock()
		if _, served := c.all[conn]; served {
			c.forgetLocked(conn)
		} else if conn.counted {
			c.leaving--
		}
		c.mu.Unlock()
		<-c.places
	})
	return err
}

// Read notes that somebody waits. On an evicted connection it refuses.
func (conn *connection) Read(p []byte) (int, error) {
	conn.waiting.Store(int64(conn.owner.now()))
	n, err := conn.Conn.Read(p)
	conn.waiting.Store(0)
	if n > 0 {
		conn.heard.Store(true)
		conn.asked.Store(true)
		return n, err
	}
	switch {
	case err == nil:
	case conn.leaves():
		conn.refuse()
	case conn.outOfTime(err):
		conn.Conn.SetWriteDeadline(time.Now().Add(refusalHurry))
		conn.Conn.Write(rawProblem(errLate))
	}
	return n, err // to a time-out net/http says nothing of its own
}

// outOfTime reports once whether err is that a request has not come, or not all of its headers, in the
// time for them. A client that the load of its machine holds up then learns why. That nothing
// follows a request which was answered needs no words.
func (conn *connection) outOfTime(err error) bool {
	timeout, ok := err.(net.Error)
	conn.owner.mu.Lock()
	defer conn.owner.mu.Unlock()
	return ok && timeout.Timeout() && conn.idle != nil && (conn.heard.Load() || !conn.asked.Load()) && !conn.late.Swap(true)
}

// leaves reports once whether conn is to be refused.
func (conn *connection) leaves() bool {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	once := conn.leaving && !conn.refused
	conn.refused = conn.refused || once
	return once
}

// SetReadDeadline does nothing on an evicted connection, whose read is to end now.
func (conn *connection) SetReadDeadline(t time.Time) error {
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if conn.leaving {
		return nil
	}
	return conn.Conn.SetReadDeadline(t)
}

func (conn *connection) stalled() time.Duration { return conn.owner.elapsed(&conn.waiting) }

func (conn *connection) cut() { conn.SetReadDeadline(time.Now()) }

// refuse answers 503 to a connection that is not in net/http's hands: it is new, or waits for a
// request in its Read. One that asks nothing is told with 408 that it was waited for: a client
// takes that for the end of an idle connection, and any other answer to no question for a fault.
func (conn *connection) refuse() {
	raw := conn.Conn
	wait, linger := refusalWait, refusalLinger
	if len(conn.owner.places) > conn.owner.most*3/4 {
		wait, linger = refusalHurry, refusalHurry
	}
	buffer := make([]byte, 512)
	refusal := errCrowded
	if !conn.heard.Load() {
		raw.SetReadDeadline(time.Now().Add(wait))
		if n, err := raw.Read(buffer); n == 0 {
			if timeout, ok := err.(net.Error); !ok || !timeout.Timeout() {
				return // the client has gone
			}
			refusal = errSilent
		}
	}
	raw.SetDeadline(time.Now().Add(linger))
	if _, err := raw.Write(rawProblem(refusal)); err != nil || refusal == errSilent {
		return
	}
	conn.CloseWrite()
	for err := error(nil); err == nil; {
		_, err = raw.Read(buffer)
	}
}

// Write notes that it waits, and replaces what net/http says to a request that it cannot read.
func (conn *connection) Write(p []byte) (int, error) {
	conn.writing.Store(int64(conn.owner.now()))
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

// CloseWrite lets net/http end an answer cleanly while the client is still sending; without it the
// client may lose the answer to a reset.
func (conn *connection) CloseWrite() error {
	if half, ok := conn.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type countedListener struct {
	net.Listener
	owner  *connections
	closed chan struct{}
	once   sync.Once
}

// Accept waits for a place, and then for a connection that is let in.
func (l *countedListener) Accept() (net.Conn, error) {
	for {
		select {
		case l.owner.places <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
		raw, err := l.patiently()
		if err != nil {
			<-l.owner.places
			return nil, err
		}
		if conn := l.owner.admit(raw); conn != nil {
			return conn, nil
		}
	}
}

// patiently accepts a connection. What fails and can pass is tried again after a pause: net/http
// would end the server for most of it.
func (l *countedListener) patiently() (net.Conn, error) {
	for wait := firstAcceptWait; ; wait = min(2*wait, longestAcceptWait) {
		raw, err := l.Listener.Accept()
		if err == nil || !passes(err) {
			return raw, err
		}
		l.owner.failures.Add(1)
		if l.owner.failed != nil {
			l.owner.failed(err)
		}
		l.owner.mu.Lock()
		l.owner.evictLocked() // its descriptor may be what is missing
		l.owner.mu.Unlock()
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-l.closed:
			pause.Stop()
			return nil, net.ErrClosed
		}
	}
}

// Close also ends an Accept that waits for a place.
func (l *countedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// passes reports whether a failure to accept says nothing about the listener itself: descriptors or
// memory are used up, or a client was gone before its turn. Source: accept(2) of Linux.
func passes(err error) bool {
	for _, passing := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR,
		syscall.EPROTO, syscall.ENOPROTOOPT, syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTDOWN,
		syscall.EHOSTUNREACH, syscall.EOPNOTSUPP, syscall.EPERM,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

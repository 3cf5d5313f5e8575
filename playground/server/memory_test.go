package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
)

// memoryListener is a network inside a test, so that servers can run on virtual time.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }

var errRefused = errors.New("connection refused")

func (l *memoryListener) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, errRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// client returns a client whose connections all lead to l. conns bounds them; 0 does not.
func (l *memoryListener) client(conns int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) },
		MaxConnsPerHost:     conns,
		MaxIdleConnsPerHost: 1000,
	}}
}

// inMemory is a server that runs in the bubble of a synctest.
type inMemory struct {
	*Server
	ln   *memoryListener
	stop func() error
}

func runInMemory(t testing.TB, c Config) inMemory {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ln := newMemoryListener()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, ln) }()
	<-s.Started()
	return inMemory{s, ln, sync.OnceValue(func() error {
		cancel()
		return <-ended
	})}
}

package server

import (
	"cmp"
	"time"
)

// The default of each field of [Limits].
const (
	// DefaultBodyBytes is far above a real Job (under 10 KiB) and equals the largest manifest that
	// the core reads.
	DefaultBodyBytes = 256 << 10
	// DefaultRequests bounds the bodies in memory: 64 x 256 KiB is 16 MiB.
	DefaultRequests = 64
	// DefaultQueue lets a burst of twice the places through without an error.
	DefaultQueue = 64
	// DefaultQueueWait is how long a person does not notice.
	DefaultQueueWait = 250 * time.Millisecond
	// DefaultBodyPatience is when a client that stops in the middle of a body may lose its place to
	// a request that waits. With 64 places it takes 2,560 new slow clients each second to keep
	// others out.
	DefaultBodyPatience = 25 * time.Millisecond
	// DefaultEvaluation is far above the slowest honest evaluation, so that it stays right on a
	// machine that has no processor to spare. The core's own budget of steps comes first.
	DefaultEvaluation = time.Second
	// DefaultConnections ends clients that read slowly: their answers fit the socket buffers, so no
	// time-out of writing sees them.
	DefaultConnections = 512
	// DefaultOpen bounds the open connections, those included that only get 503; half of the
	// descriptors that the process may have if that is less. Beyond it the kernel keeps connections
	// in its queue.
	DefaultOpen = 4096
	// DefaultReadHeader, DefaultRead, DefaultWrite and DefaultIdle end clients that send or read
	// slowly.
	DefaultReadHeader = 2 * time.Second
	DefaultRead       = 5 * time.Second
	DefaultWrite      = 10 * time.Second
	DefaultIdle       = 30 * time.Second
	// DefaultHeaderBytes bounds request line and headers. net/http adds 4 KiB of slack of its own.
	DefaultHeaderBytes = 16 << 10
	// DefaultLameDuck is how long the server goes on after it has said that it is not ready.
	DefaultLameDuck = time.Second
	// DefaultDrain bounds the wait for open requests after that.
	DefaultDrain = 10 * time.Second

	// maxProblemBytes bounds every problem document.
	maxProblemBytes = 64 << 10
)

// Limits bounds what clients can make the server do. A zero field means its default.
type Limits struct {
	BodyBytes    int64         // largest request body
	Requests     int           // requests past the gate at once: bodies being read or evaluated
	Queue        int           // requests waiting at the gate; one more is refused at once
	QueueWait    time.Duration // longest wait at the gate
	BodyPatience time.Duration // pause within a body after which it gives way to a waiting request
	Evaluation   time.Duration // deadline of one evaluation, waiting for an instance included
	Connections  int           // connections that are served; at the limit one whose client stalls is closed for a new one
	Open         int           // open connections; above Connections they get 503, and beyond Open they wait to be accepted
	ReadHeader   time.Duration // longest time for the headers of a request
	Read         time.Duration // longest time for a whole request, its body included
	Write        time.Duration // longest time from the headers of a request to the end of its answer
	Idle         time.Duration // longest pause between two requests on a connection
	HeaderBytes  int           // largest request line and headers together; more than 4096
	LameDuck     time.Duration // pause between "not ready" and closing the listener, when there is traffic
	Drain        time.Duration // longest wait for open requests at shutdown
}

// withDefaults returns l with its zero fields filled in.
func (l Limits) withDefaults() Limits {
	return Limits{
		BodyBytes:    cmp.Or(l.BodyBytes, DefaultBodyBytes),
		Requests:     cmp.Or(l.Requests, DefaultRequests),
		Queue:        cmp.Or(l.Queue, DefaultQueue),
		QueueWait:    cmp.Or(l.QueueWait, DefaultQueueWait),
		BodyPatience: cmp.Or(l.BodyPatience, DefaultBodyPatience),
		Evaluation:   cmp.Or(l.Evaluation, DefaultEvaluation),
		Connections:  cmp.Or(l.Connections, DefaultConnections),
		Open:         cmp.Or(l.Open, DefaultOpen),
		ReadHeader:   cmp.Or(l.ReadHeader, DefaultReadHeader),
		Read:         cmp.Or(l.Read, DefaultRead),
		Write:        cmp.Or(l.Write, DefaultWrite),
		Idle:         cmp.Or(l.Idle, DefaultIdle),
		HeaderBytes:  cmp.Or(l.HeaderBytes, DefaultHeaderBytes),
		LameDuck:     cmp.Or(l.LameDuck, DefaultLameDuck),
		Drain:        cmp.Or(l.Drain, DefaultDrain),
	}
}

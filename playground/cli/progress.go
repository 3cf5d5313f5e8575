package cli

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress says on a terminal how far the reading of many files is, in one line that is written
// over and over.
type progress struct {
	out              io.Writer
	files, documents int
	next             time.Time // when the line is written again
	shown            bool
}

const (
	progressAfter = time.Second            // a short run says nothing
	progressEvery = 200 * time.Millisecond // often enough to be seen moving
)

// newProgress returns what writes to a terminal, or to nothing if out is not one.
func newProgress(out io.Writer) *progress {
	p := &progress{next: time.Now().Add(progressAfter)}
	if f, ok := out.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.out = out
		}
	}
	return p
}

// tick writes the line if it is time for it.
func (p *progress) tick(name string) {
	if p.out == nil || time.Now().Before(p.next) {
		return
	}
	p.next = time.Now().Add(progressEvery)
	p.clear()
	const most = 40
	if r := []rune(name); len(r) > most {
		name = "…" + string(r[len(r)-most:])
	}
	fmt.Fprintf(p.out, "\r%d files, %d documents: %s", p.files, p.documents, name)
	p.shown = true
}

// clear wipes the line, so that something else can be written.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}

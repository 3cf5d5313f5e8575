package forecast

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/policy/words"
	"github.com/podfate/podfate/schema"
)

// Options say how a cluster is looked at.
type Options struct {
	Now                time.Time
	Cluster            []byte        // the member cluster of requests, nil for the defaults
	Ahead              time.Duration // how far one looks; from 1 s on
	RequestsPerRestart int64
}

// maxBroken bounds the broken items that are named; of more only the number is given.
const maxBroken = 100

// As long as little is kept, some 2 KB of each Pod that loops, the collector may wait for more
// garbage. Of 10,000 Pods that all loop, 54 MB, two processors take 3.2 s in sum and 65 MB; without
// this they took 3.8 to 4.7 s and 31 MB, which is too near to the bar of 2 s, or above.
const (
	usualPercent = 100
	littleKept   = 400
	manyKept     = 20_000
)

// item is an object of the stream, and what became of it.
type item struct {
	json   []byte
	source string
	number int // of the piece in its text, from 1
	line   int // in which it begins
	broken string
	found  finding
	done   chan struct{}
}

// Read reads all objects of the texts, which names come with, and says what will become of them. No
// error is returned for what cannot be understood: the report names it. The error is that of a
// reader.
//
// Objects are judged on all processors; what is kept of one that is fine is nothing.
func Read(o Options, names []string, texts []io.Reader) (*Report, error) {
	workers := runtime.GOMAXPROCS(0)
	ahead := make(chan *item, 4*workers)
	order := make(chan *item, 4*workers)
	var judges sync.WaitGroup
	for range workers {
		judges.Go(func() {
			j := newJudge(o)
			for it := range ahead {
				j.judge(it)
				close(it.done)
			}
		})
	}
	report := newReport(o)
	percent := debug.SetGCPercent(littleKept)
	if percent != usualPercent { // somebody wants it otherwise
		debug.SetGCPercent(percent)
	}
	defer debug.SetGCPercent(percent)
	var added sync.WaitGroup
	added.Go(func() {
		many := false
		for it := range order {
			<-it.done
			if report.add(it); !many && len(report.Loops) >= manyKept {
				many = true
				debug.SetGCPercent(percent)
			}
		}
	})
	send := func(it *item) {
		it.done = make(chan struct{})
		ahead <- it
		order <- it
	}
	var failed error
	for i, text := range texts {
		if err := pieces(names[i], text, send); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", names[i], err))
		}
	}
	close(ahead)
	close(order)
	judges.Wait()
	added.Wait()
	report.finish()
	return report, failed
}

// pieces sends each object of a text.
func pieces(name string, text io.Reader, send func(*item)) error {
	stream := schema.NewStream(name, text)
	stream.EachItem()
	for {
		p, err := stream.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		it := item{source: name, number: p.Number, line: p.Line}
		if text := []byte(p.Text()); len(text) > 0 && bytes.TrimLeft(text, " \t\r\n")[0] == '{' {
			it.json = text
			send(&it)
			continue
		}
		docs, err := p.Decode()
		if err != nil {
			it.broken = err.Error()
			send(&it)
			continue
		}
		if len(docs) == 0 && strings.TrimSpace(p.Text()) == "null" { // an item of a List; a document without text is not one
			it.json = []byte("null")
			send(&it)
		}
		for _, doc := range docs {
			one := it
			one.json = doc.JSON()
			root, fault := manifest.Parse(one.json)
			if fault == nil && root.Get("kind").Text() == "List" { // in YAML that is short
				n := 0
				for v := root.Get("items").First(); v.Exists(); v = v.Next() {
					of := one
					n++
					of.json, of.number = v.Raw(), n
					send(&of)
				}
				continue
			}
			send(&one)
		}
	}
}

// judge asks the core about one object after the other.
type judge struct {
	o                  Options
	core               ops.Memory
	objects            manifest.Parser
	answers            manifest.Parser
	now                string
	ahead              string
	request            []byte
	simulates, decides uint32 // numbers of operations
}

func newJudge(o Options) *judge {
	simulate, _ := ops.Lookup("simulate")
	decide, _ := ops.Lookup("decide")
	return &judge{
		o: o, now: o.Now.UTC().Format(time.RFC3339), ahead: o.Ahead.String(), simulates: simulate.Number, decides: decide.Number,
	}
}

// judge says what becomes of an object. One that is broken is named, and changes nothing for the
// others.
func (j *judge) judge(it *item) {
	defer func() {
		it.json = nil
		it.own()
	}()
	if it.broken != "" {
		return
	}
	root, fault := j.objects.Parse(it.json)
	switch {
	case fault != nil:
		it.broken = "is not JSON: " + fault.Message
		return
	case root.Kind() != manifest.Object:
		it.broken = "is not an object of Kubernetes"
		return
	}
	meta := root.Get("metadata")
	f := &it.found
	f.kind, f.namespace, f.name, f.uid = root.Get("kind").Text(), meta.Get("namespace").Text(), meta.Get("name").Text(), meta.Get("uid").Text()
	switch {
	case f.kind == "" && root.Get("spec").Get("containers").Exists():
		f.kind = "Pod" // the API server leaves it out of its own lists, such as a PodList
	case f.kind == "":
		it.broken = "has no kind"
		return
	}
	if items := root.Get("items"); given(items) && items.Kind() != manifest.Array && strings.HasSuffix(f.kind, "List") {
		it.broken = "items is not a list"
		return
	}
	f.kind = kindOf(root.Get("apiVersion").Text(), f.kind)
	switch f.kind {
	case "Pod":
		j.pod(it, root)
	case "Job":
		it.broken = f.readJob(root, j.o.Now)
	}
}

// kindOf tells a Job of Volcano, say, from one of Kubernetes, in the way in which kubectl does.
func kindOf(apiVersion, kind string) string {
	if kind != "Job" || !manifest.Foreign(apiVersion) {
		return kind
	}
	group, _, _ := strings.Cut(apiVersion, "/")
	return kind + "." + group
}

// own copies what is kept of an object. Texts that are read are parts of the whole object, or of an
// answer, of which nothing else need be kept.
func (it *item) own() {
	f := &it.found
	own := func(texts ...*string) {
		for _, text := range texts {
			*text = strings.Clone(*text)
		}
	}
	own(&it.broken, &f.kind, &f.namespace, &f.name, &f.uid, &f.owner.Namespace, &f.owner.Kind, &f.owner.Name, &f.newest)
	for i := range f.loops {
		l := &f.loops[i]
		l.Namespace, l.Pod, l.UID, l.Owner = f.namespace, f.name, f.uid, f.owner
		own(&l.Node, &l.Container, &l.Status, &l.Reason, &l.Since, &l.PodStarted, &l.NextStart, &l.KeptBy, &l.Because, &l.waiting, &l.policy, &l.created)
	}
	for _, list := range [...][]Stuck{f.stuck, f.notModelled} {
		for i := range list {
			s := &list[i]
			s.Namespace, s.Pod, s.UID, s.Owner = f.namespace, f.name, f.uid, f.owner
			own(&s.Container, &s.Reason, &s.Text, &s.KeptBy, &s.Since)
		}
	}
	if j := f.job; j != nil {
		j.Namespace, j.Name = f.namespace, f.name
		own(&j.Ends)
	}
}

// simulate goes on from the status of a Pod.
func (j *judge) simulate(pod []byte, now string) (answer manifest.Value, failed bool) {
	return j.call(j.simulates, pod, `"from":"status","until":"`+j.ahead+`","now":"`+now+`"`)
}

// decide asks which field decides what happens after an exit, and why.
func (j *judge) decide(pod manifest.Value, container string, code int64, reason string) (path, because string) {
	exit := append([]byte(`"exits":[{"container":`), manifest.AppendQuoted(nil, container)...)
	exit = append(strconv.AppendInt(append(exit, `,"exitCode":`...), code, 10), `,"reason":`...)
	exit = append(manifest.AppendQuoted(exit, reason), "}]"...)
	answer, _ := j.call(j.decides, pod.Raw(), string(exit))
	d := answer.Get("decisions").First()
	return d.Get("decidedBy").Get("path").Text(), words.Phrase(d.Get("because").Text())
}

// call asks an operation about a Pod.
func (j *judge) call(number uint32, pod []byte, members string) (answer manifest.Value, failed bool) {
	b := append(j.request[:0], `{"fieldValidation":"Ignore",`...)
	b = append(b, members...)
	if j.o.Cluster != nil {
		b = append(append(b, `,"cluster":`...), j.o.Cluster...)
	}
	b = append(append(append(b, `,"manifest":`...), pod...), '}')
	j.request = b
	text, failed := j.core.Call(number, b)
	answer, fault := j.answers.Parse(text)
	if fault != nil {
		panic("the core's answer is not JSON: " + fault.Message)
	}
	return answer, failed
}

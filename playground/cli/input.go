package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/web/views"
)

// asked is one request, or why it could not be built.
type asked struct {
	source  string // file that it came from; "" if there is none
	request *schema.Request
	faults  schema.Faults
	others  []schema.Fault // objects of the file that have no Pods; with the first request of the file, or with none
	note    string         // what else is to be said, "" if nothing
}

// text is a file's name, as it can be shown, and content. Whoever made a folder chose the names in it.
type text struct {
	name    string
	content []byte
}

// stdin is what standard input is called in messages.
const stdin = "stdin"

// readFiles reads files, folders and standard input and builds a request for each manifest in them, in order. A
// Scenario or a KubeletConfiguration belongs to all requests, whichever file it stands in. What is wrong with one file
// does not keep the others from being answered, unless it may be such a document: without it they would be answered
// otherwise.
//
// Objects without Pods, such as a Service, are passed over and named; if there is nothing else, each is a fault.
func readFiles(names []string, in io.Reader, overrides schema.Overrides) ([]asked, error) {
	texts, err := open(names, in)
	if err != nil {
		return nil, err
	}
	var batch []asked
	var common []*schema.Document
	lost := "" // a file that cannot be read and may say something about all manifests
	own := make([][]*schema.Document, len(texts))
	for i, t := range texts {
		docs, err := schema.DecodeNamed(t.name, t.content)
		var faults schema.Faults
		if errors.As(err, &faults) {
			batch = append(batch, asked{source: t.name, faults: faults})
			if lost == "" && commonKinds.Match(t.content) {
				lost = t.name
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if lost == "" && commonKinds.Match(t.content) && slices.ContainsFunc(docs, isBroken) {
			batch, lost = append(batch, build(t.name, docs, overrides)...), t.name
			continue
		}
		for _, doc := range docs {
			if isCommon(doc) {
				common = append(common, doc)
			} else {
				own[i] = append(own[i], doc)
			}
		}
	}
	if lost != "" {
		if len(texts) > len(batch) {
			batch = append(batch, asked{note: lost + " cannot be read and may concern every manifest, so none is answered"})
		}
		return batch, nil
	}
	unreadable, manifests := len(batch), 0
	others := make([][]schema.Fault, len(texts))
	barren := make([]bool, len(texts)) // nothing but objects without Pods
	for i := range texts {
		others[i], barren[i] = schema.Others(own[i])
		if len(own[i]) > 0 && !barren[i] {
			manifests++
		}
	}
	for i, t := range texts {
		switch {
		case barren[i] && manifests > 0:
			batch = append(batch, asked{source: t.name, others: others[i]})
		case len(own[i]) > 0:
			answered := build(t.name, slices.Concat(common, own[i]), overrides)
			if answered[0].request != nil {
				answered[0].others = others[i]
			}
			batch = append(batch, answered...)
		}
	}
	if len(batch) == unreadable && len(common) > 0 {
		batch = append(batch, build(texts[0].name, common, overrides)...)
	}
	return batch, nil
}

func build(source string, docs []*schema.Document, overrides schema.Overrides) []asked {
	requests, err := schema.NewRequests(docs, overrides)
	var faults schema.Faults
	if errors.As(err, &faults) {
		return []asked{{source: source, faults: faults}}
	}
	batch := make([]asked, len(requests))
	for i, r := range requests {
		batch[i] = asked{source: source, request: r}
	}
	return batch
}

// commonKinds matches a text that may hold a document of which [isCommon] is true.
var commonKinds = regexp.MustCompile(`\bkind["']?\s*:\s*["']?(Scenario|KubeletConfiguration)\b`)

// isBroken reports whether a document is JSON as it was given, which only the core reads, and not well-formed.
func isBroken(doc *schema.Document) bool { return !json.Valid(doc.JSON()) }

// isCommon reports whether a document says something about all manifests and is none itself.
func isCommon(doc *schema.Document) bool {
	var head struct {
		Kind     string          `json:"kind"`
		Manifest json.RawMessage `json:"manifest"`
	}
	if json.Unmarshal(doc.JSON(), &head) != nil {
		return false
	}
	return head.Kind == "KubeletConfiguration" || head.Kind == "Scenario" && head.Manifest == nil
}

// open reads everything that -f names. A folder is walked in alphabetical order.
func open(names []string, in io.Reader) ([]text, error) {
	return openBounded(names, in, schema.MaxBodyBytes)
}

// openBounded is open with another bound on the bytes of a file. One byte more is read, so that the size can be refused.
func openBounded(names []string, in io.Reader, most int64) ([]text, error) {
	var texts []text
	for i, name := range names {
		if name == "-" {
			if slices.Contains(names[:i], "-") {
				return nil, errors.New("- stands here twice: standard input can be read only once")
			}
			content, err := io.ReadAll(io.LimitReader(in, most+1))
			if err != nil {
				return nil, fmt.Errorf("standard input: %w", err)
			}
			texts = append(texts, text{stdin, content})
			continue
		}
		info, err := os.Stat(name)
		switch {
		case name == "":
			return nil, errors.New("the name of a file is empty; name a file or a folder, or - for standard input")
		case err != nil && (strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")):
			return nil, fmt.Errorf("%s: nothing is fetched from the net; try curl -sS %s | podfate … -f -", name, name)
		case err != nil:
			return nil, fileError(err)
		}
		found := []string{name}
		if info.IsDir() {
			if found, err = manifestsBelow(name); err != nil {
				return nil, fileError(err)
			}
		}
		for _, file := range found {
			content, err := readFile(file, most)
			if err != nil {
				return nil, fileError(err)
			}
			texts = append(texts, text{views.Visible(file), content})
		}
	}
	return texts, nil
}

// manifestsBelow lists the files of a folder that look like manifests.
func manifestsBelow(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		ext := filepath.Ext(path)
		if entry.IsDir() || ext != ".yaml" && ext != ".yml" && ext != ".json" {
			return nil
		}
		switch info, err := os.Stat(path); { // of what a link leads to
		case err != nil:
			return err
		case info.Mode().IsRegular():
			files = append(files, path)
		case !info.IsDir(): // it may be read for ever, or wait for somebody who writes to it
			return fmt.Errorf("%s: is no ordinary file; name it with -f to read it", views.Visible(path))
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no file ends in .yaml, .yml or .json", folder)
	}
	return files, err
}

func readFile(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most+1))
}

// fileError says what is wrong without the name of the system call.
func fileError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = fmt.Errorf("%s: %w", views.Visible(path.Path), path.Err)
	}
	return statusError{StatusUsage, err}
}

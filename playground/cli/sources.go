package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/podfate/podfate/policy/words"
)

// stdin is what standard input is called in messages.
const stdin = "stdin"

// maxHeldBytes bounds how much is kept in memory of an input that can be read only once. What is
// longer waits in a temporary file: a Scenario at its end counts for the manifests at its
// beginning.
const maxHeldBytes = 1 << 20

// sources are the files, folders and streams that -f names. They can be walked more than once.
type sources struct {
	entries []source
}

// source is one of them.
type source struct {
	name   string
	folder bool
	held   []byte   // of a stream that is short
	spool  *os.File // of one that is long
	size   int64
}

// openSources looks at everything that -f names; what can be read only once is read. The error is
// one of usage.
func openSources(names []string, in io.Reader) (*sources, error) {
	s := &sources{}
	var faults []error
	for i, name := range names {
		var e source
		var err error
		switch {
		case name != "-":
			e, err = openSource(name)
		case slices.Contains(names[:i], "-"):
			err = errors.New("- is given twice: standard input can be read only once")
		default:
			if e, err = hold(stdin, in); err != nil {
				err = fmt.Errorf("standard input: %w", err)
			}
		}
		faults = append(faults, err)
		if err == nil {
			s.entries = append(s.entries, e)
		}
	}
	if err := unreadable(faults); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// unreadable makes one error of usage of all that is wrong with files, nil if nothing is.
func unreadable(faults []error) error {
	for i, err := range faults {
		var of statusError // that of a file says no more than that it cannot be read
		if errors.As(err, &of) {
			faults[i] = of.err
		}
	}
	if all := errors.Join(faults...); all != nil {
		return statusError{StatusUsage, all}
	}
	return nil
}

// find says what a name is of, and reads nothing: what is no file can be read only once.
func find(name string) (fs.FileInfo, error) {
	info, err := os.Stat(name)
	switch {
	case name == "":
		return nil, errors.New("the name of a file is empty; name a file or a folder, or - for standard input")
	case err != nil && (strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")):
		return nil, fmt.Errorf("%s: addresses are not fetched; try curl -sS %s | podfate … -f -", name, name)
	case err != nil:
		return nil, fileError(err)
	}
	return info, nil
}

func openSource(name string) (source, error) {
	info, err := find(name)
	switch {
	case err != nil:
		return source{}, err
	case info.IsDir():
		return source{name: name, folder: true}, nil
	case info.Mode().IsRegular():
		f, err := os.Open(name)
		if err != nil {
			return source{}, fileError(err)
		}
		f.Close()
		return source{name: name}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return source{}, fileError(err)
	}
	defer f.Close()
	e, err := hold(name, f)
	if err != nil {
		err = fileError(err)
	}
	return e, err
}

// hold reads a stream to its end.
func hold(name string, in io.Reader) (source, error) {
	e := source{name: name}
	var err error
	if e.held, err = io.ReadAll(io.LimitReader(in, maxHeldBytes)); err != nil || len(e.held) < maxHeldBytes {
		return e, err
	}
	if e.spool, err = os.CreateTemp("", "podfate-*"); err != nil {
		return e, err
	}
	_ = os.Remove(e.spool.Name()) // where the system allows that of an open file; elsewhere close does it
	if _, err = e.spool.Write(e.held); err == nil {
		e.size, err = io.Copy(e.spool, in)
	}
	e.size += int64(len(e.held))
	e.held = nil
	return e, err
}

// names reports whether a file that can be shown so was named itself, and not a folder that it is in.
func (s *sources) names(file string) bool {
	return slices.ContainsFunc(s.entries, func(e source) bool { return !e.folder && words.Visible(e.name) == file })
}

func (s *sources) close() {
	for _, e := range s.entries {
		if e.spool != nil {
			e.spool.Close()
			_ = os.Remove(e.spool.Name())
		}
	}
}

// walker is told what a walk finds. Each function may be nil, except file.
type walker struct {
	// file gets each file as text, under the name that can be shown. An error ends the walk.
	file func(name string, in io.ReadSeeker) error
	// passed gets what is not read, and why.
	passed func(name, why string)
	// failed gets what cannot be read.
	failed func(err error)
}

// walk goes through all sources in their order, and through folders in that of the alphabet. A
// folder that several links lead to is walked once.
func (s *sources) walk(w walker) error {
	for i := range s.entries {
		e := &s.entries[i]
		var err error
		switch {
		case e.folder:
			f := folderWalk{walker: w, seen: map[string]bool{}}
			if err = f.walk(e.name); err == nil && f.files == 0 {
				err = statusError{StatusUsage, fmt.Errorf("%s: no file ends in .yaml, .yml or .json", words.Visible(e.name))}
			}
		case e.spool != nil:
			err = w.file(words.Visible(e.name), io.NewSectionReader(e.spool, 0, e.size))
		case e.held != nil:
			err = w.file(words.Visible(e.name), bytes.NewReader(e.held))
		default:
			var f *os.File
			if f, err = os.Open(e.name); err != nil {
				return fileError(err)
			}
			err = w.file(words.Visible(e.name), f)
			f.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// folderWalk is a walk through one folder that -f names.
type folderWalk struct {
	walker
	seen  map[string]bool // folders, by what their links lead to
	files int             // that look like manifests
}

// noManifests are files that end in .yaml and are not for the API server.
var noManifests = map[string]string{
	"kustomization.yaml": "it is for kustomize, which reads it with kubectl kustomize",
	"kustomization.yml":  "it is for kustomize, which reads it with kubectl kustomize",
	"values.yaml":        "it holds values of a Helm chart, which reads them with helm template",
	"values.yml":         "it holds values of a Helm chart, which reads them with helm template",
	"Chart.yaml":         "it describes a Helm chart, whose manifests come from helm template",
}

func (f *folderWalk) walk(folder string) error {
	real, err := filepath.EvalSymlinks(folder)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		f.fail(err)
		return nil
	}
	if f.seen[real] {
		f.pass(folder, "the folder that this link leads to is read already")
		return nil
	}
	f.seen[real] = true
	entries, err := os.ReadDir(folder)
	if err != nil {
		f.fail(err)
	}
	for _, entry := range entries {
		if err := f.entry(filepath.Join(folder, entry.Name()), entry); err != nil {
			return err
		}
	}
	return nil
}

func (f *folderWalk) entry(path string, entry fs.DirEntry) error {
	link := entry.Type()&fs.ModeSymlink != 0
	ext := filepath.Ext(path)
	manifest := ext == ".yaml" || ext == ".yml" || ext == ".json"
	if !entry.IsDir() && !link && !manifest {
		return nil
	}
	info, err := os.Stat(path) // of what a link leads to
	switch {
	case link && err != nil && (manifest || ext == ""): // without an end it was a folder's, most likely
		if manifest {
			f.files++
		}
		f.pass(path, "this link leads nowhere")
	case link && err != nil:
	case err != nil:
		f.fail(err)
	case info.IsDir():
		return f.walk(path)
	case !manifest:
	case !info.Mode().IsRegular(): // it may be read forever, or wait for somebody who writes to it
		f.files++
		f.pass(path, "it is no ordinary file; name it with -f to read it")
	case noManifests[entry.Name()] != "":
		f.files++
		f.pass(path, noManifests[entry.Name()])
	default:
		f.files++
		file, err := os.Open(path)
		if err != nil {
			f.fail(err)
			return nil
		}
		defer file.Close()
		return f.file(words.Visible(path), file)
	}
	return nil
}

func (f *folderWalk) pass(name, why string) {
	if f.passed != nil {
		f.passed(words.Visible(name), why)
	}
}

func (f *folderWalk) fail(err error) {
	if f.failed != nil {
		f.failed(fileError(err))
	}
}

// fileError says what is wrong without the name of the system call.
func fileError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = fmt.Errorf("%s: %w", words.Visible(path.Path), path.Err)
	}
	return statusError{StatusUsage, err}
}

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/podfate/podfate/schema/document"
)

// wishFlags are the members of wishes with their flags, and what they say.
var wishFlags = []struct{ member, flag, says string }{
	{"restart", "restart", "codes after which the container is started again, such as 42,130-143; others means all other codes except 0"},
	{"restartAll", "restart-all", "codes after which all containers of the Pod are started again"},
	{"stop", "stop", "codes after which the container stays terminated"},
	{"count", "count", "codes after which the Pod fails and the Job counts the failure"},
	{"ignore", "ignore", "codes, or disruption, after which the Pod fails and the Job does not count the failure"},
	{"failJob", "fail-job", "codes, or disruption, after which the Job fails"},
	{"failIndex", "fail-index", "codes, or disruption, after which the Pod's index fails"},
}

// suggestFlags adds the flags of suggest.
func suggestFlags(flags *pflag.FlagSet) func() (members, error) {
	container := flags.String("container", "", "the container that the codes are about, if the Pod has several")
	flips := flags.StringArray("flip", nil, "exit to give another outcome, and nothing else: NAME=CODE:restart; NAME= may be left out for a Pod with one container; repeatable")
	lists := make([]*[]string, len(wishFlags))
	for i, w := range wishFlags {
		lists[i] = flags.StringSlice(w.flag, nil, w.says)
	}
	return func() (members, error) {
		m, wishes := members{}, members{}
		if *container != "" {
			m["container"] = encode(*container)
		}
		for i, w := range wishFlags {
			var list []any
			for _, text := range *lists[i] {
				list = append(list, wishEntry(text))
			}
			if len(list) > 0 {
				wishes[w.member] = encode(list)
			}
		}
		if len(wishes) > 0 {
			m["wishes"] = encode(wishes)
		}
		var list []any
		var faults []error
		for _, text := range *flips {
			flip, err := parseFlip(text)
			faults = append(faults, err)
			list = append(list, flip)
		}
		if len(list) == 1 {
			m["flip"] = encode(list[0])
		} else if len(list) > 1 {
			m["flip"] = encode(list)
		}
		return m, errors.Join(faults...)
	}
}

// wishEntry is a code as a number, and anything else as it is: what it may be is for the core to
// say.
func wishEntry(text string) any {
	text = strings.TrimSpace(text)
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return json.Number(strconv.FormatInt(n, 10))
	}
	return text
}

// parseFlip reads NAME=CODE:WORD or CODE:WORD.
func parseFlip(text string) (members, error) {
	name, rest, named := strings.Cut(text, "=")
	if !named {
		name, rest = "", text
	}
	code, to, found := strings.Cut(rest, ":")
	if !found || named && name == "" {
		return nil, fmt.Errorf("--flip %s: write NAME=CODE:WORD, such as main=137:restart", strconv.Quote(text))
	}
	for _, w := range wishFlags {
		if to == w.flag {
			to = w.member
		}
	}
	flip := members{"exit": encode(wishEntry(code)), "to": encode(to)}
	if named {
		flip["container"] = encode(name)
	}
	return flip, nil
}

// sharedFlags are the flags that a question in the same world has, too.
var sharedFlags = []string{"filename", "kubernetes-version", "feature-gates", "kubelet-version", "kubelet-feature-gates", "proposal", "validate"}

// suggests returns the command that asks what a document offers, about the same files in the same
// world; "" if there is none.
func (o *options) suggests(ask *document.Ask) string {
	var request struct {
		Flip struct {
			Container string
			Exit      int64
			To        string
		}
		TemplatePath string
	}
	if ask.Of != "suggest" || o.flags == nil || json.Unmarshal(ask.Request, &request) != nil || request.Flip.To == "" {
		return ""
	}
	line := o.program + " suggest"
	add := func(flag, value string) { line += " " + flag + " " + shellWord(value) }
	for _, name := range sharedFlags {
		flag := o.flags.Lookup(name)
		switch {
		case flag == nil || !flag.Changed:
		case name == "filename":
			for _, file := range o.files {
				add("-f", file)
			}
		case name == "validate": // alone it means strict
			line += " --validate=" + shellWord(flag.Value.String())
		default:
			list, several := flag.Value.(pflag.SliceValue)
			if !several {
				add("--"+name, flag.Value.String())
				continue
			}
			for _, value := range list.GetSlice() {
				add("--"+name, value)
			}
		}
	}
	if request.TemplatePath != "" {
		add("--template", request.TemplatePath)
	}
	to := request.Flip.To
	for _, w := range wishFlags {
		if w.member == to {
			to = w.flag
		}
	}
	add("--flip", request.Flip.Container+"="+strconv.FormatInt(request.Flip.Exit, 10)+":"+to)
	return line
}

// shellWord quotes s where a shell would read more into it than what it says.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./=:,@+", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

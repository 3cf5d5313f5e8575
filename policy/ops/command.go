package ops

import (
	"strconv"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/lint"
	"github.com/podfate/podfate/policy/manifest"
	"github.com/podfate/podfate/policy/simulate"
)

// readCommands adds tapes that follow from the commands of containers without one, and warns of
// what those commands show: rules that none of their exits matches, and loops in which the kubelet
// sees no exit.
func (c *call) readCommands(tapes []simulate.Tape, l *loaded) []simulate.Tape {
	spec := &l.object.Spec
	for _, kind := range []policy.ContainerKind{policy.InitContainer, policy.MainContainer} {
		for i := range spec.List(kind) {
			ref := policy.Ref{Kind: kind, Index: i}
			given := false
			for _, t := range tapes {
				given = given || t.Container == ref
			}
			path := l.object.Path(ref)
			at := c.man.Locate(path)
			command := at.Get("command")
			run, ok, retries := manifest.ReadCommand(command, at.Get("args"))
			if retries && given {
				c.warnOfCommand(l, path+".command", lint.RetryLoop,
					"its shell runs the program again: the kubelet sees no exit, so there is no back-off and no restart count, and no rule is evaluated")
			}
			switch {
			case given:
			case ok:
				tape := simulate.Tape{Container: ref}
				code := int64(run.Code)
				if run.For != manifest.Endless {
					tape.Runs = []simulate.Run{{For: run.For, ExitCode: run.Code, Times: simulate.Forever}}
				} else {
					code = -1
				}
				tapes = append(tapes, tape)
				c.warnOfRules(l, spec.Container(ref), path, code)
			default:
				c.notUnderstood(command, path, spec.Container(ref).Name, retries)
			}
		}
	}
	return tapes
}

func (c *call) notUnderstood(command manifest.Value, path, name string, retries bool) {
	detail := path + ".command is more than sleep, exit, echo, true and false, with &&, ; and loops"
	switch {
	case command.Len() == 0:
		detail = path + " has no command: its image decides what runs"
	case retries:
		detail = path + ".command runs a program again and again in a loop, so the kubelet sees no exit"
	}
	c.fault(command, child("runs", name), policy.CodeCommandNotUnderstood, detail+"; say here how it runs")
}

// warnOfRules warns of the rules of a container that an exit with code does not come to; it never
// exits if code is below 0.
func (c *call) warnOfRules(l *loaded, container *policy.Container, path string, code int64) {
	matched, exits := -1, "never ends"
	if code >= 0 {
		matched = container.FirstMatch(int32(code))
		exits = "always exits with " + strconv.FormatInt(code, 10)
	}
	for i := range container.RestartPolicyRules {
		if i != matched {
			c.warnOfCommand(l, element(path+".restartPolicyRules", i), lint.RuleNeverExercised, "this command "+exits+", so the rule never decides")
		}
	}
}

func (c *call) warnOfCommand(l *loaded, path string, code policy.FaultCode, detail string) {
	l.warnings = append(l.warnings, located{
		policy.FieldError{Path: path, Code: code, Detail: detail, Source: "the command of the container"}, placeOf(c.man.Locate(path), c.man), policy.ManifestInvalid,
	})
}

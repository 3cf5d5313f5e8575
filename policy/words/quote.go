package words

import (
	"strconv"
	"strings"

	"github.com/podfate/podfate/policy/manifest"
)

// maxValuesShown bounds how many values of a rule are repeated.
const maxValuesShown = 8

// quote returns in short what is at path of the manifest: a policy's value, or a rule with its
// condition and action, and of a rule its values alone.
func (d *document) quote(path string) (quote, values string) {
	v := d.man.At(path)
	if path == "" || !v.Exists() {
		return "", ""
	}
	switch v.Kind() {
	case manifest.String:
		return short(v.Str()), ""
	case manifest.Number:
		return string(v.Raw()), ""
	case manifest.Object:
	default:
		return "", ""
	}
	switch {
	case v.Get("name").Exists():
		return "", "" // a container
	case strings.Contains(path, "backoffPolicy"):
		return draftRule(v), ""
	case v.Get("onExitCodes").Exists() && !strings.Contains(path, "restartPolicyRules") || v.Get("onPodConditions").Exists():
		return failureRule(v), ""
	}
	on := v.Get("exitCodes")
	for _, spelling := range [...]manifest.Value{v.Get("when").Get("exitCodes"), v.Get("onExit").Get("exitCodes"), v.Get("onExitCodes")} {
		if spelling.Exists() {
			on = spelling
		}
	}
	for _, at := range [...]manifest.Value{v, v.Get("when")} {
		if n := at.Get("restartTimes"); n.Kind() == manifest.Number {
			return "restartTimes " + string(n.Raw()) + " → " + short(v.Get("action").Text()), ""
		} else if at.Get("oomKilled").Exists() {
			return "oomKilled → " + short(v.Get("action").Text()), ""
		}
	}
	values = quoteValues(on.Get("values"))
	return short(on.Get("operator").Text()) + " " + values + " → " + short(v.Get("action").Text()), values
}

// draftRule returns a rule of a backoffPolicy in short: containerExitCodeIn 1-12,100-127 →
// Terminate.
func draftRule(v manifest.Value) string {
	for m := v.First(); m.Exists(); m = m.Next() {
		if name := m.Key(); name != "action" && name != "containerName" {
			value := ""
			if m.Kind() != manifest.Object {
				value = " " + short(strings.Trim(string(m.Raw()), `"`))
			}
			return short(name) + value + " → " + short(v.Get("action").Text())
		}
	}
	return short(v.Get("action").Text())
}

// failureRule returns a rule of a podFailurePolicy in short: main In [42] → FailJob.
func failureRule(v manifest.Value) string {
	var parts []string
	if on := v.Get("onExitCodes"); on.Kind() == manifest.Object {
		parts = append(parts, join(" ", short(on.Get("containerName").Text()), short(on.Get("operator").Text()), quoteValues(on.Get("values"))))
	}
	shown := 0
	for c := v.Get("onPodConditions").First(); c.Exists() && shown < maxValuesShown; c = c.Next() {
		status := c.Get("status").Text()
		if status == "" {
			status = "True"
		}
		parts = append(parts, short(c.Get("type").Text())+"="+short(status))
		shown++
	}
	return strings.Join(parts, " or ") + " → " + short(v.Get("action").Text())
}

func quoteValues(v manifest.Value) string {
	var shown []string
	for e := v.First(); e.Exists() && len(shown) < maxValuesShown; e = e.Next() {
		shown = append(shown, short(string(e.Raw())))
	}
	text := "[" + strings.Join(shown, ", ")
	if n := v.Len(); n > maxValuesShown {
		text += ", … " + strconv.Itoa(n) + " values"
	}
	return text + "]"
}

// ruleName names a part of the manifest that decides: rule 0, restartPolicy of main, the Pod's
// restartPolicy.
func ruleName(path string) string {
	if i := strings.LastIndexByte(path, '['); i >= 0 && strings.HasSuffix(path, "]") {
		head := path[:i]
		switch {
		case strings.HasSuffix(head, ".restartPolicyRules"):
			return "rule " + path[i+1:len(path)-1]
		case strings.HasSuffix(head, "podFailurePolicy.rules"):
			return "podFailurePolicy rule " + path[i+1:len(path)-1]
		case strings.HasSuffix(head, "backoffPolicy.rules"):
			return "backoffPolicy rule " + path[i+1:len(path)-1]
		case head == "decide":
			return "entry " + path[i+1:len(path)-1] + " of decide"
		}
	}
	switch {
	case strings.HasSuffix(path, ".container.restartPolicy"), strings.HasSuffix(path, ".script.restartPolicy"), strings.HasSuffix(path, "].restartPolicy") && !strings.HasSuffix(path[:strings.LastIndexByte(path, '[')], "templates"):
		return "the container's restartPolicy"
	case strings.HasSuffix(path, "restartPolicy"):
		return "the Pod's restartPolicy"
	case strings.HasSuffix(path, "backoffLimit"), strings.HasSuffix(path, "maxRestartTimes"):
		return path[strings.LastIndexByte(path, '.')+1:]
	}
	return "the kind of container"
}

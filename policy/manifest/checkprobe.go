package manifest

import (
	"strconv"

	"github.com/podfate/podfate/policy/admission"
)

// handlers checks the hooks and the probes of the container.
//
// Source: validateLifecycle, validateLivenessProbe and those after it in
// pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) handlers() {
	lifecycle := c.ctr.Get("lifecycle")
	for _, name := range []string{"postStart", "preStop"} {
		if hook := lifecycle.Get(name); hook.Kind() == Object {
			c.handler(hook)
		}
	}
	for _, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		if probe := c.ctr.Get(name); probe.Kind() == Object {
			c.probe(probe, name == "readinessProbe")
		}
	}
}

func (c *podChecker) probe(v Value, readiness bool) {
	c.handler(v)
	for _, name := range []string{"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"} {
		if n := number(v, name, 0); n < 0 {
			c.badNumber(v, "."+name, n, "must be greater than or equal to 0")
		}
	}
	const grace = "terminationGracePeriodSeconds"
	own, has := v.Get(grace).Int64()
	if has && own <= 0 {
		c.badNumber(v, "."+grace, own, "must be greater than 0")
	}
	switch n := number(v, "successThreshold", 0); { // 0 is 1
	case readiness && has:
		c.badNumber(v, "."+grace, own, "must not be set for readinessProbes")
	case !readiness && n != 0 && n != 1:
		c.badNumber(v, ".successThreshold", n, "must be 1")
	}
}

// handler checks that v, a probe or a hook, does one thing, and that.
//
// Source: validateHandler and what it calls in pkg/apis/core/validation/validation.go, Kubernetes
// v1.33 to v1.37.
func (c *podChecker) handler(v Value) {
	found := 0
	for i, name := range [...]string{"exec", "httpGet", "tcpSocket", "grpc", "sleep"} {
		action := v.Get(name)
		if action.Kind() != Object {
			continue
		}
		if found++; found > 1 {
			c.forbid(v, "."+name, "may not specify more than 1 handler type")
			continue
		}
		switch i {
		case 0:
			c.need(action, "command")
		case 1:
			c.httpGet(action)
		case 4:
			c.sleep(action)
		default:
			c.port(action)
		}
	}
	if found == 0 {
		c.r.Required(c.path(v, ""), "must specify a handler type")
	}
}

func (c *podChecker) httpGet(v Value) {
	c.port(v)
	c.enum(v, "scheme", "HTTP HTTPS")
	for e, n := walkOf(v.Get("httpHeaders")); n > 0; n-- {
		header := e.step()
		c.form(v, ".httpHeaders", text(header, "name"), admission.HTTPHeaderName)
	}
}

// port checks the port of an action: a number or, except for gRPC, the name of one.
func (c *podChecker) port(v Value) {
	if name := v.Get("port"); name.Kind() == String {
		c.form(v, ".port", name.Str(), admission.PortName)
	} else if n := number(v, "port", 0); !validPort(n) {
		c.badNumber(v, ".port", n, portText)
	}
}

func (c *podChecker) sleep(v Value) {
	const name = "terminationGracePeriodSeconds"
	grace := number(c.spec, name, 30)
	if c.pod && grace < 0 {
		grace = 1
	}
	n := number(v, "seconds", 0)
	seconds := "terminationGracePeriodSeconds (" + strconv.FormatInt(grace, 10) + ")"
	switch old := c.r.Static() && c.r.Minor() < 35; {
	case old && (n <= 0 || n > grace):
		c.badNumber(v, "", n, "must be greater than 0 and less than "+seconds+
			". Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.")
	case !old && (n < 0 || n > grace):
		c.badNumber(v, "", n, "must be non-negative and less than "+seconds)
	}
}

// ephemeralOnly checks that an ephemeral container has neither ports nor resources, not even an
// empty list of them.
func (c *podChecker) ephemeralOnly() {
	set := c.ctr.Get("ports").Kind() == Array
	resources := c.ctr.Get("resources")
	for _, name := range []string{"ports", "resources"} {
		if name == "resources" {
			set = has(resources, "limits") || has(resources, "requests") || resources.Get("claims").Kind() == Array && c.r.Minor() >= 34
		}
		if set {
			c.forbid(c.ctr, "."+name, "cannot be set for an Ephemeral Container")
		}
	}
}

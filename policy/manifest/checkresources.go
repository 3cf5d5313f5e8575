package manifest

import (
	"strings"

	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

const (
	hugePages = "hugepages-"

	containerResources = "cpu memory ephemeral-storage"
	countedResources   = "pods resourcequotas services replicationcontrollers secrets configmaps persistentvolumeclaims services.nodeports services.loadbalancers"
	otherResources     = "requests.cpu requests.memory requests.ephemeral-storage limits.cpu limits.memory limits.ephemeral-storage storage requests.storage"
)

// resources checks the requests and limits of the container. Kubernetes looks at them in no order,
// here they come as they are written. Claims are not checked.
//
// Source: validateResourceRequirements in pkg/apis/core/validation/validation.go, Kubernetes v1.33
// to v1.37.
func (c *podChecker) resources(v Value) {
	limits, requests := v.Get("limits"), v.Get("requests")
	if limits.Len() == 0 && requests.Len() == 0 {
		return
	}
	list := resourceList{c: c, of: v}
	list.check(limits, ".limits", Value{}, Value{})
	list.check(requests, ".requests", limits, Value{})
	if c.pod && c.ref.Kind != policy.EphemeralContainer { // what has a limit requests it
		list.check(limits, ".requests", limits, requests)
	}
	if list.pages && !list.computes {
		c.forbid(v, "", "HugePages require cpu or memory")
	}
}

// resourceList checks the lists in the resources of a container.
type resourceList struct {
	c               *podChecker
	of              Value // the resources
	computes, pages bool  // some list has processors or memory, or huge pages

	end, name string // of the path of the resource that is looked at
}

// check checks the resources of list, whose path ends so, except those that are also in besides.
// limits are those of requests.
func (l *resourceList) check(list Value, end string, limits, besides Value) {
	l.end = end
	for e, n := walkOf(list); n > 0; n-- {
		m := e.step()
		l.name = m.Key()
		if besides.Len() > 0 && besides.Get(l.name).Exists() {
			continue
		}
		q := readQuantityOf(m).listed()
		pages := strings.HasPrefix(l.name, hugePages)
		l.pages = l.pages || pages
		if among(l.name, containerResources) {
			l.computes = l.computes || l.name != "ephemeral-storage"
		} else {
			l.checkName()
		}
		l.amount(q)
		if end == ".requests" {
			l.withinLimit(q, limits.Get(l.name))
		}
	}
}

// bad adds a fault of the resource that is looked at.
//
//go:noinline
func (l *resourceList) bad(value, detail string) {
	l.c.r.Invalid(l.c.path(l.of, l.end+"["+cut(l.name)+"]"), value, detail)
}

// checkName checks the name of a resource that a container can have.
//
// Source: validateContainerResourceName in pkg/apis/core/validation/validation.go, Kubernetes v1.33
// to v1.37.
func (l *resourceList) checkName() {
	plain := strings.IndexByte(l.name, '/') < 0
	value := l.c.r.ResourceName(l.name)
	faults := admission.LabelKey.Faults(l.name, l.c.r.Minor())
	for _, fault := range faults {
		l.bad(value, fault)
	}
	pages := strings.HasPrefix(l.name, hugePages)
	switch {
	case plain && !pages:
		if len(faults) == 0 && !among(l.name, countedResources) && !among(l.name, otherResources) && !strings.HasPrefix(l.name, "requests."+hugePages) {
			l.bad(value, "must be a standard resource type or fully qualified")
		}
		l.bad(value, "must be a standard resource for containers")
	case !plain && !nativeResource(l.name) && !l.extended():
		l.bad(value, "doesn't follow extended resource name standard")
	}
}

// nativeResource reports whether a resource is Kubernetes' own.
//
//go:noinline
func nativeResource(name string) bool {
	return strings.IndexByte(name, '/') < 0 || strings.Contains(name, "kubernetes.io/")
}

// extended reports whether the resource is one that a node can have besides Kubernetes' own.
func (l *resourceList) extended() bool {
	return !nativeResource(l.name) && !strings.HasPrefix(l.name, "requests.") && len(admission.LabelKey.Faults("requests."+l.name, l.c.r.Minor())) == 0
}

// amount checks how much of a resource there is.
//
// Source: ValidateResourceQuantityValue and validateResourceQuantityHugePageValue in
// pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (l *resourceList) amount(q quantity) {
	if q.vague {
		return
	}
	if q.negative() {
		l.bad(policy.Quoted(q.String()), "must be greater than or equal to 0")
	}
	if !q.counts() && (among(l.name, countedResources) || l.extended()) {
		const detail = "must be an integer"
		switch {
		case l.c.r.Minor() >= 34:
			l.bad(policy.Quoted(q.String()), detail)
		case q.goSyntax() != "":
			l.bad(q.goSyntax(), detail)
		default:
			l.c.r.Unworded(l.c.path(l.of, l.end+"["+cut(l.name)+"]"), detail)
		}
	}
	if size, pages := strings.CutPrefix(l.name, hugePages); pages && !divisible(size, q) {
		l.bad(policy.Quoted(q.String()), q.String()+" is not positive integer multiple of "+cut(l.name))
	}
}

// divisible reports whether q is a multiple of a page size; also if that is not known here.
//
// Source: IsHugePageResourceValueDivisible in pkg/apis/core/helper/helpers.go, Kubernetes v1.33 to
// v1.37.
func divisible(size string, q quantity) bool {
	if quantityFault(size) != "" {
		return false
	}
	page := readQuantity(size)
	if page.vague {
		return true
	}
	if page.value <= 0 || !page.whole() {
		return false
	}
	n, known := q.units()
	of, fits := page.units()
	return !known || !fits || n%of == 0
}

// withinLimit checks a request of the resource against its limit.
func (l *resourceList) withinLimit(q quantity, limit Value) {
	overcommits := nativeResource(l.name) && !strings.HasPrefix(l.name, hugePages)
	if !limit.Exists() {
		if !overcommits {
			l.c.r.Required(l.c.path(l.of, ".limits"), "Limit must be set for non overcommitable resources")
		}
		return
	}
	most := readQuantityOf(limit).listed()
	if q.vague || most.vague {
		return
	}
	what := ""
	switch order := q.cmp(most); {
	case order != 0 && !overcommits:
		what = "must be equal to "
	case order > 0:
		what = "must be less than or equal to "
	default:
		return
	}
	l.c.bad(l.of, ".requests", q.String(), what+cut(l.name)+" limit of "+most.String())
}

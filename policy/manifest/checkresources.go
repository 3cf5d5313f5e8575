package manifest

import (
	"strings"

	"github.com/podfate/podfate/policy"
)

const (
	hugePages = "hugepages-"

	containerResources = "cpu memory ephemeral-storage"
	countedResources   = "pods resourcequotas services replicationcontrollers secrets configmaps persistentvolumeclaims services.nodeports services.loadbalancers"
	otherResources     = "requests.cpu requests.memory requests.ephemeral-storage limits.cpu limits.memory limits.ephemeral-storage storage requests.storage"
)

// resources checks the requests and limits of the container. Kubernetes looks at them in no order, here they come as they
// are written. Claims are not checked.
//
// Source: validateResourceRequirements in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) resources(v Value) {
	limits, requests := v.Get("limits"), v.Get("requests")
	if limits.Len() == 0 && requests.Len() == 0 {
		return
	}
	computes, pages := false, false
	each := func(list, at Value, end string, inherited bool) {
		for e, n := walkOf(list); n > 0; n-- {
			m := e.step()
			if inherited && requests.Get(m.Key()).Exists() {
				continue
			}
			name := m.Key()
			path := c.path(at, end+"["+cut(name)+"]")
			c.resourceName(path, name)
			c.amount(path, name, readQuantityOf(m).listed())
			if end == ".requests" {
				c.requestWithinLimit(v, name, readQuantityOf(m).listed(), limits.Get(name))
			}
			computes = computes || name == "cpu" || name == "memory"
			pages = pages || strings.HasPrefix(name, hugePages)
		}
	}
	each(limits, v, ".limits", false)
	each(requests, v, ".requests", false)
	if c.pod && c.ref.Kind != policy.EphemeralContainer { // what has a limit requests it
		each(limits, v, ".requests", true)
	}
	if pages && !computes {
		c.forbid(v, "", "HugePages require cpu or memory")
	}
}

// resourceName checks the name of a resource that a container can have.
//
// Source: validateContainerResourceName in pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) resourceName(path, name string) {
	plain := strings.IndexByte(name, '/') < 0
	if plain && (among(name, containerResources) || strings.HasPrefix(name, hugePages) && len(policy.LabelKey.Faults(name, c.r.Minor())) == 0) {
		return
	}
	bad := func(detail string) { c.r.Invalid(path, c.r.ResourceName(name), detail) }
	faults := policy.LabelKey.Faults(name, c.r.Minor())
	for _, fault := range faults {
		bad(fault)
	}
	if len(faults) == 0 && plain && !among(name, countedResources) && !among(name, otherResources) && !strings.HasPrefix(name, "requests."+hugePages) {
		bad("must be a standard resource type or fully qualified")
	}
	switch {
	case plain && !strings.HasPrefix(name, hugePages):
		bad("must be a standard resource for containers")
	case !plain && !nativeResource(name) && !c.extendedResource(name):
		bad("doesn't follow extended resource name standard")
	}
}

// nativeResource reports whether a resource is Kubernetes' own.
//
//go:noinline
func nativeResource(name string) bool {
	return strings.IndexByte(name, '/') < 0 || strings.Contains(name, "kubernetes.io/")
}

// extendedResource reports whether a resource is one that a node can have besides Kubernetes' own.
func (c *podChecker) extendedResource(name string) bool {
	return !nativeResource(name) && !strings.HasPrefix(name, "requests.") && len(policy.LabelKey.Faults("requests."+name, c.r.Minor())) == 0
}

// amount checks how much of a resource there is.
//
// Source: ValidateResourceQuantityValue and validateResourceQuantityHugePageValue in
// pkg/apis/core/validation/validation.go, Kubernetes v1.33 to v1.37.
func (c *podChecker) amount(path, name string, q quantity) {
	if q.vague {
		return
	}
	if q.negative() {
		c.r.Invalid(path, policy.Quoted(q.String()), "must be greater than or equal to 0")
	}
	if !q.counts() && (among(name, countedResources) || c.extendedResource(name)) {
		const detail = "must be an integer"
		switch {
		case c.r.Minor() >= 34:
			c.r.Invalid(path, policy.Quoted(q.String()), detail)
		case q.goSyntax() != "":
			c.r.Invalid(path, q.goSyntax(), detail)
		default:
			c.r.Unworded(path, detail)
		}
	}
	if strings.HasPrefix(name, hugePages) && !divisible(name[len(hugePages):], q) {
		c.r.Invalid(path, policy.Quoted(q.String()), q.String()+" is not positive integer multiple of "+cut(name))
	}
}

// divisible reports whether q is a multiple of a page size; also if that is not known here.
//
// Source: IsHugePageResourceValueDivisible in pkg/apis/core/helper/helpers.go, Kubernetes v1.33 to v1.37.
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

// requestWithinLimit checks the request of a resource against its limit; v are the resources of the container.
func (c *podChecker) requestWithinLimit(v Value, name string, q quantity, limit Value) {
	overcommits := nativeResource(name) && !strings.HasPrefix(name, hugePages)
	if !limit.Exists() {
		if !overcommits {
			c.r.Required(c.path(v, ".limits"), "Limit must be set for non overcommitable resources")
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
	c.bad(v, ".requests", q.String(), what+cut(name)+" limit of "+most.String())
}

package manifest

import (
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/admission"
)

// resourceClaims checks the claims to devices of the Pod. Until 1.33 the API server drops them.
//
// Source: validatePodResourceClaims in pkg/apis/core/validation/validation.go, Kubernetes v1.34 to
// v1.37.
func (c *podChecker) resourceClaims() {
	if c.r.Minor() < 34 {
		return
	}
	var taken nameSet
	for v := c.spec.Get("resourceClaims").First(); v.Exists(); v = v.Next() {
		switch name := text(v, "name"); {
		case name == "":
			c.r.Required(c.path(v, ".name"), "")
		case !taken.add(name):
			c.r.Duplicate(c.path(v, ".name"), policy.Quoted(name))
		default:
			c.form(v, ".name", name, admission.DNSLabel)
		}
		claim, template := v.Get("resourceClaimName"), v.Get("resourceClaimTemplateName")
		if both := claim.Kind() == String; both == (template.Kind() == String) {
			detail := "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
			if both {
				detail = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
			}
			value := `{"Name":` + policy.JSONText(text(v, "name")) + `,"ResourceClaimName":` + jsonOrNull(claim) + `,"ResourceClaimTemplateName":` + jsonOrNull(template) + "}"
			c.r.Invalid(c.path(v, ""), value, detail)
		}
		if claim.Kind() == String {
			c.form(v, ".resourceClaimName", claim.Str(), admission.DNSSubdomain)
		}
		if template.Kind() == String {
			c.form(v, ".resourceClaimTemplateName", template.Str(), admission.DNSSubdomain)
		}
	}
}

func jsonOrNull(v Value) string {
	if v.Kind() != String {
		return "null"
	}
	return policy.JSONText(v.Str())
}

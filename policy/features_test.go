package policy_test

import (
	"testing"

	"github.com/podfate/podfate/policy"
)

// TestDefaultFeatures holds that a release as it comes is the one whose gates are all set to their
// defaults, which no release refuses.
func TestDefaultFeatures(t *testing.T) {
	for minor := policy.OldestMinor; minor <= policy.NewestMinor; minor++ {
		var settings []policy.GateSetting
		for _, g := range policy.Gates() {
			if r, ok := g.In(minor); ok {
				settings = append(settings, policy.GateSetting{Name: g.Name, Enabled: r.Default, Path: g.Name})
			}
		}
		f, faults := policy.NewFeatures(minor, settings)
		if len(settings) == 0 || len(faults) > 0 {
			t.Errorf("1.%d: %d gates, faults %v", minor, len(settings), faults)
		}
		if plain, _ := policy.NewFeatures(minor, nil); f != plain || f != policy.DefaultFeatures(minor) || f.Minor != minor {
			t.Errorf("1.%d: %+v with its defaults set, %+v as it comes", minor, f, plain)
		}
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]int{
		"1.33": 33, "1.37": 37, "v1.36": 36, "1.36.3": 36, "v1.36.3+k3s1": 36, "1.36.0-rc.1": 36,
		"1.32": 0, "1.38": 0, "1.036": 0, "1.36.": 0, "1.36.x": 0, "1.36 ": 0, "1.36.3 ": 0, "1.": 0, "1": 0, "": 0, "2.36": 0, "vv1.36": 0, "1.36x": 0,
		"1.99999999999999999999": 0, "1.-3": 0,
	} {
		minor, ok := policy.ParseVersion(text)
		if ok != (want > 0) || ok && minor != want {
			t.Errorf("%q: %d, %v, want %d", text, minor, ok, want)
		}
	}
}

func TestUnknownGates(t *testing.T) {
	for name, want := range map[string]string{
		"MemoryQoS":             "not a gate that Podfate models for Kubernetes 1.33; gates that are not listed count as that release has them by default",
		"sidecarcontainers":     "gate names are case-sensitive: SidecarContainers",
		"ContainerRestartRules": "Kubernetes 1.33 has no such gate",
	} {
		_, faults := policy.NewFeatures(33, []policy.GateSetting{{Name: name, Enabled: true, Path: "here"}})
		if len(faults) != 1 || faults[0].Detail != want || faults[0].Path != "here" || len(faults[0].Allowed) == 0 {
			t.Errorf("%s: %+v, want %q", name, faults, want)
		}
	}
}

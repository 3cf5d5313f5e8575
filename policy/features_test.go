package policy_test

import (
	"testing"

	"github.com/podfate/podfate/policy"
)

// TestDefaultFeatures holds that a release as it comes is the one whose gates are all set to their defaults, which no
// release refuses.
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

package diff

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/podfate/podfate/policy"
)

// gates compares the table of feature gates, and what n settings of them lead to.
func (c *comparison) gates(t *testing.T, n int) {
	shown := 0
	for _, ours := range policy.Gates() {
		c.compareGate(t, &shown, ours)
	}
	for i := range n {
		g := generate(c.seed, i)
		c.gateSettings++
		c.compareSettings(t, &shown, fmt.Sprintf("gate case %d", i), g.settings())
	}
}

func (c *comparison) compareGate(t *testing.T, shown *int, ours policy.Gate) {
	t.Helper()
	theirs, known := c.release.Gate(ours.Name)
	release, listed := ours.In(c.release.Minor())
	if known != listed {
		c.differ(t, shown, ours.Name+": known", listed, known)
		return
	}
	if !known {
		return
	}
	got := Gate{Default: release.Default, Stage: release.Stage, Locked: release.Locked}
	for _, name := range ours.DependsOn {
		if slices.ContainsFunc(policy.Gates(), func(g policy.Gate) bool { return g.Name == name }) {
			got.DependsOn = append(got.DependsOn, name)
		}
	}
	slices.Sort(theirs.DependsOn)
	slices.Sort(got.DependsOn)
	if fmt.Sprint(got) != fmt.Sprint(theirs) {
		c.differ(t, shown, ours.Name, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", theirs))
	}
}

// settings returns settings of our gates and of the two that stand for all gates of a stage.
func (g *generator) settings() map[string]bool {
	settings := map[string]bool{}
	for _, gate := range policy.Gates() {
		if g.oneIn(3) {
			settings[gate.Name] = g.oneIn(2)
		}
	}
	for _, name := range []string{"AllAlpha", "AllBeta"} {
		if g.oneIn(4) {
			settings[name] = g.oneIn(2)
		}
	}
	return settings
}

// compareSettings compares whether a component starts with these settings, and with which gates.
func (c *comparison) compareSettings(t *testing.T, shown *int, what string, settings map[string]bool) {
	t.Helper()
	what = fmt.Sprintf("%s, %v", what, settings)
	theirs := c.release.TryGates(settings)
	var list []policy.GateSetting
	unknown := false
	for _, name := range sortedKeys(settings) {
		list = append(list, policy.GateSetting{Name: name, Enabled: settings[name]})
		if _, known := c.release.Gate(name); !known && name != "AllAlpha" && name != "AllBeta" {
			unknown = true
		}
	}
	features, faults := policy.NewFeatures(c.release.Minor(), list)
	got, want := []string{}, ofOurGates(theirs.Errors)
	for _, f := range faults {
		got = append(got, f.Message)
	}
	slices.Sort(got)
	slices.Sort(want)
	if unknown {
		// Kubernetes stops at the first unknown gate, in the random order of a map; Podfate lists
		// all faults.
		if len(want) == 0 || !subset(want, got) {
			c.differ(t, shown, what, got, want)
		}
		return
	}
	if !slices.Equal(got, want) {
		c.differ(t, shown, what, got, want)
	}
	if len(theirs.Errors) > 0 {
		return
	}
	for _, gate := range policy.Gates() {
		if on, real := features.Enabled(gate.Name), theirs.Enabled(gate.Name); on != real {
			c.differ(t, shown, what+": "+gate.Name, on, real)
		}
	}
}

func sortedKeys(m map[string]bool) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func subset(small, large []string) bool {
	for _, s := range small {
		if !slices.Contains(large, s) {
			return false
		}
	}
	return true
}

var dependent = regexp.MustCompile(`^(\w+) is enabled, but depends on`)

// ofOurGates leaves out that gates which Podfate does not know miss another one; see [Intended].
func ofOurGates(errors []string) []string {
	kept := []string{}
	for _, e := range errors {
		m := dependent.FindStringSubmatch(e)
		if m == nil || slices.ContainsFunc(policy.Gates(), func(g policy.Gate) bool { return g.Name == m[1] }) {
			kept = append(kept, e)
		}
	}
	return kept
}

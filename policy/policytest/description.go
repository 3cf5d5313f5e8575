package policytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// description is the answer of describe.
type description struct {
	Product, ABI, Schema, DefaultVersion string
	Versions                             []string
	Operations                           []struct {
		Name   string
		Number uint32
	}
	Gates []struct {
		Name     string
		Versions []struct {
			Version, Stage  string
			Default, Locked bool
		}
		DependsOn []string
	}
	Limits         map[string]int64
	BackoffPresets []struct {
		Name, Source, Confidence         string
		InitialMillis, Factor, MaxMillis int64
		WaitsMillis                      []int64
	}
	Proposals []struct {
		Name, Source, State string
		Words, Gates        []string
		Options             []struct {
			Name, Default, Disagreement string
			Values                      []string
		}
	}
}

// summarizeDescription puts what Podfate says of itself into words.
func summarizeDescription(b *strings.Builder, raw []byte) error {
	if !strings.HasPrefix(string(raw), `{"product":`) {
		return nil
	}
	var d description
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	fmt.Fprintf(b, "%s, ABI %s, schema %s, Kubernetes %s, %s by default\n", d.Product, d.ABI, d.Schema, strings.Join(d.Versions, " "), d.DefaultVersion)
	for _, op := range d.Operations {
		fmt.Fprintf(b, "operation %d %s\n", op.Number, op.Name)
	}
	for _, gate := range d.Gates {
		var stages []string
		for _, v := range gate.Versions {
			text := v.Version + " " + v.Stage + " " + map[bool]string{false: "off", true: "on"}[v.Default]
			if v.Locked {
				text += " locked"
			}
			stages = append(stages, text)
		}
		fmt.Fprintf(b, "gate %s: %s", gate.Name, strings.Join(stages, ", "))
		if len(gate.DependsOn) > 0 {
			fmt.Fprintf(b, "; needs %s", strings.Join(gate.DependsOn, " "))
		}
		b.WriteString("\n")
	}
	for _, name := range slices.Sorted(maps.Keys(d.Limits)) {
		fmt.Fprintf(b, "limit %s %d\n", name, d.Limits[name])
	}
	for _, p := range d.BackoffPresets {
		fmt.Fprintf(b, "waits %s: initial %d factor %d max %d listed %d; %s, %s\n",
			p.Name, p.InitialMillis, p.Factor, p.MaxMillis, p.WaitsMillis, p.Confidence, p.Source)
	}
	for _, p := range d.Proposals {
		facts := []string{p.State}
		for _, o := range p.Options {
			fact := fmt.Sprintf("%s %s (%s)", o.Name, strings.Join(o.Values, " "), o.Disagreement)
			if len(o.Values) == 0 || o.Values[0] != o.Default {
				fact += ", " + o.Default + " by default"
			}
			facts = append(facts, fact)
		}
		if len(p.Gates) > 0 {
			facts = append(facts, "gate "+strings.Join(p.Gates, " "))
		}
		fmt.Fprintf(b, "proposal %s: %s; %s\n", p.Name, strings.Join(facts, "; "), p.Source)
		if len(p.Words) > 0 {
			fmt.Fprintf(b, "  words %s\n", strings.Join(p.Words, ", "))
		}
	}
	return nil
}

package policytest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// fleet is the answer of that operation.
type fleet struct {
	Model                                                      string
	Pods, Nodes, RequestsPerRestart, UntilMillis, SpreadMillis int64
	Restarts, Requests                                         int64
	Windows                                                    []struct{ UntilMillis, Restarts, Requests, NewRestarts int64 }
	Peak                                                       *struct{ BinMillis, AtMillis, Restarts int64 }
	Steady                                                     struct{ PeriodMillis, Restarts, RequestsPerSecondThousandths int64 }
	Client                                                     fleetClient
	Pools                                                      []struct {
		Name                                   string
		Nodes, PodsPerNode, Restarts, Requests int64
		Client                                 fleetClient
	}
	Groups []struct {
		Name, Pool, RestartPolicy string
		ExitCode                  int32
		Pods, RunMillis, Restarts int64
		PodMillis                 spent
		Waste                     *struct {
			Pods    int64
			Without *struct {
				LeftOut                        []string
				Pods, Restarts, SavedPodMillis int64
				PodMillis                      spent
			}
		}
	}
	Work *struct {
		UnitsPerRestart, Units, PeakUnits, UnitsPerSecondThousandths int64
		Of                                                           []struct {
			Of    string
			Units int64
		}
	}
	ByPolicyAndExit []struct {
		RestartPolicy  string
		Level          string
		ExitCode       int32
		Pods, Restarts int64
	}
	PodMillis   spent
	Assumptions []string
	Gang        *struct {
		Pods, Restart, BreakEvenRestart       int64
		InPlace, RescheduleOne, RescheduleAll way
	}
	Least *struct {
		GoalRequestsPerSecond, MaxMillis, RequestsPerSecondThousandths int64
		Met                                                            bool
	}
}

type fleetClient struct {
	QPS, Burst, Backlog, DrainedAtMillis int64
	Grows                                bool
}

func (c fleetClient) String() string {
	s := fmt.Sprintf("client %d/%d: backlog %d", c.QPS, c.Burst, c.Backlog)
	switch {
	case c.Grows:
		return s + ", grows"
	case c.Backlog > 0:
		return fmt.Sprintf("%s, drained %d", s, c.DrainedAtMillis)
	}
	return s
}

type spent struct{ Ran, Waiting, Lost int64 }

func (s spent) String() string {
	return fmt.Sprintf("ran %d, waiting %d, lost %d", s.Ran, s.Waiting, s.Lost)
}

// way is how a gang goes on.
type way struct {
	LostPodMillis, Placements int64
	Each                      []struct {
		Of     string
		Millis int64
	}
}

func (w way) String() string {
	var each []string
	for _, e := range w.Each {
		each = append(each, fmt.Sprintf("%s %d", e.Of, e.Millis))
	}
	return fmt.Sprintf("%d (%s)", w.LostPodMillis, strings.Join(each, ", "))
}

func summarizeFleet(b *strings.Builder, raw []byte) error {
	var f fleet
	if err := json.Unmarshal(raw, &f); err != nil || f.Peak == nil {
		return nil // another operation's answer
	}
	fmt.Fprintf(b, "fleet %s: %d Pods on %d nodes, %d requests each: %d restarts, %d requests until %d", f.Model, f.Pods, f.Nodes,
		f.RequestsPerRestart, f.Restarts, f.Requests, f.UntilMillis)
	if f.SpreadMillis > 0 {
		fmt.Fprintf(b, ", started over %d", f.SpreadMillis)
	}
	b.WriteString("\n")
	for _, w := range f.Windows {
		fmt.Fprintf(b, "%d: %d restarts, %d requests, %d new\n", w.UntilMillis, w.Restarts, w.Requests, w.NewRestarts)
	}
	fmt.Fprintf(b, "peak %d in %d at %d\n", f.Peak.Restarts, f.Peak.BinMillis, f.Peak.AtMillis)
	fmt.Fprintf(b, "steady %d every %d, %d requests a second in thousandths\n", f.Steady.Restarts, f.Steady.PeriodMillis, f.Steady.RequestsPerSecondThousandths)
	fmt.Fprintf(b, "%s\n", f.Client)
	for _, p := range f.Pools {
		fmt.Fprintf(b, "pool %s: %d nodes with %d Pods, %d restarts, %s\n", p.Name, p.Nodes, p.PodsPerNode, p.Restarts, p.Client)
	}
	for i, g := range f.Groups {
		if g.Name == "" {
			g.Name = fmt.Sprint(i + 1)
		}
		if w := g.Waste; w != nil {
			fmt.Fprintf(b, "group %s: %d Jobs with %d Pods: %d restarts, %s\n", g.Name, g.Pods, w.Pods, g.Restarts, g.PodMillis)
			if o := w.Without; o != nil {
				fmt.Fprintf(b, "  without %s: %d Pods, %d restarts, %s, saved %d\n", strings.Join(o.LeftOut, ", "), o.Pods, o.Restarts, o.PodMillis, o.SavedPodMillis)
			}
			continue
		}
		if g.RestartPolicy == "" {
			fmt.Fprintf(b, "group %s: %d Pods of a manifest: %d restarts, %s\n", g.Name, g.Pods, g.Restarts, g.PodMillis)
			continue
		}
		fmt.Fprintf(b, "group %s: %d Pods, %s, exit %d, runs %d: %d restarts, %s\n", strings.TrimPrefix(g.Pool+"/"+g.Name, "/"), g.Pods, g.RestartPolicy,
			g.ExitCode, g.RunMillis, g.Restarts, g.PodMillis)
	}
	for _, k := range f.ByPolicyAndExit {
		if k.Level != "pod" {
			k.RestartPolicy = strings.TrimSpace(k.Level + " " + k.RestartPolicy)
		}
		fmt.Fprintf(b, "%s, exit %d: %d Pods, %d restarts\n", k.RestartPolicy, k.ExitCode, k.Pods, k.Restarts)
	}
	fmt.Fprintf(b, "%s\n", f.PodMillis)
	b.WriteString(readings(f.Assumptions))
	if w := f.Work; w != nil {
		fmt.Fprintf(b, "work %d a restart: %d, peak %d, %d a second in thousandths", w.UnitsPerRestart, w.Units, w.PeakUnits, w.UnitsPerSecondThousandths)
		for _, e := range w.Of {
			fmt.Fprintf(b, ", %s %d", e.Of, e.Units)
		}
		b.WriteString("\n")
	}
	if g := f.Gang; g != nil {
		fmt.Fprintf(b, "gang of %d, restart %d: in place %s, one %s, all %s, break-even %d\n", g.Pods, g.Restart, g.InPlace, g.RescheduleOne,
			g.RescheduleAll, g.BreakEvenRestart)
	}
	if l := f.Least; l != nil {
		fmt.Fprintf(b, "least %d for %d a second: %d", l.MaxMillis, l.GoalRequestsPerSecond, l.RequestsPerSecondThousandths)
		if !l.Met {
			b.WriteString(", the nearest")
		}
		b.WriteString("\n")
	}
	return nil
}

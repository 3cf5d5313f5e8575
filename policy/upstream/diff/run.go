package diff

import (
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/podfate/podfate/policy"
)

// DefaultCases is the number of manifests that one run validates unless PODFATE_UPSTREAM_CASES says
// otherwise.
const DefaultCases = 10_000

// defaultSeed makes runs repeatable: a new one is for those who search, not for those who change
// something else.
const defaultSeed = 1

// shownDifferences is how many differences of one comparison are printed; all are counted.
const shownDifferences = 5

// SummaryPrefix begins the line that [Run] prints for policy/upstream/run.
const SummaryPrefix = "upstream "

// PublishedPrefix begins the line about published files.
const PublishedPrefix = "published "

// Run compares the core with release r and prints one line of numbers.
func Run(t *testing.T, r Release) {
	start := time.Now()
	s := settings(t)
	c := comparison{release: r, seed: s.seed}
	t.Run("gates", func(t *testing.T) { c.gates(t, s.cases/10) })
	t.Run("decisions", func(t *testing.T) { c.decisions(t, s.cases*20) })
	t.Run("validation", func(t *testing.T) { c.validation(t, s.cases) })
	t.Run("fields of Pods", func(t *testing.T) { c.podFields(t, s.cases) })
	t.Run("workloads", func(t *testing.T) { c.workloads(t, s.cases) })
	t.Run("published manifests", c.manifests)
	t.Run("published files", c.publishedFiles)
	t.Run("updates", func(t *testing.T) { c.updates(t, s.cases/10) })
	t.Run("static Pods", func(t *testing.T) { c.statics(t, s.cases/10) })
	t.Run("jobs", func(t *testing.T) { c.jobs(t, s.cases) })
	t.Run("pod failures", func(t *testing.T) { c.podFailures(t, s.cases*10) })
	t.Run("ends of Jobs", func(t *testing.T) { c.jobEnds(t, s.cases/2) })
	t.Run("histories", func(t *testing.T) { c.histories(t, s.cases/2) })
	t.Run("histories with the kubelet", func(t *testing.T) { c.richHistories(t, s.cases/2) })
	t.Run("back-off", func(t *testing.T) { c.backoffs(t, s.cases/10) })
	t.Run("kubelet configuration", func(t *testing.T) { c.crashLoops(t, s.cases/10) })
	t.Run("states of containers", func(t *testing.T) { c.states(t, s.cases*2) })
	t.Run("rows of kubectl", func(t *testing.T) { c.rows(t, s.cases*2) })
	t.Run("lives of Pods", func(t *testing.T) { c.lives(t, s.cases/4) })
	t.Run("Kubernetes' own tests", c.tables)
	t.Run("intended differences", c.intended)
	kubelet := ""
	if c.configured > 0 {
		kubelet = fmt.Sprintf("%d histories with the kubelet, %d init plans, %d plans, %d phases, %d lives of Pods (%d statuses, %d dropped, %d denied), %d kubelet configurations, %d calls of Kubernetes' own tests, ", c.enriched, c.planned, c.plans, c.phases, c.pods, c.steps, c.droppedStatuses, c.deniedStatuses, c.configured, c.tableCases)
	}
	fmt.Printf("%s%s: %d decisions, %d manifests, %d workloads, %d published ones, %d updates, %d static Pods and %d Jobs (%d with faults, %d with dropped fields, %d panics), %d Pods of Jobs (%d matched), %d Jobs with Pods (%d go on), %d histories of Jobs (%d Pods), %d back-off sequences, %d gate settings, %d rows, %s%d messages equal but for a value of more than %d bytes that is cut on purpose, %d differences, seed %d, %s\n",
		SummaryPrefix, policy.VersionName(r.Minor()), c.decided, c.validated, c.surrounded, c.published, c.updated, c.static, c.jobsValidated, c.faulty, c.dropping, c.panicking, c.podsJudged, c.podsMatched, c.ended, c.goingOn, c.lived, c.podsCreated, c.sequences, c.gateSettings, c.printed,
		kubelet, c.cut, policy.MaxQuotedBytes, c.differences, c.seed, time.Since(start).Round(time.Second/10))
}

type runSettings struct {
	cases int
	seed  uint64
}

func settings(t *testing.T) runSettings {
	s := runSettings{cases: DefaultCases, seed: defaultSeed}
	if text := os.Getenv("PODFATE_UPSTREAM_CASES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 10 {
			t.Fatalf("PODFATE_UPSTREAM_CASES: %q is not a number of at least 10", text)
		}
		s.cases = n
	}
	if text := os.Getenv("PODFATE_UPSTREAM_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			t.Fatalf("PODFATE_UPSTREAM_SEED: %q is not a number", text)
		}
		s.seed = n
	}
	return s
}

// comparison counts what was compared with one release.
type comparison struct {
	release Release
	seed    uint64

	decided, validated, published, faulty, dropping, sequences, gateSettings int

	updated, static, jobsValidated, panicking int
	surrounded                                int // objects with strange metadata and specs
	verdicts                                  verdicts
	podsJudged, podsMatched                   int
	printed                                   int // Pods as kubectl shows them
	ended, goingOn                            int // Jobs with Pods

	planned, plans, phases, configured, tableCases int // with the kubelet only

	droppedStatuses, deniedStatuses int
	pods, steps                     int // Pods that were played, with the kubelet only, and the statuses that they came to
	lived, podsCreated              int // Jobs, and the Pods that they created
	enriched                        int // Jobs whose Pods the kubelet itself has judged

	unread string // what Kubernetes says of a change that Podfate does not read; "" while it reads all that changes

	differences int
	cut         int // messages in which a long value is cut on purpose
}

// differ counts a difference and prints it unless there were many. what names the case so that it
// can be repeated.
func (c *comparison) differ(t *testing.T, shown *int, what string, ours, theirs any) {
	t.Helper()
	c.differences++
	if *shown++; *shown <= shownDifferences {
		t.Errorf("seed %d, %s\npodfate:    %v\nKubernetes: %v", c.seed, what, ours, theirs)
	} else {
		t.Fail()
	}
}

// gateSet is a set of gates that a cluster can have, complete for the gates that matter here and
// can be switched.
type gateSet map[string]bool

const (
	crr = "ContainerRestartRules"
	rac = "RestartAllContainersOnContainerExits"
	ndf = "NodeDeclaredFeatures"
	jmb = "JobManagedBy"
	jpr = "JobPodReplacementPolicy"
	mpr = "MutablePodResourcesForSuspendedJobs"
	msd = "MutableSchedulingDirectivesForSuspendedJobs"
)

var gateNames = []string{crr, rac, ndf, jmb, jpr, mpr, msd}

// jobGateSets returns the sets in which Jobs can differ. The first is that of the release; the
// others are as Jobs see them.
func jobGateSets(minor int) []gateSet {
	first := gateSets(minor)[0]
	with := func(gates gateSet) gateSet {
		maps.Copy(gates, first)
		return gates
	}
	switch minor {
	case 33:
		return []gateSet{with(gateSet{jmb: true, jpr: true}), with(gateSet{jmb: false, jpr: true}), with(gateSet{jmb: true, jpr: false}), with(gateSet{jmb: false, jpr: false})}
	case 34:
		return []gateSet{with(gateSet{jmb: true}), with(gateSet{jmb: false})}
	case 35:
		return []gateSet{with(gateSet{mpr: false, msd: false}), with(gateSet{mpr: true, msd: true})}
	}
	return []gateSet{with(gateSet{mpr: true, msd: true}), with(gateSet{mpr: false, msd: false})}
}

// eachJobGateSet runs f for each of them, and leaves the process in the first.
func (c *comparison) eachJobGateSet(t *testing.T, f func(set gateSet)) {
	t.Helper()
	sets := jobGateSets(c.release.Minor())
	for _, set := range append(sets[1:], sets[0]) {
		if err := c.release.SetGates(set); err != nil {
			t.Fatalf("%v: %v", set, err)
		}
		f(set)
	}
}

// gateSets returns the sets in which decisions and validation can differ in release 1.minor.
func gateSets(minor int) []gateSet {
	switch minor {
	case 33:
		return []gateSet{{}}
	case 34:
		return []gateSet{{crr: true}, {crr: false}}
	case 35:
		return []gateSet{{crr: true, rac: true, ndf: true}, {crr: true, rac: false, ndf: false}, {crr: false, rac: false, ndf: false}}
	}
	return []gateSet{{crr: true, rac: true}, {crr: true, rac: false}, {crr: false, rac: false}}
}

func (s gateSet) String() string {
	var on []string
	for _, name := range gateNames {
		if value, listed := s[name]; listed {
			on = append(on, name+"="+strconv.FormatBool(value))
		}
	}
	return "gates [" + strings.Join(on, " ") + "]"
}

// features returns our side of the set.
func (s gateSet) features(t *testing.T, minor int) policy.Features {
	t.Helper()
	var list []policy.GateSetting
	for _, name := range gateNames {
		if value, listed := s[name]; listed {
			list = append(list, policy.GateSetting{Name: name, Enabled: value})
		}
	}
	f, faults := policy.NewFeatures(minor, list)
	if len(faults) > 0 {
		t.Fatalf("%v: %v", s, faults)
	}
	return f
}

// eachGateSet runs f for each set with the process switched to it.
func (c *comparison) eachGateSet(t *testing.T, f func(set gateSet, ours policy.Features)) {
	t.Helper()
	for _, set := range gateSets(c.release.Minor()) {
		if err := c.release.SetGates(set); err != nil {
			t.Fatalf("%v: %v", set, err)
		}
		f(set, set.features(t, c.release.Minor()))
	}
}

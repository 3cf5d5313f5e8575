package policy

// MaxWaits bounds the waits that a list writes out: the longest of the founding documents has six,
// and after the last one comes the maximum forever.
const MaxWaits = 100

// Series is a series of waits before restarts, counted from 0: Initial, then Factor times the wait
// before it, none longer than Max. If List is set, its waits come in place of those, however long
// they are, and then Max forever.
type Series struct {
	Initial Millis // from 1 ms on; at most Max
	Max     Millis
	Factor  int64 // 1 to [MaxCurveFactor]; the kubelet's is 2
	List    []Millis
}

// First returns wait 0.
func (s *Series) First() Millis {
	if len(s.List) > 0 {
		return s.List[0]
	}
	return s.Initial
}

// Next returns wait n+1, after wait n, which was d. It cannot overflow.
func (s *Series) Next(d Millis, n int) Millis {
	switch {
	case n+1 < len(s.List):
		return s.List[n+1]
	case len(s.List) > 0 || d > s.Max/Millis(s.Factor):
		return s.Max
	}
	return min(s.Max, d*Millis(s.Factor))
}

// Settled reports whether all waits after wait n, which was d, are d.
func (s *Series) Settled(d Millis, n int) bool {
	for i := n + 1; i < len(s.List); i++ {
		if s.List[i] != d {
			return false
		}
	}
	return s.Next(d, max(n, len(s.List)-1)) == d
}

// At returns wait n, and limit if n is more: from there on all are equal.
func (s *Series) At(n int) (d Millis, limit int) {
	d = s.First()
	i := 0
	for ; i < n && !s.Settled(d, i); i++ {
		d = s.Next(d, i)
	}
	return d, i
}

// EndClass says how a run ended, as far as waits can depend on it.
type EndClass uint8

// The classes. EndCrash is any exit code but 0 without one of the causes of EndInfrastructure:
// killed for lack of memory, by the kubelet, or lost by the runtime.
const (
	EndCrash EndClass = iota
	EndSuccess
	EndInfrastructure

	EndClasses // how many there are
)

// Waits are the waits of the containers of a Pod where a request sets them, in place of the
// kubelet's own.
type Waits struct {
	Series        // of containers and classes without their own
	Reset  Millis // a run that lasts longer sets all waits back to the first
	// Classes are the series after runs that ended so; nil: Series.
	Classes [EndClasses]*Series
	// Shared lets all classes count together; otherwise each has its own counter.
	Shared bool
	// Containers are those with a series of their own, which then has no classes but its own. Of
	// two the first counts.
	Containers []ContainerWaits
}

// ContainerWaits is the series of one container.
type ContainerWaits struct {
	Container Ref
	Series    Series
	Classes   [EndClasses]*Series // after runs that ended so; nil: Series
}

// Of returns the series of a container after runs that ended like class, and which counter counts
// its waits.
func (w *Waits) Of(r Ref, class EndClass) (s *Series, counter EndClass) {
	for i := range w.Containers {
		if own := &w.Containers[i]; own.Container == r {
			return pick(&own.Series, &own.Classes, false, class)
		}
	}
	return w.After(class)
}

// After returns the same for a container without waits of its own.
func (w *Waits) After(class EndClass) (s *Series, counter EndClass) {
	return pick(&w.Series, &w.Classes, w.Shared, class)
}

func pick(all *Series, classes *[EndClasses]*Series, shared bool, class EndClass) (s *Series, counter EndClass) {
	if s = classes[class]; s == nil {
		s = all
	}
	if shared || *classes == [EndClasses]*Series{} {
		return s, 0
	}
	return s, class
}

// Preset is a set of waits that a document or a release has.
type Preset struct {
	Name       string
	Series     Series
	Source     string
	Confidence string // stable, alpha, proposed, or derived: computed from what a proposal says
}

// presets are in the order in which describe lists them. Nobody writes to it.
var presets = [...]Preset{
	{"stock", Series{10 * Second, 300 * Second, 2, nil}, "pkg/kubelet/kubelet.go, v1.36", "stable"},
	{"reduced", Series{1 * Second, 60 * Second, 2, nil}, "KEP-4603, ReduceDefaultCrashLoopBackOffDecay", "alpha"},
	{"rapid", Series{250, 60 * Second, 2, nil}, "KEP-4603, draft of 2024, restartPolicy Rapid", "proposed"},
	{
		"catch-up", Series{1 * Second, 300 * Second, 2, catchUp[:]},
		"KEP-4603, draft of 2024, front-loaded curve with a catch-up interval", "derived",
	},
	{"near-zero-10", Series{1 * Second, 10 * Second, 2, nil}, "KEP-4603, draft of 2024, later target", "proposed"},
	{"near-zero-30", Series{1 * Second, 30 * Second, 2, nil}, "KEP-4603, draft of 2024, later target", "proposed"},
}

// catchUp fills what five short waits leave of ten minutes: 569 s = 600 s - 31 s. Nobody writes to
// it.
var catchUp = [...]Millis{1 * Second, 2 * Second, 4 * Second, 8 * Second, 16 * Second, 569 * Second}

// Presets returns the presets in a fixed order. The list is shared: callers must not change it.
func Presets() []Preset { return presets[:] }

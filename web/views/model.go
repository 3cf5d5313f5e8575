package views

import "encoding/json"

// Page is everything that the playground shows.
type Page struct {
	Form     Form
	Examples []Example // the menu, in its order
	Events   []string  // what can happen to a Pod over time, in the order of the menu
	Module   Module
	Answer   *Answer // nil: nothing was asked
	Assets   Assets
	// Origin is scheme and host under which the page was asked for, as in "http://127.0.0.1:8080"; the curl line
	// names it. "" leaves curl out.
	Origin string
}

// Refusal is why a request of a browser has no answer.
type Refusal struct {
	Title, Detail string
	Form          bool      // a form was sent
	Examples      []Example // those that there are, if another was asked for
	Assets        Assets
}

// Form is what the reader typed and chose; the names of its controls are in [ReadForm].
type Form struct {
	Manifest   string // YAML or JSON, as typed
	Pods       string // of a Job: a List, an array or Pods, JSON or YAML, as typed
	Exits      string // shorthand: main=42, main=1:OOMKilled, or main: 3@10s x4; blank asks for validate
	Version    string // a Kubernetes version such as "1.37"; "" is the module's default
	Validation string // Strict, Warn or Ignore; "" is Strict
	// Gates holds the gates that are set, "true" or "false"; a gate that is absent has its default.
	Gates map[string]string
	// Example is the id of the example whose text this is, "" for the reader's own.
	Example string
}

// Example is an entry of the menu.
type Example struct {
	ID       string // of /?example=ID; stable
	Title    string
	Question string // one sentence
	Form     Form
}

// Module is the WebAssembly module that answers, as describe tells it. Its JSON is that of describe's answer.
type Module struct {
	Product        string   `json:"product"`
	ABI            string   `json:"abi"`
	Schema         string   `json:"schema"`
	Versions       []string `json:"versions"` // of Kubernetes, oldest first
	DefaultVersion string   `json:"defaultVersion"`
	Gates          []Gate   `json:"gates"`
	File           File     `json:"module"`
	// URL is where the file can be fetched: its address changes with its content.
	URL string `json:"-"`
}

// File identifies the module's bytes.
type File struct {
	SHA256 string `json:"sha256"` // 64 lower-case hexadecimal digits
	Bytes  int    `json:"bytes"`
}

// Gate is a feature gate that changes answers.
type Gate struct {
	Name     string        `json:"name"`
	Releases []GateRelease `json:"versions"` // a version that is not listed does not know the gate
}

// GateRelease is what one version of Kubernetes says about a gate.
type GateRelease struct {
	Version string `json:"version"`
	Default bool   `json:"default"`
	Stage   string `json:"stage"` // Alpha, Beta, GA
	Locked  bool   `json:"locked"`
}

// Assets are the addresses of the page's own files.
type Assets struct {
	Style, Script, Worker, Icon string
	Data                        string // the sentences and the examples
}

// Answer is what the page shows of an operation's answer. [ReadAnswer] makes one; its JSON is that of the core.
type Answer struct {
	Operation string `json:"-"` // validate, decide or simulate
	Request   string `json:"-"` // the JSON that was answered; "" if none was sent

	Valid     bool       `json:"valid"` // of validate; Undecided then says where the API server gets no further
	Decisions []Decision `json:"decisions"`
	Faults    []Fault    `json:"faults"`
	Dropped   []Dropped  `json:"dropped"`
	Warnings  []Fault    `json:"warnings"`
	Templates []Template `json:"templates"` // of a manifest whose own kind is not read
	// NotChecked are the paths of fields that validate judged by name and type only, NotCheckedMore how many more there are.
	NotChecked     []string `json:"notChecked"`
	NotCheckedMore int      `json:"notCheckedMore"`

	Cluster Cluster `json:"cluster"`
	Error   *Error  `json:"error"` // the operation was refused; then only Operation and Request are set besides

	PodDecisions []PodDecision `json:"podDecisions"` // of decide, about the Pods of a Job
	JobDecision  *JobDecision  `json:"jobDecision"`

	// Of simulate; Pod is nil in answers of the others. Times are milliseconds since the Pod began.
	Pod         *Pod       `json:"pod"`
	Job         *struct{}  `json:"job"` // of simulate, in place of Pod, with the next two
	Layers      Layers     `json:"layers"`
	Counters    []Counters `json:"counters"`
	Pods        []JobPod   `json:"pods"` // that the Job made
	Until       int64      `json:"untilMillis"`
	Timeline    []Record   `json:"timeline"` // ascending
	Containers  []Lane     `json:"containers"`
	Undecided   undecideds `json:"undecided"`   // of validate one at most
	Assumptions []string   `json:"assumptions"` // stable codes
	From        *From      `json:"from"`        // nil: the Pod began with the simulation
}

// undecideds is a list, or one that stands alone.
type undecideds []Undecided

func (u *undecideds) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		*u = make(undecideds, 1)
		return json.Unmarshal(text, &(*u)[0])
	}
	return json.Unmarshal(text, (*[]Undecided)(u))
}

// From is the status that a simulation began with.
type From struct {
	Now   string `json:"now"`   // as Kubernetes writes times
	NowIs string `json:"nowIs"` // given, newest_time_in_the_status
	Waits []Wait `json:"waits"`
}

// Wait is what a container that was restarted before has to wait for its next start.
type Wait struct {
	Container string `json:"container"`
	Delay     int64  `json:"delayMillis"`     // after its last exit, or after the next one
	DelayFrom string `json:"delayFrom"`       // message, gap, restartCount
	Next      *int64 `json:"nextStartMillis"` // nil: it runs, or is not started again
	NextStart string `json:"nextStart"`       // the same as Kubernetes writes times
	Earliest  int64  `json:"earliestMillis"`
	Latest    int64  `json:"latestMillis"`
}

// Layers says who decided what in the simulation of a Job.
type Layers struct {
	Containers []struct {
		Decision
		Times int64 `json:"times"`
	} `json:"containers"`
	Pods []struct {
		Phase            string `json:"phase"`
		Reason           string `json:"reason"`
		DisruptionTarget string `json:"disruptionTarget"`
		Action           string `json:"action"` // "" for Pods that have not failed
		Rule             *int   `json:"rule"`
		Counted          bool   `json:"counted"`
		Times            int64  `json:"times"`
		Place                   // of the rule
	} `json:"pods"`
	Job struct {
		Outcome      string `json:"outcome"`
		Reason       string `json:"reason"`
		Message      string `json:"message"`
		Failed       int64  `json:"failed"`
		Succeeded    int64  `json:"succeeded"`
		BackoffLimit int64  `json:"backoffLimit"`
	} `json:"job"`
}

// JobPod is a Pod that a Job made.
type JobPod struct {
	Number int64  `json:"number"` // in order of creation, from 0
	Name   string `json:"name"`
}

// Counters are those of a Job from an instant on.
type Counters struct {
	At          int64 `json:"atMillis"`
	Active      int64 `json:"active"`
	Ready       int64 `json:"ready"`
	Succeeded   int64 `json:"succeeded"`
	Failed      int64 `json:"failed"`
	Terminating int64 `json:"terminating"`

	FailedIndexes *int64 `json:"failedIndexes"` // nil without backoffLimitPerIndex
}

// Pod is what became of the Pod at the end of a simulation.
type Pod struct {
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// Lane is one container over the whole simulation.
type Lane struct {
	Container string `json:"container"`
	Starts    int64  `json:"starts"`
	Restarts  int64  `json:"restarts"`
	Ran       int64  `json:"ranMillis"`       // in sum
	NextStart *int64 `json:"nextStartMillis"` // nil: none is due
	Delay     int64  `json:"delayMillis"`
}

// Record is one entry of a simulation's timeline. Container is "" for the whole Pod; of the other fields those count
// that belong to Event.
type Record struct {
	Decision            // Exited: what follows; Action "" where nobody asks
	At           int64  `json:"atMillis"`
	Event        string `json:"event"` // Started, Exited, BackOff, PhaseChanged, Repeated, ...
	RestartCount int64  `json:"restartCount"`
	Until        int64  `json:"untilMillis"` // BackOff, Repeated
	Delay        int64  `json:"delayMillis"`
	From         string `json:"from"` // PhaseChanged
	To           string `json:"to"`
	Ignored      string `json:"ignored"`     // why an event changes nothing
	Since        int64  `json:"sinceMillis"` // Repeated: the rounds began
	Times        int64  `json:"times"`
	Every        int64  `json:"everyMillis"`
	Pod          string `json:"pod"`
	Number       int64  `json:"number"`  // of a Job's Pod
	Pods         int64  `json:"pods"`    // of a Job: to so many it happened, by number from Number on; 0 for one
	Rule         *int   `json:"rule"`    // PhaseChanged, of a Pod of a Job that has failed
	Counted      *bool  `json:"counted"` // the same
	Message      string `json:"message"`
	Index        *int64 `json:"index"` // PodCreated, IndexFailed: of an Indexed Job
}

// Cluster is what the answer assumes about Kubernetes.
type Cluster struct {
	// Kubelet is the node, if it differs from the API server.
	Kubelet *Cluster `json:"kubelet"`
	Version string   `json:"version"`
}

// Releases names the release, and the kubelet's if it is another.
func (c Cluster) Releases() string {
	if c.Kubelet == nil || c.Kubelet.Version == c.Version {
		return c.Version
	}
	return c.Version + ", kubelet " + c.Kubelet.Version
}

// Template is a template of Pods or Jobs in a manifest.
type Template struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // Pod or Job
}

// Decision is what happens after one exit.
type Decision struct {
	Template  string     `json:"template"` // path of the one that the container is of, in a manifest that has them; otherwise ""
	Container string     `json:"container"`
	ExitCode  int        `json:"exitCode"`
	Reason    string     `json:"reason"`
	Action    string     `json:"action"` // Restart, RestartAllContainers, Stop; "" if undecided
	Because   string     `json:"because"`
	PodFails  bool       `json:"podFails"`
	DecidedBy DecidedBy  `json:"decidedBy"`
	Undecided *Undecided `json:"undecided"`
	Trace     []Step     `json:"trace"`
}

// PodDecision is what a Job makes of one of its Pods.
type PodDecision struct {
	Pod        string `json:"pod"`
	NotJudged  string `json:"notJudged"` // why; "" for a Pod that has failed
	Action     string `json:"action"`    // FailJob, FailIndex, Ignore, Count; "" if undecided or not judged
	Rule       *int   `json:"rule"`      // nil: none matched
	Counted    bool   `json:"counted"`
	Message    string `json:"message"` // of FailJob
	Index      *int64 `json:"index"`
	OutOfRange bool   `json:"outOfRange"`
	IndexFails bool   `json:"indexFails"`
	DecidedBy  struct {
		DecidedBy
		Container string `json:"container"` // or
		Condition string `json:"condition"` // that the rule matched first
		ExitCode  int    `json:"exitCode"`
	} `json:"decidedBy"`
	Undecided  *Undecided `json:"undecided"`
	Containers []struct {
		Container string `json:"container"`
		ExitCode  int    `json:"exitCode"`
		Reason    string `json:"reason"`
	} `json:"containers"` // that have terminated
	Trace []Step `json:"trace"`
}

// JobDecision is what the Pods of an answer mean to their Job.
type JobDecision struct {
	Counted      int   `json:"counted"`
	Ignored      int   `json:"ignored"`
	NotJudged    int   `json:"notJudged"`
	BackoffLimit int64 `json:"backoffLimit"`
	Restarts     int64 `json:"restarts"` // with OnFailure
	Fails        *struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Pod     string `json:"pod"`
	} `json:"fails"`
	Succeeds *struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	} `json:"succeeds"` // neither: the Job goes on
}

// DecidedBy is the part of the manifest that decided.
type DecidedBy struct {
	Level string `json:"level"` // rule, container, pod, default
	Path  string `json:"path"`
	Rule  int    `json:"rule"` // index, for level rule
	Place
}

// Undecided says why no action is given.
type Undecided struct {
	At     int64  `json:"atMillis"` // of a simulation
	Reason string `json:"reason"`
	Path   string `json:"path"`
	Limit  string `json:"limit"` // that is passed then, with the reason limit_exceeded
	Place
}

// Why is the reason in words, with the name of the limit if it is one.
func (u Undecided) Why() string {
	if u.Limit != "" {
		return Phrase(u.Reason) + ", " + u.Limit
	}
	return Phrase(u.Reason)
}

// Step is one part of the manifest that was looked at.
type Step struct {
	Path    string `json:"path"`
	Result  string `json:"result"` // matched, not_matched, skipped, not_reached
	Code    string `json:"code"`
	Ignored string `json:"ignored"` // why a rule that matched did not decide
	Quote   string `json:"-"`       // what stands there, in short: In [42] → Restart
	values  string // of a rule, quoted
	Place
}

// Fault is something wrong with the manifest or the rest of the request.
type Fault struct {
	Path    string   `json:"path"`
	Type    string   `json:"type"` // of the API server's checks, "" for any other fault
	Code    string   `json:"code"`
	Detail  string   `json:"detail"`
	Message string   `json:"message"` // exactly what Kubernetes prints, "" if it prints nothing
	Allowed []string `json:"allowed"`
	Place
}

// Dropped is a field that the API server removes without a word.
type Dropped struct {
	Path string `json:"path"`
	Gate string `json:"gate"`
	Place
}

// Error is why an operation was refused.
type Error struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Path    string  `json:"path"`
	Faults  []Fault `json:"faults"`
	Place
}

// Place is where something stands in the manifest as typed: line and column, both from 1, columns in Unicode code
// points. Line 0 is nowhere: the thing is not in the manifest, or its place is not known.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/podfate/podfate/playground/server"
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
	"github.com/podfate/podfate/wasm"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// verb is what the command line adds to an operation. An operation that has no entry still has its
// verb: with files, flags about the cluster, and YAML as text.
type verb struct {
	long     string
	example  string
	files    bool // reads documents
	manifest bool // and one of them must be a manifest
	exits    bool // takes --exit
	rows     bool // asks for what kubectl prints where people read the answer
	pods     bool // takes --pods
	text     func(*printer, outcome) error
	// flags adds flags of its own and returns what turns them into members of the request; nil if
	// there are none.
	flags func(*pflag.FlagSet) func() (members, error)
}

// members are parts of a request that have no field in [schema.Overrides].
type members = map[string]json.RawMessage

var verbs = map[string]verb{
	"describe": {
		long: `Says what this Podfate knows: Kubernetes versions, feature gates and their defaults, operations, limits, and the
digest of the WebAssembly module in it.`,
		example: `  podfate describe
  podfate describe -o json | jq -r .module.sha256`,
		text: (*printer).paint,
	},
	"validate": {
		long: `Says whether the API server would accept each manifest, in its own words: what it would refuse, what it would
drop silently because a feature gate is off, and what it would accept although it can never work. Metadata,
selectors, strategies, schedules and most of the Pod's spec are checked as the API server checks them. Fields that are
checked by name and type only are listed below the verdict: the API server may still refuse something there.

Files hold YAML or JSON, including Lists and streams of documents of any size; each document is judged on its own. A
KubeletConfiguration or a Scenario among them applies to all manifests; a KubeletConfiguration alone is validated itself.
Folders are searched for *.yaml, *.yml and *.json; linked folders are followed once. Objects without Pods (a Service, for
example), kustomize files and chart values are skipped; notes name and count them.

For a JobSet, a RayCluster, a Rollout or any other kind with Pod templates, each template is judged under its path; what
the kind's own controller does is not simulated.`,
		example: `  podfate validate -f pod.yaml
  podfate validate -f manifests/ --kubernetes-version 1.34
  podfate validate -f job.yaml --feature-gates ContainerRestartRules=false
  podfate validate -f new.yaml --old old.yaml  # an update
  podfate validate -f pod.yaml --static        # a file in a kubelet's folder
  podfate validate -f kubelet.yaml             # a KubeletConfiguration alone
  helm template . | podfate validate -f - --validate=ignore -o jsonl`,
		files:    true,
		manifest: true,
		text:     (*printer).validate,
	},
	"decide": {
		long: `Says what happens when a container exits now: whether it is started again, which rule or policy decides, and what
was considered on the way. Each exit is judged on its own, in a Pod whose other containers are running.

The manifest may be any workload with a Pod template, or a live Pod from kubectl get -o yaml.

With --pods it says how a Job treats its Pods, given as kubectl get pods -o json prints them: which of them would
fail the Job, which are ignored, and which rule of the podFailurePolicy decides.`,
		example: `  podfate decide -f pod.yaml --exit main=42
  podfate decide -f pod.yaml --exit main=137:OOMKilled --exit setup=1
  podfate decide -f pod.yaml --exit 1          # a Pod with one container
  podfate decide -f pod.yaml -f scenario.yaml  # podfate help scenario
  podfate decide -f pod.yaml --exit 42 --kubelet-version 1.34  # an older node
  podfate decide -f job.yaml --pods pods.json  # failed Pods of a Job
  kubectl get pods -l job-name=nightly -o json |
    podfate decide -f job.yaml --pods -
  kubectl get pod my-pod -o yaml | podfate decide -f - --exit main=137`,
		files:    true,
		manifest: true,
		exits:    true,
		rows:     true,
		pods:     true,
		text:     (*printer).paint,
	},
	"simulate": {
		long: `Simulates a Pod over time, or a Job with all its Pods: containers run and exit as you specify, and the timeline shows
what Kubernetes does in response: when each container is started again and how long it waits for that, how the Pod ends,
and how the Job reacts.

Specify what the containers do with --run, or as runs in a Scenario, which may also contain events such as a deletion or
a node reboot. The first start takes the first run, and so on; after its last run, or without any, a container keeps
running. --run replaces all runs of a Scenario, --event all its events, and --until its end; --detection, --sync, --jitter
and --first-restart together replace its timing. In a Job, the Pods share the runs, one start after the other.

A live Pod from kubectl get -o yaml continues from its status: what comes next, and when. A container that has exited
before exits the same way again, unless --run says otherwise.`,
		example: `  # fails four times, succeeds with the fifth start: what happens in between?
  podfate simulate -f pod.yaml --run 'main: 42@10s x4, 0@5s'

  # crashes forever: how often is it restarted in a day?
  podfate simulate -f pod.yaml --run 'main: 1@3s forever' --until 24h

  # two containers, one of them killed for lack of memory
  podfate simulate -f pod.yaml --run 'main: 137:OOMKilled@1m, helper: 0@30s'

  # what comes next for a Pod in the cluster, and when?
  kubectl get pod my-pod -o yaml | podfate simulate -f - --now now

  # it is evicted after five minutes
  podfate simulate -f pod.yaml --event 'at 5m Evicted'

  # a Job whose first Pod is preempted, and whose next ones fail
  podfate simulate -f job.yaml --run 'main: 3@5m forever' \
    --event 'at 3m Preempted'

  # real time: the kubelet takes a second to notice, and looks again later
  podfate simulate -f pod.yaml --run 'main: 42@10s x4' \
    --detection 1s --sync kubelet

  # what its command says, such as sh -c 'sleep 10 && exit 1'
  podfate simulate -f pod.yaml --runs-from command

  # with the waits of a proposal
  podfate simulate -f pod.yaml --run 'main: 1@10s forever' --preset rapid

  # runs and events from a file, the whole answer as JSON
  podfate simulate -f pod.yaml -f scenario.yaml -o json`,
		files:    true,
		manifest: true,
		rows:     true,
		text:     (*printer).paint,
		flags:    simulateFlags,
	},
	"curve": {
		long: `Says when the restarts come if every run of a container takes the same time: a table of all restarts with their waits,
how many there are in the first minutes, and the rate that they settle into. With --outage it says how late the container
is back after a dependency was unavailable.

The back-off is the one of the cluster's kubelets, unless --initial, --max, --preset or --waits try another. No manifest
is needed; -f takes a Scenario or a KubeletConfiguration, and each flag replaces the member of the same meaning.`,
		example: `  # how often is a container restarted that dies after 10 seconds?
  podfate curve --run 10s

  # its database is away for 7 minutes: when is it back?
  podfate curve --run 2s --outage 7m

  # what would a shorter back-off change?
  podfate curve --run 10s --initial 1s --max 60s --window 5m --window 1h
  podfate curve --preset catch-up --model documented
  podfate curve --run 10s --waits 1s,5s,30s --max 2m

  # the same from the configuration of a node
  podfate curve -f kubelet.yaml --run 10s --until 1h`,
		files: true,
		text:  (*printer).paint,
		flags: curveFlags,
	},
	"table": {
		long: `Says what each of the 256 exit codes leads to, container by container: whether the kubelet starts the container again,
and how a Job treats the failure (counted, ignored, or the Job or its index fails). Each exit is judged on its own, as
decide judges it. Rules that can never decide are listed with the reason, as is how much of each limit the rules use.

A process killed by a signal exits with 128 plus its number: 137 is SIGKILL, 143 is SIGTERM. A kill for lack of memory
(OOMKilled) is listed separately where it makes a difference.`,
		example: `  podfate table -f pod.yaml
  podfate table -f job.yaml --container main
  podfate table -f pod.yaml --kubernetes-version 1.34
  podfate table -f job.yaml -o json | jq -c '.containers[].ranges[]'`,
		files:    true,
		manifest: true,
		text:     (*printer).paint,
		flags:    tableFlags,
	},
	"fleet": {
		long: `Says what many Pods that start together add up to: restarts and requests to the API server, their peak, the rate that
they settle into, what queues up at the kubelet's client, and how long Pods run, wait, and run in vain. It is arithmetic,
so a million Pods take no longer than one; nothing is measured.

Specify groups with --group, or in a Scenario, which may also contain pools of nodes, Pods that can only work together
(gang), and waits that depend on how a run ended. The back-off is the one of the cluster's kubelets, unless --preset,
--initial or --max try another. -f takes a KubeletConfiguration: its maxPods, kubeAPIQPS and kubeAPIBurst are used.`,
		example: `  # a full node whose containers all die at once
  podfate fleet --group 110=1@0s

  # half of the Pods of 500 nodes, started over ten minutes
  podfate fleet --nodes 500 --group 55=1@0s --group 55=0@60s --spread 10m

  # what would a shorter back-off change?
  podfate fleet --group 110=1@0s --preset reduced

  # which maxContainerRestartPeriod keeps it at 50 requests a second?
  podfate fleet --group 110=1@0s --goal 50

  # from files, the whole answer as JSON
  podfate fleet -f kubelet.yaml -f fleet.yaml -o json`,
		files: true,
		text:  (*printer).paint,
		flags: fleetFlags,
	},
	"compare": {
		long: `Asks one question in several worlds and says where the answers differ: two files, two releases, a gate on and off,
two kubelets, before and after a patch. Without exits or runs it compares what every exit code of each container leads to,
and the waits between restarts.

Files are compared manifest by manifest, matched by kind, namespace and name; - is standard input, and
<(git show HEAD:pod.yaml) works as a file. With -f and --from, --to or --variant, each manifest is compared with itself in
another world.

The exit status is that of diff: 0 if the behaviour is the same, 1 if it differs or if Kubernetes refuses one of them,
2 if there is no answer. Rules that were only renumbered, warnings and dropped fields do not count as differences.`,
		example: `  podfate compare old.yaml new.yaml
  git show HEAD:pod.yaml | podfate compare - pod.yaml

  # what does an upgrade change?
  podfate compare -f manifests/ --from 1.34 --to 1.36

  # over time
  podfate compare old.yaml new.yaml --run 'main: 42@20s x2, 0@40s'

  # on an older node, and with a gate that is off
  podfate compare -f pod.yaml \
    --variant 'old={cluster: {kubelet: {version: "1.34"}}}' \
    --variant 'off={cluster: {featureGates: {ContainerRestartRules: false}}}'

  # of, request and variants in a file
  podfate compare -f scenario.yaml -o json`,
		files:    true,
		manifest: true,
		exits:    true,
		text:     (*printer).compare,
		flags:    simulateFlags,
	},
	"suggest": {
		long: `Says what to write so that exits lead to what you want. --flip finds the smallest change that gives one exit another
outcome; the other flags find the shortest policy that does everything you ask for: restart policies and rules of the
container, and the podFailurePolicy of its Job. Codes that you do not name keep their outcome.

Every suggestion is verified by deciding all 256 codes of every container again. One that changes the outcome of other
codes is offered only if there is no other way, and says so; the same goes for what the chosen release does not support.

Codes are numbers, ranges such as 1-127, others for all codes that are not named (except 0), and, for what a Job does,
disruption: Pods that were evicted, preempted or drained. --flip takes the names of the other flags, such as restart-all.`,
		example: `  podfate suggest -f pod.yaml --flip main=137:restart
  podfate suggest -f job.yaml --restart 42,137 --fail-job 3 --ignore disruption
  podfate suggest -f pod.yaml --restart others --stop 1-3 --container main
  podfate suggest -f pod.yaml --restart 42 --kubernetes-version 1.34
  podfate suggest -f pod.yaml --flip 1:stop -o json | jq .suggestions[0].edits`,
		files:    true,
		manifest: true,
		text:     (*printer).paint,
		flags:    suggestFlags,
	},
	"translate": {
		long: `Rewrites a manifest that uses the fields of a draft or a proposal for released Kubernetes, or the other way round. It
lists what the target cannot express, with what comes close, and every exit code with another outcome: all codes are
decided in both. The two are called equivalent only if nothing differs and nothing is lost.

Name the proposals whose fields the manifest uses with --proposal. --to is kubernetes, or the proposal to translate to;
choose among the spellings of a draft with --spelling.`,
		example: `  podfate translate -f draft-job.yaml --proposal kep-3329-draft
  podfate translate -f job.yaml --to kep-3329-draft --spelling expressions
  podfate translate -f pod.yaml --proposal always-pod -o json | jq .manifest`,
		files:    true,
		manifest: true,
		text:     (*printer).paint,
		flags:    translateFlags,
	},
	"explain": {
		long: `Puts the answer of another operation into words and figures. With -o json it prints the answer together with the
document that the page, this command and the packages for other languages render.

A Scenario names the operation in its member of and holds the rest of the request; manifests may be separate files.`,
		example: `  podfate explain -f pod.yaml -f scenario.yaml
  podfate explain -f pod.yaml -f scenario.yaml -o json | jq .document.verdict`,
		files: true,
		text:  (*printer).explain,
	},
}

// options are the flags of a verb.
type options struct {
	files      []string
	hook       bool // arguments are files
	output     string
	engine     string
	version    string
	gates      []string
	kubelet    string // the version of the node
	nodeGates  []string
	proposals  []string
	validation string
	old        string
	static     bool
	template   string
	fix, diff  bool
	exits      []string
	question   string
	link       string
	pods       string
	program    string         // as it was called
	flags      *pflag.FlagSet // all that the verb has
}

var (
	outputs     = []string{"text", "json", "jsonl", "yaml"}
	engines     = []string{"native", "wasm"}
	validations = map[string]string{
		"": "", "strict": "Strict", "warn": "Warn", "ignore": "Ignore",
		"true": "Strict", "false": "Ignore", // as in kubectl
	}
)

// newVerb makes the command of an operation.
func newVerb(op ops.Operation, streams Streams) *cobra.Command {
	v, known := verbs[op.Name]
	if !known {
		v = verb{
			long:    op.Summary + "\n\nThe request is written in files: a Scenario with what the operation asks for, and manifests next to it.",
			example: "  podfate " + op.Name + " -f scenario.yaml\n  podfate " + op.Name + " -f pod.yaml -f scenario.yaml -o json",
			files:   true,
			text:    (*printer).yaml,
		}
	}
	o := &options{}
	own := func() (members, error) { return nil, nil }
	command := &cobra.Command{
		Use:     op.Name,
		Short:   op.Summary,
		Long:    v.long,
		Example: v.example,
		Args:    noFilesAsArguments,
		RunE: func(command *cobra.Command, args []string) error {
			if err := noEmptyValues(command.Flags()); err != nil {
				return err
			}
			o.files = append(o.files, args...)
			more, err := own()
			if err != nil {
				_, others := o.overrides()
				return errors.Join(err, others, outputFault(o.output, op.Name), engineFault(o.engine))
			}
			o.program = command.Parent().CommandPath()
			if o.link != "" {
				return o.printLink(op.Name, streams)
			}
			return v.run(command.Context(), op, o, more, streams)
		},
	}
	flags := command.Flags()
	o.flags = flags
	v.addFlags(command, op, o, known)
	if v.flags != nil {
		own = v.flags(flags)
		for flag, words := range timingWords {
			if flags.Lookup(flag) != nil {
				complete(command, flag, words)
			}
		}
		if flags.Lookup("model") != nil {
			complete(command, "model", []string{string(policy.ModelKubelet), string(policy.ModelDocumented)})
		}
	}
	if op.Name == "compare" {
		newCompare(command, v, op, o, own, streams)
	}
	return command
}

// addFlags adds the flags that the operation shares with others. known is false for an operation
// without words of its own here.
func (v verb) addFlags(command *cobra.Command, op ops.Operation, o *options, known bool) {
	flags := command.Flags()
	flags.StringVarP(&o.output, "output", "o", "text", "form of the answer: text, json, jsonl (a line for each manifest, with file, document, line, kind, namespace and name) or yaml")
	flags.StringVar(&o.engine, "engine", "native", "what answers: the core in this program (native), or the WebAssembly module (wasm)")
	if slices.Contains(ciVerbs, op.Name) {
		flags.Lookup("output").Usage += ", or for CI sarif, junit or github (annotations)"
	}
	complete(command, "output", outputsOf(op.Name))
	complete(command, "engine", engines)
	if v.files {
		flags.StringArrayVarP(&o.files, "filename", "f", nil, "file or folder with manifests, - for standard input; repeatable")
		flags.StringVar(&o.version, "kubernetes-version", "", "release of the cluster, such as "+policy.VersionName(policy.DefaultMinor)+", the default")
		flags.StringSliceVar(&o.gates, "feature-gates", nil, "feature gates to set, such as ContainerRestartRules=false,…")
		flags.StringVar(&o.kubelet, "kubelet-version", "", "release of the node, if it differs from that of the API server")
		flags.StringSliceVar(&o.nodeGates, "kubelet-feature-gates", nil, "feature gates that are set on the node only")
		flags.StringArrayVar(&o.proposals, "proposal", nil, "a proposal that no release implements, as NAME or NAME:option=value,…; describe lists them; repeatable")
		complete(command, "proposal", proposalNames())
		for _, flag := range []string{"kubernetes-version", "kubelet-version"} {
			complete(command, flag, policy.Versions())
		}
		for _, flag := range gateFlags {
			complete(command, flag, gateNames())
		}
	}
	if v.files && (v.manifest || !known) {
		flags.StringVar(&o.validation, "validate", "", "unknown and duplicate fields are faults (strict), warnings (warn) or nothing (ignore)")
		flags.Lookup("validate").DefValue = "strict"
		flags.Lookup("validate").NoOptDefVal = "strict"
		complete(command, "validate", []string{"strict", "warn", "ignore"})
	}
	if v.manifest {
		flags.StringVar(&o.template, "template", "", "path of one of several Pod templates, in a JobSet for example, such as spec.replicatedJobs[0].template")
	}
	if op.Name == "validate" {
		flags.StringVar(&o.old, "old", "", "file with the object that the manifest would replace: would the API server accept this update? - for standard input")
		flags.BoolVar(&o.hook, "hook", false, "arguments are files, as pre-commit passes them; files without Pods are not an error")
		flags.BoolVar(&o.fix, "fix", false, "apply the known fixes to the files; comments, anchors and style are kept")
		flags.BoolVar(&o.diff, "diff", false, "print what --fix would change")
		flags.BoolVar(&o.static, "static", false, "the manifest is a file in a kubelet's folder: would the kubelet run this static Pod?")
	}
	if v.exits {
		flags.StringArrayVar(&o.exits, "exit", nil, "exit to judge: NAME=CODE or NAME=CODE:REASON; NAME= may be left out for a Pod with one container; several with commas; repeatable")
		flags.StringVar(&o.question, "question", "", "the exits in short, as in links and on the page: main=42, 137:OOMKilled")
	}
	if v.pods {
		flags.StringVar(&o.pods, "pods", "", "file with the Job's Pods and their status, - for standard input")
	}
	if _, page := linked[op.Name]; page {
		flags.StringVar(&o.link, "link", "", "instead of an answer, print the address of a playground that asks the same question; --link=URL for a playground other than the one that serve starts")
		flags.Lookup("link").NoOptDefVal = defaultPlayground
	}
}

func complete(command *cobra.Command, flag string, values []string) {
	// The error says that the flag does not exist, which a line above proves wrong.
	_ = command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func proposalNames() (names []string) {
	for _, p := range policy.ProposalList() {
		names = append(names, p.Name)
	}
	return names
}

func gateNames() (names []string) {
	for _, g := range policy.Gates() {
		names = append(names, g.Name+"=true", g.Name+"=false")
	}
	return names
}

// noFilesAsArguments refuses arguments and says where a file belongs.
func noFilesAsArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if hook := command.Flags().Lookup("hook"); hook != nil && hook.Changed {
		return nil
	}
	if validate := command.Flags().Lookup("validate"); validate != nil && validate.Changed && validations[strings.ToLower(args[0])] != "" {
		return fmt.Errorf("unexpected argument %q\n\nDid you mean --validate=%s?", args[0], args[0]) // alone it means strict, as in kubectl
	}
	if command.Flags().Lookup("filename") != nil {
		return fmt.Errorf("unexpected argument %q\n\nDid you mean -f %s?", args[0], args[0])
	}
	return fmt.Errorf("unexpected argument %q", args[0])
}

// overrides are what the flags put into each request; more are the members of the operation's own
// flags.
func (v verb) overrides(op ops.Operation, o *options, more members, streams Streams) (overrides schema.Overrides, err error) {
	overrides, err = o.overrides()
	overrides.Explain = op.Name == "explain"
	if op.Name == "compare" {
		overrides.Around = []string{"of", "variants", "answers"}
	}
	if err := errors.Join(err, outputFault(o.output, op.Name), engineFault(o.engine)); err != nil {
		return overrides, err
	}
	if overrides.Members = more; more["show"] != nil { // what flags ask to be shown comes besides what a Scenario does
		overrides.Members = maps.Clone(more)
		delete(overrides.Members, "show")
		if err := json.Unmarshal(more["show"], &overrides.Show); err != nil {
			return overrides, err
		}
	}
	if err := o.oneReader(); err != nil {
		return overrides, err
	}
	if o.pods != "" {
		pods, err := readPods(o.pods, streams.In)
		var faults schema.Faults
		if errors.As(err, &faults) {
			return overrides, statusError{StatusFaults, faults} // the flags are right, the file is not
		}
		if err != nil {
			return overrides, err
		}
		overrides.Members = members{"pods": pods}
	}
	set, err := o.members(streams)
	if err != nil {
		return overrides, err
	}
	if v.rows && o.output == "text" {
		overrides.Show = append(overrides.Show, "rows")
	}
	if len(set) > 0 {
		merged := members{}
		maps.Copy(merged, overrides.Members)
		maps.Copy(merged, set)
		overrides.Members = merged
	}
	return overrides, nil
}

// run reads, asks and prints.
func (v verb) run(ctx context.Context, op ops.Operation, o *options, more members, streams Streams) error {
	overrides, err := v.overrides(op, o, more, streams)
	if err != nil {
		return err
	}
	if v.manifest && len(o.files) == 0 {
		return errors.New("no manifest: name a file or a folder with -f, or - for standard input")
	}
	p, err := newPrinter(o.output, op.Name, v.text, streams)
	if err != nil {
		return err
	}
	p.command = o.suggests
	if o.fix && o.diff {
		return errors.New("--fix and --diff: either the files are changed or the differences are printed")
	}
	if o.fix || o.diff {
		p.fixes = &fixer{write: o.fix, known: map[string][]fixOf{}}
	}
	engine, err := openEngine(ctx, o.engine, wasm.Options{Interpreter: true, Instances: 1})
	if err != nil {
		return err
	}
	defer closeEngine(engine)
	ask := func(a asked) error {
		result := outcome{op: op, asked: a}
		if err := result.ask(ctx, engine, p.words); err != nil {
			return failf("the engine gave no answer: %w", err)
		}
		return p.print(result)
	}
	if len(o.files) > 0 {
		from, err := openSources(o.files, streams.In)
		if err != nil {
			return err
		}
		defer from.close()
		overrides.Leave, overrides.EachTemplate = othersMembers(op), op.Name == "simulate"
		r := &reader{op: op, sources: from, overrides: overrides, out: p, ask: ask, given: o.hook}
		if err := r.run(); err != nil {
			return err
		}
		if p.fixes != nil {
			if err := p.fixes.end(p); err != nil {
				return err
			}
		}
		return p.end()
	}
	if op.Name == "describe" {
		overrides.Members = members{"module": moduleMember()}
	}
	request, err := schema.NewRequest(nil, overrides)
	if err != nil {
		return err
	}
	if err := ask(asked{request: request}); err != nil {
		return err
	}
	return p.end()
}

// members turns flags into members of the request that have no field of their own.
func (o *options) members(streams Streams) (members, error) {
	set := members{}
	if o.question != "" {
		set["question"] = encode(o.question)
	}
	if o.template != "" {
		set["templatePath"] = encode(o.template)
	}
	if o.static {
		set["static"] = encode(true)
	}
	if o.old == "" {
		return set, nil
	}
	if o.static {
		return nil, errors.New("--old and --static: a static Pod is not updated")
	}
	name, text, err := readOne(o.old, streams.In, fmt.Errorf("--old %s: is a folder; name the file with the object that is replaced", o.old))
	if err != nil {
		return nil, err
	}
	docs, err := schema.DecodeNamed(name, text)
	switch {
	case err != nil:
		return nil, statusError{StatusFaults, err}
	case len(docs) != 1:
		return nil, statusError{StatusFaults, fmt.Errorf("%s: %d documents; the object that is replaced is one", name, len(docs))}
	case !json.Valid(docs[0].JSON()):
		return nil, statusError{StatusFaults, fmt.Errorf("%s: is not JSON", name)}
	}
	set["old"] = docs[0].JSON()
	return set, nil
}

// oneReader returns an error if two flags name standard input.
func (o *options) oneReader() error {
	for _, other := range []struct{ flag, file string }{{"--pods", o.pods}, {"--old", o.old}} {
		if other.file == "-" && slices.Contains(o.files, "-") {
			return fmt.Errorf("-f - and %s - cannot both read standard input", other.flag)
		}
	}
	return nil
}

// readOne reads a file of at most schema.MaxBodyBytes, of a longer one one byte more, and returns
// how it is called in messages. folder is the error if it is a folder.
func readOne(name string, in io.Reader, folder error) (called string, text []byte, err error) {
	from, err := openSources([]string{name}, in)
	if err != nil {
		return "", nil, err
	}
	defer from.close()
	if from.entries[0].folder {
		return "", nil, folder
	}
	err = from.walk(walker{file: func(name string, in io.ReadSeeker) (err error) {
		called = name
		if text, err = io.ReadAll(io.LimitReader(in, schema.MaxBodyBytes+1)); err != nil {
			return fileError(err)
		}
		return nil
	}})
	return called, text, err
}

// othersMembers are what a Scenario may have for other operations than op.
func othersMembers(op ops.Operation) (names []string) {
	if ops.Members(op.Name) == nil || op.Name == "compare" { // they take what any of them takes
		return nil
	}
	for _, other := range ops.Table() {
		for _, name := range ops.Members(other.Name) {
			if !slices.Contains(ops.Members(op.Name), name) && name != "manifest" {
				names = append(names, name)
			}
		}
	}
	return names
}

// overrides turns flags into parts of the request.
func (o *options) overrides() (schema.Overrides, error) {
	var overrides schema.Overrides
	overrides.Version = o.version
	var faults [5]error
	validation, known := validations[strings.ToLower(o.validation)]
	if !known {
		faults[0] = fmt.Errorf("--validate %s: must be strict, warn or ignore", strconv.Quote(o.validation))
	}
	overrides.FieldValidation = validation
	overrides.Kubelet.Version = o.kubelet
	overrides.FeatureGates, faults[1] = parseGates(gateFlags[0], o.gates)
	overrides.Kubelet.FeatureGates, faults[2] = parseGates(gateFlags[1], o.nodeGates)
	overrides.Proposals, faults[3] = parseProposals(o.proposals)
	exits, err := short("exit", "exits", o.exits)
	if err == nil && exits != nil {
		err = json.Unmarshal(exits, &overrides.Exits)
	}
	faults[4] = err
	return overrides, errors.Join(faults[:]...)
}

// gateFlags set gates: of the cluster, and of the node alone.
var gateFlags = [...]string{"feature-gates", "kubelet-feature-gates"}

// parseGates reads NAME=true or NAME=false from a flag's values.
func parseGates(flag string, values []string) (gates map[string]bool, err error) {
	for _, gate := range values {
		name, value, _ := strings.Cut(gate, "=")
		on, err := strconv.ParseBool(value)
		if err != nil || name == "" {
			return nil, fmt.Errorf("--%s %s: must be NAME=true or NAME=false", flag, strconv.Quote(gate))
		}
		if gates == nil {
			gates = map[string]bool{}
		}
		if before, set := gates[name]; set && before != on {
			return nil, fmt.Errorf("--%s %s: %s is set to true and to false", flag, strconv.Quote(gate), name)
		}
		gates[name] = on
	}
	return gates, nil
}

// parseProposals reads NAME or NAME:option=value,option=value from a flag's values. What it does
// not know, the core refuses with what it does.
func parseProposals(values []string) (proposals map[string]map[string]string, err error) {
	for _, value := range values {
		name, rest, chosen := strings.Cut(value, ":")
		readings := map[string]string{}
		for chosen {
			var part string
			part, rest, chosen = strings.Cut(rest, ",")
			option, reading, ok := strings.Cut(part, "=")
			if !ok || option == "" || reading == "" {
				return nil, fmt.Errorf("--proposal %s: must be NAME or NAME:option=value, such as always-pod:sandbox=recreate", strconv.Quote(value))
			}
			if before, set := readings[option]; set && before != reading {
				return nil, fmt.Errorf("--proposal %s: %s is set to %s and to %s", strconv.Quote(value), option, before, reading)
			}
			readings[option] = reading
		}
		if _, set := proposals[name]; set || name == "" {
			return nil, fmt.Errorf("--proposal %s: must be NAME or NAME:option=value, each proposal once", strconv.Quote(value))
		}
		if proposals == nil {
			proposals = map[string]map[string]string{}
		}
		proposals[name] = readings
	}
	return proposals, nil
}

// openEngine returns the engine called name.
func openEngine(ctx context.Context, name string, o wasm.Options) (server.Engine, error) {
	switch name {
	case "native":
		return server.Native(), nil
	case "wasm":
		if err := room(roomForModule); err != nil {
			return nil, failf("the module could not be loaded: %w", err)
		}
		host, err := wasm.New(ctx, o)
		if err != nil {
			return nil, failf("the module could not be loaded: %w", err)
		}
		return server.WASM(host), nil
	}
	return nil, engineFault(name)
}

// engineFault refuses a name that is no engine's.
func engineFault(name string) error {
	if slices.Contains(engines, name) {
		return nil
	}
	return fmt.Errorf("--engine %s: must be native or wasm", strconv.Quote(name))
}

// someFiles refuses a command without files.
func someFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("no file: name one at least")
	}
	return nil
}

func closeEngine(engine server.Engine) {
	if closer, ok := engine.(interface{ Close(context.Context) error }); ok {
		closer.Close(context.Background()) // no call is running: there is nothing to wait for, and nothing to report
	}
}

// moduleMember is the request's member that names the module in this program.
func moduleMember() json.RawMessage {
	return json.RawMessage(`{"sha256":"` + wasm.SHA256() + `","bytes":` + strconv.Itoa(wasm.Size()) + `}`)
}

// translateFlags adds the flags of translate.
func translateFlags(flags *pflag.FlagSet) func() (members, error) {
	to := flags.String("to", "", "what to translate to: kubernetes (the default), kep-5307-future, kep-3329-draft or always-pod")
	spelling := flags.String("spelling", "", "which spelling of a draft: when, onExit or onExitCodes; flat, grouped, condition or expressions")
	from := flags.String("runs-from", "", "with command, retry loops in shell commands are reported as lost, with the policy that comes closest (default runs)")
	preset := flags.String("preset", "", "waits of a draft, which no manifest has: one of those that describe lists as backoffPresets")
	return func() (members, error) {
		m := members{}
		if *from != "" {
			m["runsFrom"] = encode(*from)
		}
		if err := setWaits(m, *preset, nil); err != nil {
			return nil, err
		}
		if *to != "" {
			m["to"] = encode(*to)
		}
		if *spelling != "" {
			m["spelling"] = encode(*spelling)
		}
		return m, nil
	}
}

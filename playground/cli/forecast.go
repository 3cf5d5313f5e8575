package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/podfate/podfate/playground/forecast"
	"github.com/podfate/podfate/policy"
	"github.com/podfate/podfate/policy/ops"
	"github.com/podfate/podfate/schema"
	"github.com/spf13/cobra"
)

// forecastForms are what -o of forecast may be.
var forecastForms = []string{"text", "json", "html", "metrics"}

// forecastOptions are the flags of forecast.
type forecastOptions struct {
	files    []string
	output   string
	version  string
	gates    []string
	kubelet  string
	now      string
	ahead    time.Duration
	requests int64
}

func newForecast(streams Streams) *cobra.Command {
	o := &forecastOptions{}
	command := &cobra.Command{
		Use:   "forecast",
		Short: "What will the Pods of this cluster do next? Which are in a loop, and what does that cost?",
		Long: `Reads Pods and Jobs as kubectl prints them, and says which Pods restart again and again, since when, what each is
waiting for and when it starts next; which will not recover by themselves, and which field decides that; what the loops
cost, by owner, the worst first; and what is left of the limits of Jobs.

The input is read as a stream of any size: Lists or single objects, JSON or YAML. Objects of other kinds are skipped; a
broken item is named and skipped. The forecast assumes that each run ends like the one before.

-o html writes one page without scripts, -o metrics the text format of Prometheus, with the names of kube-state-metrics
where it has them.`,
		Example: `  kubectl get pods -A -o json | podfate forecast -f -
  kubectl get pods,jobs -A -o json | podfate forecast -f - -o html
  kubectl get pods -A -o json | podfate forecast -f - -o metrics

  # the same from a file, and with the settings of the nodes
  podfate forecast -f pods.json --now 2026-01-31T12:00:00Z
  podfate forecast -f pods.json --kubelet-config kubelet.yaml -o json`,
		Args: noFilesAsArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := noEmptyValues(command.Flags()); err != nil {
				return err
			}
			return o.run(streams)
		},
	}
	flags := command.Flags()
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "file with Pods and Jobs, - for standard input; repeatable")
	flags.StringVarP(&o.output, "output", "o", "text", "form of the answer: "+strings.Join(forecastForms[:len(forecastForms)-1], ", ")+" or metrics")
	flags.StringVar(&o.version, "kubernetes-version", "", "release of the cluster, such as "+policy.VersionName(policy.DefaultMinor)+", the default")
	flags.StringSliceVar(&o.gates, "feature-gates", nil, "feature gates to set, such as ContainerRestartRules=false,…")
	flags.StringVar(&o.kubelet, "kubelet-config", "", "file with the KubeletConfiguration of the nodes")
	flags.StringVar(&o.now, "now", "", "the time at which the statuses were taken, such as 2026-01-31T12:00:00Z, if they come from a file")
	flags.Lookup("now").DefValue = "now"
	flags.DurationVar(&o.ahead, "ahead", time.Hour, "how far to look")
	flags.Int64Var(&o.requests, "requests-per-restart", 5, "requests to the API server for each restart")
	complete(command, "output", forecastForms)
	complete(command, "kubernetes-version", policy.Versions())
	return command
}

func (o *forecastOptions) run(streams Streams) error {
	look, err := o.options()
	if err != nil {
		return err
	}
	var texts []io.Reader
	var missing []error
	names := slices.Clone(o.files)
	for i, name := range names {
		if name == "-" {
			names[i] = stdin
			texts = append(texts, streams.In)
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			missing = append(missing, fileError(err))
			continue
		}
		defer f.Close()
		texts = append(texts, f)
	}
	if err := unreadable(missing); err != nil {
		return err
	}
	report, failed := forecast.Read(look, names, texts)
	switch o.output {
	case "json":
		out := json.NewEncoder(streams.Out)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		err = out.Encode(report)
	case "html":
		err = report.HTML(streams.Out)
	case "metrics":
		err = report.Metrics(streams.Out)
	default:
		colour, width := terminal(streams.Out)
		p := &painter{colour: colour, width: width}
		_, err = streams.Out.Write(p.paint(report.Document()))
	}
	if err != nil {
		return failf("cannot print the answer: %w", err)
	}
	if o.output != "text" {
		for i := range report.Broken {
			fmt.Fprintf(streams.Err, "podfate: skipped: %s\n", report.Broken[i].String())
		}
	}
	switch {
	case failed != nil:
		return statusError{StatusUsage, failed}
	case len(report.Broken) > 0 && report.Pods.All+report.Jobs == 0:
		return statusError{StatusFaults, nil}
	}
	return nil
}

// options turns flags into how the cluster is looked at.
func (o *forecastOptions) options() (look forecast.Options, err error) {
	look = forecast.Options{Now: time.Now(), Ahead: o.ahead, RequestsPerRestart: o.requests}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if len(o.files) == 0 {
		fault("-f is required: a file, or - for what kubectl get pods -A -o json prints")
	}
	if !slices.Contains(forecastForms, o.output) {
		fault("--output %s: must be one of %s", strconv.Quote(o.output), strings.Join(forecastForms, ", "))
	}
	if o.ahead < time.Second || o.ahead > 24*time.Hour {
		fault("--ahead %s: must be between 1s and 24h", o.ahead)
	}
	if o.requests < 0 || o.requests > 1000 {
		fault("--requests-per-restart %d: must be between 0 and 1000", o.requests)
	}
	if o.now != "" && o.now != "now" {
		if look.Now, err = time.Parse(time.RFC3339, o.now); err != nil {
			fault("--now %s: must be a time such as 2026-01-31T12:00:00Z", strconv.Quote(o.now))
		}
	}
	overrides := schema.Overrides{Version: o.version}
	if overrides.FeatureGates, err = parseGates(gateFlags[0], o.gates); err != nil {
		faults = append(faults, err)
	}
	if len(faults) > 0 {
		return look, errors.Join(faults...)
	}
	var docs []*schema.Document
	if o.kubelet != "" {
		text, err := os.ReadFile(o.kubelet)
		if err != nil {
			return look, fileError(err)
		}
		if docs, err = schema.DecodeNamed(o.kubelet, text); err != nil {
			return look, statusError{StatusFaults, err}
		}
	}
	request, err := schema.NewRequest(docs, overrides)
	if err != nil {
		return look, statusError{StatusFaults, err}
	}
	var of struct{ Cluster json.RawMessage }
	if err := json.Unmarshal(request.Call(), &of); err != nil {
		return look, statusError{StatusFaults, err}
	}
	curve, _ := ops.Lookup("curve")
	if answer, failed := ops.Call(curve.Number, request.Call()); failed { // what is wrong with the cluster is wrong for each Pod
		var payload struct{ Error struct{ Message string } }
		if err := json.Unmarshal(answer, &payload); err != nil {
			return look, err
		}
		return look, failf("%s", payload.Error.Message)
	}
	look.Cluster = of.Cluster
	return look, nil
}

package forecast

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// series is one metric in the text format of Prometheus.
type series struct {
	name, kind, help string
	samples          []string
}

// Metrics writes the report in the text format of Prometheus. What kube-state-metrics has a name
// for has that name and its labels, for the Pods and Jobs that the report is about; the rest begins
// with podfate_forecast.
func (r *Report) Metrics(w io.Writer) error {
	var all []*series
	metric := func(name, kind, help string) func(value float64, labels ...string) {
		s := &series{name: name, kind: kind, help: help}
		all = append(all, s)
		return func(value float64, labels ...string) { s.samples = append(s.samples, sample(name, value, labels)) }
	}
	pods := metric("podfate_forecast_pods", "gauge", "Pods by state.")
	for _, c := range []struct {
		state string
		n     int
	}{
		{"fine", r.Pods.Fine}, {"looping", r.Pods.Looping}, {"stuck", r.Pods.Stuck}, {"pending", r.Pods.Pending}, {"finished", r.Pods.Finished},
		{"terminating", r.Pods.Terminating}, {"unknown", r.Pods.Unknown},
	} {
		pods(float64(c.n), "state", c.state)
	}
	metric("podfate_forecast_broken_items", "gauge", "Items that were skipped.")(float64(len(r.Broken) + r.BrokenMore))
	restartsPerHour := metric("podfate_forecast_restarts_per_hour", "gauge", "Restarts in the hour to come, if each run ends like the last one.")
	requestsPerHour := metric("podfate_forecast_requests_per_hour", "gauge", "Requests to the API server for these restarts, calculated.")
	waiting := metric("podfate_forecast_waiting_pod_hours_per_hour", "gauge", "Hours for which Pods wait for a restart, per hour.")
	for i := range r.Owners {
		o := &r.Owners[i]
		labels := []string{"namespace", o.Namespace, "owner_kind", o.Kind, "owner_name", o.Name}
		restartsPerHour(float64(o.RestartsPerHour), labels...)
		requestsPerHour(float64(o.RequestsPerHour), labels...)
		waiting(float64(r.perHour(o.WaitingMillis))/3_600_000, labels...)
	}
	restarts := metric("kube_pod_container_status_restarts_total", "counter", "The number of container restarts per container.")
	reasons := metric("kube_pod_container_status_waiting_reason", "gauge", "Describes the reason the container is currently in waiting state.")
	codes := metric("kube_pod_container_status_last_terminated_exitcode", "gauge", "Describes the exit code for the last container in terminated state.")
	next := metric("podfate_forecast_next_start_timestamp_seconds", "gauge", "When a container in a loop starts next.")
	delay := metric("podfate_forecast_backoff_seconds", "gauge", "The wait before that start.")
	policy := metric("kube_pod_restart_policy", "gauge", "Describes the restart policy in use by this pod.")
	started := metric("kube_pod_start_time", "gauge", "Start time in unix timestamp for a pod.")
	created := metric("kube_pod_created", "gauge", "Unix creation timestamp")
	pod := map[[3]string]bool{} // of which there is a line: it may have several containers in a loop
	for i := range r.Loops {
		l := &r.Loops[i]
		labels := []string{"namespace", l.Namespace, "pod", l.Pod, "uid", l.UID, "container", l.Container}
		if of := labels[:6:6]; !pod[[3]string{l.Namespace, l.Pod, l.UID}] {
			pod[[3]string{l.Namespace, l.Pod, l.UID}] = true
			policy(1, append(of, "type", cmp.Or(l.policy, "Always"))...)
			if t, err := time.Parse(time.RFC3339, l.PodStarted); err == nil {
				started(float64(t.Unix()), of...)
			}
			if t, err := time.Parse(time.RFC3339, l.created); err == nil {
				created(float64(t.Unix()), of...)
			}
		}
		restarts(float64(l.Restarts), labels...)
		codes(float64(l.ExitCode), labels...)
		if l.waiting != "" {
			reasons(1, append(slices.Clip(labels), "reason", l.waiting)...)
		}
		if t, err := time.Parse(time.RFC3339, l.NextStart); err == nil {
			next(float64(t.Unix()), labels...)
			delay(float64(l.DelayMillis)/1000, labels...)
		}
	}
	stuck := metric("podfate_forecast_stuck", "gauge", "A Pod, or a container of one, that does not recover by itself.")
	for i := range r.Stuck {
		s := &r.Stuck[i]
		stuck(1, "namespace", s.Namespace, "pod", s.Pod, "uid", s.UID, "container", s.Container, "reason", s.Reason)
		if waitingForGood[s.Reason] {
			reasons(1, "namespace", s.Namespace, "pod", s.Pod, "uid", s.UID, "container", s.Container, "reason", s.Reason)
		}
	}
	failed := metric("kube_job_status_failed", "gauge", "The number of pods which reached Phase Failed and the reason for failure.")
	active := metric("kube_job_status_active", "gauge", "The number of actively running pods.")
	left := metric("podfate_forecast_job_failures_left", "gauge", "How many more failures backoffLimit allows.")
	deadline := metric("podfate_forecast_job_deadline_seconds", "gauge", "How long activeDeadlineSeconds still leaves.")
	for i := range r.Left {
		j := &r.Left[i]
		labels := []string{"namespace", j.Namespace, "job_name", j.Name}
		failed(float64(j.Failed), labels...)
		active(float64(j.Active), labels...)
		left(float64(j.Left), labels...)
		if j.DeadlineMillis != nil {
			deadline(float64(*j.DeadlineMillis)/1000, labels...)
		}
	}
	out := bufio.NewWriter(w)
	for _, s := range all {
		if len(s.samples) == 0 {
			continue
		}
		out.WriteString("# HELP " + s.name + " " + s.help + "\n# TYPE " + s.name + " " + s.kind + "\n")
		for i, line := range s.samples {
			if i == 0 || line != s.samples[i-1] { // the same container, named twice
				out.WriteString(line)
			}
		}
	}
	return out.Flush()
}

// escapes are those of a label's value.
var escapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func sample(name string, value float64, labels []string) string {
	var b strings.Builder
	b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(labels[i] + `="` + escapes.Replace(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		b.WriteByte('}')
	}
	b.WriteString(" " + strconv.FormatFloat(value, 'f', -1, 64) + "\n")
	return b.String()
}

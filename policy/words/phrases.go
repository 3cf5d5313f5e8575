package words

import "strings"

// phrase returns the words for a code of an answer. A code that is not listed here, of a later
// release, stands for itself, so that it is seen and not hidden.
func phrase(code string) string {
	if text := phraseOf(code); text != "" {
		return text
	}
	return Visible(strings.ReplaceAll(code, "_", " "))
}

// Phrase returns the words for a code of an answer.
func Phrase(code string) string { return phrase(code) }

// Phrased reports whether there are words for code.
func Phrased(code string) bool { return phraseOf(code) != "" }

// phraseOf is one list, in groups: why a decision, steps, Pods of Jobs, kills, events without
// effect, limits, assumptions.
func phraseOf(code string) string {
	switch code {
	case "policy_always":
		return "restartPolicy is Always"
	case "policy_on_failure_failed":
		return "restartPolicy is OnFailure and the code is not 0"
	case "policy_on_failure_succeeded":
		return "restartPolicy is OnFailure and the code is 0"
	case "policy_never":
		return "restartPolicy is Never"
	case "unknown_pod_policy":
		return "the Pod's restartPolicy is unknown, and then the kubelet restarts"
	case "sidecar_always_restarts":
		return "a sidecar is always restarted"
	case "init_completed":
		return "an init container that succeeded is not run again"
	case "init_retried":
		return "a failed init container is run again"
	case "ephemeral_never_restarts":
		return "an ephemeral container is never restarted"
	case "rule_matched":
		return "a rule matched"
	case "policy_always_pod":
		return "restartPolicy is AlwaysPod, which restarts all of the Pod"
	case "restart_limit_reached":
		return "the limit of restarts is reached"
	case "restart_count":
		return "the container was restarted as often as the rule asks for"
	case "other_restart_count":
		return "the rule asks for another number of restarts"
	case "oom_killed":
		return "the container was killed for lack of memory"
	case "not_oom_killed":
		return "the container was not killed for lack of memory"
	case "limit_not_reached":
		return "the limit of restarts is not reached"
	case "no_restart_follows":
		return "no restart follows anyway"

	case "in":
		return "the code is in the list"
	case "not_in":
		return "the code is not in the list"
	case "no_exit_codes":
		return "the rule has no exitCodes"
	case "unknown_operator":
		return "no release that is modelled knows this operator"
	case "unknown_policy":
		return "Kubernetes does not know this policy"
	case "unknown_action":
		return "no release that is modelled knows this action"
	case "gate_off":
		return "the gate ContainerRestartRules is off"
	case "not_set":
		return "not set"
	case "earlier_rule_matched":
		return "an earlier rule matched"
	case "already_decided":
		return "already decided"
	case "not_consulted":
		return "does not apply to this container"
	case "condition":
		return "the Pod has the condition"
	case "no_such_condition":
		return "the Pod has no such condition"
	case "other_status":
		return "the condition has another status"
	case "exit_codes_zero":
		return "code 0 matches no rule"
	case "no_terminated_container":
		return "no such container has terminated"
	case "reason":
		return "the Pod has such a reason"
	case "other_reason":
		return "the Pod has another reason"
	case "no_requirement":
		return "the rule asks for nothing"

	case "suspended":
		return "it is suspended, and nobody says until when"
	case "startup_order":
		return "its Jobs start in an order, which is not played"
	case "message_patterns":
		return "the rule asks for patterns in messages, which are not read"
	case "unreadable":
		return "a field of the retryStrategy is a parameter, or none that the controller reads"
	case "template_defaults":
		return "templateDefaults are merged into the template"
	case "expression":
		return "the expression asks for more than exit code, status and duration"
	case "duration":
		return "the expression asks how long the Pod ran"
	case "transient_message":
		return "the message of the failure decides"
	case "managed_by", "managed_elsewhere":
		return "another controller manages this Job"
	case "api_server_panics":
		return "the API server gets no further: completions is absent, and it panics when it compares it with this rule"
	case "running":
		return "it is running"
	case "pending":
		return "it has not started yet"
	case "succeeded":
		return "it succeeded"
	case "terminating":
		return "it is being deleted; it counts once its phase is Failed"
	case "no_phase":
		return "its status has no phase"
	case "other_phase":
		return "its phase is not one that fails"
	case "other_namespace":
		return "it is in another namespace"
	case "other_job":
		return "it belongs to something else"

	case "liveness_failed":
		return "its liveness probe failed"
	case "startup_failed":
		return "its startup probe failed"
	case "definition_changed":
		return "its image changed"
	case "resize":
		return "it must restart for its new size"
	case "unknown_state":
		return "the runtime lost track of it"
	case "restart_all_containers":
		return "all containers are restarted"
	case "sandbox_changed":
		return "the Pod gets a new sandbox"
	case "pod_done":
		return "the Pod has ended"
	case "pod_terminating":
		return "the Pod is being ended"
	case "init_failed":
		return "an init container failed for good"

	case "pod_terminated":
		return "changes nothing: the Pod has ended"
	case "kubelet_stopped":
		return "changes nothing: there is no kubelet"
	case "nothing_waits":
		return "changes nothing: no container waits for its next start"
	case "container_not_running":
		return "changes nothing: the container is not running"
	case "pod_not_created":
		return "changes nothing: there is no Pod with this number yet"
	case "no_pod":
		return "changes nothing: at that moment the Job has no Pod"
	case "job_finished":
		return "changes nothing: the Job has finished"
	case "nothing_changes":
		return "changes nothing: the Job is like that already"

	case "limit_exceeded":
		return "beyond a limit of one answer"
	case "outside_the_model":
		return "this event is not modelled"
	case "no_time_passes":
		return "containers end and start again without any time passing"
	}
	return assumption(code)
}

// assumption returns the words for what an answer takes for granted.
func assumption(code string) string {
	if after, found := strings.CutPrefix(code, "reading_"); found {
		return reading(after)
	}
	switch code {
	case "draft_pods_never_restart":
		return "the Pods get restartPolicy Never, which the draft's examples leave out (X-46)"
	case "restart_count_0":
		return "a container of which the request does not say how often it was restarted was not restarted yet"
	case "first_restart_at_once":
		return "the first restart comes immediately, as the kubelet does it"
	case "first_restart_as_documented", "first_restart_waits":
		return "the first restart waits already, as the documentation says"
	case "jobs_are_made_anew_at_once":
		return "after a restart of the JobSet its Jobs are made anew immediately"
	case "job_is_created_now":
		return "the Job is created now: its status is not read"
	case "one_job_of_the_cron_job":
		return "one Job of the CronJob is looked at"
	case "images_present":
		return "images are on the node"
	case "probes_pass":
		return "probes pass, except where an event says otherwise"
	case "sweep_at_even_seconds":
		return "the kubelet forgets old back-offs at even seconds"
	case "later_events_left_out":
		return "events after the end are left out"
	case "ideal_timing":
		return "only runs and waits take time"
	case "relist_on_demand_after_100ms":
		return "after its own actions the kubelet looks again within 100ms"
	case "on_this_node_whatever_it_lacks":
		return "the Pod is on this node, although the scheduler would place it where all containers can be restarted"
	case "node_keeps_its_pods":
		return "nothing deletes the Pods of a node whose kubelet is away"
	case "recreated_pod_keeps_its_name":
		return "the new Pod has the name of the old one, is on the same node, and its containers take their next runs"
	case "rapid_gate_is_off":
		return "with its gate off Rapid is Always, and waits as the cluster has it"
	case "manifest_waits_count":
		return "where the manifest asks for waits of its own, those of the question do not count"
	case "node_back_at_once":
		return "a node that reboots is back immediately"
	case "api_server_echo_comes_later":
		return "the kubelet ends the Pod before its own report comes back from the API server"
	case "killed_at_once":
		return "a container that is killed is gone immediately"
	case "ends_like_the_last_time":
		return "each run is like the last one, except where something else is said"
	case "runs_on":
		return "a container keeps running unless a run says how it ends"
	case "run_under_way_is_the_first":
		return "the run under way is the first of those given, and counts from its start"
	case "run_under_way_ends_now":
		return "a run under way for longer than the first of those given ends now"
	case "kubelet_not_restarted":
		return "the kubelet was not restarted since the status was written, and remembers its back-offs"
	case "backoff_is_the_longest_that_fits":
		return "of the waits that may lie between two runs it was the longest"
	case "backoff_grew_with_each_restart":
		return "no quiet time has reset a back-off that can only be counted in restarts"
	case "status_is_older_than_the_next_start":
		return "what the status promises for a time before that comes now"
	case "ends_with_its_grace_period":
		return "a container that is told to end keeps running until it is killed"
	case "newest_time_in_the_status":
		return "the newest time in the status"
	case "given":
		return "the time that was given"
	case "runs_again":
		return "it runs again although it had ended for good: the API keeps showing what it showed before"
	case "api_shows_it":
		return "the API shows what the kubelet knows again"
	case "stopping_goes_on_without_the_kubelet":
		return "a container that was told to end keeps ending while the kubelet restarts"
	case "one_job_of_the_owner":
		return "one Job of the owner is looked at; the owner's own rules are not played"
	case "no_sweep":
		return "the kubelet never forgets old back-offs by itself"
	case "sweeps_count_from_the_first_start":
		return "the kubelet forgets old back-offs at regular times, counted from the first start"
	case "exits_are_noticed_at_once":
		return "exits are noticed immediately"
	case "starts_come_when_the_wait_ends":
		return "a container starts as soon as its wait ends"
	case "reckoned_not_measured":
		return "all figures are arithmetic; nothing was measured"
	case "five_requests_per_restart":
		return "a restart comes to five requests, as KEP-4603 reckons; nothing was said about it"
	case "requests_per_restart_given":
		return "how many requests a restart comes to was given"
	case "pods_start_together":
		return "all Pods start in the same millisecond"
	case "pods_start_evenly":
		return "first starts are spread evenly, group after group"
	case "work_units_are_relative":
		return "units of work are relative: they say nothing about processors or memory"
	case "longest_container_counts_throughout":
		return "of several main containers of a Pod, the one that runs longest in the end is the one that counts at every instant"
	case "pods_of_jobs_on_their_node":
		return "all Pods of a Job are on its node, and a Job counts as one Pod"
	case "new_pods_make_no_requests":
		return "new Pods of Jobs make no requests that are counted here: restarts of containers do"
	case "queue_of_the_first_node":
		return "what waits for a kubelet's client is that of the first node; Pods are dealt to the nodes in turn"
	case "requests_come_at_once":
		return "all requests of a restart come at its instant"
	case "queue_delays_nothing":
		return "requests that wait for the client delay no restart"
	case "no_common_period_within_a_day":
		return "groups repeat together only after more than a day, so their rates are added"
	case "steady_as_in_the_last_window":
		return "Pods of manifests go on forever as in the last window"
	case "waits_of_manifests_stay":
		return "the goal is kept by the other groups: the waits of Pods of manifests stay as they are"
	case "all_pods_idle_until_the_last_is_back":
		return "Pods that work together all wait until the last is back, and go on from the last checkpoint"
	case "placements_at_once":
		return "however many Pods are rescheduled, they are placed at the same time"
	case "every_run_lasts_equally_long":
		return "every run lasts equally long"
	}
	return ""
}

// assumptions writes the list of what an answer takes for granted.
func (d *document) assumptions() {
	var list []item
	for v := d.Answer.Get("assumptions").First(); v.Exists(); v = v.Next() {
		list = append(list, item{mark: "note", text: sentence(phrase(v.Text()))})
	}
	d.items("list", "Assumed", list)
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if c := s[0]; 'a' <= c && c <= 'z' {
		s = string(c-'a'+'A') + s[1:]
	}
	if strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}

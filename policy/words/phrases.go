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

// phraseOf returns the words for a code, "" if there are none.
func phraseOf(code string) string {
	for i := range phrases {
		if p := &phrases[i]; p.code == code {
			return p.text
		}
	}
	if after, found := strings.CutPrefix(code, "reading_"); found {
		return reading(after)
	}
	return ""
}

// phrases are the words for codes, in groups: why a decision, steps, Pods of Jobs, kills, events
// without effect, limits, and what an answer takes for granted. A list takes half of the room in
// the module that a switch takes.
var phrases = [...]struct{ code, text string }{
	{"policy_always", "restartPolicy is Always"},
	{"policy_on_failure_failed", "restartPolicy is OnFailure and the code is not 0"},
	{"policy_on_failure_succeeded", "restartPolicy is OnFailure and the code is 0"},
	{"policy_never", "restartPolicy is Never"},
	{"unknown_pod_policy", "the kubelet treats an unknown restartPolicy of the Pod as Always"},
	{"sidecar_always_restarts", "a sidecar is always restarted"},
	{"init_completed", "an init container that succeeded is not run again"},
	{"init_retried", "a failed init container is run again"},
	{"ephemeral_never_restarts", "an ephemeral container is never restarted"},
	{"rule_matched", "a rule matched"},
	{"policy_always_pod", "restartPolicy is AlwaysPod, which restarts the whole Pod"},
	{"restart_limit_reached", "the limit of restarts is reached"},
	{"restart_count", "the container was restarted as often as the rule requires"},
	{"other_restart_count", "the rule requires another number of restarts"},
	{"oom_killed", "the container was killed for lack of memory"},
	{"not_oom_killed", "the container was not killed for lack of memory"},
	{"pod_decides", "by the chosen reading, the Pod's restartPolicy decides (X-02)"},
	{"limit_not_reached", "the limit of restarts is not reached"},
	{"no_restart_follows", "no restart follows in any case"},

	{"in", "the code is in the list"},
	{"not_in", "the code is not in the list"},
	{"no_exit_codes", "the rule has no exitCodes"},
	{"unknown_operator", "no release that is modelled knows this operator"},
	{"unknown_policy", "Kubernetes does not know this policy"},
	{"unknown_action", "no release that is modelled knows this action"},
	{"gate_off", "the gate ContainerRestartRules is off"},
	{"not_set", "not set"},
	{"earlier_rule_matched", "an earlier rule matched"},
	{"already_decided", "already decided"},
	{"not_consulted", "does not apply to this container"},
	{"condition", "the Pod has the condition"},
	{"no_such_condition", "the Pod has no such condition"},
	{"other_status", "the condition has another status"},
	{"exit_codes_zero", "code 0 matches no rule"},
	{"no_terminated_container", "no such container has terminated"},
	{"reason", "the Pod has such a reason"},
	{"other_reason", "the Pod has another reason"},
	{"no_requirement", "the rule has no requirement"},

	{"suspended", "it is suspended, and the question does not say until when"},
	{"startup_order", "its Jobs start in an order, which is not simulated"},
	{"not_played", "this field decides from here on, and it is not simulated"},
	{"message_patterns", "the rule looks for patterns in messages, which are not read"},
	{"unreadable", "a field of the retryStrategy is a parameter, or one that the controller cannot read"},
	{"template_defaults", "templateDefaults are merged into the template"},
	{"expression", "the expression depends on more than exit code, status and duration"},
	{"duration", "the expression depends on how long the Pod ran"},
	{"transient_message", "the message of the failure decides"},
	{"managed_by", "another controller manages this Job"},
	{"managed_elsewhere", "another controller manages this Job"},
	{"api_server_panics", "the API server gets no further: it panics when it compares the missing completions with this rule"},
	{"running", "it is running"},
	{"pending", "it has not started yet"},
	{"succeeded", "it succeeded"},
	{"terminating", "it is being deleted; it counts once its phase is Failed"},
	{"no_phase", "its status has no phase"},
	{"other_phase", "its phase is not Failed"},
	{"other_namespace", "it is in another namespace"},
	{"other_job", "it belongs to another owner"},

	{"liveness_failed", "its liveness probe failed"},
	{"startup_failed", "its startup probe failed"},
	{"definition_changed", "its image changed"},
	{"resize", "it must restart for its new size"},
	{"unknown_state", "the runtime lost track of it"},
	{"restart_all_containers", "all containers are restarted"},
	{"sandbox_changed", "the Pod gets a new sandbox"},
	{"pod_done", "the Pod has ended"},
	{"pod_terminating", "the Pod is being terminated"},
	{"init_failed", "an init container failed for good"},

	{"pod_terminated", "changes nothing: the Pod has ended"},
	{"kubelet_stopped", "changes nothing: the kubelet is stopped"},
	{"nothing_waits", "changes nothing: no container waits for its next start"},
	{"container_not_running", "changes nothing: the container is not running"},
	{"pod_not_created", "changes nothing: there is no Pod with this number yet"},
	{"no_pod", "changes nothing: at that moment the Job has no Pod"},
	{"job_finished", "changes nothing: the Job has finished"},
	{"nothing_changes", "changes nothing: the Job is already in that state"},

	{"limit_exceeded", "beyond a limit of one answer"},
	{"outside_the_model", "this event is not modelled"},
	{"no_time_passes", "containers end and start again without any time passing"},

	{"draft_pods_never_restart", "the Pods get restartPolicy Never, which the draft's examples omit (X-46)"},
	{"restart_count_0", "a container whose restart count is not given has not been restarted yet"},
	{"first_restart_at_once", "the first restart comes immediately, as in the kubelet"},
	{"first_restart_as_documented", "even the first restart waits, as the documentation says"},
	{"first_restart_waits", "even the first restart waits, as the documentation says"},
	{"retries_come_at_once", "the controller looks immediately, and creates a Pod the moment it is due"},
	{"jobs_are_made_anew_at_once", "after a restart of the JobSet its Jobs are recreated immediately"},
	{"job_is_created_now", "the Job is created now: its status is not read"},
	{"one_job_of_the_cron_job", "this is about one Job of the CronJob"},
	{"images_present", "images are on the node"},
	{"probes_pass", "probes pass, except where an event says otherwise"},
	{"sweep_at_even_seconds", "the kubelet forgets old back-offs at even seconds"},
	{"later_events_left_out", "events after the end are left out"},
	{"ideal_timing", "only runs and waits take time"},
	{"relist_on_demand_after_100ms", "after its own actions the kubelet looks again within 100ms"},
	{"on_this_node_whatever_it_lacks", "the Pod is on this node, although the scheduler would place it where all containers can be restarted"},
	{"node_took_the_pod", "the node accepted the Pod earlier: today it would refuse it, since it cannot restart all containers"},
	{"job_resumed", "the Job is suspended and has no Pods: this is what it does once it is resumed"},
	{"node_keeps_its_pods", "nothing deletes the Pods of a node whose kubelet does not respond"},
	{"recreated_pod_keeps_its_name", "the new Pod has the name of the old one, is on the same node, and its containers take their next runs"},
	{"rapid_gate_is_off", "with its gate off, Rapid means Always and waits as the cluster is configured"},
	{"manifest_waits_count", "waits that the manifest sets take precedence over those of the question"},
	{"node_back_at_once", "a node that reboots is back immediately"},
	{"api_server_echo_comes_later", "the kubelet ends the Pod before its own report comes back from the API server"},
	{"killed_at_once", "a container that is killed is gone immediately"},
	{"ends_like_the_last_time", "each run is like the last one, unless the question says otherwise"},
	{"runs_on", "a container keeps running unless a run says how it ends"},
	{"run_under_way_is_the_first", "the run under way is the first of the given runs, and counts from its start"},
	{"run_under_way_ends_now", "a run that is already longer than the first of the given runs ends now"},
	{"kubelet_not_restarted", "the kubelet was not restarted since the status was written, and remembers its back-offs"},
	{"backoff_is_the_longest_that_fits", "if several waits fit between two runs, it was the longest of them"},
	{"backoff_grew_with_each_restart", "no long run has reset the back-off, which can only be guessed from the number of restarts"},
	{"status_is_older_than_the_next_start", "a start that was due before that time comes now"},
	{"ends_with_its_grace_period", "a container that is asked to stop keeps running until it is killed"},
	{"newest_time_in_the_status", "the newest time in the status"},
	{"given", "the time that was given"},
	{"runs_again", "it runs again although it had ended for good: the API keeps showing what it showed before"},
	{"api_shows_it", "the API shows what the kubelet knows again"},
	{"stopping_goes_on_without_the_kubelet", "a container that was asked to stop goes on stopping while the kubelet restarts"},
	{"one_job_of_the_owner", "this is about one Job of the owner; the owner's own rules are not simulated"},
	{"no_sweep", "the kubelet never forgets old back-offs by itself"},
	{"sweeps_count_from_the_first_start", "the kubelet forgets old back-offs at regular times, counted from the first start"},
	{"exits_are_noticed_at_once", "exits are noticed immediately"},
	{"starts_come_when_the_wait_ends", "a container starts as soon as its wait ends"},
	{"reckoned_not_measured", "all figures are calculated; nothing was measured"},
	{"five_requests_per_restart", "a restart costs five requests, as KEP-4603 estimates; the question does not say"},
	{"requests_per_restart_given", "the number of requests per restart was given"},
	{"pods_start_together", "all Pods start at the same instant"},
	{"pods_start_evenly", "first starts are spread evenly, group after group"},
	{"work_units_are_relative", "units of work are relative: they say nothing about processors or memory"},
	{"longest_container_counts_throughout", "if a Pod has several main containers, the one that ran longest at the end counts at every instant"},
	{"pods_of_jobs_on_their_node", "all Pods of a Job are on its node, and a Job counts as one Pod"},
	{"new_pods_make_no_requests", "only restarts of containers are counted as requests, not new Pods of Jobs"},
	{"queue_of_the_first_node", "the queue of a kubelet's client is that of the first node; Pods are assigned to the nodes in turn"},
	{"requests_come_at_once", "all requests of a restart come at its instant"},
	{"queue_delays_nothing", "requests that wait in the client's queue do not delay restarts"},
	{"no_common_period_within_a_day", "groups repeat together only after more than a day, so their rates are added"},
	{"steady_as_in_the_last_window", "Pods of manifests go on forever as in the last window"},
	{"waits_of_manifests_stay", "the goal is met by the other groups: Pods of manifests keep their waits"},
	{"all_pods_idle_until_the_last_is_back", "Pods that work together all wait until the last is back, and go on from the last checkpoint"},
	{"placements_at_once", "however many Pods are rescheduled, they are placed at the same time"},
	{"every_run_lasts_equally_long", "every run takes the same time"},
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

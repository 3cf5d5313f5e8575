// Package simulate plays the life of one Pod, or of a Job with all its Pods, on a virtual clock.
//
// It is a small kubelet: a view of the runtime (instances per container, the sandbox), the status
// that it publishes, the table of back-offs, and the sync that leads from one to the next. A sync
// builds the statuses, derives the phase from them, ends a Pod whose phase is terminal, and
// otherwise works out a plan and executes it: kill, remove, create the sandbox, start. The steps
// and their order are those of Kubernetes v1.33.5 to v1.37.1; each function names what it follows.
//
// # Ideal timing
//
// Unless asked otherwise, only the runs of the containers and the waits of the back-off take time:
// images are there, probes pass at once, and a killed container is gone at once with code
// [KilledExitCode] unless its run has a [Stop], which takes hooks, grace periods and the order of
// sidecars into account. What happens at an instant is seen by the kubelet at once: it syncs, and
// goes on syncing until nothing changes. A refused start is tried again exactly when its wait ends,
// or at the sweep that forgets the back-off, whichever is earlier. [Timing] brings in the delays of
// a real kubelet; with PLEGOnDemandRelist it looks at a Pod soon after it has changed something.
//
// # Two views
//
// The phase, the conditions and the statuses of a [Result] are those that the API shows: what
// kubectl prints and other controllers see. What the kubelet knows can be ahead of it for a while,
// for three reasons. A terminal phase, its reason and the condition DisruptionTarget are held back
// until no container can run. A status in which a container runs again that has ended for good is
// dropped, whole, by the kubelet; and where the kubelet sends it the API server may refuse it, for
// as long as that container runs. Records with OfKubelet say so. A kubelet that restarts knows no
// more than the API: an eviction under way is forgotten.
//
// Nothing cancels a sync, nor the stop of containers: whatever asks for the end of the Pod in the
// meantime waits for it, and a shorter grace period counts only while no container has been told to
// stop. While a Pod is being stopped, further reasons to stop it are ignored, except that its
// deletion, its deadline and the loss of its node still count.
//
// # A Pod that runs already
//
// With a [Past] the simulation goes on from the status of a live Pod: the instances that it shows
// are in the runtime, and the clock is that of the status. What no status says is worked out where
// something shows it and assumed otherwise, and the answer names it: the back-off ([Wait]), whether
// the kubelet was restarted, how long containers will run.
//
// # Several Pods on one clock
//
// One Pod is begun at Scenario.Start and then stepped from instant to instant; [Pod] does so until
// the horizon. What makes and deletes several Pods begins each when it is created, always steps the
// one whose next instant is the earliest, and steps it early when it lets something happen to it.
//
// # What is not modelled
//
// Static Pods, the collection of garbage that runs out of space, the scheduler (the Pod is on its
// node, and fails there if the node lacks what it needs), failures to pull images, to mount volumes
// or to create containers, and the race in which OnPodSandboxReady overwrites a newer status
// (v1.36). An event that asks for one of them ends the simulation as undecided.
//
// # Jobs
//
// A Job is a Job controller next to one kubelet for each Pod that runs. At each instant the
// kubelets first see what they can, then the controller makes one round, and so on until nothing
// changes. What the API server refuses is refused here as well. Of the two views of a Pod, only the
// API's is reported, which is all that the controller sees. Scaling, Pods of others with the same
// labels and a status that somebody else writes are not modelled.
//
// What a Job repeats is written out, unlike the crash loops of one Pod: each round makes Pods with
// names, indexes and annotations of their own, and their lines are what people read. A Job without
// end therefore meets a limit: on Pods, on Pods at once, on entries of the timeline or on bytes of
// the answer. The answer is then the exact one to a shorter request, up to the last instant that
// fits, and says at which instant and for which limit it ends. It costs a second simulation.
//
// # Why a summary of repetition?
//
// A crash loop settles into a rhythm. When the state of a container, or of the whole Pod, at one
// instant equals an earlier one in everything that the future depends on, the rounds between them
// repeat until something outside interferes: they are counted, not played, and the timeline says so
// with one [Repeated] entry. That makes the cost independent of the horizon, and is exact: times
// are integers, and equality covers the phase of the kubelet's sweep.
package simulate

//! What goes in and what comes out, with the names of the JSON in Rust's spelling.

use crate::error::Fault;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One end of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Exit {
    /// Its name in the manifest.
    pub container: String,
    /// Any 32-bit integer.
    pub exit_code: i32,
    /// As the kubelet writes it, such as `OOMKilled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How often it was restarted since its back-off began anew; for [`crate::Policy::decide`] only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restarts: Option<u32>,
    /// How long it ran; for [`crate::Policy::decide`] only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran_for_millis: Option<i64>,
}

impl Exit {
    /// An exit without reason and history.
    pub fn new(container: impl Into<String>, exit_code: i32) -> Self {
        Exit { container: container.into(), exit_code, ..Exit::default() }
    }
}

/// What the kubelet does about an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[non_exhaustive]
pub enum Action {
    /// The container is started again, after its back-off.
    Restart,
    /// All containers of the Pod are.
    RestartAllContainers,
    /// It stays ended.
    Stop,
    /// Of a proposal: it stays ended, and counts as one that has succeeded.
    Complete,
    /// Of a proposal: it is never started again.
    Terminate,
    /// Of a proposal: the Pod fails.
    TerminatePod,
    /// Of a proposal: the Pod starts anew, in a new sandbox.
    RestartPod,
}

/// What the Job controller does about a failed Pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[non_exhaustive]
pub enum PodAction {
    /// The whole Job fails.
    FailJob,
    /// The index fails, without further tries.
    FailIndex,
    /// The failure is not counted.
    Ignore,
    /// It is counted towards the limits.
    Count,
}

/// The part of the manifest that decided.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DecidedBy {
    /// `rule`, `container`, `pod`, `default`, or of a proposal `limit`.
    pub level: String,
    /// From the manifest's root.
    pub path: String,
    /// The position of the rule in its list, from 0; only with the level `rule`.
    pub rule: Option<u32>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Step {
    /// From the manifest's root.
    pub path: String,
    /// `matched`, `not_matched`, `skipped` or `not_reached`.
    pub result: String,
    /// Why, for programs.
    pub code: String,
    /// Why a rule that matched did not decide all the same.
    pub ignored: Option<String>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Undecided {
    /// For programs.
    pub reason: String,
    /// From the manifest's root.
    #[serde(default)]
    pub path: String,
}

/// What the kubelet does about one exit: an action, or why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The container that ended.
    pub container: String,
    /// Its exit code.
    pub exit_code: i32,
    /// None where the module does not know; then `undecided` says why.
    pub action: Option<Action>,
    /// Why, for programs.
    pub because: Option<String>,
    /// The part of the manifest that decided.
    pub decided_by: Option<DecidedBy>,
    /// Why there is no action.
    pub undecided: Option<Undecided>,
    /// Whether this end makes the whole Pod fail.
    #[serde(default)]
    pub pod_fails: bool,
    /// How long the back-off keeps it waiting, if the exit had its history.
    pub delay_millis: Option<i64>,
    /// Everything that was looked at, in order; empty from [`crate::Policy::decide`].
    #[serde(default)]
    pub trace: Vec<Step>,
}

/// What the Job controller does about one Pod.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PodDecision {
    /// Its name.
    #[serde(default)]
    pub pod: String,
    /// None if it is not judged; the other members of the answer say why.
    pub action: Option<PodAction>,
    /// The rule that matched; None if none did.
    pub rule: Option<u32>,
    /// Whether it counts towards the limits of the Job.
    #[serde(default)]
    pub counted: bool,
    /// The controller's own words.
    #[serde(default)]
    pub message: String,
}

/// The answer of decide: one entry for each exit and each Pod, in the order of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Decisions {
    /// For the exits.
    pub decisions: Vec<Decision>,
    /// For the Pods.
    pub pod_decisions: Vec<PodDecision>,
}

/// Would the API server accept the manifest?
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Validation {
    /// Whether it would.
    pub valid: bool,
    /// In the API server's order.
    pub faults: Vec<Fault>,
    /// Fields that a disabled feature gate silently removes.
    pub dropped: Vec<Value>,
    /// What the API server accepts and still cannot work: path, code, detail.
    pub warnings: Vec<Value>,
}

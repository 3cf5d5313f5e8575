//! Packed batches: the records of the ABI, version 1.

/// What a number of 16 bits says when there is nothing to name.
pub const NONE: u16 = 0xFFFF;

/// Flag of an event: the runtime's reason for the end was OOMKilled.
pub const OOM_KILLED: u16 = 1;
/// Flag of an event: `history` and `ran_for_millis` are given.
pub const HISTORY: u16 = 2;
/// Flag of an event: the next one is about the same Pod.
pub const MORE: u16 = 4;
/// Flag of an event: `conditions` holds restart counts, which rules of proposals ask for.
pub const RESTARTS: u16 = 8;

/// Flag of a verdict: an init container failed for good.
pub const POD_FAILS: u8 = 1;
/// Flag of a verdict: no action, rule and reason say why.
pub const UNDECIDED: u8 = 2;
/// Flag of a verdict: the failure counts towards the limits of the Job.
pub const COUNTED: u8 = 4;
/// Flag of a verdict: no action, the verdict is that of a later event of the Pod.
pub const MORE_FOLLOWS: u8 = 8;

/// Words of [`Verdict::action`], append-only.
pub const ACTIONS: [&str; 12] = [
    "",
    "Restart",
    "RestartAllContainers",
    "Stop",
    "FailJob",
    "FailIndex",
    "Ignore",
    "Count",
    "Complete",
    "Terminate",
    "TerminatePod",
    "RestartPod",
];
/// Words of [`Verdict::level`], append-only.
pub const LEVELS: [&str; 6] = ["", "rule", "container", "pod", "default", "limit"];
/// Words of [`Verdict::reason`], append-only.
pub const REASONS: [&str; 17] = [
    "",
    "rule_matched",
    "policy_always",
    "policy_on_failure_failed",
    "policy_on_failure_succeeded",
    "policy_never",
    "unknown_pod_policy",
    "sidecar_always_restarts",
    "init_completed",
    "init_retried",
    "ephemeral_never_restarts",
    "unknown_action",
    "unknown_operator",
    "no_rule_matched",
    "managed_by",
    "policy_always_pod",
    "restart_limit_reached",
];
/// Words of [`Verdict::ignored`], append-only.
pub const IGNORED: [&str; 7] = ["", "unknown_action", "gate_off", "sidecar", "init_completed", "no_policy", "restart_limit"];

pub(crate) const MAX_RECORDS: usize = 65536;
pub(crate) const HEADER_BYTES: usize = 24;
pub(crate) const EVENT_BYTES: usize = 32;
pub(crate) const ANSWER_BYTES: usize = 16;
pub(crate) const VERDICT_BYTES: usize = 24;

/// One event of a batch. The default is exit code 0 of container 0 with nothing known of its past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Any 32-bit integer.
    pub exit_code: i32,
    /// Its position in [`crate::Policy::containers`]; [`NONE`] for the only main container, or, of a failed Pod, one that the Job does not name.
    pub container: u16,
    /// [`OOM_KILLED`], [`HISTORY`], [`MORE`], [`RESTARTS`].
    pub flags: u16,
    /// Restarts since the back-off began anew; of a Pod, failures in a row before this one.
    pub history: u32,
    /// The caller's; repeated in the verdict.
    pub tag: u32,
    /// How long the container ran, from 0 on; 0 for Pods.
    pub ran_for_millis: i64,
    /// Of the Pod, a bit for each position in [`crate::Policy::conditions`]; 0 for exits.
    pub conditions: u64,
}

/// The answer to an [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Its place in [`ACTIONS`].
    pub action: u8,
    /// 0, or 4: the event makes no sense.
    pub status: u8,
    /// Index of the rule that decided, or matched and was ignored; or [`NONE`].
    pub rule: u16,
    /// Its place in [`REASONS`].
    pub reason: u8,
    /// Its place in [`LEVELS`].
    pub level: u8,
    /// Its place in [`IGNORED`].
    pub ignored: u8,
    /// [`POD_FAILS`], [`UNDECIDED`], [`COUNTED`], [`MORE_FOLLOWS`].
    pub flags: u8,
    /// The back-off before the container, or the next Pod, is started; -1 if it is not, or the history is not known.
    pub wait_millis: i64,
    /// That was judged, or [`NONE`].
    pub container: u16,
    /// The least that the rule matched, or [`NONE`].
    pub condition: u16,
    /// Of the event.
    pub tag: u32,
}

/// Writes header and events into `out`, which has exactly their size.
pub(crate) fn pack(events: &[Event], question: u32, out: &mut [u8]) {
    out[..HEADER_BYTES].fill(0);
    out[..4].copy_from_slice(b"PFB1");
    out[4..6].copy_from_slice(&1u16.to_le_bytes());
    out[6..8].copy_from_slice(&(EVENT_BYTES as u16).to_le_bytes());
    out[8..12].copy_from_slice(&(events.len() as u32).to_le_bytes());
    out[12..16].copy_from_slice(&question.to_le_bytes());
    for (e, record) in events.iter().zip(out[HEADER_BYTES..].chunks_exact_mut(EVENT_BYTES)) {
        record[0..4].copy_from_slice(&e.exit_code.to_le_bytes());
        record[4..6].copy_from_slice(&e.container.to_le_bytes());
        record[6..8].copy_from_slice(&e.flags.to_le_bytes());
        record[8..12].copy_from_slice(&e.history.to_le_bytes());
        record[12..16].copy_from_slice(&e.tag.to_le_bytes());
        record[16..24].copy_from_slice(&e.ran_for_millis.to_le_bytes());
        record[24..32].copy_from_slice(&e.conditions.to_le_bytes());
    }
}

/// Appends the verdicts in an answer. None if it is not the answer to `count` events.
pub(crate) fn unpack(answer: &[u8], count: usize, verdicts: &mut Vec<Verdict>) -> Option<()> {
    let head = answer.get(..ANSWER_BYTES)?;
    let sound = head[..4] == *b"PFR1" && u16_at(head, 4) == 1 && u16_at(head, 6) as usize == VERDICT_BYTES && u32_at(head, 8) as usize == count;
    if !sound || answer.len() != ANSWER_BYTES + count * VERDICT_BYTES {
        return None;
    }
    verdicts.extend(answer[ANSWER_BYTES..].chunks_exact(VERDICT_BYTES).map(|r| Verdict {
        action: r[0],
        status: r[1],
        rule: u16_at(r, 2),
        reason: r[4],
        level: r[5],
        ignored: r[6],
        flags: r[7],
        wait_millis: i64::from_le_bytes(r[8..16].try_into().expect("eight bytes")),
        container: u16_at(r, 16),
        condition: u16_at(r, 18),
        tag: u32_at(r, 20),
    }));
    Some(())
}

fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}

fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

/// Cuts events into calls of the module; those of one failed Pod stay together.
pub(crate) fn calls(mut events: &[Event], pods: bool) -> Vec<&[Event]> {
    let mut calls = Vec::new();
    while events.len() > MAX_RECORDS {
        let mut end = MAX_RECORDS;
        while pods && end > 0 && events[end - 1].flags & MORE != 0 {
            end -= 1;
        }
        if end == 0 {
            break; // one Pod of more events than a call takes: the module says so
        }
        let (call, rest) = events.split_at(end);
        calls.push(call);
        events = rest;
    }
    calls.push(events);
    calls
}

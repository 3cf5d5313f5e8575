//! The engine: a compiled module, a bounded pool of instances, and policies that survive the loss of one.

use crate::batch::{self, Event, Verdict};
use crate::error::{Error, Refusal};
use crate::instance::{Instance, MAX_IDLE_BYTES};
use crate::runtime;
use crate::types::{Decision, Decisions, Exit, Validation};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The operations of the module. Their numbers never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum Operation {
    /// Versions, gates, operations, limits.
    Describe = 1,
    /// Would the API server accept this?
    Validate = 2,
    /// This exit, now: what happens?
    Decide = 3,
    /// These runs and events over time.
    Simulate = 4,
    /// When do restarts come?
    Curve = 5,
    /// Any of these in words and figures.
    Explain = 6,
    /// What does every exit code lead to, for the container and for its Job?
    Table = 7,
    /// Two to eight variants of a request: where do their answers differ?
    Compare = 8,
    /// The smallest edits that change the outcome of an exit, or the shortest policy that does what is wished.
    Suggest = 9,
    /// The same policy written for a draft, a proposal or a release, and what is lost on the way.
    Translate = 10,
    /// What many Pods on many nodes cost, calculated.
    Fleet = 11,
}

/// How an [`Engine`] is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// How many calls may run at once; a further caller waits. 0 is one per processor, at most 4.
    pub instances: usize,
    /// Another module than the one inside this crate, and the SHA-256 that it must have: 64 lower-case hexadecimal digits.
    pub module: Option<(&'a [u8], &'a str)>,
}

/// The answer's bytes as the module gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// JSON.
    pub bytes: Vec<u8>,
    /// Whether it is an error payload.
    pub failed: bool,
}

impl Answer {
    fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        if !self.failed {
            return Ok(serde_json::from_slice(&self.bytes)?);
        }
        #[derive(Deserialize)]
        struct Payload {
            error: Refusal,
        }
        Err(serde_json::from_slice::<Payload>(&self.bytes)?.error.into())
    }
}

static MODULE: &[u8] = include_bytes!(env!("PODFATE_MODULE"));

struct Pool {
    idle: Vec<Instance>,
    room: usize,
    live: HashSet<u64>,
    last_policy: u64,
}

struct Shared {
    engine: runtime::Engine,
    module: runtime::Module,
    sha256: String,
    size: usize,
    pool: Mutex<Pool>,
    returned: Condvar,
}

/// Podfate's module, ready to answer. Cheap to clone; any number of threads may use it.
#[derive(Clone)]
pub struct Engine(Arc<Shared>);

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("sha256", &self.0.sha256).finish_non_exhaustive()
    }
}

/// An instance on loan. It goes back to the pool unless [`Lent::spoiled`] says that it must not.
struct Lent<'a> {
    shared: &'a Shared,
    instance: Option<Instance>,
    spoiled: bool,
}

impl Deref for Lent<'_> {
    type Target = Instance;
    fn deref(&self) -> &Instance {
        self.instance.as_ref().expect("lent until dropped")
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Instance {
        self.instance.as_mut().expect("lent until dropped")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut instance = self.instance.take().filter(|i| !self.spoiled && !std::thread::panicking() && i.memory_bytes() <= MAX_IDLE_BYTES);
        let mut pool = self.shared.lock();
        if let Some(i) = &mut instance {
            let dead: Vec<u64> = i.handles.keys().filter(|p| !pool.live.contains(p)).copied().collect();
            for policy in dead {
                let (handle, _) = i.handles.remove(&policy).expect("was listed");
                self.spoiled |= i.release(handle).is_err();
            }
        }
        pool.idle.extend(instance.filter(|_| !self.spoiled));
        pool.room += 1;
        drop(pool);
        self.shared.returned.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Pool> {
        // A panic of a caller leaves the pool whole: nothing in it is half done.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lend(&self) -> Result<Lent<'_>, Error> {
        let mut pool = self.lock();
        while pool.room == 0 {
            pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        pool.room -= 1;
        let idle = pool.idle.pop();
        drop(pool);
        let mut lent = Lent { shared: self, instance: idle, spoiled: false };
        if lent.instance.is_none() {
            lent.instance = Some(Instance::new(&self.engine, &self.module)?);
        }
        Ok(lent)
    }

    fn with<T>(&self, use_it: impl FnOnce(&mut Instance) -> Result<T, Error>) -> Result<T, Error> {
        let mut lent = self.lend()?;
        let result = use_it(&mut lent);
        lent.spoiled = matches!(&result, Err(e) if !e.spares_instance());
        result
    }
}

impl Engine {
    /// An engine over the module inside this crate.
    pub fn new() -> Result<Self, Error> {
        Self::with_options(Options::default())
    }

    /// An engine with options. Other bytes than the digest names are refused before they are compiled.
    pub fn with_options(options: Options<'_>) -> Result<Self, Error> {
        let (file, expected) = options.module.unwrap_or((MODULE, env!("PODFATE_SHA256")));
        let sha256: String = Sha256::digest(file).iter().map(|b| format!("{b:02x}")).collect();
        if sha256 != expected {
            return Err(Error::Digest(format!("the module has the SHA-256 {sha256}, not {expected}")));
        }
        let room = match options.instances {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get().min(4)),
            n => n,
        };
        let engine = runtime::Engine::default();
        let module = runtime::Module::new(&engine, file).map_err(|e| Error::Abi(format!("not a module: {e}")))?;
        let first = Instance::new(&engine, &module)?; // what cannot start at all is said now
        let pool = Pool { idle: vec![first], room, live: HashSet::new(), last_policy: 0 };
        Ok(Engine(Arc::new(Shared { engine, module, sha256, size: file.len(), pool: Mutex::new(pool), returned: Condvar::new() })))
    }

    /// SHA-256 of the module, 64 lower-case hexadecimal digits.
    pub fn sha256(&self) -> &str {
        &self.0.sha256
    }

    /// Runs an operation, by its number, on the bytes of a JSON text. An error payload is an answer here.
    pub fn call(&self, operation: u32, request: &[u8]) -> Result<Answer, Error> {
        self.0.with(|i| i.call(operation, request)).map(|(bytes, failed)| Answer { bytes, failed })
    }

    fn ask<T: DeserializeOwned>(&self, operation: Operation, request: &impl Serialize) -> Result<T, Error> {
        self.call(operation as u32, &serde_json::to_vec(request)?)?.read()
    }

    /// What the module knows: versions, gates, operations, limits, and the file that was loaded.
    pub fn describe(&self) -> Result<Value, Error> {
        self.ask(Operation::Describe, &serde_json::json!({"module": {"sha256": self.0.sha256, "bytes": self.0.size}}))
    }

    /// Would the API server accept the manifest? Faults are the answer, not an error.
    pub fn validate(&self, manifest: &impl Serialize) -> Result<Validation, Error> {
        self.ask(Operation::Validate, &Of { manifest, exits: None })
    }

    /// What happens after each exit?
    pub fn decide(&self, manifest: &impl Serialize, exits: &[Exit]) -> Result<Decisions, Error> {
        self.ask(Operation::Decide, &Of { manifest, exits: Some(exits) })
    }

    /// Any operation on a whole request, which may have `cluster`, `pods`, `runs` and what else the schemas name, as any type of answer.
    pub fn request<T: DeserializeOwned>(&self, operation: Operation, request: &impl Serialize) -> Result<T, Error> {
        self.ask(operation, request)
    }

    /// Compiles a manifest, for many decisions.
    pub fn compile(&self, manifest: &impl Serialize) -> Result<Policy, Error> {
        self.compile_request(&Of { manifest, exits: None })
    }

    /// Compiles the manifest of a whole request of decide, which may have a `cluster`.
    pub fn compile_request(&self, request: &impl Serialize) -> Result<Policy, Error> {
        let source: Arc<[u8]> = serde_json::to_vec(request)?.into();
        let id = {
            let mut pool = self.0.lock();
            pool.last_policy += 1;
            let id = pool.last_policy;
            pool.live.insert(id);
            id
        };
        let mut policy = Policy { shared: self.0.clone(), id, source, containers: Vec::new(), conditions: Vec::new() };
        let said = self.0.with(|i| policy.handle(i).map(|(_, said)| said))?;
        #[derive(Deserialize)]
        struct Condition {
            #[serde(rename = "type")]
            kind: String,
            status: String,
        }
        #[derive(Deserialize)]
        struct Compiled {
            containers: Vec<String>,
            conditions: Vec<Condition>,
        }
        let compiled: Compiled = serde_json::from_slice(&said)?;
        policy.containers = compiled.containers;
        policy.conditions = compiled.conditions.into_iter().map(|c| (c.kind, c.status)).collect();
        Ok(policy)
    }
}

#[derive(Serialize)]
struct Of<'a, M: Serialize> {
    manifest: &'a M,
    #[serde(skip_serializing_if = "Option::is_none")]
    exits: Option<&'a [Exit]>,
}

/// A compiled manifest. Each instance compiles it at its first use there, so it outlives the instances that a trap ends.
pub struct Policy {
    shared: Arc<Shared>,
    id: u64,
    source: Arc<[u8]>,
    containers: Vec<String>,
    conditions: Vec<(String, String)>,
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").field("containers", &self.containers).field("conditions", &self.conditions).finish_non_exhaustive()
    }
}

impl Drop for Policy {
    fn drop(&mut self) {
        self.shared.lock().live.remove(&self.id); // each instance frees its handle when it comes back from its next call
    }
}

impl Policy {
    /// Names of the containers; the position is the number in an [`Event`].
    pub fn containers(&self) -> &[String] {
        &self.containers
    }

    /// Types and statuses of Pod conditions; the position is the bit in an [`Event`].
    pub fn conditions(&self) -> &[(String, String)] {
        &self.conditions
    }

    fn handle(&self, i: &mut Instance) -> Result<(i32, Arc<[u8]>), Error> {
        if let Some(known) = i.handles.get(&self.id) {
            return Ok(known.clone());
        }
        let (mut bytes, mut failed) = i.compile(&self.source)?;
        if failed && !i.handles.is_empty() && bytes.windows(15).any(|w| w == b"\"limit\":\"handle") {
            for (handle, _) in std::mem::take(&mut i.handles).into_values() {
                i.release(handle)?; // of other policies, which compile again when they are used
            }
            (bytes, failed) = i.compile(&self.source)?;
        }
        #[derive(Deserialize)]
        struct Compiled {
            handle: i32,
        }
        let answer = Answer { bytes, failed };
        let known = (answer.read::<Compiled>()?.handle, Arc::from(answer.bytes));
        i.handles.insert(self.id, known.clone());
        Ok(known)
    }

    /// One exit as JSON bytes; the answer's bytes as the module gives them, an error payload included.
    pub fn eval(&self, event: &[u8]) -> Result<Answer, Error> {
        self.shared.with(|i| {
            let (handle, _) = self.handle(i)?;
            i.eval(handle, event).map(|(bytes, failed)| Answer { bytes, failed })
        })
    }

    /// What happens after one exit?
    pub fn decide(&self, exit: &Exit) -> Result<Decision, Error> {
        self.eval(&serde_json::to_vec(exit)?)?.read()
    }

    /// Many exits at once, without JSON; any number of them. An invalid event fails alone: its verdict has a status.
    pub fn decide_batch(&self, exits: &[Event]) -> Result<Vec<Verdict>, Error> {
        self.batch(exits, false)
    }

    /// Many failed Pods of a Job: one event for each terminated container, containerStatuses before initContainerStatuses, all but the
    /// last of a Pod with [`crate::MORE`]. The verdict is with the last.
    pub fn judge_batch(&self, pods: &[Event]) -> Result<Vec<Verdict>, Error> {
        self.batch(pods, true)
    }

    fn batch(&self, events: &[Event], pods: bool) -> Result<Vec<Verdict>, Error> {
        let mut verdicts = Vec::with_capacity(events.len());
        for events in batch::calls(events, pods) {
            let size = batch::HEADER_BYTES + events.len() * batch::EVENT_BYTES;
            let room = batch::ANSWER_BYTES + events.len() * batch::VERDICT_BYTES;
            self.shared.with(|i| {
                let (handle, _) = self.handle(i)?;
                let answered =
                    i.batch(handle, size, room, |out| batch::pack(events, pods.into(), out), |answer| batch::unpack(answer, events.len(), &mut verdicts))?;
                answered.map_err(|num| Refusal::numbered(num, format!("a batch of {} events", events.len())).into())
            })?;
        }
        Ok(verdicts)
    }
}

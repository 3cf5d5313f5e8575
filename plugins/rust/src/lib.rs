#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs, missing_debug_implementations)]

mod batch;
mod engine;
mod error;
mod instance;
mod types;

pub use batch::{Event, Verdict, ACTIONS, IGNORED, LEVELS, REASONS};
pub use batch::{COUNTED, HISTORY, MORE, MORE_FOLLOWS, NONE, OOM_KILLED, POD_FAILS, RESTARTS, UNDECIDED};
pub use engine::{Answer, Engine, Operation, Options, Policy};
pub use error::{Error, Fault, Refusal};
pub use types::{Action, DecidedBy, Decision, Decisions, Exit, PodAction, PodDecision, Step, Undecided, Validation};

#[cfg(not(any(feature = "wasmi", feature = "wasmtime")))]
compile_error!("podfate needs an engine: the feature wasmi (default) or wasmtime");

/// The WebAssembly engine that runs the module. Both have the same interface; the compiler is taken where both are on.
#[cfg(feature = "wasmtime")]
use wasmtime as runtime;

#[cfg(all(feature = "wasmi", not(feature = "wasmtime")))]
use wasmi as runtime;

/// The name of the engine that runs the module: `wasmtime` or `wasmi`.
pub const ENGINE: &str = if cfg!(feature = "wasmtime") { "wasmtime" } else { "wasmi" };

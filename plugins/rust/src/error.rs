//! What can go wrong.

use serde::Deserialize;
use std::fmt;

/// One fault in a manifest or a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Fault {
    /// From the manifest's root (`spec.containers[0].restartPolicy`), or from the request's root.
    pub path: String,
    /// Stable, for programs.
    pub code: String,
    /// For people.
    pub detail: String,
    /// The exact text of the API server; empty where it has none.
    pub message: String,
    /// The API server's kind of error, such as `Required value`; empty where it has none.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is allowed instead.
    pub allowed: Vec<String>,
    /// Where it is in the JSON text that was sent, from 1; 0 if unknown.
    pub line: u32,
    /// In Unicode code points, from 1; 0 if unknown.
    pub column: u32,
}

/// The module's error payload: what it refused, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Refusal {
    /// Stable, such as `MANIFEST_INVALID`.
    pub code: String,
    /// The number of the code in the ABI.
    pub num: i32,
    /// For people.
    pub message: String,
    /// Where, from the request's root; empty if nowhere in particular.
    pub path: String,
    /// The name of the limit that was exceeded, as `describe` lists it; empty for other codes.
    pub limit: String,
    /// The byte of the request at which it stands.
    pub offset: Option<u64>,
    /// Every fault, in document order.
    pub faults: Vec<Fault>,
}

impl Refusal {
    /// What a function without payload refused, by the number that it returned negated.
    pub(crate) fn numbered(num: i32, message: String) -> Self {
        let code = match num {
            4 => "EVENT_INVALID",
            5 => "UNKNOWN_HANDLE",
            6 => "LIMIT_EXCEEDED",
            8 => "UNSUPPORTED_VERSION",
            10 => "BAD_BUFFER",
            11 => "OUTPUT_TOO_SMALL",
            _ => "INTERNAL",
        };
        Refusal { code: code.into(), num, message, ..Refusal::default() }
    }
}

/// Every error of this crate.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The manifest, the cluster or the JSON itself: mend it.
    Policy(Box<Refusal>),
    /// An exit, a run or an event: mend it.
    Event(Box<Refusal>),
    /// More than a limit allows; `limit` names it.
    Limit(Box<Refusal>),
    /// An operation that does not exist, or a bug of this crate.
    Misuse(Box<Refusal>),
    /// The module failed. The instance is gone, the request is not tried again; policies go on.
    Trap(String),
    /// The module returned what no right module returns; as after a trap.
    Malformed(String),
    /// Other bytes than the digest names.
    Digest(String),
    /// Not a module of this ABI.
    Abi(String),
    /// A request that cannot be written as JSON, or an answer that has another shape than expected.
    Json(serde_json::Error),
}

impl Error {
    /// The module's payload, for the errors that have one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Error::Policy(r) | Error::Event(r) | Error::Limit(r) | Error::Misuse(r) => Some(r),
            _ => None,
        }
    }

    /// Whether the instance that raised it may be used again.
    pub(crate) fn spares_instance(&self) -> bool {
        !matches!(self, Error::Trap(_) | Error::Malformed(_))
    }
}

impl From<Refusal> for Error {
    fn from(r: Refusal) -> Self {
        let r = Box::new(r);
        match r.num {
            1 | 2 | 3 | 8 => Error::Policy(r),
            4 => Error::Event(r),
            6 | 11 | 12 => Error::Limit(r),
            9 => Error::Trap(r.message),
            _ => Error::Misuse(r),
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(e: serde_json::Error) -> Self {
        Error::Json(e)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Policy(r) | Error::Event(r) | Error::Limit(r) | Error::Misuse(r) => write!(f, "{}: {}", r.code, r.message),
            Error::Trap(m) => write!(f, "the module failed: {m}"),
            Error::Malformed(m) => write!(f, "the module gave no answer: {m}"),
            Error::Digest(m) | Error::Abi(m) => f.write_str(m),
            Error::Json(e) => write!(f, "JSON: {e}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Json(e) => Some(e),
            _ => None,
        }
    }
}

#![doc = include_str!("README.md")]
//!
//! # Features
//!
//! - **`js`** (default): the session service for JavaScript, in the module `wasm`; and `SystemHost`, the clock and the
//!   randomness of JavaScript. It is compiled for `wasm32-unknown-unknown` alone and does nothing on other targets.
//!   With `default-features = false` that target gets neither.
//! - **`package`**: the binding that the npm package is made of. It may change in any version.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod impossible;
mod error;
mod text;
mod maps;
mod ids;
mod scope;
mod json;
mod values;
mod delta;
mod operator;
mod state;
mod size;
mod limits;
mod expiry;
mod event;
mod change;
mod session_log;
mod recent;
mod registry;
mod list;
mod sessions;
#[cfg(any(test, all(feature = "package", target_arch = "wasm32", target_os = "unknown")))]
mod keys;
mod history;
mod rewind;
mod lease;
mod pending;
mod names;
mod template;
mod native;
#[cfg(test)]
mod fixtures;
#[cfg(all(any(feature = "js", feature = "package"), target_arch = "wasm32", target_os = "unknown"))]
pub mod wasm;

pub use change::SessionKey;
pub use delta::Delta;
pub use error::{Error, ErrorKind, LimitName, Missing, Result};
pub use event::{Event, EventActions};
pub use expiry::Expiry;
pub use limits::Limits;
#[cfg(any(not(all(target_family = "wasm", target_os = "unknown")), all(feature = "js", target_arch = "wasm32")))]
pub use native::SystemHost;
pub use native::{
    Context, CreateOptions, CreateRequest, DeleteRequest, GetRequest, HistoryEntry, Host, InMemorySessionService,
    Invocation, Lease, ListRequest, ListResponse, OrderedCreateRequest, Rewound, Session, SessionRef, SessionService,
    StateDraft, StateRef, SweepRequest, Swept, UpdateOptions,
};
pub use operator::{Operator, OperatorFault};
pub use pending::SentWrites;
pub use scope::{KEY_PREFIX_APP, KEY_PREFIX_TEMP, KEY_PREFIX_USER, Scope};
pub use state::{ReadonlyState, SessionState, State};
pub use template::scan::{Placeholder, PlaceholderKind, Step};
pub use template::{Segment, Template};

/// The synchronous core under the services: without a clock, ids or waiting.
///
/// A host that keeps sessions elsewhere prepares a [`Change`](engine::Change) with [`Sessions`](engine::Sessions),
/// stores it, and applies it. Programs that use a [`SessionService`] need nothing of this. Its names may change in
/// minor versions.
///
/// # Examples
///
/// ```
/// use statepad::engine::{Guard, Prepared, Sessions};
/// use statepad::{Delta, SessionKey};
///
/// let mut sessions = Sessions::default();
/// let key = SessionKey::new("tutor", "ana", "s1");
/// let creation = sessions.prepare_create(&key, 1_000.0, Delta::default())?;
/// // Here the host stores the creation.
/// let id = sessions.apply_create(&key, &creation)?;
///
/// let delta = Delta::parse(r#"{"topic": "tides", "user:visits": 1, "temp:step": 2}"#, &[])?;
/// let guard = Guard { revision: Some(0), ..Guard::default() };
/// let Prepared::Change { change, .. } = sessions.prepare_append(id, "e1", 2_000.0, delta, guard)? else {
///     unreachable!("the session has no event of that id");
/// };
/// let stored = r#"{"user":{"set":{"visits":1},"unset":[]},"session":{"set":{"topic":"tides"},"unset":[]}}"#;
/// assert_eq!(change.delta.to_json(), stored);
/// sessions.apply_append(id, &change)?;
/// assert_eq!(sessions.log(id).map(|log| log.revision()), Some(1));
/// # Ok::<(), statepad::Error>(())
/// ```
pub mod engine {
    pub use crate::change::{Change, ChangeKind, Guard, Prepared};
    pub use crate::delta::{ScopedDelta, Write};
    pub use crate::history::{History, HistoryStep};
    pub use crate::ids::{ScopeId, SessionId};
    pub use crate::json::{Json, MAX_DEPTH};
    pub use crate::lease::{LeaseFault, LeaseRequest, LeaseRow};
    pub use crate::list::{ListQuery, Page, Start};
    pub use crate::registry::ScopeIds;
    pub use crate::rewind::{Rewind, Timeline};
    pub use crate::session_log::SessionLog;
    pub use crate::sessions::Sessions;
    pub use crate::state::ScopeState;
    pub use crate::values::Values;
}

/// The Rust of the repository's readme compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#![doc = include_str!("README.md")]

mod error;
mod text;
mod maps;
mod scope;
mod json;
mod delta;
mod state;
mod event;
mod change;
mod session_log;
mod recent;
mod registry;
mod sessions;
mod history;
mod list;
mod pending;
mod names;
mod template;
mod native;
#[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
pub mod wasm;

pub use change::SessionKey;
pub use delta::Delta;
pub use error::{Error, ErrorKind, Missing, Result};
pub use event::{Event, EventActions};
pub use native::*;
pub use pending::SentWrites;
pub use scope::{KEY_PREFIX_APP, KEY_PREFIX_TEMP, KEY_PREFIX_USER, Scope};
pub use state::{ReadonlyState, SessionState, State};
pub use template::scan::{Placeholder, PlaceholderKind, Step};
pub use template::{Segment, Template};

/// What the services stand on: the synchronous core, without a clock, ids or waiting.
///
/// A host that keeps sessions elsewhere prepares a [`Change`](engine::Change) with [`Sessions`](engine::Sessions), stores it,
/// and applies it. Programs that use a [`SessionService`] need nothing of this. Its names may change in minor versions.
pub mod engine {
    pub use crate::change::{Change, ChangeKind, Guard, Prepared};
    pub use crate::delta::{ScopedDelta, Values, Write};
    pub use crate::history::{History, HistoryStep};
    pub use crate::json::{Json, MAX_DEPTH};
    pub use crate::list::{ListQuery, Page, Start};
    pub use crate::registry::{ScopeId, ScopeIds, SessionId};
    pub use crate::session_log::SessionLog;
    pub use crate::sessions::Sessions;
    pub use crate::state::ScopeState;
}

/// The Rust of the repository's readme compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#![doc = include_str!("README.md")]

mod error;
mod scope;
mod text;
mod json;
mod index;
#[cfg(any(test, all(feature = "js", target_arch = "wasm32", target_os = "unknown")))]
mod object;
mod delta;
mod state;
mod event;
mod change;
mod session;
mod recent;
mod sessions;
mod history;
mod list;
mod pending;
mod invocation;
mod nearest;
mod names;
mod scan;
mod template;
mod host;
mod draft;
mod service;
mod pointers;
mod in_memory;
#[cfg(any(not(all(target_family = "wasm", target_os = "unknown")), all(feature = "js", target_arch = "wasm32")))]
mod system_host;
#[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
pub mod wasm;

pub use change::{Change, ChangeKind, Guard, Prepared, SessionKey};
pub use delta::{Delta, ScopedDelta, Values, Write};
pub use draft::{StateDraft, StateRef, UpdateOptions};
pub use error::{Error, ErrorKind, Missing, Result};
pub use event::{Event, EventActions};
pub use history::{History, HistoryStep};
pub use host::Host;
pub use in_memory::InMemorySessionService;
pub use invocation::{Context, Invocation};
pub use json::{Json, MAX_DEPTH};
pub use list::{ListQuery, Page, Start};
pub use pending::SentWrites;
pub use scan::{Placeholder, PlaceholderKind, Step};
pub use scope::{KEY_PREFIX_APP, KEY_PREFIX_TEMP, KEY_PREFIX_USER, Scope};
pub use service::{
    CreateRequest, DeleteRequest, GetRequest, HistoryEntry, ListRequest, ListResponse, OrderedCreateRequest, Session,
    SessionRef, SessionService,
};
pub use session::SessionLog;
pub use sessions::{ScopeId, ScopeIds, SessionId, Sessions};
pub use state::{ReadonlyState, ScopeState, SessionState, State};
#[cfg(any(not(all(target_family = "wasm", target_os = "unknown")), all(feature = "js", target_arch = "wasm32")))]
pub use system_host::SystemHost;
pub use template::{Segment, Template};

/// The Rust of the repository's readme compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

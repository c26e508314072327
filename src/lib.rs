//! The session scratchpad for AI agents: scoped state, an append-only event log whose events carry state deltas, and
//! instruction templates.
//!
//! The same core, compiled to WebAssembly, is the npm package `statepad`.
//!
//! ```
//! use serde_json::json;
//! use statepad::{CreateRequest, Event, EventActions, InMemorySessionService, ReadonlyState, SessionService, Template};
//!
//! # #[tokio::main]
//! # async fn main() -> statepad::Result<()> {
//! let service = InMemorySessionService::new();
//! let session = service
//!     .create(CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() })
//!     .await?;
//!
//! let mut state_delta = serde_json::Map::new();
//! state_delta.insert("topic".into(), json!("tides"));
//! state_delta.insert("user:name".into(), json!("Ana"));
//! let actions = EventActions { state_delta, ..Default::default() };
//! service.append_event(session.id(), Event { actions, ..Event::new("inv-1") }).await?;
//!
//! let next = service
//!     .create(CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() })
//!     .await?;
//! let text = Template::parse("Explain {topic?} to {user:name}.").render(next.state())?;
//! assert_eq!(text, "Explain  to Ana.");
//! # Ok(())
//! # }
//! ```

mod error;
mod scope;
mod text;
mod json;
mod index;
mod object;
mod delta;
mod state;
mod event;
mod change;
mod session;
mod sessions;
mod history;
mod list;
mod pending;
mod invocation;
mod nearest;
mod scan;
mod template;
#[cfg(not(target_arch = "wasm32"))]
mod host;
#[cfg(not(target_arch = "wasm32"))]
mod service;
#[cfg(not(target_arch = "wasm32"))]
mod in_memory;
#[cfg(target_arch = "wasm32")]
pub mod wasm;

pub use change::{Change, ChangeKind, Guard, Prepared, SessionKey};
pub use delta::{Delta, ScopedDelta, Values, Write};
pub use error::{Error, ErrorKind, Missing, Result};
pub use event::{Event, EventActions};
pub use history::{History, HistoryStep};
#[cfg(not(target_arch = "wasm32"))]
pub use in_memory::InMemorySessionService;
pub use invocation::{Context, Invocation};
pub use json::{Json, MAX_DEPTH};
pub use list::{ListQuery, Page, Start};
pub use pending::SentWrites;
pub use scan::{Placeholder, PlaceholderKind, Step};
pub use scope::{KEY_PREFIX_APP, KEY_PREFIX_TEMP, KEY_PREFIX_USER, Scope};
#[cfg(not(target_arch = "wasm32"))]
pub use service::{
    CreateRequest, DeleteRequest, GetRequest, HistoryEntry, ListRequest, ListResponse, Session, SessionRef,
    SessionService,
};
pub use session::SessionLog;
pub use sessions::{ScopeId, ScopeIds, SessionId, Sessions};
pub use state::{ReadonlyState, ScopeState, SessionState, State};
pub use template::{Segment, Template};

/// The README's Rust compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

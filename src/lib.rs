//! The session scratchpad for AI agents: scoped state, an append-only event log whose events carry state deltas, and
//! instruction templates.
//!
//! The same core, compiled to WebAssembly, is the npm package `statepad`.
//!
//! ```
//! use std::collections::HashMap;
//!
//! use serde_json::json;
//! use statepad::{CreateRequest, Event, EventActions, InMemorySessionService, SessionService, Template};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> statepad::Result<()> {
//! let service = InMemorySessionService::new();
//! let session = service
//!     .create(CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() })
//!     .await?;
//!
//! let mut state_delta = HashMap::new();
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
//!
//! # Targets
//!
//! The crate runs on every target. On `wasm32-unknown-unknown` the default feature `js` compiles the binding for JavaScript.
//! Without it (`default-features = false`) that target gets the service and no exports; as it has neither a clock nor
//! randomness then, the program passes a [`Host`] to [`InMemorySessionService::with_host`].

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
mod sessions;
mod history;
mod list;
mod invocation;
mod nearest;
mod scan;
mod template;
mod host;
mod draft;
mod service;
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

/// The README's Rust compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

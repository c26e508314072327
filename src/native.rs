//! The service for Rust programs: its trait, the service in memory, and invocations.

mod draft;
mod host;
mod in_memory;
mod invocation;
mod lease;
mod ledger;
mod pointers;
pub(crate) mod refusals;
mod requests;
mod rewind;
mod service;
mod session;
mod target_locks;
#[cfg(any(not(all(target_family = "wasm", target_os = "unknown")), all(feature = "js", target_arch = "wasm32")))]
mod system_host;

pub use draft::{StateDraft, StateRef, UpdateOptions};
pub use host::Host;
pub use in_memory::InMemorySessionService;
pub use invocation::{Context, Invocation};
pub use lease::Lease;
#[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
pub(crate) use ledger::{Bodies, Conditions, Draft, EventLog, Ledger, window};
pub use requests::{
    CreateOptions, CreateRequest, DeleteRequest, GetRequest, HistoryEntry, ListRequest, ListResponse,
    OrderedCreateRequest, SessionRef, SweepRequest, Swept,
};
pub use rewind::Rewound;
#[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
pub(crate) use rewind::{Marker, is_own, keep_own_in, marker, origin, plan_redo, plan_rewind};
pub use service::SessionService;
pub use session::Session;
#[cfg(any(not(all(target_family = "wasm", target_os = "unknown")), all(feature = "js", target_arch = "wasm32")))]
pub use system_host::SystemHost;

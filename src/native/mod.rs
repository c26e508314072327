//! The service for Rust programs: in memory, on the host's clock and ids.

mod draft;
mod event_log;
mod host;
mod in_memory;
mod invocation;
mod pointers;
mod service;
mod session;
mod turns;
#[cfg(any(not(all(target_family = "wasm", target_os = "unknown")), all(feature = "js", target_arch = "wasm32")))]
mod system_host;

pub use draft::{StateDraft, StateRef, UpdateOptions};
pub use host::Host;
pub use in_memory::InMemorySessionService;
pub use invocation::{Context, Invocation};
pub use service::{
    CreateRequest, DeleteRequest, GetRequest, HistoryEntry, ListRequest, ListResponse, OrderedCreateRequest,
    SessionRef, SessionService,
};
pub use session::Session;
#[cfg(any(not(all(target_family = "wasm", target_os = "unknown")), all(feature = "js", target_arch = "wasm32")))]
pub use system_host::SystemHost;

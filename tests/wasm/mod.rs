//! What must hold of the crate once it is WebAssembly, on every host: `wasm_node.rs` and `wasm_browser.rs` run it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic: that is how it fails")]

mod native;
#[cfg(feature = "package")]
mod package;
#[cfg(feature = "package")]
mod rewinding;
#[cfg(feature = "js")]
mod service;

//! The laws of the crate as WebAssembly, on every host: `wasm_node.rs` and `wasm_browser.rs` run them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic: that is how it fails")]

mod native;
#[cfg(feature = "package")]
mod package;
#[cfg(feature = "package")]
mod rewinding;
#[cfg(feature = "js")]
mod service;

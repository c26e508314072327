//! The binding that the npm package drives: translates between JavaScript and the core, and decides nothing. It may
//! change in any version.
//!
//! The values stay with the host, in lists: the core says at which place. Keys cross as numbers, deltas as numbers in
//! a buffer that both sides see, other texts as UTF-8 in another one. Strings as wasm-bindgen passes them are only in
//! errors and cursors: its code for them would make the script and the module larger. A prepared change stays here
//! under a token until the host has stored it.

mod protocol;
mod buffers;
mod keys;
mod sessions;
mod places;
mod errors;
mod history;
mod numbers;
mod rewind;
mod room;
mod templates;

pub use buffers::{floats, scratch, words};
pub use history::*;
pub use keys::{intern, released_keys};
pub use protocol::*;
pub use rewind::*;
pub use sessions::Core;
pub use templates::*;

/// The allocator of the standard library, dlmalloc, would make the module 5 % larger. This one joins neighbours that
/// are free, too, and asks the host for as few pages as it can.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

//! The binding that the npm package drives: translates between JavaScript and the core, and decides nothing. It may
//! change in any version.
//!
//! Long texts come in through one scratch buffer, which the host fills with `encodeInto`; short strings come the plain
//! way. A prepared change stays here under a token until the host has stored it.

#![expect(clippy::needless_pass_by_value, reason = "wasm-bindgen hands over what it made of JavaScript's values")]

mod sessions;
mod errors;
mod history;
mod room;
mod scratch;
mod templates;

pub use history::*;
pub use room::has_room;
pub use scratch::scratch;
pub use sessions::Core;
pub use templates::*;

/// wasm memory has 32-bit addresses: nothing that is counted in it is larger.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn version(expected: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "versions are whole and not negative")]
    (expected >= 0.0).then_some(expected as u64)
}

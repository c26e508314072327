//! The session service for JavaScript without the npm package, as `wasm-pack build` makes it.
//!
//! Names, shapes and errors are those of the package; the rules are those of the core. Sessions are in memory; with
//! the callbacks `persist` and `restore` they are also wherever those keep them. The walker takes the arguments of a
//! caller apart, once; answers with values of users leave as JSON text, so that no key is lost.

#![expect(clippy::missing_errors_doc, reason = "the comments are those of the .d.ts: they say what is thrown")]
#![expect(clippy::needless_pass_by_value, reason = "wasm-bindgen hands over what it made of JavaScript's values")]

mod host;
mod kinds;
mod errors;
mod walk;
mod checks;
mod requests;
mod delta;
mod limits;
mod event;
mod damage;
mod unfinished;
mod memory;
mod handles;
mod log;
mod replay;
mod store;
mod backend;
mod expiry;
mod update;
mod session_service;
mod sweep;
mod operators;
mod session_query;
mod fork;
mod past;
mod lease;
mod template;

pub use lease::Lease;
pub use operators::{append, compare_and_set, increment, set_once};
pub use session_service::{SessionService, deleted};
pub use template::Template;

use wasm_bindgen::prelude::wasm_bindgen;

/// The types of requests and answers.
#[wasm_bindgen(typescript_custom_section)]
const TYPES: &'static str = include_str!("service/types.d.ts");

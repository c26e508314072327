//! The bindings for JavaScript.

#[cfg(feature = "package")]
pub mod package;

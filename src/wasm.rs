//! The bindings for JavaScript.

#[cfg(feature = "package")]
pub mod package;
#[cfg(feature = "js")]
pub mod service;

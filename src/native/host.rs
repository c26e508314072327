//! The time and new ids, which the core gets as arguments.

/// The clock and the source of ids of a service.
///
/// On an operating system, and in JavaScript with the feature `js`, [`SystemHost`](crate::SystemHost) is one. A
/// program for bare WebAssembly, which has neither a clock nor randomness, passes its own.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use statepad::{Host, InMemorySessionService};
///
/// #[derive(Default)]
/// struct Counting(AtomicU32);
///
/// impl Host for Counting {
///     fn now(&self) -> f64 {
///         1_700_000_000_000.0
///     }
///
///     fn new_id(&self) -> String {
///         format!("id-{}", self.0.fetch_add(1, Ordering::Relaxed))
///     }
/// }
///
/// let service = InMemorySessionService::with_host(Counting::default());
/// ```
pub trait Host: Send + Sync {
    /// Milliseconds since the epoch: a finite number.
    fn now(&self) -> f64;

    /// A new id, that no session and no event has.
    fn new_id(&self) -> String;
}

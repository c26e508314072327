//! What a native program takes from its surroundings: the time and new ids. The core itself gets both as arguments.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock, for native programs")]
pub fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_secs_f64() * 1000.0).floor()
}

/// A new unique id.
pub fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

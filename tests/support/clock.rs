//! A clock that tests turn.

use std::sync::{Arc, Mutex};

use statepad::{Host, SystemHost};

/// A clock that a test turns, in milliseconds since the epoch.
#[derive(Debug, Clone)]
pub struct Clock(Arc<Mutex<f64>>);

impl Clock {
    /// A clock that is at 1,000 ms.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(1_000.0)))
    }

    /// Turns it to a time.
    pub fn turn(&self, now: f64) {
        *self.0.lock().unwrap() = now;
    }
}

impl Host for Clock {
    fn now(&self) -> f64 {
        *self.0.lock().unwrap()
    }

    fn new_id(&self) -> String {
        SystemHost.new_id()
    }
}

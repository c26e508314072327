//! Leases of sessions.

use std::time::Duration;

use crate::change::SessionKey;

/// The right to run a session: what is appended under it is refused once another has taken the lease. See
/// [`SessionService::lease`](crate::SessionService::lease).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use statepad::{CreateRequest, ErrorKind, Event, InMemorySessionService, SessionService};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> statepad::Result<()> {
/// let service = InMemorySessionService::new();
/// let request = CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() };
/// let session = service.create(request).await?;
/// let lease = service.lease(&session, Duration::from_secs(30)).await?;
/// let held = service.lease(&session, Duration::from_secs(30)).await.unwrap_err();
/// assert_eq!(held.kind(), ErrorKind::LeaseHeld);
/// service.append_leased(&lease, Event::new("inv-1"), None).await?;
/// service.release(&lease).await?;
/// let lost = service.append_leased(&lease, Event::new("inv-1"), None).await.unwrap_err();
/// assert_eq!(lost.kind(), ErrorKind::LeaseLost);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "release it, or it ends by its time"]
pub struct Lease {
    key: SessionKey,
    serial: u64,
    holder: String,
    fence: u64,
    until: f64,
}

impl Lease {
    /// A lease of a session: what a service answers with. `holder` is who has it, unique for each lease, `fence` the
    /// token, and `until` when it ends, in milliseconds since the epoch.
    pub fn new(key: SessionKey, holder: impl Into<String>, fence: u64, until: f64) -> Self {
        Self { key, serial: 0, holder: holder.into(), fence, until }
    }

    /// Sets the serial number of the session.
    pub fn with_serial(self, serial: u64) -> Self {
        Self { serial, ..self }
    }

    /// The full key of the session.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// The serial number of the session; 0, where the service has none.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The holder of the lease.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// The fencing token: greater than that of every earlier lease of the session.
    pub fn fence(&self) -> u64 {
        self.fence
    }

    /// The end of the lease unless it is renewed, in milliseconds since the epoch, by the service's clock.
    pub fn until(&self) -> f64 {
        self.until
    }
}

/// A time in milliseconds, at least one: 0 would give the lease back.
pub(super) fn millis(ttl: Duration) -> f64 {
    (ttl.as_secs_f64() * 1000.0).max(1.0)
}

//! Leases: one runner at a time for a session, under a token that only grows. The same rule as in the package
//! (pkg/src/store/lease.ts).

use crate::error::{Error, ErrorKind};
use crate::text::digits;

/// A request to take, renew or give back a lease.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaseRequest {
    /// The holder, unique for each lease. A holder that asks again, because the answer was lost, gets the lease that
    /// it has.
    pub holder: String,
    /// The length of the lease from now on, in milliseconds; 0 gives it back.
    pub ttl: f64,
    /// To make it last longer, or to give it back: the token that was answered. Absent: to take it.
    pub fence: Option<u64>,
}

/// The row that is stored for the leases of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeaseRow {
    /// The last token that was given; 0 before the first.
    pub fence: u64,
    /// The holder of the lease, and its end in milliseconds since the epoch; absent when it was given back.
    pub holder: Option<(String, f64)>,
}

/// The reason for which a lease is refused.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum LeaseFault {
    /// Another holder has it until this time, in milliseconds since the epoch.
    Held(f64),
    /// The token is not the session's any more: another holder has taken the lease.
    Fenced,
    /// There is no greater token: the lease can neither be taken nor given back any more.
    Exhausted,
}

impl LeaseRow {
    /// Decides a request: the row of the lease after it. `now` is the clock of the session's store, in milliseconds
    /// since the epoch. A lease is lost when another holder has taken it, never by time alone: until then its holder
    /// may write and make it last longer. Giving it back moves the token on, so that nothing is written with it
    /// afterwards. It may be given back once more, because the answer was lost: if nobody has it and the token is the
    /// next one, nobody has taken it since, and nothing changes.
    ///
    /// # Errors
    ///
    /// The error with which the request is refused.
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::engine::{LeaseFault, LeaseRequest, LeaseRow};
    ///
    /// let of = |holder: &str, fence| LeaseRequest { holder: holder.to_owned(), ttl: 100.0, fence };
    /// let row = LeaseRow::default().decide(&of("a", None), 1_000.0)?;
    /// assert_eq!((row.fence, row.holder.clone()), (1, Some(("a".to_owned(), 1_100.0))));
    /// assert_eq!(row.decide(&of("b", None), 1_099.0), Err(LeaseFault::Held(1_100.0)));
    /// let taken = row.decide(&of("b", None), 1_100.0)?;
    /// assert_eq!(taken.decide(&of("a", Some(1)), 1_100.0), Err(LeaseFault::Fenced));
    /// # Ok::<(), LeaseFault>(())
    /// ```
    pub fn decide(&self, request: &LeaseRequest, now: f64) -> std::result::Result<Self, LeaseFault> {
        let LeaseRequest { ttl, fence, .. } = request;
        let is_own = self.holder.as_ref().is_some_and(|(name, _)| name == &request.holder);
        let holder = Some((request.holder.clone(), now + ttl));
        let Some(fence) = *fence else {
            let until = self.holder.as_ref().filter(|(_, until)| !is_own && *until > now).map(|(_, until)| *until);
            if let Some(until) = until {
                return Err(LeaseFault::Held(until));
            }
            let fence = if is_own { self.fence } else { next_to(self.fence)? };
            return Ok(Self { fence, holder });
        };
        if *ttl <= 0.0 && self.holder.is_none() && fence.checked_add(1) == Some(self.fence) {
            return Ok(self.clone());
        }
        if self.fence != fence || !is_own {
            return Err(LeaseFault::Fenced);
        }
        if *ttl > 0.0 { Ok(Self { fence, holder }) } else { Ok(Self { fence: next_to(fence)?, holder: None }) }
    }

    /// Checks that a change with a token may be written.
    ///
    /// # Errors
    ///
    /// [`LeaseFault::Fenced`], when it is not the session's.
    pub fn check(&self, fence: u64) -> std::result::Result<(), LeaseFault> {
        if self.fence == fence { Ok(()) } else { Err(LeaseFault::Fenced) }
    }
}

/// The next token. None is ever given twice.
fn next_to(fence: u64) -> std::result::Result<u64, LeaseFault> {
    fence.checked_add(1).ok_or(LeaseFault::Exhausted)
}

impl LeaseFault {
    /// The error of a session.
    pub(crate) fn error(self, id: &str) -> Error {
        match self {
            Self::Held(until) => {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is for the eye")]
                let shown = digits(until.max(0.0) as u64, 10);
                let message = [
                    "the lease of session \"",
                    id,
                    "\" is held by another holder until ",
                    &shown,
                    " ms after the epoch",
                ]
                .concat();
                Error::new(ErrorKind::LeaseHeld, message).with_id(id).with_until(until)
            }
            Self::Fenced => {
                let message = ["the lease of session \"", id, "\" was lost: another holder has taken it"].concat();
                Error::new(ErrorKind::LeaseLost, message).with_id(id)
            }
            Self::Exhausted => {
                let message = ["the lease of session \"", id, "\" has no tokens left"].concat();
                Error::new(ErrorKind::LimitExceeded, message).with_id(id)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(holder: &str, ttl: f64, fence: Option<u64>) -> LeaseRequest {
        LeaseRequest { holder: holder.to_owned(), ttl, fence }
    }

    #[test]
    fn the_last_token_is_given_once_and_none_after_it() {
        let free = LeaseRow { fence: u64::MAX - 1, holder: None };
        let last = free.decide(&ask("a", 100.0, None), 0.0).unwrap();
        assert_eq!(last.fence, u64::MAX);
        assert_eq!(last.decide(&ask("a", 50.0, None), 0.0).map(|row| row.fence), Ok(u64::MAX), "its holder asks again");
        assert_eq!(last.decide(&ask("a", 50.0, Some(u64::MAX)), 0.0).map(|row| row.fence), Ok(u64::MAX));
        assert_eq!(last.decide(&ask("b", 100.0, None), 99.0), Err(LeaseFault::Held(100.0)));
        assert_eq!(last.decide(&ask("b", 100.0, None), 100.0), Err(LeaseFault::Exhausted));
        assert_eq!(last.decide(&ask("a", 0.0, Some(u64::MAX)), 0.0), Err(LeaseFault::Exhausted));
        assert_eq!(last.check(u64::MAX), Ok(()));
        let error = LeaseFault::Exhausted.error("s");
        assert_eq!((error.kind(), error.id()), (ErrorKind::LimitExceeded, Some("s")));
        assert_eq!(error.to_string(), "the lease of session \"s\" has no tokens left");
    }
}

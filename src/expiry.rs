//! The end of sessions: when each expires, and which have.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use rustc_hash::FxBuildHasher;

use crate::error::{Error, Result};
use crate::ids::SessionId;

/// The end of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Expiry {
    /// So long after its creation, and then after its last event.
    After(Duration),
    /// At this time, in milliseconds since the epoch, whatever is appended to it.
    At(f64),
    /// Never, whatever the default of the service is.
    Never,
}

/// The end of a session, as it is at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lifetime {
    /// The milliseconds that an append makes it last, where one does.
    pub ttl: Option<f64>,
    /// In milliseconds since the epoch.
    pub expires: f64,
}

impl Lifetime {
    /// So many milliseconds from now on, and from each append on.
    pub fn sliding(ttl: f64, now: f64) -> Self {
        Self { ttl: Some(ttl), expires: now + ttl }
    }

    /// Until a time.
    pub fn until(expires: f64) -> Self {
        Self { ttl: None, expires }
    }

    /// That of a session that is created now; nothing, where it does not expire.
    pub fn of(expiry: Expiry, now: f64) -> Result<Option<Self>> {
        match expiry {
            Expiry::Never => Ok(None),
            Expiry::After(ttl) if ttl.is_zero() => Err(Error::invalid("the time to live of a session must not be 0")),
            Expiry::After(ttl) => Ok(Some(Self::sliding(ttl.as_secs_f64() * 1000.0, now))),
            Expiry::At(time) if time.is_finite() && time > now => Ok(Some(Self::until(time))),
            Expiry::At(_) => Err(Error::invalid("the time at which a session expires must be in the future")),
        }
    }

    /// That after an append.
    pub fn after_append(self, now: f64) -> Self {
        self.ttl.map_or(self, |ttl| Self::sliding(ttl, now))
    }
}

/// The sessions that expire. Others cost nothing here.
///
/// Each stands in an order under a time that is not later than its end: an append moves the end alone, and the place
/// follows once its time has come.
#[derive(Debug, Default)]
pub(crate) struct Expiries {
    of: HashMap<SessionId, Entry, FxBuildHasher>,
    order: BTreeSet<(Moment, SessionId)>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    lifetime: Lifetime,
    /// The time under which it stands in the order.
    place: Moment,
}

/// A time that has an order.
#[derive(Debug, Clone, Copy)]
struct Moment(f64);

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Moment {}

impl Expiries {
    /// Returns `true` if no session expires.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The end of a session; nothing, where it does not expire.
    pub fn get(&self, id: SessionId) -> Option<Lifetime> {
        Some(self.of.get(&id)?.lifetime)
    }

    /// Notes the end of a session.
    pub fn set(&mut self, id: SessionId, lifetime: Lifetime) {
        let place = Moment(lifetime.expires);
        match self.of.get_mut(&id) {
            Some(entry) if entry.place <= place => entry.lifetime = lifetime,
            _ => {
                self.remove(id);
                self.of.insert(id, Entry { lifetime, place });
                self.order.insert((place, id));
            }
        }
    }

    /// Forgets a session.
    pub fn remove(&mut self, id: SessionId) {
        if let Some(Entry { place, .. }) = self.of.remove(&id) {
            self.order.remove(&(place, id));
        }
    }

    /// The sessions among those that are wanted that have expired, the first ones first: so many at most.
    pub fn over(&mut self, now: f64, most: usize, is_wanted: impl Fn(SessionId) -> bool) -> Vec<SessionId> {
        let is_due = |(place, _): &&(Moment, SessionId)| place.0 <= now;
        let moved = |(place, id): &(Moment, SessionId)| {
            let lifetime = self.get(*id)?;
            (Moment(lifetime.expires) != *place).then_some((*id, lifetime))
        };
        for (id, lifetime) in self.order.iter().take_while(is_due).filter_map(moved).collect::<Vec<_>>() {
            self.remove(id);
            self.set(id, lifetime);
        }
        let due = self.order.iter().take_while(is_due).map(|(_, id)| *id);
        due.filter(|id| is_wanted(*id)).take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> SessionId {
        SessionId::of_number(number)
    }

    #[test]
    fn the_end_of_a_session_is_after_its_last_append_or_at_a_time() {
        let sliding = Lifetime::of(Expiry::After(Duration::from_millis(10)), 5.0).unwrap().unwrap();
        assert_eq!((sliding.expires, sliding.after_append(7.0).expires), (15.0, 17.0));
        let fixed = Lifetime::of(Expiry::At(9.0), 5.0).unwrap().unwrap();
        assert_eq!(fixed.after_append(7.0), fixed);
        assert_eq!(Lifetime::of(Expiry::Never, 5.0).unwrap(), None);
        for expiry in
            [5.0, 4.0, f64::NAN, f64::INFINITY].map(Expiry::At).into_iter().chain([Expiry::After(Duration::ZERO)])
        {
            assert!(Lifetime::of(expiry, 5.0).is_err(), "{expiry:?}");
        }
    }

    #[test]
    fn what_has_expired_comes_in_the_order_of_its_end_however_often_it_was_moved() {
        let mut expiries = Expiries::default();
        for (number, end) in [(1, 10.0), (2, 20.0), (3, 30.0), (4, 40.0)] {
            expiries.set(id(number), Lifetime::until(end));
        }
        expiries.set(id(1), Lifetime::until(25.0));
        expiries.set(id(4), Lifetime::until(15.0));
        expiries.remove(id(3));
        let mut over = |now, most| expiries.over(now, most, |_| true);
        assert_eq!(over(14.9, 9), []);
        assert_eq!(over(24.0, 9), [id(4), id(2)]);
        assert_eq!(over(25.0, 2), [id(4), id(2)]);
        assert_eq!(over(99.0, 9), [id(4), id(2), id(1)]);
        assert_eq!(expiries.over(99.0, 1, |other| other == id(1)), [id(1)]);
        for number in 1..5 {
            expiries.remove(id(number));
        }
        assert!(expiries.is_empty() && expiries.order.is_empty());
    }
}

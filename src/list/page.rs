//! One page of a sorted list, in either direction.

use std::cmp::Ordering;

use super::index::ListEntry;
use super::query::{ListQuery, Page, Start};
use super::sort_key::SortKey;
use super::sorted::{Place, Sorted};
use crate::ids::SessionId;
use crate::registry::Registry;
use crate::session_log::SessionLog;

/// So many steps are taken one by one to where a time begins, before it is searched for.
const STEPS: usize = 8;

/// Sessions in the order of [`SortKey`], of which pages are made.
pub(crate) struct Pages<'a, V> {
    pub sessions: &'a Sorted,
    pub registry: &'a Registry<V>,
    /// The times of the sessions, as far as they stand beside each other.
    pub entries: &'a [ListEntry],
}

/// The position of a walk from the newest to the oldest: among the sessions of one time, which come in their own
/// order.
struct Newest {
    /// The first of them.
    begin: Place,
    at: Place,
    /// Behind the last of them.
    end: Place,
}

impl<V> Pages<'_, V> {
    /// The page that a query wants; behind `after`, when it wants one behind a cursor.
    pub fn page(&self, query: &ListQuery<'_>, after: Option<SortKey<'_>>) -> Page {
        let total = self.sessions.len();
        let limit = query.limit.unwrap_or(total);
        let offset = match query.start {
            Start::Offset(offset) => offset.min(total),
            Start::After(_) => 0,
        };
        let (offset, sessions) = if query.descending {
            let (offset, newest) = self.newest(offset, after);
            (offset, newest.map(|newest| self.newest_first(newest, limit)).unwrap_or_default())
        } else {
            let place = match after {
                Some(after) => self.behind(after),
                None => self.sessions.place(offset),
            };
            (self.sessions.rank(place), self.oldest_first(place, limit))
        };
        let last = sessions.last().filter(|_| offset + sessions.len() < total);
        let cursor = last.and_then(|&last| Some(self.key(last)?.cursor()));
        Page { sessions, offset, total, cursor }
    }

    fn oldest_first(&self, mut place: Place, limit: usize) -> Vec<SessionId> {
        let mut sessions = Vec::new();
        while sessions.len() < limit
            && let Some(id) = self.sessions.get(place)
        {
            sessions.push(id);
            place = self.sessions.next(place);
        }
        sessions
    }

    /// The place at which a walk from the newest begins, and the number of sessions that it skips. There is no place
    /// when it skips all of them.
    fn newest(&self, offset: usize, after: Option<SortKey<'_>>) -> (usize, Option<Newest>) {
        let total = self.sessions.len();
        let rank = |place| self.sessions.rank(place);
        let time = match after {
            Some(after) => Some(after.time),
            None => {
                total.checked_sub(offset + 1).and_then(|rank| self.time(self.sessions.get(self.sessions.place(rank))?))
            }
        };
        let Some(time) = time else {
            return (offset, None);
        };
        let begin = self.begin(time);
        let end = self.sessions.find(&|id| self.time(id).is_some_and(|other| other.total_cmp(&time).is_le()));
        let newer = total - rank(end);
        let at = match after {
            Some(after) => self.behind(after),
            None => self.sessions.place(rank(begin) + offset - newer),
        };
        (newer + rank(at) - rank(begin), Some(Newest { begin, at, end }))
    }

    fn newest_first(&self, Newest { mut begin, mut at, mut end }: Newest, limit: usize) -> Vec<SessionId> {
        let mut sessions = Vec::new();
        while sessions.len() < limit {
            if at == end {
                let Some(last) = self.sessions.previous(begin) else {
                    break;
                };
                end = begin;
                begin = self.begin_of(last);
                at = begin;
            }
            sessions.extend(self.sessions.get(at));
            at = self.sessions.next(at);
        }
        sessions
    }

    /// The place of the first session that has the time of the one at a place.
    fn begin_of(&self, last: Place) -> Place {
        let time_at = |place| self.sessions.get(place).and_then(|id| self.time(id));
        let time = or_impossible!(time_at(last), "the place is not the end", return last);
        let mut begin = last;
        for _ in 0..STEPS {
            match self.sessions.previous(begin) {
                Some(before) if time_at(before).is_some_and(|other| other.total_cmp(&time).is_eq()) => begin = before,
                _ => return begin,
            }
        }
        self.begin(time)
    }

    /// The place of the first session of a time.
    #[inline(never)]
    fn begin(&self, time: f64) -> Place {
        self.sessions.find(&|id| self.time(id).is_some_and(|other| other.total_cmp(&time) == Ordering::Less))
    }

    /// The place of the first session that comes after all up to a cursor.
    #[inline(never)]
    fn behind(&self, after: SortKey<'_>) -> Place {
        self.sessions.find(&|id| {
            let Some(time) = self.time(id) else {
                return false;
            };
            // The ids are far away in memory, and are seldom needed.
            match time.total_cmp(&after.time) {
                Ordering::Equal => self.key(id).is_some_and(|key| key <= after),
                order => order.is_lt(),
            }
        })
    }

    fn time(&self, id: SessionId) -> Option<f64> {
        match self.entries.get(id.index()) {
            Some(entries) => Some(entries.time),
            None => Some(self.log(id)?.update_time()),
        }
    }

    fn key(&self, id: SessionId) -> Option<SortKey<'_>> {
        Some(SortKey::of(self.log(id)?))
    }

    fn log(&self, id: SessionId) -> Option<&SessionLog> {
        let entry = or_impossible!(self.registry.entry(id), "a session in a list is there", return None);
        Some(&entry.log)
    }
}

//! Sessions in order, a page at a time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::error::{Error, Result};
use crate::registry::SessionId;
use crate::session_log::SessionLog;
use crate::sessions::Sessions;

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct ListQuery<'a> {
    /// The app.
    pub app_name: &'a str,
    /// One user, or all of them.
    pub user_id: Option<&'a str>,
    /// Newest first. Ids break ties, ascending either way.
    pub descending: bool,
    /// How many at most; all, when absent.
    pub limit: Option<usize>,
    /// Where the page begins.
    pub start: Start<'a>,
}

/// Where a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start<'a> {
    /// After this many sessions.
    Offset(usize),
    /// After the place in the order that a cursor names, also when its session has moved or has been deleted.
    After(&'a str),
}

impl Default for Start<'_> {
    fn default() -> Self {
        Self::Offset(0)
    }
}

/// One page of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The sessions, in order.
    pub sessions: Vec<SessionId>,
    /// How many sessions come before the page.
    pub offset: usize,
    /// How many there are in all.
    pub total: usize,
    /// Where the next page begins, when there is one.
    pub cursor: Option<String>,
}

impl<V> Sessions<V> {
    /// Lists sessions by the time of their last event, then by id. Takes time in proportion to the number of sessions
    /// of the app, whatever the length of their histories.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a cursor that no page has given.
    pub fn list(&self, query: &ListQuery<'_>) -> Result<Page> {
        let rows = || self.of(query.app_name, query.user_id).map(|(id, log)| Row { key: SortKey::of(log), id, query });
        let total = self.count(query.app_name, query.user_id);
        let (offset, last) = match query.start {
            Start::Offset(offset) => (offset.min(total), None),
            Start::After(cursor) => {
                let key = SortKey::parse(cursor)
                    .ok_or_else(|| Error::invalid("cursor is not one that a page of sessions has given"))?;
                let last = Row { key, id: 0, query };
                (rows().filter(|row| *row <= last).count(), Some(last))
            }
        };
        let end = query.limit.map_or(total, |limit| total.min(offset.saturating_add(limit)));
        let page = match last {
            Some(last) => first(end - offset.min(end), rows().filter(|row| *row > last)),
            None => first(end, rows()).split_off(offset.min(end)),
        };
        let cursor = page.last().filter(|_| end < total).map(|row| row.key.cursor());
        Ok(Page { sessions: page.iter().map(|row| row.id).collect(), offset, total, cursor })
    }

    /// The most sessions that are sorted for a page.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn width(&self, query: &ListQuery<'_>) -> usize {
        let before = match query.start {
            Start::Offset(offset) => offset,
            Start::After(_) => 0,
        };
        let wanted = query.limit.map_or(usize::MAX, |limit| limit.saturating_add(before));
        wanted.min(self.count(query.app_name, query.user_id))
    }

    /// The cursor of a page that ends with a session.
    pub fn cursor(&self, last: SessionId) -> Option<String> {
        Some(SortKey::of(self.log(last)?).cursor())
    }
}

/// The first rows, in order.
fn first<'a>(count: usize, rows: impl Iterator<Item = Row<'a>>) -> Vec<Row<'a>> {
    let mut heap = BinaryHeap::with_capacity(count);
    for row in rows {
        if heap.len() < count {
            heap.push(row);
        } else if let Some(mut last) = heap.peek_mut()
            && row < *last
        {
            *last = row;
        }
    }
    heap.into_sorted_vec()
}

/// A session as it is compared with others.
#[derive(Debug, Clone, Copy)]
struct Row<'a> {
    key: SortKey<'a>,
    id: SessionId,
    query: &'a ListQuery<'a>,
}

impl Ord for Row<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.compare(&other.key, self.query.descending)
    }
}

impl PartialOrd for Row<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Row<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Row<'_> {}

#[derive(Debug, Clone, Copy)]
struct SortKey<'a> {
    time: f64,
    session_id: &'a str,
    user_id: &'a str,
}

impl<'a> SortKey<'a> {
    fn of(log: &'a SessionLog) -> Self {
        let key = log.key();
        Self { time: log.update_time(), session_id: &key.session_id, user_id: &key.user_id }
    }

    fn compare(&self, other: &Self, descending: bool) -> Ordering {
        let time = self.time.total_cmp(&other.time);
        let time = if descending { time.reverse() } else { time };
        time.then_with(|| self.session_id.cmp(other.session_id)).then_with(|| self.user_id.cmp(other.user_id))
    }

    fn cursor(&self) -> String {
        let Self { time, session_id, user_id } = self;
        format!("{:x}.{}.{session_id}{user_id}", time.to_bits(), session_id.len())
    }

    fn parse(cursor: &'a str) -> Option<Self> {
        let (bits, rest) = cursor.split_once('.')?;
        let (length, ids) = rest.split_once('.')?;
        let (session_id, user_id) = ids.split_at_checked(length.parse().ok()?)?;
        Some(Self { time: f64::from_bits(u64::from_str_radix(bits, 16).ok()?), session_id, user_id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::SessionKey;
    use crate::delta::Delta;

    fn sessions(rows: &[(f64, &str)]) -> Sessions {
        let mut sessions = Sessions::default();
        for &(time, id) in rows {
            let key = SessionKey::new("app", "u", id);
            let change = sessions.prepare_create(&key, time, Delta::default()).unwrap();
            sessions.apply_create(&key, &change).unwrap();
        }
        sessions
    }

    fn ids(sessions: &Sessions, page: &Page) -> String {
        let ids = page.sessions.iter().map(|&id| sessions.log(id).unwrap().key().session_id.clone());
        ids.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn sessions_come_by_time_then_id() {
        let sessions = sessions(&[(2.0, "b"), (1.0, "z"), (2.0, "a"), (-5.0, "m")]);
        let page = |descending| {
            let query = ListQuery { app_name: "app", descending, ..ListQuery::default() };
            ids(&sessions, &sessions.list(&query).unwrap())
        };
        assert_eq!(page(false), "m z a b");
        assert_eq!(page(true), "a b z m");
    }

    #[test]
    fn pages_by_offset_cover_everything_once() {
        let ids: Vec<_> = ('a'..='w').map(String::from).collect();
        let rows: Vec<_> = (0..23).zip(&ids).map(|(n, id)| (f64::from(n * 7 % 23), id.as_str())).collect();
        let sessions = sessions(&rows);
        let mut seen = Vec::new();
        for offset in (0..30).step_by(5) {
            let query =
                ListQuery { app_name: "app", limit: Some(5), start: Start::Offset(offset), ..ListQuery::default() };
            let page = sessions.list(&query).unwrap();
            assert_eq!((page.total, page.cursor.is_some()), (23, offset < 18));
            seen.extend(page.sessions.iter().map(|&id| sessions.log(id).unwrap().update_time()));
        }
        assert_eq!(seen, (0..23).map(f64::from).collect::<Vec<_>>());
    }

    #[test]
    fn a_cursor_is_stable_while_sessions_come_and_go() {
        let mut sessions = sessions(&[(1.0, "a"), (2.0, "b"), (3.0, "c"), (4.0, "d")]);
        let query = ListQuery { app_name: "app", limit: Some(2), ..ListQuery::default() };
        let first = sessions.list(&query).unwrap();
        assert_eq!(ids(&sessions, &first), "a b");
        let gone = sessions.find(&SessionKey::new("app", "u", "b")).unwrap();
        sessions.remove(gone);
        let new = SessionKey::new("app", "u", "0");
        let change = sessions.prepare_create(&new, 0.0, Delta::default()).unwrap();
        sessions.apply_create(&new, &change).unwrap();
        let cursor = first.cursor.unwrap();
        let second = sessions.list(&ListQuery { start: Start::After(&cursor), ..query.clone() }).unwrap();
        assert_eq!(ids(&sessions, &second), "c d");
        assert_eq!((second.offset, second.cursor), (2, None));
        let last = sessions.find(&SessionKey::new("app", "u", "c")).unwrap();
        let third = sessions.list(&ListQuery { start: Start::After(&sessions.cursor(last).unwrap()), ..query.clone() });
        assert_eq!(ids(&sessions, &third.unwrap()), "d", "a cursor can be had of any session");
        assert_eq!(sessions.cursor(gone), None);
        assert!(sessions.list(&ListQuery { start: Start::After("page 2"), ..query }).is_err());
    }

    #[test]
    fn rows_are_equal_when_neither_comes_first() {
        let query = ListQuery::default();
        let row = |session_id| Row { key: SortKey { time: 1.0, session_id, user_id: "u" }, id: 0, query: &query };
        for (one, other) in [("a", "a"), ("a", "b"), ("b", "a")] {
            assert_eq!(row(one) == row(other), row(one).cmp(&row(other)).is_eq(), "{one} {other}");
        }
    }

    #[test]
    fn a_page_of_nothing_is_empty() {
        let sessions = sessions(&[(1.0, "a")]);
        for (app_name, limit, offset) in [("nope", None, 0), ("app", Some(0), 0), ("app", Some(5), 9)] {
            let query = ListQuery { app_name, limit, start: Start::Offset(offset), ..ListQuery::default() };
            assert!(sessions.list(&query).unwrap().sessions.is_empty());
        }
    }
}

//! Lists of sessions.

use crate::error::{Error, Result};
use crate::ids::SessionId;
use crate::list::{ListQuery, Page, Pages, SortKey, Sorted, Start};
use crate::sessions::Sessions;

impl<V> Sessions<V> {
    /// Lists sessions by the time of their last event, then by id.
    ///
    /// The first list of an app, or of a user, with many sessions puts all of them in order. After that a page takes
    /// time in proportion to its own length and to the sessions that have changed since the last list.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a cursor that no page has given.
    pub fn list(&self, query: &ListQuery<'_>) -> Result<Page> {
        let after = match query.start {
            Start::Offset(_) => None,
            Start::After(cursor) => {
                Some(SortKey::parse(cursor).ok_or_else(|| Error::invalid("cursor must come from a page of sessions"))?)
            }
        };
        let Some(scope) = self.scope(query.app_name, query.user_id) else {
            return Ok(Page { sessions: Vec::new(), offset: 0, total: 0, cursor: None });
        };
        let mut lists = self.lists();
        if lists.len(scope).is_some() || !self.registry.has_few(query.app_name, query.user_id) {
            let (sessions, entries) =
                lists.of(scope, &self.registry, || self.registry.ids_of(query.app_name, query.user_id));
            return Ok(Pages { sessions, registry: &self.registry, entries }.page(query, after));
        }
        drop(lists);
        let mut few = Sorted::default();
        let key = |id| self.log(id).map(SortKey::of);
        for id in self.registry.ids_of(query.app_name, query.user_id) {
            let target = key(id);
            few.insert(id, &|other| key(other) < target);
        }
        Ok(Pages { sessions: &few, registry: &self.registry, entries: &[] }.page(query, after))
    }

    /// The most that a list allocates, in bytes.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn growth_of_list(&self, query: &ListQuery<'_>) -> usize {
        let lists = self.lists();
        let length = self.scope(query.app_name, query.user_id).and_then(|scope| lists.len(scope));
        let count = length.unwrap_or_else(|| self.count(query.app_name, query.user_id));
        let built = if length.is_some() { 0 } else { count };
        16 * query.limit.unwrap_or(count).min(count) + lists.growth(built, self.registry.size())
    }

    /// The cursor of a page that ends with a session.
    pub fn cursor(&self, last: SessionId) -> Option<String> {
        Some(SortKey::of(self.log(last)?).cursor())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Guard, Prepared, SessionKey};
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
        let removed = sessions.find(&SessionKey::new("app", "u", "b")).unwrap();
        sessions.remove(removed);
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
        assert_eq!(sessions.cursor(removed), None);
        assert!(sessions.list(&ListQuery { start: Start::After("page 2"), ..query }).is_err());
    }

    #[test]
    fn a_session_that_gets_the_number_of_one_that_has_moved_and_is_gone_is_in_the_list() {
        let names: Vec<_> = (0..100).map(|number| format!("s{number:03}")).collect();
        let rows: Vec<_> = names.iter().map(|name| (1.0, name.as_str())).collect();
        let mut sessions = sessions(&rows);
        let query = ListQuery { app_name: "app", ..ListQuery::default() };
        // From now on the list is kept.
        assert_eq!(sessions.list(&query).unwrap().sessions.len(), 100);
        let moved = sessions.find(&SessionKey::new("app", "u", "s050")).unwrap();
        let event = sessions.prepare_append(moved, "e", 2.0, Delta::default(), Guard::default()).unwrap();
        let Prepared::Change { change, .. } = event else { panic!("it is new") };
        sessions.apply_append(moved, &change).unwrap();
        sessions.remove_for_good(moved);
        assert_eq!(sessions.list(&query).unwrap().sessions.len(), 99);
        let key = SessionKey::new("app", "u", "anew");
        let change = sessions.prepare_create(&key, 3.0, Delta::default()).unwrap();
        assert_eq!(sessions.apply_create(&key, &change).unwrap(), moved, "the number is given again");
        let page = sessions.list(&ListQuery { descending: true, limit: Some(2), ..query }).unwrap();
        assert_eq!(ids(&sessions, &page), "anew s000");
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

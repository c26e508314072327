//! Lists at any moment of any history, against sorting all sessions each time.

use proptest::collection::vec;
use proptest::prelude::*;
use statepad::engine::{Guard, ListQuery, Prepared, SessionId, Sessions, Start};
use statepad::{Delta, SessionKey};

/// The sessions go by few names, so that they are deleted and made anew.
#[derive(Debug, Clone)]
enum Op {
    Create { app: u8, user: u8, name: u8, time: i8 },
    Append { nth: usize, time: i8 },
    Restore { nth: usize, time: i8 },
    Remove { nth: usize },
    Forget { nth: usize },
    List { app: u8, user: Option<u8>, descending: bool, limit: Option<usize>, start: Begin },
}

/// The beginning of a page.
#[derive(Debug, Clone)]
enum Begin {
    Offset(usize),
    /// Behind where the nth session is, or was when it was last listed before it moved or was deleted.
    Cursor(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let list = (
        0..2_u8,
        proptest::option::of(0..3_u8),
        any::<bool>(),
        proptest::option::of(0..12_usize),
        prop_oneof![(0..250_usize).prop_map(Begin::Offset), any::<usize>().prop_map(Begin::Cursor)],
    );
    prop_oneof![
        6 => (0..2_u8, 0..3_u8, any::<u8>(), -3..4_i8)
            .prop_map(|(app, user, name, time)| Op::Create { app, user, name, time }),
        6 => (any::<usize>(), -3..9_i8).prop_map(|(nth, time)| Op::Append { nth, time }),
        1 => (any::<usize>(), -3..9_i8).prop_map(|(nth, time)| Op::Restore { nth, time }),
        2 => any::<usize>().prop_map(|nth| Op::Remove { nth }),
        1 => any::<usize>().prop_map(|nth| Op::Forget { nth }),
        6 => list.prop_map(|(app, user, descending, limit, start)| Op::List { app, user, descending, limit, start }),
    ]
}

/// The sort key of sessions: the time in units that have an order, the id, the user.
type Key = (i64, String, String);

/// A session of the model.
#[derive(Debug, Clone)]
struct Row {
    id: SessionId,
    key: SessionKey,
    time: f64,
}

impl Row {
    fn sort_key(&self, descending: bool) -> Key {
        #[expect(clippy::cast_possible_truncation, reason = "the times of this test are small and whole")]
        let time = self.time as i64;
        (if descending { -time } else { time }, self.key.session_id.clone(), self.key.user_id.clone())
    }
}

#[derive(Default)]
struct World {
    rows: Vec<Row>,
    /// Cursors, with where they stand.
    cursors: Vec<(String, Row)>,
    events: usize,
}

impl World {
    fn create(&mut self, sessions: &mut Sessions<u32>, key: SessionKey, time: f64) {
        if let Ok(change) = sessions.prepare_create(&key, time, Delta::new()) {
            let id = sessions.apply_create(&key, &change).unwrap();
            self.rows.push(Row { id, key, time });
        }
    }

    fn apply(&mut self, sessions: &mut Sessions<u32>, op: Op) {
        match op {
            Op::Create { app, user, name, time } => {
                let key = SessionKey::new(format!("a{app}"), format!("u{user}"), format!("s{name}"));
                self.create(sessions, key, f64::from(time));
            }
            Op::Append { nth, time } => {
                self.events += 1;
                let event = self.events.to_string();
                if let Some(row) = nth_of(&mut self.rows, nth) {
                    let prepared =
                        sessions.prepare_append(row.id, &event, f64::from(time), Delta::new(), Guard::default());
                    let Ok(Prepared::Change { change, .. }) = prepared else { panic!("the id is new") };
                    sessions.apply_append(row.id, &change).unwrap();
                    row.time = f64::from(time);
                }
            }
            Op::Restore { nth, time } => {
                if let Some(row) = nth_of(&mut self.rows, nth) {
                    assert_eq!(sessions.restore(&row.key, 9, f64::from(time)), row.id);
                    row.time = f64::from(time);
                }
            }
            Op::Remove { nth } if !self.rows.is_empty() => {
                let row = self.rows.swap_remove(nth % self.rows.len());
                assert!(sessions.remove_for_good(row.id));
            }
            Op::Forget { nth } if !self.rows.is_empty() => {
                sessions.forget(self.rows.swap_remove(nth % self.rows.len()).id);
            }
            Op::Remove { .. } | Op::Forget { .. } => {}
            Op::List { app, user, descending, limit, start } => {
                let (app_name, user) = (format!("a{app}"), user.map(|user| format!("u{user}")));
                let query = ListQuery {
                    app_name: &app_name,
                    user_id: user.as_deref(),
                    descending,
                    limit,
                    ..ListQuery::default()
                };
                self.list(sessions, &query, &start);
            }
        }
    }

    fn list(&mut self, sessions: &Sessions<u32>, query: &ListQuery<'_>, begin: &Begin) {
        let is_of = |row: &&Row| {
            row.key.app_name == query.app_name && query.user_id.is_none_or(|user_id| row.key.user_id == user_id)
        };
        let mut sorted: Vec<&Row> = self.rows.iter().filter(is_of).collect();
        sorted.sort_by_key(|row| row.sort_key(query.descending));
        let cursor = match begin {
            Begin::Cursor(nth) if !self.cursors.is_empty() => Some(&self.cursors[nth % self.cursors.len()]),
            _ => None,
        };
        let (start, offset) = match (begin, cursor) {
            (_, Some((cursor, last))) => {
                let last = last.sort_key(query.descending);
                (Start::After(cursor), sorted.iter().filter(|row| row.sort_key(query.descending) <= last).count())
            }
            (Begin::Offset(offset), _) => (Start::Offset(*offset), (*offset).min(sorted.len())),
            (Begin::Cursor(_), None) => (Start::default(), 0),
        };
        let page = sessions.list(&ListQuery { start, ..query.clone() }).unwrap();
        let expected: Vec<_> =
            sorted[offset..].iter().take(query.limit.unwrap_or(usize::MAX)).map(|row| row.id).collect();
        assert_eq!((page.offset, page.total), (offset, sorted.len()));
        assert_eq!(page.sessions, expected);
        let has_more = offset + expected.len() < sorted.len();
        let last = expected.last().filter(|_| has_more);
        assert_eq!(page.cursor, last.and_then(|&last| sessions.cursor(last)));
        let known = self.rows.iter().map(|row| (sessions.cursor(row.id).unwrap(), row.clone()));
        let step = self.rows.len() / 8 + 1;
        self.cursors.extend(known.step_by(step));
        let surplus = self.cursors.len().saturating_sub(40);
        self.cursors.drain(..surplus);
    }
}

fn nth_of(rows: &mut [Row], nth: usize) -> Option<&mut Row> {
    let count = rows.len().max(1);
    rows.get_mut(nth % count)
}

proptest! {
    #[test]
    fn a_list_at_any_moment_is_what_sorting_all_sessions_gives(
        many in 0..3_u8,
        times in 1..40_i32,
        ops in vec(op(), 1..150),
    ) {
        let mut sessions = Sessions::<u32>::new();
        let mut world = World::default();
        // Sessions of one app and one user are the most, so that some lists are kept and others are not.
        for number in 0..i32::from(many) * 700 {
            let user = if number % 10 == 0 { number % 70 } else { 0 };
            let key = SessionKey::new("a0", format!("u{user}"), format!("many{}", number * 7919 % 1400));
            world.create(&mut sessions, key, f64::from(number % times - 3));
        }
        for op in ops {
            world.apply(&mut sessions, op);
        }
        for row in std::mem::take(&mut world.rows) {
            prop_assert!(sessions.remove_for_good(row.id));
        }
        let page = sessions.list(&ListQuery { app_name: "a0", ..ListQuery::default() }).unwrap();
        prop_assert_eq!((page.sessions.len(), page.total), (0, 0));
    }
}

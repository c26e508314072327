//! The sort key of sessions, and cursors, which are its text.

use std::cmp::Ordering;

use crate::session_log::SessionLog;
use crate::text::{digits, slice};

/// The members by which sessions are sorted, in this order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SortKey<'a> {
    pub time: f64,
    pub session_id: &'a str,
    pub user_id: &'a str,
}

impl Ord for SortKey<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let Self { time, session_id, user_id } = self;
        time.total_cmp(&other.time)
            .then_with(|| session_id.cmp(&other.session_id))
            .then_with(|| user_id.cmp(&other.user_id))
    }
}

impl PartialOrd for SortKey<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for SortKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for SortKey<'_> {}

impl<'a> SortKey<'a> {
    pub fn of(log: &'a SessionLog) -> Self {
        let key = log.key();
        Self { time: log.update_time(), session_id: &key.session_id, user_id: &key.user_id }
    }

    pub fn cursor(&self) -> String {
        let Self { time, session_id, user_id } = self;
        let length = digits(session_id.len() as u64, 10);
        [&digits(time.to_bits(), 16), ".", &length, ".", session_id, user_id].concat()
    }

    pub fn parse(cursor: &'a str) -> Option<Self> {
        let (bits, rest) = split_at_dot(cursor)?;
        let (length, ids) = split_at_dot(rest)?;
        let (session_id, user_id) = ids.split_at_checked(length.parse().ok()?)?;
        Some(Self { time: f64::from_bits(u64::from_str_radix(bits, 16).ok()?), session_id, user_id })
    }
}

/// The text before the first dot, and the text behind it.
fn split_at_dot(text: &str) -> Option<(&str, &str)> {
    let dot = text.bytes().position(|byte| byte == b'.')?;
    Some((slice(text, 0..dot), slice(text, dot + 1..text.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_equal_when_neither_comes_first() {
        let key = |session_id| SortKey { time: 1.0, session_id, user_id: "u" };
        for (one, other) in [("a", "a"), ("a", "b"), ("b", "a")] {
            assert_eq!(key(one) == key(other), key(one).cmp(&key(other)).is_eq(), "{one} {other}");
        }
    }
}

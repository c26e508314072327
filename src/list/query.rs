//! What is asked of a list, and the answer.

use crate::ids::SessionId;

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

//! The query of a list, and its answer.

use crate::ids::SessionId;

/// The sessions to list.
#[derive(Debug, Clone, Default)]
pub struct ListQuery<'a> {
    /// The app.
    pub app_name: &'a str,
    /// One user, or all of them.
    pub user_id: Option<&'a str>,
    /// Newest first. Ids break ties, ascending either way.
    pub descending: bool,
    /// The maximum number of sessions; all of them, when absent.
    pub limit: Option<usize>,
    /// The beginning of the page.
    pub start: Start<'a>,
}

/// The beginning of a page.
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
    /// The number of sessions before the page.
    pub offset: usize,
    /// The number of sessions in all.
    pub total: usize,
    /// The cursor at which the next page begins, when there is one.
    pub cursor: Option<String>,
}

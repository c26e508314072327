//! Limits of what is stored.

use crate::delta::{Delta, Write};
use crate::error::{Error, ErrorKind, LimitName, Result};
use crate::json::quoted;
use crate::scope::Scope;
use crate::size::Size;
use crate::text::digits;
use crate::values::Values;

/// The most that a service stores. What would exceed a limit is refused whole, before anything is written, with
/// [`LimitExceeded`](ErrorKind::LimitExceeded).
///
/// The size of a value is the number of UTF-8 bytes of its JSON text, compact, with numbers as JavaScript writes them.
/// `None` limits nothing. What does not grow is never refused: a scope beyond a limit that was lowered can still be
/// changed and emptied. `temp:` keys are not stored, and count for nothing.
///
/// # Examples
///
/// ```
/// use statepad::{CreateRequest, ErrorKind, Event, InMemorySessionService, LimitName, Limits, SessionService};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> statepad::Result<()> {
/// let service = InMemorySessionService::new().with_limits(Limits { value: Some(10), ..Limits::default() });
/// let request = CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() };
/// let session = service.create(request).await?;
/// let mut event = Event::new("inv-1");
/// event.actions.set("note", "nine byte");
/// let refused = service.append_event(&session, event).await.unwrap_err();
/// assert_eq!((refused.kind(), refused.exceeded()), (ErrorKind::LimitExceeded, Some(LimitName::Value)));
/// assert_eq!((refused.key(), refused.size(), refused.limit()), (Some("note"), Some(11), Some(10)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of one value of the state, also of one that an operator comes to; 32 MiB by default.
    pub value: Option<u64>,
    /// The most bytes of the keys, the values and the operators that one change writes; 64 MiB by default.
    pub delta: Option<u64>,
    /// The most bytes of an event, without the results of operators; 64 MiB by default.
    pub event: Option<u64>,
    /// The most bytes of the names and the values of one scope: of a session's own state, of a user's and of an app's;
    /// 256 MiB by default.
    pub state: Option<u64>,
    /// The most keys of one scope; 1,000,000 by default.
    pub keys: Option<u64>,
    /// The most events of a session; 10,000,000 by default.
    pub events: Option<u64>,
}

const MIB: u64 = 1 << 20;

impl Default for Limits {
    fn default() -> Self {
        Self {
            value: Some(32 * MIB),
            delta: Some(64 * MIB),
            event: Some(64 * MIB),
            state: Some(256 * MIB),
            keys: Some(1_000_000),
            events: Some(10_000_000),
        }
    }
}

/// The names of what a change writes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner<'a> {
    pub app_name: &'a str,
    pub user_id: Option<&'a str>,
    pub session_id: Option<&'a str>,
}

/// The writes of a change to one scope.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScopeWrites<'a> {
    pub scope: Scope,
    pub delta: &'a Delta,
    /// The values before; none, where the scope is new.
    pub values: Option<&'a Values>,
    /// Their size.
    pub size: Size,
}

impl Limits {
    /// Limits nothing.
    pub const NONE: Self = Self { value: None, delta: None, event: None, state: None, keys: None, events: None };

    /// Compares what a caller writes: each value, then all together with the bytes of the `operators`.
    pub(crate) fn check_delta(&self, delta: &Delta, operators: u64) -> Result<()> {
        let mut all = operators;
        for (key, write) in delta.iter().filter(|(key, _)| Scope::split(key).0 != Scope::Temp) {
            let size = size_of(write);
            all += key.len() as u64 + size;
            self.check_value(key, size)?;
        }
        let refused = |limit| Err(refusal(LimitName::Delta, "the delta has ", "bytes", all, limit));
        beyond(self.delta, all).map_or(Ok(()), refused)
    }

    /// Compares the size of an event. `at_most` is a cheap bound of it; `size` is asked where that is beyond the limit.
    pub(crate) fn check_event(&self, at_most: impl FnOnce() -> u64, size: impl FnOnce() -> u64) -> Result<()> {
        if self.event.is_none_or(|limit| at_most() <= limit) {
            return Ok(());
        }
        let size = size();
        let refused = |limit| Err(refusal(LimitName::Event, "the event has ", "bytes", size, limit));
        beyond(self.event, size).map_or(Ok(()), refused)
    }

    /// Compares the number of events of a session after an append.
    pub(crate) fn check_events(&self, session_id: &str, count: u64) -> Result<()> {
        let title = || title_of("session", session_id, " would have ");
        let refused = |limit| Err(refusal(LimitName::Events, &title(), "events", count, limit).with_id(session_id));
        beyond(self.events, count).map_or(Ok(()), refused)
    }

    /// Compares what a change leads to, scope by scope: the values that operators came to, under the full keys
    /// `results`, in their order; then the number of keys and the bytes. What does not grow is not refused.
    pub(crate) fn check_scopes(&self, owner: Owner<'_>, scopes: &[ScopeWrites<'_>], results: &[String]) -> Result<()> {
        let check = |writes| self.check_results(writes, results).and_then(|()| self.check_size(writes, owner));
        scopes.iter().try_for_each(check).map_err(|error| match owner.session_id {
            Some(id) => error.with_id(id),
            None => error,
        })
    }

    fn check_results(&self, writes: &ScopeWrites<'_>, results: &[String]) -> Result<()> {
        for key in results {
            let (scope, name) = Scope::split(key);
            let write = if scope == writes.scope { writes.delta.get(name) } else { None };
            let before = writes.values.and_then(|values| values.get(key)).map_or(0, |json| json.as_str().len() as u64);
            if let Some(size) = write.map(size_of).filter(|size| *size > before) {
                self.check_value(key, size)?;
            }
        }
        Ok(())
    }

    fn check_value(&self, key: &str, size: u64) -> Result<()> {
        let Some(limit) = beyond(self.value, size) else { return Ok(()) };
        let title = ["the value of ", &quoted(key), " has "].concat();
        Err(refusal(LimitName::Value, &title, "bytes", size, limit).with_key(key))
    }

    fn check_size(&self, writes: &ScopeWrites<'_>, owner: Owner<'_>) -> Result<()> {
        let ScopeWrites { scope, delta, values, size, .. } = writes;
        let fits = |after: Size| [beyond(self.keys, after.keys), beyond(self.state, after.bytes)];
        if delta.is_empty() || fits(size.at_most_after(delta)) == [None, None] {
            return Ok(());
        }
        let after = size.after(*values, delta);
        let (exceeded, unit, size, limit) = match fits(after) {
            [Some(limit), _] if after.keys > size.keys => (LimitName::Keys, "keys", after.keys, limit),
            [_, Some(limit)] if after.bytes > size.bytes => (LimitName::State, "bytes", after.bytes, limit),
            _ => return Ok(()),
        };
        let whose = match scope {
            Scope::App => title_of("app", owner.app_name, " would have "),
            Scope::User => title_of("user", owner.user_id.unwrap_or_default(), " would have "),
            Scope::Session | Scope::Temp => title_of("session", owner.session_id.unwrap_or_default(), " would have "),
        };
        Err(refusal(exceeded, &["the state of ", &whose].concat(), unit, size, limit))
    }
}

/// The bytes of a value that is set.
fn size_of(write: &Write) -> u64 {
    match write {
        Write::Set(json) => json.as_str().len() as u64,
        Write::Unset => 0,
    }
}

/// The limit, where a size is beyond it.
fn beyond(limit: Option<u64>, size: u64) -> Option<u64> {
    limit.filter(|limit| size > *limit)
}

fn title_of(what: &str, id: &str, verb: &str) -> String {
    [what, " \"", id, "\"", verb].concat()
}

/// The way to stay within a limit.
fn remedy(exceeded: LimitName) -> &'static str {
    match exceeded {
        LimitName::Value | LimitName::Delta | LimitName::Event => "write less",
        LimitName::State | LimitName::Keys => "delete keys",
        LimitName::Events => "begin another session",
    }
}

/// The error of a size. `title` ends with the verb.
fn refusal(exceeded: LimitName, title: &str, unit: &str, size: u64, limit: u64) -> Error {
    let sizes = [title, &digits(size, 10), " ", unit, ", and the limit is ", &digits(limit, 10)].concat();
    let message = [&sizes, ": ", remedy(exceeded), ", or raise limits.", exceeded.name()].concat();
    Error::new(ErrorKind::LimitExceeded, message).with_limit(exceeded, size, limit)
}

//! The errors of this crate, each with a stable code.

use std::fmt;
use std::sync::Arc;

/// The result of a statepad operation.
pub type Result<T> = std::result::Result<T, Error>;

/// The kinds of failure, one per stable code.
///
/// Those that tell of a schema, of a store or of the end of a service are for services outside of this crate, so that
/// programs can tell them apart whatever service they use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An argument has a value that the operation cannot use.
    InvalidArgument,
    /// A value is not JSON.
    ValueNotJson,
    /// No session has that key, or it has been deleted.
    SessionNotFound,
    /// A session with that key is there already.
    SessionExists,
    /// The session has moved on since the expected revision.
    SessionStale,
    /// A value that an update read has changed since.
    StateConflict,
    /// Another event of the session has that id and other content.
    EventIdConflict,
    /// The invocation is over.
    InvocationEnded,
    /// A template needs keys that the state does not have.
    TemplateKeyMissing,
    /// A template needs artifacts that are not there.
    ArtifactMissing,
    /// A text does not fit the schema that it should.
    SchemaInvalid,
    /// More would be stored than a limit of the service allows, or than a store has room for.
    LimitExceeded,
    /// A store cannot be reached: nothing was written.
    StoreUnavailable,
    /// A store cannot be opened as it is: it holds something else, or another version.
    StoreUnsuitable,
    /// It is not known whether a store has written something.
    CommitUnknown,
    /// A store has something that cannot be read.
    StoreCorrupt,
    /// Another has the lease of the session: [`Error::until`] says for how long.
    LeaseHeld,
    /// Another has taken the lease of the session since: nothing is written under the one that was lost.
    LeaseLost,
    /// The service is closed.
    Closed,
    /// The WebAssembly module has no memory for the call.
    CoreFailed,
}

impl ErrorKind {
    /// The code that every host language shows, stable across versions.
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::ValueNotJson => "VALUE_NOT_JSON",
            Self::SessionNotFound => "SESSION_NOT_FOUND",
            Self::SessionExists => "SESSION_EXISTS",
            Self::SessionStale => "SESSION_STALE",
            Self::StateConflict => "STATE_CONFLICT",
            Self::EventIdConflict => "EVENT_ID_CONFLICT",
            Self::InvocationEnded => "INVOCATION_ENDED",
            Self::TemplateKeyMissing => "TEMPLATE_KEY_MISSING",
            Self::ArtifactMissing => "ARTIFACT_MISSING",
            Self::SchemaInvalid => "SCHEMA_INVALID",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::StoreUnavailable => "STORE_UNAVAILABLE",
            Self::StoreUnsuitable => "STORE_UNSUITABLE",
            Self::CommitUnknown => "COMMIT_UNKNOWN",
            Self::StoreCorrupt => "STORE_CORRUPT",
            Self::LeaseHeld => "LEASE_HELD",
            Self::LeaseLost => "LEASE_LOST",
            Self::Closed => "CLOSED",
            Self::CoreFailed => "CORE_FAILED",
        }
    }
}

/// The name of a limit: that of a member of [`Limits`](crate::Limits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitName {
    /// The bytes of one value.
    Value,
    /// The bytes that one change writes.
    Delta,
    /// The bytes of an event.
    Event,
    /// The bytes of a scope.
    State,
    /// The number of keys of a scope.
    Keys,
    /// The number of events of a session.
    Events,
}

impl LimitName {
    /// The name that every host language shows: `value`, `delta`, `event`, `state`, `keys` or `events`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Delta => "delta",
            Self::Event => "event",
            Self::State => "state",
            Self::Keys => "keys",
            Self::Events => "events",
        }
    }
}

/// A required placeholder that found nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missing {
    /// The whole key as the template spells it, `user:profile.city` or `artifact.file.txt`.
    pub key: String,
    /// The line of its first place in the text, from 1.
    pub line: u32,
    /// The column there, in characters, from 1.
    pub column: u32,
    /// The most similar key that the state does have.
    pub nearest: Option<String>,
}

impl Missing {
    /// Names a key and its first place in the text: line and column from 1, the column in characters.
    pub fn new(key: impl Into<String>, line: u32, column: u32) -> Self {
        Self { key: key.into(), line, column, nearest: None }
    }

    /// Suggests the most similar key that the state does have.
    #[must_use]
    pub fn with_nearest(mut self, nearest: impl Into<String>) -> Self {
        self.nearest = Some(nearest.into());
        self
    }
}

/// An error with a stable code, a message that names the culprit, and details.
///
/// # Examples
///
/// ```
/// use statepad::{ErrorKind, Template};
///
/// let template = Template::parse("Hi {name}");
/// let error = template.render(&serde_json::Map::new()).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::TemplateKeyMissing);
/// assert_eq!(error.missing()[0].key, "name");
/// assert_eq!(error.to_string(), r#"values are missing for the template: "name" (line 1, column 4)"#);
/// ```
#[derive(Debug, Clone)]
pub struct Error(Box<Details>);

#[derive(Debug, Clone)]
struct Details {
    kind: ErrorKind,
    message: String,
    key: Option<String>,
    id: Option<String>,
    numbers: Numbers,
    until: Option<f64>,
    missing: Vec<Missing>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// The numbers that an error tells: of which kind, depends on its own.
#[derive(Debug, Clone, Copy)]
enum Numbers {
    None,
    Revisions { expected: u64, actual: u64 },
    Limit { exceeded: LimitName, size: u64, limit: u64 },
}

impl Error {
    /// Makes an error of a kind. Messages of this crate begin in lower case, name what is wrong and say what to do.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::error::Error as _;
    ///
    /// use statepad::{Error, ErrorKind};
    ///
    /// let cause = std::io::Error::other("connection reset");
    /// let error = Error::new(ErrorKind::StoreUnavailable, "the store is not available").with_source(cause);
    /// assert_eq!((error.code(), error.to_string().as_str()), ("STORE_UNAVAILABLE", "the store is not available"));
    /// assert_eq!(error.source().unwrap().to_string(), "connection reset");
    /// ```
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::of(kind, message.into())
    }

    fn of(kind: ErrorKind, message: String) -> Self {
        Self(Box::new(Details {
            kind,
            message,
            key: None,
            id: None,
            numbers: Numbers::None,
            until: None,
            missing: Vec::new(),
            source: None,
        }))
    }

    /// Makes an error of the kind [`ErrorKind::InvalidArgument`].
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    /// Names the state key concerned.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.0.key = Some(key.into());
        self
    }

    /// Names the session, event or invocation concerned.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.0.id = Some(id.into());
        self
    }

    /// Tells the revision that the caller expected and the one that the session has, for [`ErrorKind::SessionStale`].
    #[must_use]
    pub fn with_revisions(mut self, expected: u64, actual: u64) -> Self {
        self.0.numbers = Numbers::Revisions { expected, actual };
        self
    }

    /// Tells the limit that would be exceeded, the size that was refused, and the most that is allowed, for
    /// [`ErrorKind::LimitExceeded`].
    #[must_use]
    pub fn with_limit(mut self, exceeded: LimitName, size: u64, limit: u64) -> Self {
        self.0.numbers = Numbers::Limit { exceeded, size, limit };
        self
    }

    /// Tells when a lease ends, in milliseconds since the epoch, for [`ErrorKind::LeaseHeld`].
    #[must_use]
    pub fn with_until(mut self, until: f64) -> Self {
        self.0.until = Some(until);
        self
    }

    /// Lists what a template missed.
    #[must_use]
    pub fn with_missing(mut self, missing: Vec<Missing>) -> Self {
        self.0.missing = missing;
        self
    }

    /// Tells what caused the error: [`std::error::Error::source`] answers with it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into().into());
        self
    }

    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The stable code of the kind.
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// The text that [`Display`](fmt::Display) writes.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    /// The state key concerned, where it is one.
    pub fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// The id of the session, event or invocation concerned, where it is one.
    pub fn id(&self) -> Option<&str> {
        self.0.id.as_deref()
    }

    /// The revision that the caller expected, for [`ErrorKind::SessionStale`].
    pub fn expected(&self) -> Option<u64> {
        self.revisions().map(|(expected, _)| expected)
    }

    /// The revision that the session has, for [`ErrorKind::SessionStale`].
    pub fn actual(&self) -> Option<u64> {
        self.revisions().map(|(_, actual)| actual)
    }

    fn revisions(&self) -> Option<(u64, u64)> {
        match self.0.numbers {
            Numbers::Revisions { expected, actual } => Some((expected, actual)),
            _ => None,
        }
    }

    /// The limit that would be exceeded, for [`ErrorKind::LimitExceeded`] of a limit of the service.
    pub fn exceeded(&self) -> Option<LimitName> {
        self.limits().map(|(exceeded, ..)| exceeded)
    }

    /// The size that was refused, for [`ErrorKind::LimitExceeded`]: in bytes, or the number of keys or events.
    pub fn size(&self) -> Option<u64> {
        self.limits().map(|(_, size, _)| size)
    }

    /// The most that is allowed, for [`ErrorKind::LimitExceeded`], as [`Error::size`].
    pub fn limit(&self) -> Option<u64> {
        self.limits().map(|(.., limit)| limit)
    }

    fn limits(&self) -> Option<(LimitName, u64, u64)> {
        match self.0.numbers {
            Numbers::Limit { exceeded, size, limit } => Some((exceeded, size, limit)),
            _ => None,
        }
    }

    /// The end of the lease, in milliseconds since the epoch, for [`ErrorKind::LeaseHeld`].
    pub fn until(&self) -> Option<f64> {
        self.0.until
    }

    /// The placeholders of a template that have no value, each key once, in the order of the text.
    pub fn missing(&self) -> &[Missing] {
        &self.0.missing
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_deref()?;
        Some(source)
    }
}

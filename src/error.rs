//! What can go wrong, each with a stable code.

use std::fmt;

/// The result of a statepad operation.
pub type Result<T> = std::result::Result<T, Error>;

/// The kinds of failure, one per stable code.
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
    /// What an update read no longer holds.
    StateConflict,
    /// Another event of the session has that id and other content.
    EventIdConflict,
    /// The invocation is over.
    InvocationEnded,
    /// A template needs keys that the state does not have.
    TemplateKeyMissing,
    /// A template needs artifacts that nobody has.
    ArtifactMissing,
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
            Self::CoreFailed => "CORE_FAILED",
        }
    }
}

/// A required placeholder that found nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
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
/// ```
#[derive(Debug, Clone)]
pub struct Error(Box<Details>);

#[derive(Debug, Clone)]
struct Details {
    kind: ErrorKind,
    message: String,
    key: Option<String>,
    id: Option<String>,
    revisions: Option<(u64, u64)>,
    missing: Vec<Missing>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            kind,
            message: message.into(),
            key: None,
            id: None,
            revisions: None,
            missing: Vec::new(),
        }))
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidArgument, message)
    }

    pub(crate) fn with_key(mut self, key: &str) -> Self {
        self.0.key = Some(key.to_owned());
        self
    }

    pub(crate) fn with_id(mut self, id: &str) -> Self {
        self.0.id = Some(id.to_owned());
        self
    }

    pub(crate) fn with_revisions(mut self, expected: u64, actual: u64) -> Self {
        self.0.revisions = Some((expected, actual));
        self
    }

    pub(crate) fn with_missing(mut self, missing: Vec<Missing>) -> Self {
        self.0.missing = missing;
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

    /// The state key concerned, where it is one.
    pub fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// The id of the session or event concerned, where it is one.
    pub fn id(&self) -> Option<&str> {
        self.0.id.as_deref()
    }

    /// The revision that the caller expected, for [`ErrorKind::SessionStale`].
    pub fn expected(&self) -> Option<u64> {
        self.0.revisions.map(|(expected, _)| expected)
    }

    /// The revision that the session has, for [`ErrorKind::SessionStale`].
    pub fn actual(&self) -> Option<u64> {
        self.0.revisions.map(|(_, actual)| actual)
    }

    /// What a template missed, each key once, in the order of the text.
    pub fn missing(&self) -> &[Missing] {
        &self.0.missing
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

//! The names of an event's members: which are known, and which are near misses of known ones. A member whose name is
//! mistyped would otherwise be kept as one of its own, and write nothing. The same lists and the same rule as in the
//! package (pkg/src/checks/names.ts): both are held to tests/cases/names.json.

use crate::error::Error;
use crate::template::nearest::nearest;

/// The members of an event that mean something here.
pub(crate) const EVENT: &[&str] = &[
    "id",
    "invocationId",
    "author",
    "timestamp",
    "content",
    "actions",
    "partial",
    "longRunningToolIds",
    "branch",
    "customMetadata",
];

/// The members of an event's actions that mean something here or to agent runtimes.
pub(crate) const ACTIONS: &[&str] = &[
    "stateDelta",
    "artifactDelta",
    "requestedAuthConfigs",
    "requestedToolConfirmations",
    "skipSummarization",
    "transferToAgent",
    "escalate",
];

/// The further members that the ADKs (Python, JavaScript, Java, Go) and the Agent Engine have in the JSON of an event.
#[rustfmt::skip]
pub(crate) const ADK_EVENT: &[&str] = &[
    "avgLogprobs", "cacheMetadata", "citationMetadata", "environmentId", "errorCode", "errorMessage",
    "eventMetadata", "finishReason", "goAway", "groundingMetadata", "inputTranscription", "interactionId",
    "interactionStatus", "interrupted", "isolationScope", "liveSessionId", "liveSessionResumptionUpdate",
    "logprobsResult", "message", "messageAsOutput", "modelVersion", "name", "nodeInfo", "output", "outputFor",
    "outputTranscription", "path", "rawEvent", "route", "turnComplete", "turnCompleteReason", "usageMetadata",
    "voiceActivity",
];

/// And in the JSON of its actions.
#[rustfmt::skip]
pub(crate) const ADK_ACTIONS: &[&str] = &[
    "agentState", "compaction", "deletedArtifactIds", "endInvocation", "endOfAgent", "renderUiWidgets",
    "rewindBeforeInvocationId", "route", "setModelResponse", "transferAgent", "transferReason",
];

/// A member that is called almost as a known one.
pub(crate) struct NearMiss {
    /// The path of the name in the event.
    pub path: String,
    what: &'static str,
    suggestion: String,
}

impl NearMiss {
    /// The error of it.
    pub fn error(&self) -> Error {
        let Self { path, what, suggestion } = self;
        Error::invalid(format!("{path} is not known in {what}: did you mean {suggestion}?"))
    }
}

/// The first member of an event, or of its actions, that is called almost as a known one. The names are those of the
/// members, without any that are known or with them.
///
/// Events are checked only when they are appended: a log may have such members.
pub(crate) fn near_miss<'a>(
    mut event: impl Iterator<Item = &'a str>,
    mut actions: impl Iterator<Item = &'a str>,
) -> Option<NearMiss> {
    let of_event = event.find_map(|name| {
        let suggestion = if is_among(name, [EVENT, ADK_EVENT]) {
            None
        } else {
            nearest_known(name, EVENT).or_else(|| nearest_known(name, &["stateDelta"]).map(|_| "actions.stateDelta"))
        };
        Some(NearMiss { path: name.to_owned(), what: "an event", suggestion: suggestion?.to_owned() })
    });
    of_event.or_else(|| {
        actions.find_map(|name| {
            let suggestion = if is_among(name, [ACTIONS, ADK_ACTIONS]) { None } else { nearest_known(name, ACTIONS) };
            let [path, suggestion] = [name, suggestion?].map(|name| format!("actions.{name}"));
            Some(NearMiss { path, what: "an event's actions", suggestion })
        })
    })
}

pub(crate) fn is_among(name: &str, lists: [&[&str]; 2]) -> bool {
    lists.iter().any(|list| list.contains(&name))
}

/// The known name that is most similar to an unknown one, if one is similar enough.
pub(crate) fn nearest_known(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let in_another_convention = known.iter().find(|one| plainly(one).eq(plainly(name))).copied();
    // Of shorter names too many words are near misses.
    in_another_convention.or_else(|| nearest(name, known.iter().copied().filter(|one| one.len() >= 4)))
}

/// A name as it is in any convention: `stateDelta`, `state_delta`, `StateDelta`, `STATE-DELTA`.
fn plainly(name: &str) -> impl Iterator<Item = char> {
    let separates = |c: char| matches!(c, '_' | '-');
    let mut before = None;
    let mut rest = name.chars().peekable();
    let characters = std::iter::from_fn(move || {
        loop {
            let c = rest.next()?;
            let is_within =
                before.is_some_and(|before| !separates(before)) && rest.peek().is_some_and(|&c| !separates(c));
            before = Some(c);
            if !(separates(c) && is_within) {
                return Some(c);
            }
        }
    });
    characters.flat_map(char::to_lowercase)
}

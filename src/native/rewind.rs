//! The events that rewind a session, take a rewind back, and fork a session.

use std::borrow::Borrow;

use serde_json::{Map, Value, json};

use crate::delta::Delta;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::history::History;
use crate::native::session::Session;
use crate::rewind::{Rewind, Timeline};
use crate::scope::Scope;

/// The answer of [`SessionService::rewind`](crate::SessionService::rewind) and
/// [`SessionService::redo`](crate::SessionService::redo).
///
/// # Examples
///
/// ```
/// use statepad::{CreateRequest, Event, InMemorySessionService, SessionService};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> statepad::Result<()> {
/// let service = InMemorySessionService::new();
/// let request = CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() };
/// let session = service.create(request).await?;
/// for (invocation, topic) in [("inv-1", "tides"), ("inv-2", "moon")] {
///     let mut event = Event::new(invocation);
///     event.actions.set("topic", topic).set("user:last", topic);
///     service.append_event(&session, event).await?;
/// }
/// let back = service.rewind(&session, "inv-2").await?;
/// assert_eq!(back.event.actions.state_delta["topic"], "tides");
/// assert_eq!(back.shared, ["user:last"]);
/// let again = service.redo(&session).await?;
/// assert_eq!(again.event.actions.state_delta["topic"], "moon");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Rewound {
    /// The marker: the event that says so, and restores the session's own keys.
    pub event: Event,
    /// The revision of the session after it.
    pub revision: u64,
    /// The `app:` and `user:` keys that the turns concerned had written: they stay as they are.
    pub shared: Vec<String>,
}

/// The content of the event of a rewind.
pub(crate) struct Marker {
    /// The writes that bring the session's own keys back.
    pub delta: Delta,
    /// The invocation that the session goes back before.
    pub before: String,
    /// As in [`Rewound`].
    pub shared: Vec<String>,
}

/// The events of a session for rewinding.
fn timeline_of<E: Borrow<Event>>(events: &[E]) -> Timeline {
    Timeline::of(events.iter().map(Borrow::borrow).map(|event| {
        let invocation = event.invocation_id.as_str();
        ((!invocation.is_empty()).then_some(invocation), event.rewinds_before())
    }))
}

/// Plans to go back to just before an invocation.
pub(crate) fn plan_rewind<E: Borrow<Event>>(id: &str, events: &[E], before: &str) -> Result<Rewind> {
    let place = events.iter().position(|event| event.borrow().invocation_id == before);
    let place = place.filter(|_| !before.is_empty());
    place.and_then(|place| timeline_of(events).rewind(place)).ok_or_else(|| {
        let why = if place.is_some() { "all its events are undone already" } else { "the session has no event of it" };
        let message = format!("session \"{id}\" cannot go back before the invocation \"{before}\": {why}");
        Error::invalid(message).with_id(id)
    })
}

/// Plans to take the last rewind back.
pub(crate) fn plan_redo<E: Borrow<Event>>(id: &str, events: &[E]) -> Result<Rewind> {
    timeline_of(events).redo().ok_or_else(|| {
        let why = "its last event is not a rewind, or all rewinds were undone";
        Error::invalid(format!("session \"{id}\" has nothing to redo: {why}")).with_id(id)
    })
}

/// Makes the marker of a planned rewind. `history` is that of all events.
pub(crate) fn marker<E: Borrow<Event>>(events: &[E], history: &History, plan: &Rewind) -> Marker {
    let Rewind { to, concerned } = plan;
    let first = events.get(*to).map(|event| event.borrow().invocation_id.clone());
    let is_concerned = |revision: u64| concerned.binary_search_by(|&place| (place as u64 + 1).cmp(&revision)).is_ok();
    Marker {
        delta: history.restoring(*to as u64, events.len() as u64),
        before: or_impossible!(first, "a rewind goes to before an event"),
        shared: history.shared_of(is_concerned).map(ToString::to_string).collect(),
    }
}

/// The event of a rewind. `invocation` has no event yet.
pub(super) fn event_of(marker: &Marker, invocation: String) -> Event {
    let mut event = Event::new(invocation);
    event.author = "system".into();
    event.actions.rewind_before_invocation_id = Some(marker.before.clone());
    event.carry(marker.delta.iter());
    event
}

/// The writes to each key of a session with this creation state and these events.
pub(super) fn history_of<E: Borrow<Event>>(creation: Map<String, Value>, events: &[E]) -> Result<History> {
    let mut history = History::new();
    let own = own_values(creation);
    history.push(0, &Delta::of_values("state", own.iter().map(|(key, value)| (key.as_str(), value)))?);
    for (revision, event) in (1..).zip(events) {
        history.push(revision, &event.borrow().delta()?);
    }
    Ok(history)
}

/// A name that no invocation of a session has.
pub(super) fn new_invocation(what: &str, session: &Session) -> String {
    let mut name = format!("{what}-{}", session.revision());
    while session.events().iter().any(|event| event.invocation_id == name) {
        name.push('+');
    }
    name
}

/// The events of a fork at a revision: those of its source up to there, and one that says where it comes from.
pub(super) fn events_of_fork(source: &Session, revision: u64) -> impl Iterator<Item = Event> {
    let count = usize::try_from(revision).unwrap_or(usize::MAX);
    let mut last = Event::new(new_invocation("fork", source));
    last.author = "system".into();
    last.custom_metadata.insert("statepad".into(), origin(source.id(), revision));
    source.events().iter().take(count).map(|event| own_event(event)).chain([last])
}

/// The metadata of the last event of a fork.
pub(crate) fn origin(source: &str, revision: u64) -> Value {
    json!({"forkedFrom": {"sessionId": source, "revision": revision}})
}

/// An event without what it wrote to the app and the user: that is written already.
fn own_event(event: &Event) -> Event {
    let mut event = event.clone();
    event.actions.state_delta.retain(|key, _| is_own(key));
    if let Some(own) = event.custom_metadata.get_mut("statepad") {
        keep_own_in(own);
    }
    event
}

/// Leaves the session's own keys in what the metadata of an event say of its delta.
pub(crate) fn keep_own_in(metadata: &mut Value) {
    if let Value::Object(own) = metadata {
        if let Some(Value::Array(deleted)) = own.get_mut("deleted") {
            deleted.retain(|key| key.as_str().is_none_or(is_own));
        }
        if let Some(Value::Object(operators)) = own.get_mut("operators") {
            operators.retain(|key, _| is_own(key));
        }
    }
}

/// The members of a state that are the session's own.
pub(super) fn own_values(state: Map<String, Value>) -> Map<String, Value> {
    state.into_iter().filter(|(key, _)| is_own(key)).collect()
}

/// Returns `true` if a key is the session's own.
pub(crate) fn is_own(key: &str) -> bool {
    Scope::split(key).0 == Scope::Session
}

//! Rewinding, taking that back, and forking, over any service.

use serde_json::{Map, Value, json};

use crate::delta::Delta;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::history::History;
use crate::native::requests::{DeleteRequest, GetRequest, OrderedCreateRequest};
use crate::native::service::SessionService;
use crate::native::session::Session;
use crate::rewind::{Rewind, Timeline};
use crate::scope::Scope;

/// How often others may come between.
const ATTEMPTS: u32 = 100;

/// What [`SessionService::rewind`] and [`SessionService::redo`] answer with.
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

/// The events of a session for rewinding.
fn timeline_of(session: &Session) -> Timeline {
    Timeline::of(session.events().iter().map(|event| {
        let invocation = event.invocation_id.as_str();
        ((!invocation.is_empty()).then_some(invocation), event.rewinds_before())
    }))
}

/// See [`SessionService::rewind`].
pub(super) async fn rewind<S: SessionService + ?Sized>(
    service: &S,
    session: &Session,
    before: &str,
) -> Result<Rewound> {
    go(service, session, |session| {
        let place = session.events().iter().position(|event| event.invocation_id == before);
        let place = place.filter(|_| !before.is_empty());
        place.and_then(|place| timeline_of(session).rewind(place)).ok_or_else(|| {
            let why = if place.is_some() { "none of its events stands" } else { "it has no event of it" };
            let id = session.id();
            let message = format!("session \"{id}\" cannot go back before the invocation \"{before}\": {why}");
            Error::invalid(message).with_id(id)
        })
    })
    .await
}

/// See [`SessionService::redo`].
pub(super) async fn redo<S: SessionService + ?Sized>(service: &S, session: &Session) -> Result<Rewound> {
    go(service, session, |session| {
        timeline_of(session).redo().ok_or_else(|| {
            let id = session.id();
            let why = "its last event is no rewind, or all were taken back";
            Error::invalid(format!("session \"{id}\" has nothing to redo: {why}")).with_id(id)
        })
    })
    .await
}

/// Appends a marker, as the log that is there then has it.
async fn go<S: SessionService + ?Sized>(
    service: &S,
    session: &Session,
    plan: impl Fn(&Session) -> Result<Rewind> + Send,
) -> Result<Rewound> {
    let mut attempt = 1;
    loop {
        let now = current(service, session).await?;
        let Rewind { to, concerned } = plan(&now)?;
        let history = history_of(service, &now).await?;
        let revision = now.revision();
        let mut event = Event::new(new_invocation("rewind", &now));
        event.author = "system".into();
        event.actions.rewind_before_invocation_id = now.events().get(to).map(|event| event.invocation_id.clone());
        event.carry(history.restoring(to as u64, revision).iter());
        let is_concerned =
            |revision: u64| concerned.binary_search_by(|&place| (place as u64 + 1).cmp(&revision)).is_ok();
        let shared = history.shared_of(is_concerned).map(ToString::to_string).collect();
        match service.append_expecting((&now).into(), event, Some(revision)).await {
            Ok(event) => return Ok(Rewound { event, revision: revision + 1, shared }),
            Err(error) if error.kind() == ErrorKind::SessionStale && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// A name that no invocation of the session has.
fn new_invocation(what: &str, session: &Session) -> String {
    let mut name = format!("{what}-{}", session.revision());
    while session.events().iter().any(|event| event.invocation_id == name) {
        name.push('+');
    }
    name
}

/// See [`SessionService::fork`].
pub(super) async fn fork<S: SessionService + ?Sized>(
    service: &S,
    session: &Session,
    revision: Option<u64>,
    session_id: Option<String>,
) -> Result<Session> {
    let source = current(service, session).await?;
    let revision = revision.unwrap_or(source.revision());
    // Refuses a revision that there is not.
    service.state_at(&source, revision).await?;
    let state = own_part(service.state_at(&source, 0).await?);
    let (app_name, user_id) = (source.app_name().to_owned(), source.user_id().to_owned());
    let made = service.create_ordered(OrderedCreateRequest { app_name, user_id, session_id, state }).await?;
    match fill(service, &source, revision, &made).await {
        Ok(()) => current(service, &made).await,
        Err(error) => {
            // The caller is told why the fork has failed.
            let _ = service.delete(DeleteRequest::clone(made.key())).await;
            Err(error)
        }
    }
}

/// Gives a new session the events of another one up to a revision, and says where it comes from.
async fn fill<S: SessionService + ?Sized>(service: &S, source: &Session, revision: u64, made: &Session) -> Result<()> {
    let count = usize::try_from(revision).unwrap_or(usize::MAX);
    for event in source.events().iter().take(count) {
        service.append(made.into(), own_event(event)).await?;
    }
    let mut last = Event::new(new_invocation("fork", source));
    last.author = "system".into();
    let forked_from = json!({"sessionId": source.id(), "revision": revision});
    last.custom_metadata.insert("statepad".into(), json!({"forkedFrom": forked_from}));
    service.append(made.into(), last).await.map(drop)
}

/// An event without what it wrote to the app and the user: that is written already.
fn own_event(event: &Event) -> Event {
    let mut event = event.clone();
    event.actions.state_delta.retain(|key, _| is_own(key));
    if let Some(Value::Object(own)) = event.custom_metadata.get_mut("statepad") {
        if let Some(Value::Array(deleted)) = own.get_mut("deleted") {
            deleted.retain(|key| key.as_str().is_none_or(is_own));
        }
        if let Some(Value::Object(operators)) = own.get_mut("operators") {
            operators.retain(|key, _| is_own(key));
        }
    }
    event
}

fn own_part(state: Map<String, Value>) -> Map<String, Value> {
    state.into_iter().filter(|(key, _)| is_own(key)).collect()
}

fn is_own(key: &str) -> bool {
    Scope::split(key).0 == Scope::Session
}

/// The session as it is now, with all its events.
async fn current<S: SessionService + ?Sized>(service: &S, session: &Session) -> Result<Session> {
    let (app_name, user_id) = (session.app_name().to_owned(), session.user_id().to_owned());
    let request = GetRequest { app_name, user_id, session_id: session.id().to_owned(), ..GetRequest::default() };
    let now = service.get(request).await?.filter(|now| now.serial() == session.serial());
    now.ok_or_else(|| {
        let message = format!("session \"{}\" not found", session.id());
        Error::new(ErrorKind::SessionNotFound, message).with_id(session.id())
    })
}

/// What wrote each key of a session that was read with all its events.
async fn history_of<S: SessionService + ?Sized>(service: &S, session: &Session) -> Result<History> {
    let creation = service.state_at(session, 0).await?;
    let mut history = History::new();
    let own = own_part(creation);
    history.push(0, &Delta::of_values("state", own.iter().map(|(key, value)| (key.as_str(), value)))?);
    for (revision, event) in (1..).zip(session.events()) {
        history.push(revision, &event.delta()?);
    }
    Ok(history)
}

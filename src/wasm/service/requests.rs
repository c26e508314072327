//! Checks what comes in with a request, as a whole. The same rules and messages as in the package
//! (pkg/src/input/requests.ts).

use wasm_bindgen::prelude::*;

use super::checks::{
    Names, admit_optional_string, admit_string, check_count, check_names, check_object, check_options, check_signal,
};
use super::errors::{error_at, invalid};
use super::host::{Answer, keys, member, option};
use super::kinds::describe;
use crate::change::SessionKey;
use crate::names::near_miss;

/// The members of a session and of its key: any request may be one, with members beside it.
const SESSION: &[&str] =
    &["id", "sessionId", "appName", "userId", "state", "events", "lastUpdateTime", "revision", "expireTime"];

macro_rules! request_of {
    ($what:literal, $($known:literal),+) => {
        Names {
            what: concat!("the request of ", $what),
            path: "",
            known: &[$($known,)+ "signal"],
            others: SESSION,
        }
    };
}

#[rustfmt::skip]
pub(super) const CREATE: Names = request_of!(
    "createSession", "appName", "userId", "state", "sessionId", "ttl", "expireTime"
);
pub(super) const GET: Names = request_of!("getSession", "appName", "userId", "sessionId", "config");
#[rustfmt::skip]
pub(super) const LIST: Names = request_of!(
    "listSessions", "appName", "userId", "limit", "offset", "page", "order", "cursor"
);
pub(super) const DELETE: Names = request_of!("deleteSession", "appName", "userId", "sessionId");
pub(super) const APPEND: Names = request_of!("appendEvent", "session", "event", "expectedRevision");
pub(super) const SWEEP: Names = request_of!("sweep", "appName", "limit", "dryRun");
pub(super) const APP_STATE: Names = request_of!("getAppState", "appName");
pub(super) const USER_STATE: Names = request_of!("getUserState", "appName", "userId");
const TARGET: Names =
    Names { what: "the target", path: "", known: &["appName", "userId", "sessionId"], others: SESSION };

/// Checks a request: that it is one, that no name in it is a near miss of a known one, and its `signal`, which is the
/// answer.
pub(super) fn check_request(request: &JsValue, names: &Names) -> Answer<JsValue> {
    check_object(request, "request")?;
    check_request_names(request, names)?;
    let signal = member(request, "signal")?;
    check_signal(&signal)?;
    Ok(signal)
}

/// A session that is given as a request may have any members.
fn check_request_names(request: &JsValue, names: &Names) -> Answer<()> {
    if is_session(request)? { Ok(()) } else { check_names(request, names) }
}

/// Checks the names of an event's members, and of those of its actions, if it has any.
pub(super) fn check_event_names(event: &JsValue, actions: &JsValue) -> Answer<()> {
    let names = |object: &JsValue| -> Answer<Vec<String>> {
        Ok(keys(object)?.iter().filter_map(|name| name.as_string()).collect())
    };
    let of_event = names(event)?;
    let of_actions = if actions.is_undefined() { Vec::new() } else { names(actions)? };
    let near_miss = near_miss(of_event.iter().map(String::as_str), of_actions.iter().map(String::as_str));
    near_miss.map_or(Ok(()), |near_miss| Err(error_at(near_miss.error(), &near_miss.path)))
}

/// Returns `true` if a session stands in the place of a key: its `id` is then that of the session.
fn is_session(request: &JsValue) -> Answer<bool> {
    Ok(member(request, "id")?.is_string() && member(request, "sessionId")?.is_undefined())
}

/// The id of the session that a request names, or that it is.
fn session_id_of(request: &JsValue) -> Answer<JsValue> {
    member(request, if is_session(request)? { "id" } else { "sessionId" })
}

/// Checks the three parts of a key, or of a session in the place of a key.
pub(super) fn check_key(request: &JsValue) -> Answer<SessionKey> {
    Ok(SessionKey {
        app_name: admit_string(&member(request, "appName")?, "appName")?,
        user_id: admit_string(&member(request, "userId")?, "userId")?,
        session_id: admit_string(&session_id_of(request)?, "sessionId")?,
    })
}

/// Checks what names a session: a handle, or any object with its `id`, `appName` and `userId`.
pub(super) fn check_session(session: &JsValue) -> Answer<SessionKey> {
    check_object(session, "session")?;
    Ok(SessionKey {
        app_name: admit_string(&member(session, "appName")?, "session.appName")?,
        user_id: admit_string(&member(session, "userId")?, "session.userId")?,
        session_id: admit_string(&member(session, "id")?, "session.id")?,
    })
}

/// The target of an update: a session, or a user's and the app's keys, or the app's keys alone.
#[derive(Debug, Clone)]
pub(super) enum Target {
    Session(SessionKey),
    Scopes { app_name: String, user_id: Option<String> },
}

/// Checks what an update is of: a key, a part of one, or a session.
pub(super) fn check_target(target: &JsValue) -> Answer<Target> {
    check_object(target, "target")?;
    check_request_names(target, &TARGET)?;
    let user_id = admit_optional_string(&member(target, "userId")?, "userId")?;
    let session_id = admit_optional_string(&session_id_of(target)?, "sessionId")?;
    if session_id.is_some() && user_id.is_none() {
        return Err(invalid("userId", "is missing: a sessionId needs one"));
    }
    let app_name = admit_string(&member(target, "appName")?, "appName")?;
    Ok(match (user_id, session_id) {
        (Some(user_id), Some(session_id)) => Target::Session(SessionKey { app_name, user_id, session_id }),
        (user_id, _) => Target::Scopes { app_name, user_id },
    })
}

/// The options of an update.
pub(super) struct UpdateOptions {
    /// The maximum number of runs of the function.
    pub(super) attempts: f64,
    pub(super) author: Option<String>,
    pub(super) invocation_id: Option<String>,
    pub(super) signal: JsValue,
}

/// Checks the options of an update.
pub(super) fn check_update_options(options: &JsValue) -> Answer<UpdateOptions> {
    check_options(options, &["attempts", "author", "invocationId", "signal"], "options")?;
    let member_of = |name: &str| option(options, name);
    let attempts = member_of("attempts")?;
    let is_count = |count: &f64| count.fract() == 0.0 && (1.0..=9_007_199_254_740_991.0).contains(count);
    let attempts = match attempts.as_f64().filter(is_count) {
        None if attempts.is_undefined() => 100.0,
        None => {
            return Err(invalid("attempts", &format!("must be a whole number from 1, not {}", describe(&attempts))));
        }
        Some(attempts) => attempts,
    };
    Ok(UpdateOptions {
        attempts,
        author: admit_optional_string(&member_of("author")?, "author")?,
        invocation_id: admit_optional_string(&member_of("invocationId")?, "invocationId")?,
        signal: member_of("signal")?,
    })
}

/// Of the events from a time on, the last so many.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EventWindow {
    /// The earliest time, in milliseconds since the epoch.
    pub(super) since: Option<f64>,
    /// The maximum number of events; all, when it is absent.
    pub(super) last: Option<usize>,
}

/// The window of the rows of a list, which show no events.
pub(super) const NO_EVENTS: EventWindow = EventWindow { since: None, last: Some(0) };

/// Checks a window over the events.
pub(super) fn check_config(config: &JsValue) -> Answer<EventWindow> {
    check_options(config, &["numRecentEvents", "afterTimestamp"], "config")?;
    if config.is_undefined() {
        return Ok(EventWindow::default());
    }
    let last = check_count(&member(config, "numRecentEvents")?, "config.numRecentEvents")?.map(narrow);
    let after = member(config, "afterTimestamp")?;
    let since = after.as_f64().filter(|after| !after.is_nan());
    if since.is_none() && !after.is_undefined() {
        let what = format!("must be a number of milliseconds, not {}", describe(&after));
        return Err(invalid("config.afterTimestamp", &what));
    }
    Ok(EventWindow { since, last })
}

/// A list request, understood: adk-js's meaning of `limit`, `offset` and `page`.
pub(super) struct ListPlan {
    pub(super) app_name: String,
    pub(super) user_id: Option<String>,
    pub(super) descending: bool,
    pub(super) limit: Option<f64>,
    pub(super) offset: f64,
    pub(super) cursor: Option<String>,
    /// The page's number where no limit tells it.
    pub(super) page: f64,
}

/// Checks a list request.
pub(super) fn check_list(request: &JsValue) -> Answer<ListPlan> {
    let limit = check_count(&member(request, "limit")?, "limit")?;
    let offset = check_count(&member(request, "offset")?, "offset")?;
    let page = check_count(&member(request, "page")?, "page")?;
    let order = member(request, "order")?;
    let cursor = member(request, "cursor")?;
    if let Some(page) = page {
        if limit.is_none() {
            return Err(invalid("page", "needs a limit"));
        }
        if page < 1.0 {
            return Err(invalid("page", "is counted from 1"));
        }
    }
    let descending = match order.as_string().as_deref() {
        Some("desc") => true,
        Some("asc") => false,
        None if order.is_undefined() => false,
        _ => return Err(invalid("order", "must be 'asc' or 'desc'")),
    };
    if !cursor.is_undefined() && (page.is_some() || offset.is_some()) {
        return Err(invalid("cursor", "cannot go together with page or offset"));
    }
    let passed_over = page.zip(limit).map(|(page, limit)| (page - 1.0) * limit);
    Ok(ListPlan {
        app_name: admit_string(&member(request, "appName")?, "appName")?,
        user_id: admit_optional_string(&member(request, "userId")?, "userId")?,
        descending,
        limit,
        offset: passed_over.or(offset).unwrap_or(0.0),
        cursor: admit_optional_string(&cursor, "cursor")?,
        page: page.unwrap_or(1.0),
    })
}

/// A count, in a memory of 32-bit addresses: nothing that is counted in it is larger.
pub(super) fn narrow(count: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole, and not negative")]
    let count = count as usize;
    count
}

//! Applying a change, and dropping a session: what comes of them for the host.

use crate::change::{Change, SessionKey};
use crate::error::Result;
use crate::ids::{ScopeId, SessionId};
use crate::registry::ScopeIds;
use crate::sessions::Sessions;
use crate::wasm::package::keys;
use crate::wasm::package::places::Places;
use crate::wasm::package::protocol::{NOTHING, Outcome, Words};

/// The target of a change.
pub(super) enum Target {
    Create(SessionKey),
    Append(SessionId),
    Update { app_name: String, user_id: Option<String> },
}

/// The session and the scopes that a change was applied to, with its outcome.
#[derive(Default)]
pub(super) struct ApplyResult {
    session: Option<SessionId>,
    /// The session's own, the app's, the user's.
    scopes: [Option<ScopeId>; 3],
    pub(super) outcome: u32,
    /// The number of keys that were dropped.
    pub(super) dropped: usize,
}

/// Applies a change to its scopes, and says in `places` where each write goes.
pub(super) fn apply_to(
    sessions: &mut Sessions<()>,
    target: Target,
    change: &Change<()>,
    has_event: bool,
    mut places: Places<'_>,
) -> Result<ApplyResult> {
    let mut applied = match target {
        Target::Update { app_name, user_id } => {
            let user_id = user_id.as_deref();
            let [app, user] = sessions.update_observed(&app_name, user_id, change, &mut places)?;
            let is_gone = |scope: Option<_>, user_id| scope.is_some() && sessions.scope(&app_name, user_id).is_none();
            let mut outcome = 0;
            if is_gone(app, None) {
                outcome |= Outcome::DroppedApp as u32;
            }
            if user_id.is_some() && is_gone(user, user_id) {
                outcome |= Outcome::DroppedUser as u32;
            }
            ApplyResult { scopes: [None, app, user], outcome, ..ApplyResult::default() }
        }
        Target::Create(key) => {
            let session = sessions.create_observed(key, change, &mut places)?;
            applied_to(sessions, session)
        }
        Target::Append(session) => {
            if has_event {
                sessions.append_observed(session, change, &mut places)?;
            } else {
                sessions.delta_observed(session, change, &mut places)?;
            }
            applied_to(sessions, session)
        }
    };
    applied.outcome |= places.outcome;
    applied.dropped = places.dropped;
    Ok(applied)
}

/// A session and its scopes.
pub(super) fn applied_to(sessions: &Sessions<()>, session: SessionId) -> ApplyResult {
    let scopes = sessions.scopes(session).map(|ScopeIds { session, app, user }| [session, app, user]);
    ApplyResult {
        session: Some(session),
        scopes: scopes.map_or([None; 3], |scopes| scopes.map(Some)),
        ..ApplyResult::default()
    }
}

/// Drops a session in some way, which says whether it was there.
pub(super) fn drop_session(
    sessions: &mut Sessions<()>,
    session: SessionId,
    way: impl FnOnce(&mut Sessions<()>) -> bool,
) -> u32 {
    let Some(log) = sessions.log(session) else {
        return 0;
    };
    let SessionKey { app_name, user_id, .. } = log.key().clone();
    let scopes = applied_to(sessions, session).scopes;
    let [own, app, user] = scopes.map(|scope| scope.map_or(0, |scope| length_of(sessions, scope)));
    if !way(sessions) {
        return 0;
    }
    let (mut outcome, mut dropped) = (Outcome::WasThere as u32, own);
    for (bit, size, user_id) in [(Outcome::DroppedApp, app, None), (Outcome::DroppedUser, user, Some(user_id.as_str()))]
    {
        if sessions.scope(&app_name, user_id).is_none() {
            outcome |= bit as u32;
            dropped += size;
        }
    }
    outcome | due(dropped)
}

/// The number of values of a scope.
pub(super) fn length_of(sessions: &Sessions<()>, scope: ScopeId) -> usize {
    sessions.scope_state(scope).map_or(0, |state| state.values().len())
}

/// The bit that says that so many dropped keys make a sweep due, if they do.
pub(super) fn due(dropped: usize) -> u32 {
    if keys::note_dropped(dropped) { Outcome::KeysDue as u32 } else { 0 }
}

/// Writes the numbers of a session and of its scopes where the host reads them.
pub(super) fn write_ids(words: &mut [u32], ApplyResult { session, scopes, .. }: &ApplyResult) {
    words[Words::Session as usize] = session.map_or(NOTHING, SessionId::number);
    for (place, scope) in words[Words::Scopes as usize..].iter_mut().zip(scopes) {
        *place = scope.map_or(NOTHING, ScopeId::number);
    }
}

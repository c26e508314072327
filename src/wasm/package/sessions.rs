//! The sessions of one service, as the package drives them.

use wasm_bindgen::prelude::*;

use super::errors::error_json;
use super::scratch::{parse_delta, size_of_delta, with_scratch};
use super::{narrow, room, version};
use crate::change::{Change, Guard, Prepared, SessionKey};
use crate::delta::{Delta, ScopedDelta};
use crate::error::{Error, Result};
use crate::list::{ListQuery, Start};
use crate::registry::{ScopeId, SessionId};
use crate::session_log::SessionLog;
use crate::sessions::Sessions;

/// What the `prepare` methods answer when they refuse; [`Core::take_error`] says why. A JavaScript exception, or a
/// `Result`, would take longer than the call itself.
const REFUSED: i32 = i32::MIN;

/// All sessions of one service, with the prepared changes that are not stored yet.
#[wasm_bindgen]
#[derive(Default)]
pub struct Core {
    sessions: Sessions,
    prepared: Vec<Option<PreparedChange>>,
    free: Vec<usize>,
    error: Option<Error>,
    /// The size of the memory when it last grew, in pages of 64 KiB.
    pages: usize,
}

struct PreparedChange {
    target: Target,
    change: Change,
    temp: Delta,
}

enum Target {
    Create(SessionKey),
    Append(SessionId),
    Update { app_name: String, user_id: Option<String> },
}

#[wasm_bindgen]
impl Core {
    /// Starts with no sessions.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Prepares a creation with the initial state in the scratch buffer, and behind it the keys that it deletes.
    /// Answers as [`Core::prepare_append`].
    pub fn prepare_create(
        &mut self,
        app_name: &str,
        user_id: &str,
        session_id: &str,
        time: f64,
        length: usize,
        deleted: usize,
    ) -> i32 {
        let names = app_name.len() + user_id.len() + session_id.len();
        if let Err(error) = self.ask(app_name, Some(user_id), None, 4 * names, length, deleted) {
            return self.refuse(error);
        }
        let key = SessionKey::new(app_name, user_id, session_id);
        let change = parse_delta(length, deleted).and_then(|state| self.sessions.prepare_create(&key, time, state));
        self.answer(change.map(|change| PreparedChange { target: Target::Create(key), change, temp: Delta::default() }))
    }

    /// Prepares an append with three texts in the scratch buffer, one behind the other, whose lengths are given: the
    /// delta, the keys that it deletes (an object with these members, or nothing), and the event's id. Expected
    /// versions below 0 are not looked at.
    ///
    /// Answers with a token times 16 plus the scopes that change: 1 session, 2 app, 4 user, 8 `temp:`; or, for an id
    /// that the session has, with -1 minus its place in the log; or with the smallest number, when it refuses.
    #[expect(clippy::too_many_arguments, reason = "an object would take longer than the call itself")]
    pub fn prepare_append(
        &mut self,
        session: usize,
        time: f64,
        length: usize,
        deleted: usize,
        id: usize,
        expected_revision: f64,
        expected_app: f64,
        expected_user: f64,
    ) -> i32 {
        let (app_name, user_id) = match self.sessions.log(session).map(SessionLog::key) {
            Some(SessionKey { app_name, user_id, .. }) => (app_name.as_str(), Some(user_id.as_str())),
            None => ("", None),
        };
        if let Err(error) = self.ask(app_name, user_id, Some(session), 2 * id, length, deleted) {
            return self.refuse(error);
        }
        let guard =
            Guard { revision: version(expected_revision), app: version(expected_app), user: version(expected_user) };
        let prepared = parse_delta(length, deleted).and_then(|delta| {
            let id = length + deleted..length + deleted + id;
            with_scratch(id, |id| self.sessions.prepare_append(session, id, time, delta, guard))
        });
        match prepared {
            Ok(Prepared::Change { change, temp }) => {
                self.keep(PreparedChange { target: Target::Append(session), change, temp })
            }
            Ok(Prepared::Duplicate { place }) => -1 - narrow(place).cast_signed(),
            Err(error) => self.refuse(error),
        }
    }

    /// Prepares a change of app and user state with the delta in the scratch buffer, and behind it the keys that it
    /// deletes. Answers as [`Core::prepare_append`].
    #[expect(clippy::too_many_arguments, reason = "an object would take longer than the call itself")]
    pub fn prepare_update(
        &mut self,
        app_name: String,
        user_id: Option<String>,
        id: &str,
        time: f64,
        length: usize,
        deleted: usize,
        expected_app: f64,
        expected_user: f64,
    ) -> i32 {
        let names = app_name.len() + user_id.as_ref().map_or(0, String::len) + id.len();
        if let Err(error) = self.ask(&app_name, user_id.as_deref(), None, 4 * names, length, deleted) {
            return self.refuse(error);
        }
        let guard = Guard { revision: None, app: version(expected_app), user: version(expected_user) };
        let change = parse_delta(length, deleted)
            .and_then(|delta| self.sessions.prepare_update(&app_name, user_id.as_deref(), id, time, delta, guard));
        let target = Target::Update { app_name, user_id };
        self.answer(change.map(|change| PreparedChange { target, change, temp: Delta::default() }))
    }

    /// Why the last request was refused: the error as JSON text.
    pub fn take_error(&mut self) -> Option<String> {
        Some(error_json(&self.error.take()?))
    }

    /// The deltas of a prepared change, split by scope, as a store gets them: JSON text.
    ///
    /// # Errors
    ///
    /// Throws when there is no memory for it.
    pub fn change_json(&self, token: usize) -> std::result::Result<Option<String>, JsValue> {
        let Some(PreparedChange { change: Change { delta, .. }, .. }) = self.prepared(token) else {
            return Ok(None);
        };
        room::or_throw([&delta.app, &delta.user, &delta.session].map(room::of_delta).iter().sum())?;
        Ok(Some(delta.to_json()))
    }

    /// Applies a prepared change that is stored, in those parts that are not known already: `scopes` has a bit for
    /// each part, as the answers of the `prepare` methods have. Answers with the session, where there is one.
    pub fn apply(&mut self, token: usize, scopes: u32) -> Option<u32> {
        let PreparedChange { target, mut change, .. } = self.take(token)?;
        let ScopedDelta { app, user, session } = &mut change.delta;
        for (delta, bit) in [(session, 1), (app, 2), (user, 4)] {
            if scopes & bit == 0 {
                *delta = Delta::default();
            }
        }
        // The memory was asked for when the change was prepared. Where it has been used since, the reserve is there.
        room::is_there(4096);
        self.reserve();
        let applied = match target {
            Target::Create(key) => self.sessions.apply_create(&key, &change),
            Target::Append(session) if scopes & 1 == 0 => self.sessions.apply_delta(session, &change).map(|()| session),
            Target::Append(session) => self.sessions.apply_append(session, &change).map(|()| session),
            Target::Update { app_name, user_id } => {
                let applied = self.sessions.apply_update(&app_name, user_id.as_deref(), &change);
                self.error = applied.err();
                return None;
            }
        };
        match applied {
            Ok(session) => Some(narrow(session)),
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }

    /// Forgets a prepared change that is not stored.
    pub fn discard(&mut self, token: usize) {
        self.take(token);
    }

    /// Takes over a session that a store has, at this revision from now on. Answers with the session.
    ///
    /// # Errors
    ///
    /// Throws when there is no memory for it.
    pub fn restore(
        &mut self,
        app_name: &str,
        user_id: &str,
        session_id: &str,
        revision: f64,
        time: f64,
    ) -> std::result::Result<u32, JsValue> {
        let names = app_name.len() + user_id.len() + session_id.len();
        room::or_throw(4096 + 4 * names + self.sessions.growth(app_name, Some(user_id), None, 0))?;
        self.reserve();
        let key = SessionKey::new(app_name, user_id, session_id);
        Ok(narrow(self.sessions.restore(&key, version(revision).unwrap_or(0), time)))
    }

    /// Takes over the values that a store has for a scope: an object under full keys in the scratch buffer.
    ///
    /// # Errors
    ///
    /// Throws when there is no memory for it, or when it is no object.
    pub fn replace(&mut self, scope: ScopeId, length: usize) -> std::result::Result<(), JsValue> {
        // The delta that is parsed, and the new values beside those that they replace.
        room::or_throw(2 * size_of_delta(length, 0))?;
        let values = with_scratch(0..length, |text| Delta::trusted(text, &[]))
            .map_err(|error| JsValue::from_str(&error_json(&error)))?;
        self.sessions.replace(scope, &values);
        Ok(())
    }

    /// Forgets a session that a store keeps; its user and its app, too, when no other session of theirs is here.
    pub fn forget(&mut self, session: usize) {
        self.sessions.forget(session);
    }

    /// Deletes a session. Its number can name another one from then on.
    pub fn remove(&mut self, session: usize) -> bool {
        self.sessions.remove_for_good(session)
    }

    /// The scopes that a session reads: its own, its app's, its user's.
    pub fn scopes(&self, session: usize) -> Option<Vec<u32>> {
        let scopes = self.sessions.scopes(session)?;
        Some([scopes.session, scopes.app, scopes.user].map(narrow).to_vec())
    }

    /// The scope of an app, or of a user in it, while there are sessions or values in it.
    pub fn scope(&self, app_name: &str, user_id: Option<String>) -> Option<u32> {
        self.sessions.scope(app_name, user_id.as_deref()).map(narrow)
    }

    /// The version of a scope: another number whenever its values may have changed.
    pub fn scope_version(&self, scope: ScopeId) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "2^53 versions are enough")]
        self.sessions.scope_state(scope).map_or(0.0, |state| state.version() as f64)
    }

    /// The values of a scope as a JSON object, under their full keys or their names.
    ///
    /// # Errors
    ///
    /// Throws when there is no memory for it.
    pub fn scope_json(&self, scope: ScopeId, full_keys: bool) -> std::result::Result<Option<String>, JsValue> {
        let Some(state) = self.sessions.scope_state(scope) else {
            return Ok(None);
        };
        room::or_throw(room::of_members(state.values().iter().map(|(key, json)| (&**key, json))))?;
        Ok(Some(state.to_json(full_keys)))
    }

    /// Lists the sessions of an app, or of one of its users: how many stand before the page, how many there are in
    /// all, then the sessions of the page. Nothing, when it refuses.
    pub fn list(
        &mut self,
        app_name: &str,
        user_id: Option<String>,
        descending: bool,
        limit: Option<u32>,
        offset: u32,
        cursor: Option<String>,
    ) -> Option<Vec<u32>> {
        let start = cursor.as_deref().map_or(Start::Offset(offset as usize), Start::After);
        let query = ListQuery {
            app_name,
            user_id: user_id.as_deref(),
            descending,
            limit: limit.map(|limit| limit as usize),
            start,
        };
        match room::ask(4096 + 64 * self.sessions.width(&query)).and_then(|()| self.sessions.list(&query)) {
            Ok(page) => Some([page.offset, page.total].into_iter().chain(page.sessions).map(narrow).collect()),
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }

    /// The cursor of a page that ends with a session.
    pub fn cursor(&self, session: usize) -> Option<String> {
        self.sessions.cursor(session)
    }

    /// When the memory has grown, makes it grow by an eighth at once. JavaScript hosts count the whole memory as newly
    /// allocated each time that it grows: growing page by page would start their garbage collector again and again.
    fn reserve(&mut self) {
        let pages = core::arch::wasm32::memory_size::<0>();
        if pages > self.pages {
            let mut block = Vec::<u8>::new();
            // Where that does not fit, the memory goes on growing page by page for as long as it can.
            let _ = block.try_reserve_exact(pages * 8 * 1024);
            drop(std::hint::black_box(block));
            self.pages = core::arch::wasm32::memory_size::<0>();
        }
    }

    /// Asks for the memory that a change can need until it is applied, with the delta and the keys that it deletes in
    /// the scratch buffer, and `names` bytes of names.
    fn ask(
        &self,
        app_name: &str,
        user_id: Option<&str>,
        session: Option<SessionId>,
        names: usize,
        length: usize,
        deleted: usize,
    ) -> Result<()> {
        let delta = size_of_delta(length, deleted);
        // `size_of_delta` counts 256 bytes a member, or more.
        let members = delta / 256;
        let prepared = 2 * size_of::<Option<PreparedChange>>() * self.prepared.capacity();
        room::ask(delta + names + prepared + self.sessions.growth(app_name, user_id, session, members))
    }

    fn prepared(&self, token: usize) -> Option<&PreparedChange> {
        self.prepared.get(token)?.as_ref()
    }

    fn take(&mut self, token: usize) -> Option<PreparedChange> {
        let prepared = self.prepared.get_mut(token)?.take()?;
        self.free.push(token);
        Some(prepared)
    }

    fn answer(&mut self, prepared: Result<PreparedChange>) -> i32 {
        match prepared {
            Ok(prepared) => self.keep(prepared),
            Err(error) => self.refuse(error),
        }
    }

    fn refuse(&mut self, error: Error) -> i32 {
        self.error = Some(error);
        REFUSED
    }

    fn keep(&mut self, prepared: PreparedChange) -> i32 {
        let ScopedDelta { app, user, session } = &prepared.change.delta;
        let scopes = [session, app, user, &prepared.temp];
        let touched: u32 =
            scopes.iter().zip([1, 2, 4, 8]).map(|(delta, bit)| if delta.is_empty() { 0 } else { bit }).sum();
        let token = self.free.pop().unwrap_or_else(|| {
            self.prepared.push(None);
            self.prepared.len() - 1
        });
        self.prepared[token] = Some(prepared);
        (narrow(token) << 4 | touched).cast_signed()
    }
}

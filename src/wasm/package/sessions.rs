//! The sessions of one service, as the package drives them.

mod apply;

use wasm_bindgen::prelude::*;

use self::apply::{ApplyResult, Target, applied_to, apply_to, drop_session, due, length_of, write_ids};
use super::buffers::{fill_words, read_floats, with_scratch, with_texts};
use super::errors::{tell_revisions, text_of};
use super::numbers::{narrow, version};
use super::places::Places;
use super::protocol::{Answer, Floats, NOTHING, Outcome, PageWords, ScopeBit, Shift, Words};
use super::{keys, room};
use crate::change::{Change, Guard, Prepared, SessionKey};
use crate::delta::{Delta, ScopedDelta};
use crate::error::{Error, Result};
use crate::ids::{ScopeId, SessionId};
use crate::list::{ListQuery, Start};
use crate::scope::Scope;
use crate::sessions::Sessions;

/// All sessions of one service, with the prepared changes that are not stored yet.
#[wasm_bindgen]
pub struct Core {
    /// The values are with the host.
    sessions: Sessions<()>,
    prepared: Vec<Option<PreparedChange>>,
    free: Vec<usize>,
    error: Option<Error>,
    /// The size of the memory when it last grew, in pages of 64 KiB.
    pages: usize,
}

struct PreparedChange {
    target: Target,
    change: Change<()>,
    /// The scope of each write, in the order of the delta.
    order: Vec<Scope>,
}

#[wasm_bindgen]
impl Core {
    /// Starts with no sessions.
    #[wasm_bindgen(constructor)]
    #[expect(clippy::new_without_default, reason = "JavaScript alone makes one")]
    pub fn new() -> Self {
        Self { sessions: Sessions::new(), prepared: Vec::new(), free: Vec::new(), error: None, pages: 0 }
    }

    /// Prepares a creation with the initial state in the words, so many. Behind them are the lengths of three texts in
    /// the scratch buffer, in bytes: the app's name, the user's id and the session's. Answers as
    /// [`Core::prepare_append`].
    pub fn prepare_create(&mut self, count: usize) -> i32 {
        let key = with_texts(count, |texts| {
            let [app_name, user_id, session_id] = texts.map(Option::unwrap_or_default);
            let names = app_name.len() + user_id.len() + session_id.len();
            self.ask(4 * names, count, self.sessions.growth(app_name, Some(user_id), count))?;
            Ok(SessionKey::new(app_name, user_id, session_id))
        });
        let key = match key {
            Ok(key) => key,
            Err(error) => return self.refuse(error),
        };
        let (time, _) = request();
        let change = keys::delta(count, |_, _| ()).and_then(|state| self.sessions.prepare_create(&key, time, state));
        match change {
            Ok(change) => self.keep(Target::Create(key), change, false, count),
            Err(error) => self.refuse(error),
        }
    }

    /// Prepares an append with a delta in the words, so many, and the event's id in the scratch buffer, of so many
    /// bytes. Its time and the versions that it expects are in the floats.
    ///
    /// Answers with a token above the bits of the scopes that change (see [`ScopeBit`] and [`Shift`]); or, for an id
    /// that the session has, with -1 minus its place in the log; or that it refuses (see [`Answer`]).
    pub fn prepare_append(&mut self, session: u32, count: usize, id: usize) -> i32 {
        let session = SessionId::of_number(session);
        if let Err(error) = self.ask(2 * id, count, self.sessions.growth_of_session(session, count)) {
            return self.refuse(error);
        }
        let (time, guard) = request();
        let prepared = keys::delta(count, |_, _| ())
            .and_then(|delta| with_scratch(0..id, |id| self.sessions.prepare_append(session, id, time, delta, guard)));
        match prepared {
            Ok(Prepared::Change { change, temp }) => {
                self.keep(Target::Append(session), change, !temp.is_empty(), count)
            }
            Ok(Prepared::Duplicate { place }) => -1 - narrow(place).cast_signed(),
            Err(error) => self.refuse(error),
        }
    }

    /// Prepares a change of app and user state with the delta in the words, so many. Behind them are the lengths of
    /// three texts: the app's name, the user's id, which may be absent, and the id of the change. Answers as
    /// [`Core::prepare_append`].
    pub fn prepare_update(&mut self, count: usize) -> i32 {
        let prepared = with_texts(count, |[app_name, user_id, id]| {
            let (app_name, id) = (app_name.unwrap_or_default(), id.unwrap_or_default());
            let names = app_name.len() + user_id.map_or(0, str::len) + id.len();
            self.ask(4 * names, count, self.sessions.growth(app_name, user_id, count))?;
            let (time, guard) = request();
            let delta = keys::delta(count, |_, _| ())?;
            let change = self.sessions.prepare_update(app_name, user_id, id, time, delta, guard)?;
            Ok((Target::Update { app_name: app_name.to_owned(), user_id: user_id.map(str::to_owned) }, change))
        });
        match prepared {
            Ok((target, change)) => self.keep(target, change, false, count),
            Err(error) => self.refuse(error),
        }
    }

    /// One of the texts of the error of the last request that was refused or has failed (see
    /// [`ErrorText`](super::ErrorText)), if the error has that text. Its revisions are in the floats (see [`Floats`]).
    pub fn error_text(&self, part: u32) -> Option<String> {
        text_of(self.error.as_ref()?, part)
    }

    /// Applies a prepared change that is stored, in those scopes that are not known already: `scopes` has a bit for
    /// each (see [`ScopeBit`]). Answers with what has happened (see [`Outcome`]), and in the words with the session,
    /// its scopes and the place of each write (see [`Words`]); where a write changes nothing there is no place.
    pub fn apply(&mut self, token: usize, scopes: u32) -> u32 {
        let Some(prepared) = self.take(token) else {
            return self.fail(Error::invalid("the change has been applied or discarded"));
        };
        // The memory was asked for when the change was prepared. Where it has been used since, the reserve is there.
        room::is_there(4096);
        self.reserve();
        let PreparedChange { target, mut change, order, .. } = prepared;
        let ScopedDelta { app, user, session } = &mut change.delta;
        for (delta, bit) in [(session, ScopeBit::Session), (app, ScopeBit::App), (user, ScopeBit::User)] {
            if scopes & bit as u32 == 0 {
                *delta = Delta::new();
            }
        }
        let has_event = scopes & ScopeBit::Session as u32 != 0;
        let applied = fill_words(Words::Places as usize + order.len(), |words| {
            let (head, places) = words.split_at_mut(Words::Places as usize);
            let applied = apply_to(&mut self.sessions, target, &change, has_event, Places::new(&order, places))?;
            write_ids(head, &applied);
            Ok(applied)
        });
        match applied.and_then(|applied| applied) {
            Ok(ApplyResult { outcome, dropped, .. }) => outcome | due(dropped),
            Err(error) => self.fail(error),
        }
    }

    /// Forgets a prepared change that is not stored.
    pub fn discard(&mut self, token: usize) {
        self.take(token);
    }

    /// Takes over a session that a store has, at this revision from now on. The lengths of its three texts are the
    /// first words: the app's name, the user's id and the session's. Answers as [`Core::apply`], without places.
    pub fn restore(&mut self, revision: f64, time: f64) -> u32 {
        let key = with_texts(0, |texts| {
            let [app_name, user_id, session_id] = texts.map(Option::unwrap_or_default);
            let names = app_name.len() + user_id.len() + session_id.len();
            room::ask(4096 + 4 * names + self.sessions.growth(app_name, Some(user_id), 0))?;
            Ok(SessionKey::new(app_name, user_id, session_id))
        });
        let key = match key {
            Ok(key) => key,
            Err(error) => return self.fail(error),
        };
        self.reserve();
        let session = self.sessions.restore(&key, version(revision).unwrap_or(0), time);
        let applied = applied_to(&self.sessions, session);
        match fill_words(Words::Places as usize, |words| write_ids(words, &applied)) {
            Ok(()) => 0,
            Err(error) => self.fail(error),
        }
    }

    /// Takes over the values that a store has for a scope: so many, whose keys are in the words. Their places are the
    /// numbers from 0.
    pub fn replace(&mut self, scope: u32, count: usize) -> u32 {
        let scope = ScopeId::of_number(scope);
        // The new values beside those that they replace.
        let values = room::ask(2 * room::of_writes(count)).and_then(|()| keys::delta(count, |_, _| ()));
        match values {
            Ok(values) => {
                let before = length_of(&self.sessions, scope);
                self.sessions.replace(scope, &values);
                due(before)
            }
            Err(error) => self.fail(error),
        }
    }

    /// Forgets a session that a store keeps; its user and its app, too, when no other session of theirs is here.
    /// Answers with what has happened: see [`Outcome`].
    pub fn forget(&mut self, session: u32) -> u32 {
        let session = SessionId::of_number(session);
        drop_session(&mut self.sessions, session, |sessions| {
            sessions.forget(session);
            true
        })
    }

    /// Deletes a session. Its number can name another one from then on. Answers with what has happened: see
    /// [`Outcome`].
    pub fn remove(&mut self, session: u32) -> u32 {
        let session = SessionId::of_number(session);
        drop_session(&mut self.sessions, session, |sessions| sessions.remove_for_good(session))
    }

    /// The scope of an app, or of a user in it, while there are sessions or values in it; or
    /// [`Absent::Number`](super::Absent). The lengths of the app's name and of the user's id, which may be absent, are
    /// the first words.
    pub fn scope(&self) -> u32 {
        let scope =
            with_texts(0, |[app_name, user_id, _]| Ok(self.sessions.scope(app_name.unwrap_or_default(), user_id)));
        scope.ok().flatten().map_or(NOTHING, ScopeId::number)
    }

    /// The version of a scope: another number whenever its values may have changed.
    pub fn scope_version(&self, scope: u32) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "2^53 versions are enough")]
        self.sessions.scope_state(ScopeId::of_number(scope)).map_or(0.0, |state| state.version() as f64)
    }

    /// Lists the sessions of an app, or of one of its users: so many at most, after so many. The lengths of three texts
    /// are the first words: the app's name, the user's id and the cursor, both of which may be absent. Answers with how
    /// many are on the page, or that it refuses (see [`Answer`]), and with the page in the words (see [`PageWords`]).
    pub fn list(&mut self, descending: bool, limit: u32, offset: u32) -> i32 {
        let page = with_texts(0, |[app_name, user_id, cursor]| {
            let query = ListQuery {
                app_name: app_name.unwrap_or_default(),
                user_id,
                descending,
                limit: Some(limit as usize),
                start: cursor.map_or(Start::Offset(offset as usize), Start::After),
            };
            room::ask(4096 + self.sessions.growth_of_list(&query))?;
            self.sessions.list(&query)
        });
        let count = page.and_then(|page| {
            let count = page.sessions.len();
            fill_words(PageWords::Sessions as usize + count, |words| {
                let (head, sessions) = words.split_at_mut(PageWords::Sessions as usize);
                head[PageWords::Offset as usize] = narrow(page.offset);
                head[PageWords::Total as usize] = narrow(page.total);
                sessions.iter_mut().zip(&page.sessions).for_each(|(word, &session)| *word = session.number());
                narrow(count).cast_signed()
            })
        });
        count.unwrap_or_else(|error| self.refuse(error))
    }

    /// The cursor of a page that ends with a session.
    pub fn cursor(&self, session: u32) -> Option<String> {
        self.sessions.cursor(SessionId::of_number(session))
    }

    /// Makes the memory grow by an eighth at once when it has grown. JavaScript hosts count the whole memory as newly
    /// allocated each time that it grows: growing page by page would start their garbage collector again and again.
    fn reserve(&mut self) {
        let pages = core::arch::wasm32::memory_size::<0>();
        if pages > self.pages {
            let mut block = Vec::<u8>::new();
            // If an eighth does not fit, the memory goes on growing page by page for as long as it can.
            let _ = block.try_reserve_exact(pages * 8 * 1024);
            drop(std::hint::black_box(block));
            self.pages = core::arch::wasm32::memory_size::<0>();
        }
    }

    /// Asks for the memory that a change can need until it is applied, with so many writes, `names` bytes of names, and
    /// so many bytes by which the sessions grow.
    fn ask(&self, names: usize, count: usize, growth: usize) -> Result<()> {
        let prepared = 2 * size_of::<Option<PreparedChange>>() * self.prepared.capacity();
        room::ask(4096 + room::of_writes(count) + names + prepared + growth)
    }

    fn take(&mut self, token: usize) -> Option<PreparedChange> {
        let prepared = self.prepared.get_mut(token)?.take()?;
        self.free.push(token);
        Some(prepared)
    }

    fn refuse(&mut self, error: Error) -> i32 {
        self.keep_error(error);
        Answer::Refused as i32
    }

    fn fail(&mut self, error: Error) -> u32 {
        self.keep_error(error);
        Outcome::Failed as u32
    }

    #[inline(never)]
    fn keep_error(&mut self, error: Error) {
        tell_revisions(&error);
        self.error = Some(error);
    }

    fn keep(&mut self, target: Target, change: Change<()>, has_temp: bool, count: usize) -> i32 {
        let ScopedDelta { app, user, session } = &change.delta;
        let changed = [
            (!session.is_empty(), ScopeBit::Session),
            (!app.is_empty(), ScopeBit::App),
            (!user.is_empty(), ScopeBit::User),
            (has_temp, ScopeBit::Temp),
        ];
        let scopes: u32 = changed.into_iter().map(|(is_changed, bit)| if is_changed { bit as u32 } else { 0 }).sum();
        let token = self.free.pop().unwrap_or_else(|| {
            self.prepared.push(None);
            self.prepared.len() - 1
        });
        self.prepared[token] = Some(PreparedChange { target, change, order: keys::scopes(count) });
        (narrow(token) << Shift::Token as u32 | scopes).cast_signed()
    }
}

/// The keys of a service that ends are not used by it any more.
impl Drop for Core {
    fn drop(&mut self) {
        keys::note_dropped(self.sessions.scope_states().map(|state| state.values().len()).sum());
    }
}

/// The time in the floats, and the versions that are expected.
fn request() -> (f64, Guard) {
    let floats = read_floats();
    let expected = |place: Floats| version(floats[place as usize]);
    let guard = Guard {
        revision: expected(Floats::Revision),
        app: expected(Floats::AppVersion),
        user: expected(Floats::UserVersion),
    };
    (floats[Floats::Time as usize], guard)
}

//! One invocation: it keeps `temp:` keys until its end, and writes until an event carries them.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::delta::{Delta, Write};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, EventActions};
use crate::json::{Json, quoted};
use crate::maps::Ordered;
use crate::native::requests::GetRequest;
use crate::native::service::SessionService;
use crate::native::session::Session;
use crate::operator::Operator;
use crate::pending::{Composed, PendingWrite, PendingWrites, SentWrites};
use crate::scope::Scope;
use crate::state::{SessionState, reading_methods, state_trait};

/// Everything from one user input to the final answer. Its contexts, one per author, share it.
///
/// Of two writes to one key the one made later wins, whatever order the events are appended in.
///
/// # Examples
///
/// ```
/// use statepad::{Event, Invocation, SessionState};
///
/// let mut invocation = Invocation::new(SessionState::default());
/// invocation.context("planner").set("temp:plan", "walk".into())?;
/// assert_eq!(invocation.context("writer").get("temp:plan"), Some("walk".into()));
/// let mut event = Event::new("inv-1");
/// let sent = invocation.send("planner", &mut event)?;
/// assert_eq!(event.actions.state_delta["temp:plan"], "walk");
/// // Append the event, and then say what has become of it.
/// invocation.failed(sent);
/// assert!(invocation.end().is_err(), "the write is pending again");
/// invocation.discard("planner");
/// invocation.end()?;
/// # Ok::<(), statepad::Error>(())
/// ```
#[derive(Debug)]
pub struct Invocation {
    id: Option<String>,
    committed: SessionState,
    temp: Ordered<Json>,
    pending: PendingWrites,
    ended: bool,
}

/// The state of an invocation as one author reads and writes it.
#[derive(Debug)]
pub struct Context<'a> {
    invocation: &'a mut Invocation,
    author: &'a str,
}

impl Invocation {
    /// Begins an invocation over the committed state of a session.
    pub fn new(committed: SessionState) -> Self {
        Self { id: None, committed, temp: Ordered::default(), pending: PendingWrites::default(), ended: false }
    }

    /// Names the invocation: the events that carry its writes get this id, and errors name it.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The state as an author reads and writes it.
    pub fn context<'a>(&'a mut self, author: &'a str) -> Context<'a> {
        Context { invocation: self, author }
    }

    /// Appends an event of an author with its pending writes, and takes over the session's state. The event's own
    /// delta comes on top of them. A partial event is handed back and changes nothing. When it fails, the writes are
    /// pending again, each in its old place in the order; an event that is appended again under its id carries the
    /// same writes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvocationEnded`], and as [`SessionService::append`].
    pub async fn append<S: SessionService + ?Sized>(
        &mut self,
        service: &S,
        session: &Session,
        author: &str,
        mut event: Event,
    ) -> Result<Event> {
        if event.partial {
            self.require_open()?;
            return Ok(event);
        }
        author.clone_into(&mut event.author);
        self.name(&mut event);
        let original = event.clone();
        let sent = self.send(author, &mut event)?;
        let appended = async {
            if let Some(before) = sent.before() {
                let stored = read(service, session).await?.is_some_and(|session| holds(&session, &event.id, before));
                if stored {
                    event = original;
                    carry(&mut event, before);
                }
            }
            service.append(session.into(), event).await
        };
        match appended.await {
            Ok(stored) => {
                // The event is stored, also when the session cannot be read back.
                let read = read(service, session).await.ok().flatten();
                let committed = read.map_or_else(|| self.committed.clone(), |session| session.state().clone());
                self.appended(&sent, committed);
                Ok(stored)
            }
            Err(error) => {
                self.failed(sent);
                Err(error)
            }
        }
    }

    /// Puts the pending writes of an author into an event that the caller appends; what the event has in its own delta
    /// stays on top of them. The writes are on their way until the caller calls [`Invocation::appended`] or
    /// [`Invocation::failed`]. The rules are those of [`Invocation::append`].
    ///
    /// A key that another author has written since is not among them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvocationEnded`], and as [`Event::delta`].
    pub fn send(&mut self, author: &str, event: &mut Event) -> Result<SentWrites> {
        self.require_open()?;
        let operators: Vec<_> =
            event.actions.operators_in_order().map(|(key, operator)| (key, operator.clone())).collect();
        for (key, operator) in &operators {
            operator.check(key)?;
        }
        let sent = self.pending.send(author, &event.id, &event.delta()?, &operators)?;
        if let Err(error) = self.check_temp(&sent) {
            self.pending.failed(sent);
            return Err(error);
        }
        self.name(event);
        carry(event, sent.content());
        Ok(sent)
    }

    /// The event is stored, and this is the session's state now. `temp:` keys stay visible until the end.
    pub fn appended(&mut self, sent: &SentWrites, committed: SessionState) {
        self.take_temp(sent.content());
        self.pending.stored(sent);
        self.committed = committed;
    }

    /// The event has failed: the writes are pending again, each in its old place in the order. Only what the event had
    /// in its own delta is taken back.
    pub fn failed(&mut self, sent: SentWrites) {
        self.pending.failed(sent);
    }

    /// Takes the writes of an author, to put them into a change that cannot fail. `temp:` keys stay visible until the
    /// end.
    ///
    /// A key that another author has written since is not among them: the later write wins, whatever order the events
    /// are appended in. Operators stay pending: what they come to is known when an event is appended.
    pub fn take_delta(&mut self, author: &str) -> Delta {
        let taken = self.pending.take(author);
        self.take_temp(&taken);
        taken.delta()
    }

    /// Takes over the committed state after an event has been appended.
    pub fn refresh(&mut self, committed: SessionState) {
        self.committed = committed;
    }

    /// Drops the writes of an author that no event has carried. Earlier writes of another author under the same keys
    /// are pending again.
    pub fn discard(&mut self, author: &str) {
        self.pending.discard(author);
    }

    /// Drops the writes of all authors that no event has carried.
    pub fn discard_all(&mut self) {
        self.pending.clear();
    }

    /// Ends the invocation: `temp:` keys are gone, and nothing can be written any more.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] when writes are pending: they would be lost. The invocation goes on.
    pub fn end(&mut self) -> Result<()> {
        let mut keys = self.pending.keys().peekable();
        if let Some(&first) = keys.peek() {
            let keys = keys.map(|key| quoted(key)).collect::<Vec<_>>().join(", ");
            let message = format!("writes were never appended: {keys}; append or discard them");
            return Err(Error::invalid(message).with_key(&**first));
        }
        self.temp.clear();
        self.ended = true;
        Ok(())
    }

    /// Gives an event the id of the invocation, where it has one.
    fn name(&self, event: &mut Event) {
        if let Some(id) = &self.id {
            id.clone_into(&mut event.invocation_id);
        }
    }

    fn write(&mut self, author: &str, key: &str, write: PendingWrite) -> Result<()> {
        self.require_open()?;
        self.pending.write(author, key, write)
    }

    fn require_open(&self) -> Result<()> {
        if self.ended {
            let Some(id) = &self.id else {
                return Err(Error::new(ErrorKind::InvocationEnded, "the invocation has ended"));
            };
            let message = format!("the invocation \"{id}\" has ended");
            return Err(Error::new(ErrorKind::InvocationEnded, message).with_id(id));
        }
        Ok(())
    }

    fn take_temp(&mut self, content: &Composed) {
        for (key, write) in content.iter().filter(|(key, _)| Scope::split(key).0 == Scope::Temp) {
            let value = match write {
                PendingWrite::Plain(Write::Set(json)) => Some(json.clone()),
                PendingWrite::Plain(Write::Unset) => None,
                PendingWrite::Operator(operator) => {
                    let current = self.temp.get(key);
                    operator.resolve(current).ok().or_else(|| current.cloned())
                }
            };
            match value {
                Some(json) => self.temp.insert(Arc::clone(key), json),
                None => self.temp.shift_remove(key),
            };
        }
    }

    /// The operators of `temp:` keys are resolved here: no service sees these.
    fn check_temp(&self, sent: &SentWrites) -> Result<()> {
        let mut temp = sent.operators().filter(|(key, _)| Scope::split(key).0 == Scope::Temp);
        temp.try_for_each(|(key, operator)| operator.resolve_key(key, self.temp.get(key)).map(drop))
    }
}

/// Makes an event say this: the writes that were pending first, then those of its own delta, and the operators.
fn carry(event: &mut Event, content: &Composed) {
    let actions = &mut event.actions;
    let (state_delta, order) = (std::mem::take(&mut actions.state_delta), std::mem::take(&mut actions.order));
    actions.operators.clear();
    let own = EventActions { state_delta, order, ..EventActions::default() };
    let delta = content.delta();
    event.carry(delta.iter().filter(|(key, _)| !own.state_delta.contains_key(*key)));
    for (key, value) in own.in_order() {
        event.actions.set(key, value.clone());
    }
    for (key, operator) in content.operators() {
        event.actions.operate(key, operator.clone());
    }
}

async fn read<S: SessionService + ?Sized>(service: &S, session: &Session) -> Result<Option<Session>> {
    let (app_name, user_id, session_id) =
        (session.app_name().to_owned(), session.user_id().to_owned(), session.id().to_owned());
    service.get(GetRequest { app_name, user_id, session_id, ..GetRequest::default() }).await
}

/// Returns `true` if a session has an event that has made all of these writes.
fn holds(session: &Session, id: &str, content: &Composed) -> bool {
    session.events().iter().filter(|event| event.id == id).any(|event| {
        let is_there = |key: &str| event.actions.state_delta.contains_key(key);
        content.iter().all(|(key, _)| Scope::split(key).0 == Scope::Temp || is_there(key))
    })
}

impl Invocation {
    fn map(&self) -> Map<String, Value> {
        let mut all = self.committed.to_map();
        all.extend(self.temp.iter().map(|(key, json)| (key.to_string(), json.to_value())));
        for key in self.pending.keys() {
            match self.json(key) {
                Some(json) => all.insert(key.to_string(), json.to_value()),
                None => all.shift_remove(&**key),
            };
        }
        all
    }

    fn json(&self, key: &str) -> Option<Json> {
        let stored = || self.temp.get(key).or_else(|| self.committed.json(key));
        self.pending.visible(key, stored)
    }
}

reading_methods!(
    Invocation,
    "the session's as [`SessionState::to_map`] has them, then `temp:` keys and pending writes."
);

impl Context<'_> {
    /// Sets a key to a value, whole.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ValueNotJson`] for a value nested too deep, [`ErrorKind::InvocationEnded`].
    #[expect(clippy::needless_pass_by_value, reason = "so that a value can be written where it is set")]
    pub fn set(&mut self, key: &str, value: Value) -> Result<()> {
        let json = Json::of_key("state", key, &value)?;
        self.invocation.write(self.author, key, PendingWrite::Plain(Write::Set(json)))
    }

    /// Deletes a key. Says whether it was there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvocationEnded`].
    pub fn delete(&mut self, key: &str) -> Result<bool> {
        let there = self.has(key);
        if there {
            self.invocation.write(self.author, key, PendingWrite::Plain(Write::Unset))?;
        }
        Ok(there)
    }

    /// Does something to the value that a key has when the event that carries it is appended. Until then the key reads
    /// as if it were done now. Over a pending value it is resolved at once; increments add up, items go behind each
    /// other, and what is set once stays.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] over a pending value that it does not fit, and after another operator that it
    /// does not go together with: append the event first. [`ErrorKind::StateConflict`] when a pending value is another
    /// one than the one that is expected. [`ErrorKind::ValueNotJson`], [`ErrorKind::InvocationEnded`].
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::{Event, Invocation, Operator, SessionState};
    ///
    /// let mut invocation = Invocation::new(SessionState::default());
    /// invocation.context("planner").operate("app:visits", Operator::Increment(1.0))?;
    /// invocation.context("planner").operate("app:visits", Operator::Increment(2.0))?;
    /// assert_eq!(invocation.context("writer").get("app:visits"), Some(3.into()));
    /// let mut event = Event::new("inv-1");
    /// let sent = invocation.send("planner", &mut event)?;
    /// assert_eq!(event.actions.operators["app:visits"], Operator::Increment(3.0));
    /// # invocation.failed(sent);
    /// # Ok::<(), statepad::Error>(())
    /// ```
    pub fn operate(&mut self, key: &str, operator: Operator) -> Result<()> {
        operator.check(key)?;
        self.invocation.write(self.author, key, PendingWrite::Operator(operator))
    }

    fn map(&self) -> Map<String, Value> {
        self.invocation.map()
    }

    fn json(&self, key: &str) -> Option<Json> {
        self.invocation.json(key)
    }
}

reading_methods!(Context<'_>, "as [`Invocation::to_map`] has them.");
state_trait!(Context<'_>, Self::set);

#[cfg(test)]
mod tests;

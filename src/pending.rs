//! Writes of an invocation that wait for the event that carries them. The same rules as in the package
//! (pkg/src/context/pending-writes.ts).

use std::sync::Arc;

use crate::delta::{Delta, Write};
use crate::error::Result;
use crate::json::Json;
use crate::maps::Ordered;
use crate::operator::Operator;

mod composed;

pub(crate) use composed::{Composed, PendingWrite};

use composed::visible_over;

/// A write that is not stored yet.
#[derive(Debug, Clone)]
struct Pending {
    author: Arc<str>,
    write: PendingWrite,
    /// Its place in the order of writing.
    place: u64,
    /// An event that carries it is on its way.
    is_sent: bool,
    /// An event that carried it has failed: the same event, appended again, carries it again.
    has_failed: bool,
}

/// A write in an event.
#[derive(Debug, Clone)]
struct EventWrite {
    key: Arc<str>,
    write: PendingWrite,
    place: u64,
}

/// The writes of a failed event.
#[derive(Debug)]
struct FailedEvent {
    author: Arc<str>,
    carried: Vec<EventWrite>,
    /// All of its writes.
    content: Composed,
}

/// The writes that one event carries, until it is known what has become of it:
/// [`Invocation::appended`](crate::Invocation::appended) or [`Invocation::failed`](crate::Invocation::failed).
#[derive(Debug)]
#[must_use = "say what has become of the event: appended or failed"]
pub struct SentWrites {
    id: String,
    author: Arc<str>,
    carried: Vec<EventWrite>,
    own: Vec<EventWrite>,
    content: Composed,
    before: Option<Composed>,
}

impl SentWrites {
    /// The pending writes that go into the event, in the order of writing, without those of the event's own delta and
    /// without operators.
    pub fn delta(&self) -> Delta {
        let is_own = |key: &str| self.own.iter().any(|own| &*own.key == key);
        self.content.delta().iter().filter(|(key, _)| !is_own(key)).map(|(key, write)| (key, write.clone())).collect()
    }

    /// The operators that go into the event, the event's own included, which go together with those that were pending.
    pub fn operators(&self) -> impl Iterator<Item = (&str, &Operator)> {
        self.content.operators()
    }

    /// All writes of the event.
    pub(crate) fn content(&self) -> &Composed {
        &self.content
    }

    /// The writes that the event carried when it failed before, if another event has stored a later write to one of
    /// its keys since. If the event is stored after all, it has either these writes or those of
    /// [`SentWrites::content`].
    pub(crate) fn before(&self) -> Option<&Composed> {
        self.before.as_ref()
    }
}

/// The pending writes of one invocation: under each key a stack, the latest on top.
#[derive(Debug, Default)]
pub(crate) struct PendingWrites {
    stacks: Ordered<Vec<Pending>>,
    /// By the event's id.
    failed: Ordered<FailedEvent>,
    count: u64,
}

impl PendingWrites {
    /// The visible value of a key over the value that is `stored`: the latest write, with operators resolved.
    pub fn visible<'a>(&self, key: &str, stored: impl FnOnce() -> Option<&'a Json>) -> Option<Json> {
        let stack = self.stacks.get(key).map_or(&[][..], Vec::as_slice);
        match stack.last().map(|top| &top.write) {
            None => stored().cloned(),
            Some(PendingWrite::Plain(Write::Set(json))) => Some(json.clone()),
            Some(PendingWrite::Plain(Write::Unset)) => None,
            // Under an operator there are only operators.
            Some(PendingWrite::Operator(_)) => {
                visible_over(stack.iter().filter_map(|pending| pending.write.operator()), stored())
            }
        }
    }

    /// The keys, in the order of writing.
    pub fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.latest().into_iter().map(|(key, _)| key)
    }

    /// The result of a write under a key: an operator over a pending value is resolved at once. A write that is on its
    /// way is not looked at.
    fn over(&self, key: &str, next: PendingWrite) -> Result<PendingWrite> {
        let top = self.stacks.get(key).and_then(|stack| stack.last());
        match (next.operator(), top) {
            (Some(operator), Some(top)) if !(top.is_sent && top.write.operator().is_some()) => {
                let made = top.write.followed_by(key, operator)?;
                Ok(if made.operator().is_some() { next } else { made })
            }
            _ => Ok(next),
        }
    }

    /// Adds a write. It replaces what the same author has written to the key before, unless an event carries that; an
    /// operator goes together with those before it.
    ///
    /// # Errors
    ///
    /// As [`PendingWrite::followed_by`].
    pub fn write(&mut self, author: &str, key: &str, next: PendingWrite) -> Result<()> {
        let mut write = self.over(key, next)?;
        let top = self.stacks.get(key).and_then(|stack| stack.last());
        let free = top.filter(|top| &*top.author == author && !top.is_sent && !top.has_failed).cloned();
        match (write.operator(), free) {
            (None, _) => self.keep(key, |pending| &*pending.author != author || pending.is_sent || pending.has_failed),
            (Some(operator), Some(free)) => {
                write = free.write.followed_by(key, operator)?;
                self.keep(key, |pending| pending.place != free.place);
            }
            (Some(_), None) => {}
        }
        self.push(&Arc::from(author), &Arc::from(key), write);
        Ok(())
    }

    /// Drops what an author has written and no event is carrying. Earlier writes of other authors to these keys are
    /// the latest again.
    pub fn discard(&mut self, author: &str) {
        self.failed.retain(|_, failed| &*failed.author != author);
        self.stacks.retain(|_, stack| {
            stack.retain(|pending| &*pending.author != author || pending.is_sent);
            !stack.is_empty()
        });
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.stacks.clear();
        self.failed.clear();
    }

    /// Sends an event of an author. It carries the author's writes that are the latest of their key, operators with
    /// all of their kind that are pending under them, and the event's `own` delta and operators over them. An event
    /// that has failed carries the same again, without writes over which later ones have been stored.
    ///
    /// # Errors
    ///
    /// As [`PendingWrite::followed_by`].
    pub fn send(&mut self, author: &str, id: &str, own: &Delta, operators: &[(&str, Operator)]) -> Result<SentWrites> {
        let author: Arc<str> = Arc::from(author);
        let again = self.failed.get(id).filter(|failed| failed.author == author);
        let rest: Option<Vec<EventWrite>> =
            again.map(|failed| failed.carried.iter().filter(|carried| self.is_pending(carried)).cloned().collect());
        let before = again
            .zip(rest.as_ref())
            .and_then(|(failed, rest)| (rest.len() < failed.carried.len()).then(|| failed.content.clone()));
        let mut values: Vec<(Arc<str>, PendingWrite)> =
            own.iter().map(|(key, write)| (Arc::from(key), PendingWrite::Plain(write.clone()))).collect();
        let mut under = Vec::new();
        for (key, operator) in operators {
            // Given again after it failed, it comes to what it came to then.
            let write = match again.and_then(|failed| failed.content.get(key)) {
                Some(PendingWrite::Plain(write)) => PendingWrite::Plain(write.clone()),
                Some(PendingWrite::Operator(_)) => PendingWrite::Operator(operator.clone()),
                None => self.over(key, PendingWrite::Operator(operator.clone()))?,
            };
            let key: Arc<str> = Arc::from(*key);
            if let Some(operator) = write.operator() {
                under.extend(self.operators(&key, operator));
            }
            values.push((key, write));
        }
        let is_operator = |key: &str| operators.iter().any(|(other, _)| *other == key);
        let is_own = |key: &str| own.get(key).is_some() || is_operator(key);
        let carried: Vec<EventWrite> = if let Some(rest) = rest {
            rest.into_iter().filter(|it| !is_own(&it.key) || is_operator(&it.key)).collect()
        } else {
            let next = self.next(&author).into_iter().filter(|it| !is_own(&it.key));
            next.flat_map(|it| self.with_earlier(it)).chain(under).collect()
        };
        let mut content = Composed::default();
        for EventWrite { key, write, .. } in &carried {
            content.push(key, write)?;
        }
        for (key, write) in &values {
            content.push(key, write)?;
        }
        let own = values.into_iter().map(|(key, write)| self.push(&author, &key, write)).collect();
        let sent = SentWrites { id: id.to_owned(), author, carried, own, content, before };
        for carried in sent.carried.iter().chain(&sent.own) {
            self.change(carried, |pending| pending.is_sent = true);
        }
        Ok(sent)
    }

    /// The event is stored: neither what it carried nor earlier writes to its keys are pending any more, but for
    /// operators that it did not carry.
    pub fn stored(&mut self, SentWrites { id, carried, own, .. }: &SentWrites) {
        for EventWrite { key, place, write } in carried.iter().chain(own) {
            let is_operator = write.operator().is_some();
            self.keep(key, |pending| if is_operator { pending.place != *place } else { pending.place > *place });
        }
        self.failed.shift_remove(id.as_str());
    }

    /// The event has failed: the writes that it carried are pending again, at their old places. Those of its own delta
    /// are removed.
    pub fn failed(&mut self, SentWrites { id, author, carried, own, content, before }: SentWrites) {
        for EventWrite { key, place, .. } in &own {
            self.keep(key, |pending| pending.place != *place);
        }
        for carried in &carried {
            self.change(carried, |pending| {
                pending.is_sent = false;
                pending.has_failed |= !id.is_empty();
            });
        }
        if !id.is_empty() && before.is_none() {
            self.failed.insert(Arc::from(id), FailedEvent { author, carried, content });
        }
    }

    /// Takes what the next event of an author would carry, but for operators, which stay pending.
    pub fn take(&mut self, author: &str) -> Composed {
        let mut writes = Composed::default();
        for EventWrite { key, write, place } in self.next(author) {
            if write.operator().is_none() && writes.push(&key, &write).is_ok() {
                self.keep(&key, |pending| pending.place > place);
            }
        }
        writes
    }

    /// The writes that the next event of an author carries.
    fn next(&self, author: &str) -> Vec<EventWrite> {
        let own = self.latest().into_iter().filter(|(_, pending)| &*pending.author == author && !pending.is_sent);
        own.map(|(key, pending)| pending.carried(key)).collect()
    }

    /// The operators of a kind that are pending under a key, and that no event carries.
    fn operators(&self, key: &Arc<str>, operator: &Operator) -> Vec<EventWrite> {
        let is_one = |pending: &&Pending| {
            !pending.is_sent && pending.write.operator().is_some_and(|other| other.name() == operator.name())
        };
        let stack = self.stacks.get(key).map_or(&[][..], Vec::as_slice);
        stack.iter().filter(is_one).map(|pending| pending.carried(key)).collect()
    }

    /// A write, and if it is an operator those before it that become one with it.
    fn with_earlier(&self, carried: EventWrite) -> Vec<EventWrite> {
        match carried.write.operator() {
            Some(operator) => self.operators(&carried.key, operator),
            None => vec![carried],
        }
    }

    fn latest(&self) -> Vec<(&Arc<str>, &Pending)> {
        let mut latest: Vec<_> =
            self.stacks.iter().filter_map(|(key, stack)| stack.last().map(|pending| (key, pending))).collect();
        latest.sort_unstable_by_key(|(_, pending)| pending.place);
        latest
    }

    fn is_pending(&self, EventWrite { key, place, .. }: &EventWrite) -> bool {
        self.stacks
            .get(key)
            .is_some_and(|stack| stack.iter().any(|pending| pending.place == *place && !pending.is_sent))
    }

    fn push(&mut self, author: &Arc<str>, key: &Arc<str>, write: PendingWrite) -> EventWrite {
        self.count += 1;
        let place = self.count;
        let pending = Pending { author: Arc::clone(author), write, place, is_sent: false, has_failed: false };
        let carried = pending.carried(key);
        self.stacks.entry(Arc::clone(key)).or_default().push(pending);
        carried
    }

    fn change(&mut self, EventWrite { key, place, .. }: &EventWrite, change: impl FnOnce(&mut Pending)) {
        let stack = self.stacks.get_mut(key);
        if let Some(pending) = stack.and_then(|stack| stack.iter_mut().find(|pending| pending.place == *place)) {
            change(pending);
        }
    }

    /// Keeps the writes of a stack that stay.
    fn keep(&mut self, key: &str, stays: impl FnMut(&Pending) -> bool) {
        if let Some(stack) = self.stacks.get_mut(key) {
            stack.retain(stays);
            if stack.is_empty() {
                self.stacks.shift_remove(key);
            }
        }
    }
}

impl Pending {
    fn carried(&self, key: &Arc<str>) -> EventWrite {
        EventWrite { key: Arc::clone(key), write: self.write.clone(), place: self.place }
    }
}

#[cfg(test)]
mod tests;

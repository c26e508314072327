//! Writes of an invocation that wait for the event that carries them.

use std::sync::Arc;

use crate::delta::{Delta, Write};
use crate::maps::Ordered;

/// A write that is not stored yet.
#[derive(Debug, Clone)]
struct Pending {
    author: Arc<str>,
    write: Write,
    /// Its place in the order of writing.
    place: u64,
    /// An event that carries it is on its way.
    sent: bool,
    /// An event that carried it has failed: the same event, appended again, carries it again.
    kept: bool,
}

/// A write in an event.
#[derive(Debug, Clone)]
struct Carried {
    key: Arc<str>,
    write: Write,
    place: u64,
}

/// What a failed event carried.
#[derive(Debug)]
struct Failed {
    author: Arc<str>,
    carried: Vec<Carried>,
    own: Vec<Carried>,
}

/// The writes that one event carries, until it is known what has become of it:
/// [`Invocation::appended`](crate::Invocation::appended) or [`Invocation::failed`](crate::Invocation::failed).
#[derive(Debug)]
#[must_use = "say what has become of the event: appended or failed"]
pub struct SentWrites {
    id: String,
    author: Arc<str>,
    carried: Vec<Carried>,
    own: Vec<Carried>,
    before: Option<Delta>,
}

impl SentWrites {
    /// The pending writes that go into the event, in the order of writing, without those of the event's own delta.
    pub fn delta(&self) -> Delta {
        delta_of(&self.carried)
    }

    /// All that the event carries.
    pub(crate) fn writes(&self) -> impl Iterator<Item = (&Arc<str>, &Write)> {
        self.carried.iter().chain(&self.own).map(|carried| (&carried.key, &carried.write))
    }

    /// What the event carried when it failed before, if another event has stored a later write to one of its keys
    /// since. Whether the event says this or [`SentWrites::delta`] depends on whether it is stored after all.
    pub(crate) fn before(&self) -> Option<&Delta> {
        self.before.as_ref()
    }
}

/// The pending writes of one invocation: under each key a stack, the latest on top.
#[derive(Debug, Default)]
pub(crate) struct PendingWrites {
    stacks: Ordered<Vec<Pending>>,
    /// By the event's id.
    failed: Ordered<Failed>,
    count: u64,
}

impl PendingWrites {
    /// The latest write to a key.
    pub fn get(&self, key: &str) -> Option<&Write> {
        self.stacks.get(key)?.last().map(|pending| &pending.write)
    }

    /// The latest write of each key, in the order of writing.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Write)> {
        self.latest().into_iter().map(|(key, pending)| (key, &pending.write))
    }

    /// Adds a write. It replaces what the same author has written to the key before, unless an event carries that.
    pub fn write(&mut self, author: &str, key: &str, write: Write) {
        self.keep(key, |pending| &*pending.author != author || pending.sent || pending.kept);
        self.push(&Arc::from(author), &Arc::from(key), write);
    }

    /// Drops what an author has written and no event is carrying. Earlier writes of other authors to these keys are
    /// the latest again.
    pub fn discard(&mut self, author: &str) {
        self.failed.retain(|_, failed| &*failed.author != author);
        self.stacks.retain(|_, stack| {
            stack.retain(|pending| &*pending.author != author || pending.sent);
            !stack.is_empty()
        });
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.stacks.clear();
        self.failed.clear();
    }

    /// Sends an event of an author. It carries the author's writes that are the latest of their key, and the event's
    /// `own` delta over them. An event that has failed carries the same again, without writes over which later ones
    /// have been stored.
    pub fn send(&mut self, author: &str, id: &str, own: &Delta) -> SentWrites {
        let author: Arc<str> = Arc::from(author);
        let again = self.failed.get(id).filter(|failed| failed.author == author);
        let left =
            again.map(|failed| failed.carried.iter().filter(|carried| self.is_pending(carried)).cloned().collect());
        let before = again.zip(left.as_ref()).and_then(|(failed, left): (_, &Vec<_>)| {
            (left.len() < failed.carried.len()).then(|| delta_of(failed.carried.iter().chain(&failed.own)))
        });
        let mut carried = left.unwrap_or_else(|| self.next(&author));
        carried.retain(|carried| own.get(&carried.key).is_none());
        let own = own.iter().map(|(key, write)| self.push(&author, &Arc::from(key), write.clone())).collect();
        let sent = SentWrites { id: id.to_owned(), author, carried, own, before };
        for carried in sent.carried.iter().chain(&sent.own) {
            self.change(carried, |pending| pending.sent = true);
        }
        sent
    }

    /// The event is stored: neither what it carried nor earlier writes to its keys are pending any more.
    pub fn stored(&mut self, SentWrites { id, carried, own, .. }: &SentWrites) {
        for Carried { key, place, .. } in carried.iter().chain(own) {
            self.keep(key, |pending| pending.place > *place);
        }
        self.failed.shift_remove(id.as_str());
    }

    /// The event has failed: what it carried is pending again, at its old place. What its own delta wrote is removed.
    pub fn failed(&mut self, SentWrites { id, author, carried, own, before }: SentWrites) {
        for Carried { key, place, .. } in &own {
            self.keep(key, |pending| pending.place != *place);
        }
        for carried in &carried {
            self.change(carried, |pending| {
                pending.sent = false;
                pending.kept |= !id.is_empty();
            });
        }
        if !id.is_empty() && before.is_none() {
            self.failed.insert(Arc::from(id), Failed { author, carried, own });
        }
    }

    /// What the next event of an author carries.
    fn next(&self, author: &str) -> Vec<Carried> {
        let own = self.latest().into_iter().filter(|(_, pending)| &*pending.author == author && !pending.sent);
        own.map(|(key, Pending { write, place, .. })| Carried {
            key: Arc::clone(key),
            write: write.clone(),
            place: *place,
        })
        .collect()
    }

    fn latest(&self) -> Vec<(&Arc<str>, &Pending)> {
        let mut latest: Vec<_> =
            self.stacks.iter().filter_map(|(key, stack)| stack.last().map(|pending| (key, pending))).collect();
        latest.sort_unstable_by_key(|(_, pending)| pending.place);
        latest
    }

    fn is_pending(&self, Carried { key, place, .. }: &Carried) -> bool {
        self.stacks.get(key).is_some_and(|stack| stack.iter().any(|pending| pending.place == *place && !pending.sent))
    }

    fn push(&mut self, author: &Arc<str>, key: &Arc<str>, write: Write) -> Carried {
        self.count += 1;
        let place = self.count;
        let pending = Pending { author: Arc::clone(author), write: write.clone(), place, sent: false, kept: false };
        self.stacks.entry(Arc::clone(key)).or_default().push(pending);
        Carried { key: Arc::clone(key), write, place }
    }

    fn change(&mut self, Carried { key, place, .. }: &Carried, change: impl FnOnce(&mut Pending)) {
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

fn delta_of<'a>(carried: impl IntoIterator<Item = &'a Carried>) -> Delta {
    carried.into_iter().map(|carried| (Arc::clone(&carried.key), carried.write.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(pending: &mut PendingWrites, author: &str, keys: &[&str]) {
        for key in keys {
            pending.write(author, key, Write::Unset);
        }
    }

    fn keys(delta: &Delta) -> Vec<&str> {
        delta.iter().map(|(key, _)| key).collect()
    }

    #[test]
    fn an_event_that_is_given_again_says_what_it_carried_before_as_long_as_some_of_it_was_overtaken() {
        let mut pending = PendingWrites::default();
        write(&mut pending, "a", &["x", "y"]);
        let first = pending.send("a", "1", &Delta::default());
        assert!(first.before().is_none(), "it is sent for the first time");
        pending.failed(first);
        let second = pending.send("a", "1", &Delta::default());
        assert_eq!((keys(&second.delta()), second.before()), (vec!["x", "y"], None), "nothing was overtaken");
        pending.failed(second);

        write(&mut pending, "b", &["x"]);
        let other = pending.send("b", "2", &Delta::default());
        pending.stored(&other);
        for _ in 0..3 {
            let again = pending.send("a", "1", &Delta::default());
            assert_eq!(keys(&again.delta()), ["y"]);
            assert_eq!(again.before().map(keys), Some(vec!["x", "y"]), "as it was at first, however often it fails");
            pending.failed(again);
        }
    }

    #[test]
    fn an_event_without_an_id_is_another_one_each_time() {
        let mut pending = PendingWrites::default();
        write(&mut pending, "a", &["x"]);
        let first = pending.send("a", "", &Delta::default());
        pending.failed(first);
        write(&mut pending, "a", &["y"]);
        let second = pending.send("a", "", &Delta::default());
        assert_eq!((keys(&second.delta()), second.before()), (vec!["x", "y"], None));
    }
}

//! Keys by number: interned for all services of the module.

use std::cell::RefCell;
use std::sync::Arc;

use wasm_bindgen::prelude::*;

use super::buffers::{with_scratch, with_words};
use super::numbers::narrow;
use super::protocol::{KeyWord, NOTHING, Shift};
use super::room;
use crate::delta::{Delta, Write};
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::scope::Scope;

thread_local! {
    static KEYS: RefCell<Keys> = const { RefCell::new(Keys::new()) };
}

/// Gives a number to the key in the scratch buffer, or finds the one that it has. Answers with the number above the
/// bits of its scope, or with [`Absent::Number`](super::Absent) for a text that is not UTF-8 and when there is no
/// memory for one more key.
#[wasm_bindgen]
pub fn intern(length: usize) -> u32 {
    let number = with_scratch(0..length, |key| {
        KEYS.with_borrow_mut(|keys| {
            if keys.find(key).is_none() {
                room::ask(4096 + 2 * key.len() + keys.growth())?;
            }
            let number = keys.number(key).ok_or_else(|| Error::invalid("there are too many keys"))?;
            Ok(narrow(number) << Shift::Key as u32 | bits_of(Scope::split(key).0) as u32)
        })
    });
    number.unwrap_or(NOTHING)
}

/// Releases the keys that no scope, no prepared change and no history has any more, and answers with their numbers:
/// they name other keys from then on.
#[wasm_bindgen]
pub fn released_keys() -> Vec<u32> {
    KEYS.with_borrow_mut(|keys| {
        // A short answer has room in the reserve. Where there is no memory for a longer one the keys stay until there
        // is.
        let size = keys.size_of_sweep();
        if !room::is_there(4096 + size) && size > room::RESERVE / 2 {
            return Vec::new();
        }
        keys.sweep().into_iter().map(narrow).collect()
    })
}

/// Notes that so many keys were dropped. Says whether it is time to ask for [`released_keys`].
pub(super) fn note_dropped(count: usize) -> bool {
    KEYS.with_borrow_mut(|keys| {
        keys.note_dropped(count);
        keys.is_sweep_due()
    })
}

/// The delta of the first words, so many, each of which names a key. `value` is given the place of a word.
#[inline(never)]
pub(super) fn delta<V>(count: usize, value: impl Fn(&[u32], usize) -> V) -> Result<Delta<V>> {
    KEYS.with_borrow(|keys| {
        with_words(|words| {
            let mut delta = Delta::with_capacity(count);
            for place in 0..count {
                let word = words.get(place).copied().unwrap_or(NOTHING);
                let key = keys.get(number_of(word)).ok_or_else(|| Error::invalid("a key of the delta is not known"))?;
                let is_deleted = word & KeyWord::Deleted as u32 != 0;
                let write = if is_deleted { Write::Unset } else { Write::Set(value(words, place)) };
                delta.push(Arc::clone(key), write);
            }
            Ok(delta)
        })
    })
}

/// The scopes of the first words, so many, each of which names a key.
pub(super) fn scopes(count: usize) -> Vec<Scope> {
    with_words(|words| words.iter().take(count).map(|&word| scope_of(word)).collect())
}

/// The key that a word names.
pub(super) fn key_of(word: u32) -> Option<Arc<str>> {
    KEYS.with_borrow(|keys| keys.get(number_of(word)).cloned())
}

/// The number of a key that has one.
pub(super) fn number(key: &str) -> u32 {
    KEYS.with_borrow(|keys| keys.find(key).map_or(NOTHING, narrow))
}

fn number_of(word: u32) -> usize {
    ((word & !(KeyWord::Deleted as u32)) >> Shift::Key as u32) as usize
}

fn scope_of(word: u32) -> Scope {
    const APP: u32 = KeyWord::App as u32;
    const USER: u32 = KeyWord::User as u32;
    const TEMP: u32 = KeyWord::Temp as u32;
    match word & TEMP {
        APP => Scope::App,
        USER => Scope::User,
        TEMP => Scope::Temp,
        _ => Scope::Session,
    }
}

fn bits_of(scope: Scope) -> KeyWord {
    match scope {
        Scope::Session => KeyWord::Session,
        Scope::App => KeyWord::App,
        Scope::User => KeyWord::User,
        Scope::Temp => KeyWord::Temp,
    }
}

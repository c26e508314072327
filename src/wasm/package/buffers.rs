//! The buffers through which texts and numbers cross. The host writes into the module's memory, and reads from it.

use std::cell::{Cell, RefCell};
use std::ops::Range;

use wasm_bindgen::prelude::*;

use super::numbers::narrow;
use super::protocol::{Floats, NOTHING};
use super::room;
use crate::error::{Error, Result};

/// The words are at least so many.
const LEAST: usize = 64;

/// Of more words than this, those are given back that are this many times as many as are needed.
const LARGE: usize = 1 << 18;
const MUCH: usize = 16;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static WORDS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    static FLOATS: Cell<[f64; 8]> = const { Cell::new([0.0; 8]) };
}

/// Makes the scratch buffer, for texts in UTF-8, so long and answers with its address: null, when there is no memory
/// for it. Its former content is lost.
#[wasm_bindgen]
pub fn scratch(length: usize) -> *const u8 {
    SCRATCH.with_borrow_mut(|scratch| {
        if scratch.len() != length {
            *scratch = Vec::new();
            if !room::is_there(length + 4096) {
                return std::ptr::null();
            }
            scratch.resize(length, 0);
        }
        scratch.as_ptr()
    })
}

/// Makes room for at least so many words, numbers of 32 bits, and answers with their address: null, when there is no
/// memory for them. Their content stays.
#[wasm_bindgen]
pub fn words(length: usize) -> *const u32 {
    WORDS.with_borrow_mut(|words| {
        if words.len() > LARGE && words.len() / MUCH > length {
            words.truncate(length.max(LEAST));
            words.shrink_to_fit();
        }
        if grow(words, length).is_ok() { words.as_ptr() } else { std::ptr::null() }
    })
}

/// The address of eight numbers that may have fractions or be large.
#[wasm_bindgen]
pub fn floats() -> *const f64 {
    FLOATS.with(|floats| floats.as_ptr().cast_const().cast())
}

/// The numbers in [`floats`].
pub(super) fn read_floats() -> [f64; 8] {
    FLOATS.get()
}

/// Writes the revisions that an error tells: below 0 where it tells none.
pub(super) fn write_revisions(expected: Option<u64>, actual: Option<u64>) {
    let mut floats = read_floats();
    for (place, revision) in [(Floats::Expected, expected), (Floats::Actual, actual)] {
        #[expect(clippy::cast_precision_loss, reason = "2^53 revisions are enough")]
        let number = revision.map_or(-1.0, |revision| revision as f64);
        floats[place as usize] = number;
    }
    FLOATS.set(floats);
}

/// Reads the text in a range of the scratch buffer.
pub(super) fn with_scratch<T>(range: Range<usize>, read: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    SCRATCH.with_borrow(|scratch| read(text_of(scratch, range)?))
}

#[inline(never)]
fn text_of(scratch: &[u8], range: Range<usize>) -> Result<&str> {
    let bytes = scratch.get(range).unwrap_or_default();
    std::str::from_utf8(bytes).map_err(|_| Error::invalid("the text is not UTF-8"))
}

/// Reads three texts in the scratch buffer, one behind the other, whose lengths stand behind so many words. In the
/// place of a length, [`NOTHING`] says that a text is absent.
pub(super) fn with_texts<T>(behind: usize, read: impl FnOnce([Option<&str>; 3]) -> Result<T>) -> Result<T> {
    SCRATCH.with_borrow(|scratch| read(texts_of(scratch, behind)?))
}

#[inline(never)]
fn texts_of(scratch: &[u8], behind: usize) -> Result<[Option<&str>; 3]> {
    let lengths: [u32; 3] =
        with_words(|words| std::array::from_fn(|index| words.get(behind + index).copied().unwrap_or(NOTHING)));
    let lengths = lengths.map(|length| (length != NOTHING).then_some(length as usize));
    let mut rest = text_of(scratch, 0..lengths.iter().flatten().sum())?;
    Ok(lengths.map(|length| {
        let (first, others) = rest.split_at_checked(length?)?;
        rest = others;
        Some(first)
    }))
}

/// Reads the words.
pub(super) fn with_words<T>(read: impl FnOnce(&[u32]) -> T) -> T {
    WORDS.with_borrow(|words| read(words))
}

/// Writes into the first words, so many at least. There is memory for them, or the call is refused.
pub(super) fn fill_words<T>(length: usize, write: impl FnOnce(&mut [u32]) -> T) -> Result<T> {
    WORDS.with_borrow_mut(|words| {
        grow(words, length)?;
        Ok(write(words))
    })
}

/// Writes numbers into the words, and answers with how many there are. There is memory for them, or the call is
/// refused.
#[inline(never)]
pub(super) fn answer(numbers: &[u32]) -> Result<i32> {
    fill_words(numbers.len(), |words| {
        for (word, number) in words.iter_mut().zip(numbers) {
            *word = *number;
        }
        narrow(numbers.len()).cast_signed()
    })
}

fn grow(words: &mut Vec<u32>, length: usize) -> Result<()> {
    let size = length.max(LEAST);
    if words.len() < size {
        room::ask(4096 + size * size_of::<u32>())?;
        words.reserve_exact(size - words.len());
        words.resize(size, 0);
    }
    Ok(())
}

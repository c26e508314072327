//! The binding's part for templates. Lists come out as plain numbers, in the words, with all places in UTF-16 units.

use wasm_bindgen::prelude::*;

use super::buffers::{fill_words, with_scratch};
use super::numbers::narrow;
use super::protocol::Answer;
use super::room;
use crate::template::scan::{Placeholder, PlaceholderKind};
use crate::template::{Segment, Template};
use crate::text::slice;

/// Compiles the template in the scratch buffer into a flat list of numbers, with all places in UTF-16 units.
///
/// A literal is `0, start, end`. A placeholder is a code (1 state, 2 artifact, plus 4 if optional), the start of its
/// key, the start and the end of its content, the end of its root, the number of its steps, and for each step 1 for an
/// index or 0 for a name, its start and its end.
///
/// Answers with how many numbers there are, and with the list in the words; or, when there is no memory for it, that it
/// refuses (see [`Answer`]).
#[wasm_bindgen]
pub fn parse_template(length: usize) -> i32 {
    answer(length, |text| {
        let mut units = Utf16::new(text);
        let mut flat = Vec::new();
        for segment in Template::parse(text).segments() {
            match segment {
                Segment::Literal(range) => flat.extend([0, units.at(range.start), units.at(range.end)]),
                Segment::Placeholder(placeholder) => flatten(placeholder, &mut units, &mut flat),
            }
        }
        flat
    })
}

/// Puts a list of numbers that is made of the text in the scratch buffer into the words.
fn answer(length: usize, make: fn(&str) -> Vec<u32>) -> i32 {
    let flat = with_scratch(0..length, |text| {
        room::ask(room::of_template(text))?;
        Ok(make(text))
    });
    let count = flat.and_then(|flat| {
        fill_words(flat.len(), |words| {
            words.iter_mut().zip(&flat).for_each(|(word, &number)| *word = number);
            narrow(flat.len()).cast_signed()
        })
    });
    count.unwrap_or(Answer::Refused as i32)
}

fn flatten(placeholder: &Placeholder, units: &mut Utf16<'_>, flat: &mut Vec<u32>) {
    let kind = match placeholder.kind {
        PlaceholderKind::State => 1,
        PlaceholderKind::Artifact => 2,
    };
    let content_start = units.at(placeholder.content.start);
    let key_start = units.at(placeholder.key.start);
    let root_end = units.at(placeholder.root.end);
    let head = flat.len();
    flat.extend([kind + if placeholder.optional { 4 } else { 0 }, key_start, content_start, 0, root_end]);
    flat.push(narrow(placeholder.path.len()));
    for step in &placeholder.path {
        flat.extend([u32::from(step.is_index), units.at(step.range.start), units.at(step.range.end)]);
    }
    flat[head + 3] = units.at(placeholder.content.end);
}

/// Turns byte places into UTF-16 places, going forward through the text.
struct Utf16<'a> {
    text: &'a str,
    ascii: bool,
    byte: usize,
    unit: usize,
}

impl<'a> Utf16<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, ascii: text.is_ascii(), byte: 0, unit: 0 }
    }

    fn at(&mut self, byte: usize) -> u32 {
        if self.ascii {
            return narrow(byte);
        }
        self.unit += slice(self.text, self.byte..byte).chars().map(char::len_utf16).sum::<usize>();
        self.byte = byte;
        narrow(self.unit)
    }
}

/// The places at which escaping puts backslashes into the text in the scratch buffer, in UTF-16 units, each with the
/// number of backslashes. Answers as [`parse_template`].
#[wasm_bindgen]
pub fn escape_template(length: usize) -> i32 {
    answer(length, |text| {
        let mut units = Utf16::new(text);
        Template::escapes(text).flat_map(|(place, count)| [units.at(place), narrow(count)]).collect()
    })
}

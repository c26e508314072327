//! The binding that the npm package drives, called as its host calls it.

mod changes;
mod keys;
mod places;
mod reads;
mod refusals;

use js_sys::{Float64Array, Uint8Array, Uint32Array};
use statepad::wasm::package::{
    Absent, Answer, Core, ErrorText, Floats, KeyWord, Outcome, ScopeBit, Shift, Words, floats, intern, scratch, words,
};

const ALL: u32 = ScopeBit::Session as u32 | ScopeBit::App as u32 | ScopeBit::User as u32;
const NOTHING: u32 = Absent::Number as u32;

/// The memory of the module, where the host reads and writes.
fn memory() -> js_sys::WebAssembly::Memory {
    wasm_bindgen::JsCast::unchecked_into(wasm_bindgen::memory())
}

fn address<T>(pointer: *const T) -> u32 {
    u32::try_from(pointer as usize).unwrap()
}

/// Writes a text where the binding reads it, as the host does, and says how long it is.
fn write(text: &str) -> usize {
    let start = address(scratch(text.len()));
    let length = u32::try_from(text.len()).unwrap();
    Uint8Array::new_with_byte_offset_and_length(&memory().buffer(), start, length).copy_from(text.as_bytes());
    text.len()
}

pub(super) fn view(length: usize) -> Uint32Array {
    let start = address(words(length));
    Uint32Array::new_with_byte_offset_and_length(&memory().buffer(), start, u32::try_from(length).unwrap())
}

pub(super) fn read(length: usize) -> Vec<u32> {
    view(length).to_vec()
}

/// Writes words that name these keys; those that begin with `-` are deleted.
pub(super) fn write_keys(keys: &[&str]) -> usize {
    let named: Vec<u32> = keys.iter().map(|key| word(key)).collect();
    view(2 * keys.len() + 16).subarray(0, u32::try_from(keys.len()).unwrap()).copy_from(&named);
    keys.len()
}

/// Writes texts one behind the other, and their lengths behind so many words; absent ones have none.
fn write_texts(behind: usize, texts: [Option<&str>; 3]) {
    write(&texts.map(Option::unwrap_or_default).concat());
    for (index, text) in texts.iter().enumerate() {
        let place = u32::try_from(behind + index).unwrap();
        let length = text.map_or(NOTHING, |text| u32::try_from(text.len()).unwrap());
        view(behind + texts.len()).set_index(place, length);
    }
}

pub(super) fn word(key: &str) -> u32 {
    match key.strip_prefix('-') {
        Some(key) => intern(write(key)) | KeyWord::Deleted as u32,
        None => intern(write(key)),
    }
}

fn float_view() -> Float64Array {
    Float64Array::new_with_byte_offset_and_length(&memory().buffer(), address(floats()), 8)
}

/// Sets the time, and the revision that is expected.
fn expect(revision: f64) {
    let view = float_view();
    for (place, float) in
        [(Floats::Time, 2.0), (Floats::Revision, revision), (Floats::AppVersion, -1.0), (Floats::UserVersion, -1.0)]
    {
        view.set_index(place as u32, float);
    }
}

fn token(answer: i32) -> usize {
    usize::try_from(answer >> Shift::Token as u32).unwrap()
}

/// A session and its scopes: its own, its app's, its user's.
struct Known {
    session: u32,
    scopes: [u32; 3],
}

fn known() -> Known {
    let head = read(Words::Places as usize);
    let scope = |place: usize| head[Words::Scopes as usize + place];
    Known { session: head[Words::Session as usize], scopes: [scope(0), scope(1), scope(2)] }
}

fn places(count: usize) -> Vec<u32> {
    read(Words::Places as usize + count).split_off(Words::Places as usize)
}

fn create(core: &mut Core, user: &str, keys: &[&str]) -> Known {
    expect(-1.0);
    let count = write_keys(keys);
    write_texts(count, [Some("app"), Some(user), Some("s")]);
    let answer = core.prepare_create(count);
    assert_eq!(core.apply(token(answer), ALL) & Outcome::Failed as u32, 0);
    known()
}

fn text(core: &Core, part: ErrorText) -> Option<String> {
    core.error_text(part as u32)
}

fn code(core: &Core) -> String {
    text(core, ErrorText::Code).unwrap()
}

fn prepare(core: &mut Core, session: u32, id: &str, keys: &[&str], revision: f64) -> Result<i32, String> {
    let count = write_keys(keys);
    expect(revision);
    let answer = core.prepare_append(session, count, write(id));
    if answer == Answer::Refused as i32 { Err(code(core)) } else { Ok(answer) }
}

/// Appends an event. Answers with what has happened and where the writes went.
fn append(core: &mut Core, session: u32, id: &str, keys: &[&str]) -> (u32, Vec<u32>) {
    let answer = prepare(core, session, id, keys, -1.0).unwrap();
    let outcome = core.apply(token(answer), ALL);
    (outcome & !(Outcome::KeysDue as u32), places(keys.len()))
}

fn scope_of_app(core: &Core) -> u32 {
    write_texts(0, [Some("app"), None, None]);
    core.scope()
}

//! The binding that the npm package drives.

use js_sys::{Float64Array, Uint8Array, Uint32Array};
use statepad::wasm::package::{
    Absent, Answer, Core, ErrorText, Floats, HistoryLog, KeyWord, Outcome, PageWords, Part, Shift, Words, floats,
    intern, parse_template, released_keys, scratch, words,
};
use wasm_bindgen_test::wasm_bindgen_test;

const ALL: u32 = Part::Session as u32 | Part::App as u32 | Part::User as u32;
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

#[wasm_bindgen_test]
fn a_write_has_a_place_once_it_is_applied() {
    let mut core = Core::new();
    let known = create(&mut core, "u", &["x", "app:a", "temp:t", "y"]);
    assert_eq!(places(4), [0, 0, NOTHING, 1]);
    let keys = ["user:é", "-x", "temp:t", "y", "z", "-w", "app:b"];
    let answer = prepare(&mut core, known.session, "e1", &keys, 0.0).unwrap();
    assert_eq!(answer & 15, 15);
    assert!(prepare(&mut core, known.session, "e2", &[], 0.0).is_ok(), "nothing has moved yet");
    assert_eq!(core.apply(token(answer), ALL), 0);
    assert_eq!(places(7), [0, 0, NOTHING, 1, 2, NOTHING, 1]);
    assert_eq!(self::known().scopes, known.scopes);
    assert_eq!(append(&mut core, known.session, "e3", &["x", "z"]), (0, vec![3, 2]), "what was deleted is new");
    assert_eq!(prepare(&mut core, known.session, "e1", &[], -1.0), Ok(-1));
    assert_eq!(prepare(&mut core, known.session, "e3", &[], -1.0), Ok(-2));
}

#[wasm_bindgen_test]
fn an_error_crosses_with_its_code_and_its_details() {
    let mut core = Core::new();
    let Known { session, .. } = create(&mut core, "u", &[]);
    assert_eq!(core.error_text(ErrorText::Code as u32), None);
    assert_eq!(prepare(&mut core, session, "e", &[], 7.0).unwrap_err(), "SESSION_STALE");
    assert_eq!((text(&core, ErrorText::Id).as_deref(), text(&core, ErrorText::Key)), (Some("s"), None));
    let revisions = || [Floats::Expected, Floats::Actual].map(|place| float_view().get_index(place as u32));
    assert_eq!(revisions().map(f64::to_bits), [7.0, 0.0].map(f64::to_bits));
    let count = write_keys(&["app:x", "user:x"]);
    write_texts(count, [Some("app"), None, Some("id")]);
    let answer = core.prepare_update(count);
    assert_eq!(answer, Answer::Refused as i32);
    let message = text(&core, ErrorText::Message);
    assert_eq!(message.as_deref(), Some("the key \"user:x\" does not belong to what is updated: use \"app:x\""));
    assert_eq!(text(&core, ErrorText::Key).as_deref(), Some("user:x"));
    assert!(revisions().iter().all(|&revision| revision < 0.0));
    let dropped = Outcome::WasThere as u32 | Outcome::DroppedApp as u32 | Outcome::DroppedUser as u32;
    assert_eq!(core.remove(session) & dropped, dropped);
    assert_eq!(prepare(&mut core, session, "e", &[], -1.0).unwrap_err(), "SESSION_NOT_FOUND");
}

fn scope_of_app(core: &Core) -> u32 {
    write_texts(0, [Some("app"), None, None]);
    core.scope()
}

fn restore(core: &mut Core, session: &str, revision: f64) -> u32 {
    write_texts(0, [Some("app"), Some("u"), Some(session)]);
    core.restore(revision, 5.0)
}

#[wasm_bindgen_test]
fn a_discarded_change_leaves_no_trace() {
    let mut core = Core::new();
    let Known { session, scopes: [_, app, _] } = create(&mut core, "u", &[]);
    let answer = prepare(&mut core, session, "e1", &["app:a"], -1.0).unwrap();
    core.discard(token(answer));
    assert_eq!((scope_of_app(&core), core.scope_version(app)), (app, 0.0));
    assert_eq!(append(&mut core, session, "e1", &["app:b", "app:a"]), (0, vec![0, 1]));
    assert!(core.scope_version(app) > 0.0);
}

#[wasm_bindgen_test]
fn a_session_of_a_store_comes_in_and_leaves_again() {
    let mut core = Core::new();
    assert_eq!(restore(&mut core, "s", 7.0), 0);
    let Known { session, scopes } = known();
    for (scope, keys) in scopes.into_iter().zip([["x", "y"], ["app:a", "app:b"], ["user:a", "user:b"]]) {
        assert_eq!(core.replace(scope, write_keys(&keys)) & Outcome::Failed as u32, 0);
    }
    let answer = prepare(&mut core, session, "e8", &["user:b", "y", "app:c", "app:b"], 7.0).unwrap();
    assert_eq!(core.apply(token(answer), ALL), 0);
    assert_eq!(places(4), [1, 1, 2, 1]);
    assert_eq!(restore(&mut core, "s", 9.0), 0);
    assert_eq!((known().session, known().scopes), (session, scopes));
    assert_eq!(restore(&mut core, "t", 0.0), 0);
    let other = known();
    assert_eq!(other.scopes[1..], scopes[1..]);
    assert_eq!(core.forget(session) & !(Outcome::KeysDue as u32), Outcome::WasThere as u32);
    let dropped = Outcome::DroppedApp as u32 | Outcome::DroppedUser as u32;
    assert_eq!(core.forget(other.session) & !(Outcome::KeysDue as u32), Outcome::WasThere as u32 | dropped);
    assert_eq!((scope_of_app(&core), core.forget(session)), (NOTHING, 0));
}

#[wasm_bindgen_test]
fn a_change_is_applied_in_those_parts_that_are_not_known_yet() {
    let mut core = Core::new();
    let Known { session, scopes } = create(&mut core, "u", &[]);
    let answer = prepare(&mut core, session, "e", &["x", "app:a", "user:b"], 0.0).unwrap();
    core.apply(token(answer), Part::User as u32);
    assert_eq!(places(3), [NOTHING, NOTHING, 0]);
    assert_eq!(scopes.map(|scope| core.scope_version(scope) > 0.0), [false, false, true]);
    assert!(prepare(&mut core, session, "f", &[], 0.0).is_ok(), "the session has not moved");
}

#[wasm_bindgen_test]
fn an_update_tells_its_scopes_and_whether_they_are_dropped() {
    let mut core = Core::new();
    let mut update = |user: Option<&str>, keys: &[&str]| {
        expect(-1.0);
        let id = format!("{user:?}{keys:?}");
        let count = write_keys(keys);
        write_texts(count, [Some("app"), user, Some(&id)]);
        let answer = core.prepare_update(count);
        let outcome = core.apply(token(answer), ALL) & !(Outcome::KeysDue as u32);
        (outcome, read(Words::Places as usize), places(keys.len()))
    };
    assert_eq!(update(None, &["app:a"]), (0, vec![NOTHING, NOTHING, 0, NOTHING], vec![0]));
    assert_eq!(update(Some("u"), &["user:a", "app:b"]), (0, vec![NOTHING, NOTHING, 0, 1], vec![0, 1]));
    let (outcome, head, written) = update(Some("u"), &["-user:a", "-app:b"]);
    assert_eq!((outcome, written), (Outcome::DroppedUser as u32, vec![0, 1]));
    assert_eq!(head, [NOTHING, NOTHING, 0, 1]);
    assert_eq!(update(Some("u"), &["-app:a"]).0, Outcome::DroppedApp as u32);
    assert_eq!(scope_of_app(&core), NOTHING);
}

#[wasm_bindgen_test]
fn a_list_tells_what_stands_before_it_and_how_many_there_are() {
    let mut core = Core::new();
    let [c, a, b] = ["c", "a", "b"].map(|user| create(&mut core, user, &[]).session);
    let mut list = |user: Option<&str>, descending, limit, cursor| {
        write_texts(0, [Some("app"), user, cursor]);
        let count = core.list(descending, limit, 0);
        let page = read(PageWords::Sessions as usize + usize::try_from(count).unwrap());
        (page, core.cursor(b))
    };
    assert_eq!(PageWords::Total as usize, 1);
    let (page, cursor) = list(None, false, 2, None);
    assert_eq!(page, [0, 3, a, b]);
    assert_eq!(list(None, false, 2, cursor.as_deref()).0, [2, 3, c]);
    assert_eq!(list(Some("a"), true, u32::MAX, None).0, [0, 1, a]);
    write_texts(0, [Some("app"), None, Some("page 2")]);
    assert_eq!(core.list(false, u32::MAX, 0), Answer::Refused as i32);
    assert_eq!(code(&core), "INVALID_ARGUMENT");
}

#[wasm_bindgen_test]
fn a_history_tells_what_it_was_told() {
    let mut log = HistoryLog::new();
    let write_all = |keys: &[&str], values: &[u32]| {
        let named: Vec<u32> = keys.iter().map(|key| word(key)).chain(values.iter().copied()).collect();
        view(named.len() + 16).subarray(0, u32::try_from(named.len()).unwrap()).copy_from(&named);
        keys.len()
    };
    let number = |key: &str| word(key) >> Shift::Key as u32;
    assert_eq!(log.push(0.0, write_all(&["x", "app:a"], &[10, 11])), 1);
    assert_eq!(log.push(2.0, write_all(&["-x", "y", "temp:t"], &[0, 12, 13])), 1);
    view(64).set_index(0, (1 << 31) - 1);
    assert_eq!(log.push(3.0, 1), 0, "a word that names no key");

    let now = write_all(&["y", "app:a", "user:u", "temp:t"], &[12, 19, 20, 21]);
    assert_eq!(log.state_at(1.0, 2.0, now), 6);
    assert_eq!(read(6), [number("x"), 10, number("app:a"), 11, number("user:u"), 20]);
    assert_eq!(log.state_at(2.0, 2.0, 0), 4);
    assert_eq!(read(4), [number("y"), 12, number("app:a"), 11]);
    let x = word("x");
    assert_eq!((log.steps(x, 2.0, u32::MAX), read(6)), (6, vec![0, NOTHING, 10, 2, 10, NOTHING]));
    assert_eq!((log.steps(x, 1.0, 1), read(3)), (3, vec![0, NOTHING, 10]));
    assert_eq!((log.steps(x, 2.0, 0), log.steps(word("z"), 2.0, 1)), (0, 0));
}

#[wasm_bindgen_test]
fn what_a_host_gets_wrong_is_refused_and_changes_nothing() {
    let mut core = Core::new();
    let Known { session, scopes: [own, ..] } = create(&mut core, "u", &["x"]);
    assert!(prepare(&mut core, session + 7, "e", &[], -1.0).unwrap_err().contains("SESSION_NOT_FOUND"));
    view(64).set_index(0, (1 << 31) - 1);
    assert_eq!(core.prepare_append(session, 1, write("e")), Answer::Refused as i32);
    assert_eq!(code(&core), "INVALID_ARGUMENT");
    assert_eq!(core.apply(99, ALL), Outcome::Failed as u32);
    core.discard(99);
    let answer = prepare(&mut core, session, "e", &["y"], -1.0).unwrap();
    assert_eq!((core.apply(token(answer), ALL), core.apply(token(answer), ALL)), (0, Outcome::Failed as u32));
    let version = core.scope_version(own);
    view(64).set_index(0, (1 << 31) - 1);
    assert_eq!((core.replace(own, 1), core.scope_version(own)), (Outcome::Failed as u32, version));
    assert_eq!((core.scope_version(99), core.remove(99), core.cursor(99)), (0.0, 0, None));
    Uint8Array::new_with_byte_offset_and_length(&memory().buffer(), address(scratch(1)), 1).set_index(0, 0xff);
    assert_eq!(intern(1), NOTHING, "a text that is not UTF-8");
    let answer = prepare(&mut core, session, "f", &["x"], -1.0).unwrap();
    assert_ne!(core.remove(session), 0);
    assert_eq!(core.apply(token(answer), ALL), Outcome::Failed as u32, "it is deleted by now");
    assert_eq!(code(&core), "SESSION_NOT_FOUND");
}

/// The values of a scope as a host keeps them: at the places that it is told.
#[derive(Default)]
struct Hosted(Vec<Option<(String, u32)>>);

impl Hosted {
    fn write(&mut self, key: &str, value: u32, place: u32) {
        match (key.strip_prefix('-'), place) {
            (_, NOTHING) => {}
            (Some(key), place) => assert_eq!(self.0[place as usize].take().unwrap().0, key),
            (None, place) => {
                let place = place as usize;
                assert!(place <= self.0.len());
                self.0.resize(self.0.len().max(place + 1), None);
                assert!(self.0[place].as_ref().is_none_or(|(other, _)| other == key));
                self.0[place] = Some((key.to_owned(), value));
            }
        }
    }

    fn values(&self) -> Vec<(String, u32)> {
        self.0.iter().flatten().cloned().collect()
    }
}

#[wasm_bindgen_test]
fn a_host_that_puts_values_where_it_is_told_has_them_in_the_order_of_writing() {
    let mut core = Core::new();
    let Known { session, .. } = create(&mut core, "u", &[]);
    let mut hosted = [Hosted::default(), Hosted::default()];
    let mut model: Vec<(String, u32)> = Vec::new();
    let (mut compactions, mut seed) = (0, 7_u32);
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    for step in 0..600 {
        let keys: Vec<String> = (0..random(8))
            .map(|n| {
                let prefix = if random(3) == 0 { "app:" } else { "" };
                let key = format!("{prefix}{}", n * 20 + random(20));
                // Times of growth and times of decline take turns.
                if random(100) < if step / 100 % 2 == 0 { 20 } else { 80 } { format!("-{key}") } else { key }
            })
            .collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let (outcome, places) = append(&mut core, session, &step.to_string(), &keys);
        for (&key, place) in keys.iter().zip(places) {
            let name = key.trim_start_matches('-');
            hosted[usize::from(name.starts_with("app:"))].write(key, step, place);
            let known = model.iter().position(|(other, _)| other == name);
            match (key.starts_with('-'), known) {
                (true, Some(at)) => drop(model.remove(at)),
                (true, None) => assert_eq!(place, NOTHING),
                (false, Some(at)) => model[at].1 = step,
                (false, None) => model.push((name.to_owned(), step)),
            }
        }
        for (scope, flag) in [Outcome::CompactedSession, Outcome::CompactedApp].into_iter().enumerate() {
            if outcome & flag as u32 != 0 {
                hosted[scope].0.retain(Option::is_some);
                compactions += 1;
            }
            let expected: Vec<_> =
                model.iter().filter(|(key, _)| usize::from(key.starts_with("app:")) == scope).cloned().collect();
            assert_eq!(hosted[scope].values(), expected);
        }
    }
    assert!(compactions > 2, "{compactions}");
}

#[wasm_bindgen_test]
fn keys_that_nothing_has_any_more_are_released_and_no_others() {
    let mut core = Core::new();
    let Known { session, .. } = create(&mut core, "u", &["kept", "app:kept"]);
    let mut log = HistoryLog::new();
    assert_eq!(log.push(0.0, write_keys(&["told"])), 1);
    let prepared = prepare(&mut core, session, "held", &["held"], -1.0).unwrap();
    released_keys();
    let numbers = ["kept", "app:kept", "told", "held"].map(word);
    let mut most = 0;
    let mut sweeps = 0;
    for round in 0..20_000 {
        let key = format!("invented-{round}");
        most = most.max(word(&key) >> Shift::Key as u32);
        append(&mut core, session, &format!("set-{round}"), &[&key]);
        let answer = prepare(&mut core, session, &format!("unset-{round}"), &[&format!("-{key}")], -1.0).unwrap();
        if core.apply(token(answer), ALL) & Outcome::KeysDue as u32 != 0 {
            let released = released_keys();
            assert!(released.len() > 300, "{}", released.len());
            sweeps += 1;
        }
    }
    assert!(most < 3_000 && sweeps > 5, "{most} numbers, {sweeps} sweeps");
    assert_eq!(["kept", "app:kept", "told", "held"].map(word), numbers);
    assert_eq!(core.apply(token(prepared), ALL) & !(Outcome::KeysDue as u32), 0);
    drop(log);
    core.remove(session);
    let mut released = released_keys();
    released.sort_unstable();
    let is_released = numbers.map(|number| released.binary_search(&(number >> Shift::Key as u32)).is_ok());
    assert_eq!(is_released, [true, false, true, true], "the app has a value still");
}

#[wasm_bindgen_test]
fn a_delta_may_be_larger_than_any_before_it() {
    let mut core = Core::new();
    let Known { session, .. } = create(&mut core, "u", &[]);
    let keys: Vec<String> = (0..100_000).map(|number| format!("key-{number}")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let (outcome, places) = append(&mut core, session, "e", &keys);
    assert_eq!((outcome, places.len()), (0, keys.len()));
    assert!(places.into_iter().eq(0..100_000));
    let dropped = core.remove(session);
    assert_ne!(dropped & Outcome::KeysDue as u32, 0);
    assert!(released_keys().len() >= keys.len());
    view(64);
}

#[wasm_bindgen_test]
fn places_in_a_template_are_counted_in_utf16_units() {
    let length = write("🌊{user:né.x[7]?}");
    // A literal of two units; then an optional state key with two steps.
    assert_eq!(parse_template(length), 15);
    assert_eq!(read(15), [0, 0, 2, 5, 3, 3, 15, 10, 2, 0, 11, 12, 1, 13, 14]);
}

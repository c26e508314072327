//! Reads through the binding: lists, histories and templates.

use statepad::wasm::package::{Answer, Core, HistoryLog, PageWords, Shift, parse_template};
use wasm_bindgen_test::wasm_bindgen_test;

use super::{NOTHING, code, create, read, view, word, write, write_texts};

#[wasm_bindgen_test]
fn a_list_counts_the_sessions_before_it_and_all() {
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
fn a_history_answers_with_its_writes() {
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
fn places_in_a_template_are_counted_in_utf16_units() {
    let length = write("🌊{user:né.x[7]?}");
    // A literal of two units; then an optional state key with two steps.
    assert_eq!(parse_template(length), 15);
    assert_eq!(read(15), [0, 0, 2, 5, 3, 3, 15, 10, 2, 0, 11, 12, 1, 13, 14]);
}

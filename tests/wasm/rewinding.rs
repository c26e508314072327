//! The binding's part for rewinding.

use js_sys::Uint32Array;
use statepad::wasm::package::{Absent, HistoryLog, rewind_events, words};
use wasm_bindgen_test::wasm_bindgen_test;

use super::package::{read, view, word, write_keys};

const NONE: u32 = Absent::Number as u32;
/// Numbers in the place of an invocation: they ask for a redo, and for the events that stand.
const REDO: u32 = NONE;
const STANDING: u32 = NONE - 1;

/// Asks about events: of each the place of the first one of its invocation, and that which it rewinds before.
fn ask(events: &[[u32; 2]], question: u32) -> Vec<u32> {
    let target: Uint32Array = view(2 * events.len());
    target.subarray(0, u32::try_from(2 * events.len()).unwrap()).copy_from(events.as_flattened());
    let count = rewind_events(events.len(), question);
    read(usize::try_from(count).unwrap())[..usize::try_from(count).unwrap()].to_vec()
}

#[wasm_bindgen_test]
fn a_log_crosses_as_numbers_and_its_rewinds_come_back_as_places() {
    let log = [[0, NONE], [1, NONE], [1, NONE], [3, 1]];
    assert_eq!(ask(&log, STANDING), [4, 0]);
    assert_eq!(ask(&log, REDO), [3, 1, 2]);
    assert_eq!(ask(&log, 0), [0, 0]);
    assert_eq!(ask(&log, 1), [0_u32; 0], "it does not stand");
    assert_eq!(ask(&log[..3], REDO), [0_u32; 0]);
    assert_eq!(ask(&[], STANDING), [0]);
}

#[wasm_bindgen_test]
fn a_long_log_is_walked_over() {
    let mut log: Vec<_> = (0..100_000).map(|place| [place, NONE]).collect();
    log.push([100_000, 1]);
    assert_eq!(ask(&log, STANDING), [100_001, 0]);
    assert_eq!(ask(&log, REDO).len(), 100_000);
    words(64);
}

#[wasm_bindgen_test]
fn a_history_says_what_restores_the_own_keys() {
    let mut log = HistoryLog::new();
    let mut push = |revision: f64, keys: &[&str], first: u32| {
        let count = write_keys(keys);
        for index in 0..u32::try_from(count).unwrap() {
            view(2 * count).set_index(u32::try_from(count).unwrap() + index, first + index);
        }
        assert_eq!(log.push(revision, count), 1);
    };
    push(0.0, &["kept", "x", "app:x"], 10);
    push(1.0, &["-x", "y", "user:x"], 20);
    push(2.0, &["x", "app:x", "temp:x"], 30);
    let number = |key: &str| word(key) >> statepad::wasm::package::Shift::Key as u32;
    assert_eq!((log.restoring(0.0, 2.0), read(4)), (4, vec![number("x"), 11, number("y"), NONE]));
    assert_eq!((log.restoring(1.0, 2.0), read(2)), (2, vec![number("x"), NONE]));
    assert_eq!(log.restoring(2.0, 2.0), 0);
    view(2).set_index(0, 1);
    assert_eq!((log.shared_of(1), read(1)), (1, vec![number("user:x")]));
    view(2).subarray(0, 2).copy_from(&[0, 2]);
    assert_eq!((log.shared_of(2), read(1)), (1, vec![number("app:x")]));
    assert_eq!(log.shared_of(0), 0);
}

//! Helpers that the runners of the cases share.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value};
use statepad::Error;

pub mod core;
pub mod growth;
pub mod rewind;
pub mod scenario;
pub mod states;

pub use crate::{block_on::block_on, json_equality::same};

/// Runs every case, and then names all that failed, so that one failure hides no other.
pub fn each<'a>(cases: impl IntoIterator<Item = &'a Value>, run: impl Fn(&Value)) {
    let mut count = 0;
    let mut failed = Vec::new();
    for case in cases {
        count += 1;
        if catch_unwind(AssertUnwindSafe(|| run(case))).is_err() {
            failed.push(case["name"].as_str().unwrap_or("a case without a name"));
        }
    }
    assert!(count > 0, "there are no cases");
    assert!(failed.is_empty(), "{} of {count} cases failed:\n  {}", failed.len(), failed.join("\n  "));
}

/// The member of a case that is a list.
pub fn list<'a>(case: &'a Value, name: &str) -> &'a [Value] {
    case[name].as_array().map_or(&[], Vec::as_slice)
}

/// The member of a case that is text.
pub fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().unwrap_or_default()
}

/// The member of a case that is an object.
pub fn record(case: &Value, name: &str) -> Map<String, Value> {
    case[name].as_object().cloned().unwrap_or_default()
}

/// The member of a case that is a list of texts.
pub fn texts(case: &Value, name: &str) -> Vec<String> {
    list(case, name).iter().map(|item| item.as_str().unwrap_or_default().to_owned()).collect()
}

/// Compares the message of an error with the one that a case wants, if it wants one.
#[track_caller]
pub fn check_message(error: &Error, case: &Value) {
    if let Some(expected) = case["message"].as_str() {
        assert_eq!(error.to_string(), expected);
    }
}

/// Fails unless both are the same JSON.
#[track_caller]
pub fn assert_same(actual: &Value, expected: &Value, what: &str) {
    assert!(same(actual, expected), "{what}\n    is: {actual}\nshould: {expected}");
}

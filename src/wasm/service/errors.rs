//! The errors that are thrown: `Error` objects with a `code` and details as members, those of the package.

use js_sys::{Object, Symbol};
use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::host::{Attributes, define, member, put};
use crate::error::{Error, ErrorKind, LimitName, Missing};
use crate::native::refusals;

/// The details that an error has, as its members.
#[derive(Debug, Default, Serialize)]
pub(super) struct Details<'a> {
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exceeded: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    missing: Vec<MissingKey<'a>>,
}

impl<'a> Details<'a> {
    /// An error at this path of the argument.
    pub(super) fn at(path: &'a str) -> Self {
        Self { path: Some(path), ..Self::default() }
    }

    /// The id of the session or event concerned.
    pub(super) fn of(id: &'a str) -> Self {
        Self { id: Some(id), ..Self::default() }
    }

    /// The state key concerned.
    pub(super) fn of_key(key: &'a str) -> Self {
        Self { key: Some(key), ..Self::default() }
    }
}

/// A required placeholder that found nothing.
#[derive(Debug, Serialize)]
struct MissingKey<'a> {
    key: &'a str,
    line: u32,
    column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<&'a str>,
}

/// Makes an error.
pub(super) fn error(kind: ErrorKind, message: &str, details: Details<'_>) -> JsValue {
    let made = js_sys::Error::new(message);
    let hidden = Attributes { enumerable: false, configurable: true, writable: true };
    define(&made, &"name".into(), &"StatepadError".into(), &hidden);
    // The mark by which every copy of the package knows its errors.
    define(&made, &Symbol::for_("statepad.error").into(), &true.into(), &hidden);
    let details = Details { code: kind.code(), ..details };
    if let Some(members) = serde_wasm_bindgen::to_value(&details).ok().as_ref().and_then(JsValue::dyn_ref) {
        Object::assign(&made, members);
    }
    if let Some(missing) = member(&made, "missing").ok().as_ref().and_then(JsValue::dyn_ref::<Object>) {
        Object::freeze(missing);
    }
    made.into()
}

/// Makes an error that another one has caused.
pub(super) fn error_by(kind: ErrorKind, message: &str, cause: &JsValue) -> JsValue {
    caused_by(error(kind, message, Details::default()), cause)
}

/// The error of an argument at a path.
pub(super) fn invalid(path: &str, what: &str) -> JsValue {
    refused(ErrorKind::InvalidArgument, path, what)
}

/// The error of a value at a path.
pub(super) fn refused(kind: ErrorKind, path: &str, what: &str) -> JsValue {
    error(kind, &format!("{path} {what}"), Details::at(path))
}

/// The error for a session that is not there, or not any more.
pub(super) fn not_found(id: &str) -> JsValue {
    refusals::not_found(id).into()
}

/// An error of the core on its way to JavaScript.
impl From<Error> for JsValue {
    fn from(source: Error) -> Self {
        let missing = source.missing().iter().map(|Missing { key, line, column, nearest }| MissingKey {
            key,
            line: *line,
            column: *column,
            nearest: nearest.as_deref(),
        });
        let details = Details {
            key: source.key(),
            id: source.id(),
            expected: source.expected(),
            actual: source.actual(),
            until: source.until(),
            exceeded: source.exceeded().map(LimitName::name),
            size: source.size(),
            limit: source.limit(),
            missing: missing.collect(),
            ..Details::default()
        };
        error(source.kind(), &source.to_string(), details)
    }
}

/// An error of the core that lies at a path in the argument.
pub(super) fn error_at(source: Error, path: &str) -> JsValue {
    with_member(source.into(), "path", &path.into())
}

/// An error with a detail more.
pub(super) fn with_member(made: JsValue, name: &str, value: &JsValue) -> JsValue {
    if let Some(object) = made.dyn_ref() {
        put(object, name, value);
    }
    made
}

/// An error with what has caused it.
pub(super) fn caused_by(made: JsValue, cause: &JsValue) -> JsValue {
    if let Some(object) = made.dyn_ref::<Object>() {
        let hidden = Attributes { enumerable: false, configurable: true, writable: true };
        define(object, &"cause".into(), cause, &hidden);
    }
    made
}

/// Returns `true` if a thrown value is an error of this crate, of one of these kinds.
pub(super) fn is_kind(thrown: &JsValue, kinds: &[ErrorKind]) -> bool {
    let code = if thrown.is_object() { member(thrown, "code").ok().and_then(|code| code.as_string()) } else { None };
    code.is_some_and(|code| kinds.iter().any(|kind| kind.code() == code))
}

//! Checks of arguments, at the public entrances: one look at each. The code behind them can rely on it. The same rules
//! and messages as in the package (pkg/src/checks).

use wasm_bindgen::prelude::*;

use super::errors::{Details, error, invalid};
use super::host::{Answer, keys, member, well_formed};
use super::kinds::{describe, is_object};
use crate::error::ErrorKind;
use crate::names::{is_among, nearest_known};

/// The largest number up to which all whole numbers are there.
pub(super) const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// The members that an object may have, and those that it is known to have elsewhere.
pub(super) struct Names {
    /// The word for the object in messages.
    pub(super) what: &'static str,
    /// The path of its members in messages: `actions.`, or nothing.
    pub(super) path: &'static str,
    pub(super) known: &'static [&'static str],
    pub(super) others: &'static [&'static str],
}

/// Checks that something is an object at all.
pub(super) fn check_object(value: &JsValue, path: &str) -> Answer<()> {
    if value.is_undefined() {
        return Err(invalid(path, "is missing"));
    }
    if !is_object(value) {
        return Err(invalid(path, &format!("must be an object, not {}", describe(value))));
    }
    Ok(())
}

/// Checks that no member is called almost as a known one: `stateDetla` would be kept, and write nothing.
pub(super) fn check_names(value: &JsValue, names: &Names) -> Answer<()> {
    for name in keys(value)?.iter().filter_map(|name| name.as_string()) {
        if is_among(&name, [names.known, names.others]) {
            continue;
        }
        if let Some(suggestion) = nearest_known(&name, names.known) {
            let path = names.path;
            return Err(unknown(&format!("{path}{name}"), names.what, Some(&format!("{path}{suggestion}"))));
        }
    }
    Ok(())
}

/// Checks options, if there are any: all of them must be known. Their `signal` is checked, too. `path` names them in
/// errors.
pub(super) fn check_options(value: &JsValue, known: &[&'static str], path: &str) -> Answer<()> {
    if value.is_undefined() {
        return Ok(());
    }
    check_object(value, path)?;
    for name in keys(value)?.iter().filter_map(|name| name.as_string()) {
        if !known.contains(&name.as_str()) {
            let prefix = if path == "options" { String::new() } else { format!("{path}.") };
            let suggestion = nearest_known(&name, known).map(|suggestion| format!("{prefix}{suggestion}"));
            let what = format!("the options, which are {}", known.join(", "));
            return Err(unknown(&format!("{prefix}{name}"), &what, suggestion.as_deref()));
        }
    }
    check_signal(&member(value, "signal")?)
}

/// The error of a member of an unknown name; says which one is meant, if one is.
pub(super) fn unknown(path: &str, what: &str, suggestion: Option<&str>) -> JsValue {
    let hint = suggestion.map_or_else(String::new, |suggestion| format!(": did you mean {suggestion}?"));
    let details = Details::at(path);
    error(ErrorKind::InvalidArgument, &format!("{path} is not known in {what}{hint}"), details)
}

/// Checks a signal, if there is one: it is asked only for what every host's `AbortSignal` has.
pub(super) fn check_signal(value: &JsValue) -> Answer<()> {
    if value.is_undefined() {
        return Ok(());
    }
    let is_signal = is_object(value)
        && member(value, "aborted")?.as_bool().is_some()
        && member(value, "throwIfAborted")?.is_function()
        && member(value, "addEventListener")?.is_function();
    if is_signal { Ok(()) } else { Err(invalid("signal", &format!("must be an AbortSignal, not {}", describe(value)))) }
}

/// Throws the reason of a signal that was aborted.
pub(super) fn refuse_aborted(signal: &JsValue) -> Answer<()> {
    if !signal.is_undefined() {
        member(signal, "throwIfAborted")?.unchecked_into::<js_sys::Function>().call0(signal)?;
    }
    Ok(())
}

/// Checks a function that is called later.
pub(super) fn check_function(value: &JsValue, path: &str) -> Answer<js_sys::Function> {
    value.clone().dyn_into().map_err(|value: JsValue| {
        let what = if value.is_undefined() {
            "is missing".into()
        } else {
            format!("must be a function, not {}", describe(&value))
        };
        invalid(path, &what)
    })
}

/// Checks a count: a whole number, not negative; nothing when it is absent.
pub(super) fn check_count(value: &JsValue, path: &str) -> Answer<Option<f64>> {
    if value.is_undefined() {
        return Ok(None);
    }
    let count = value.as_f64().filter(|count| count.fract() == 0.0 && (0.0..=MAX_SAFE_INTEGER).contains(count));
    let refused = || invalid(path, &format!("must be a whole number that is not negative, not {}", describe(value)));
    count.map(Some).ok_or_else(refused)
}

/// Checks a name or an id: a string that every host can hold.
pub(super) fn admit_string(value: &JsValue, path: &str) -> Answer<String> {
    if !value.is_string() {
        let what = if value.is_undefined() {
            "is missing".into()
        } else {
            format!("must be a string and not {}", describe(value))
        };
        return Err(invalid(path, &what));
    }
    well_formed(value).ok_or_else(|| invalid(path, "must be a string without lone surrogates"))
}

/// Checks a name that may be absent.
pub(super) fn admit_optional_string(value: &JsValue, path: &str) -> Answer<Option<String>> {
    if value.is_undefined() { Ok(None) } else { admit_string(value, path).map(Some) }
}

/// Checks a text, which may have lone surrogates where `what` is a template.
pub(super) fn check_text(value: &JsValue, what: &str, path: &str) -> Answer<String> {
    value.as_string().ok_or_else(|| {
        let message = format!("{what} must be a string, not {}", describe(value));
        error(ErrorKind::InvalidArgument, &message, Details::at(path))
    })
}

/// Checks a clock's answer: a `Date`, a text or a bigint would be stored as something else.
pub(super) fn check_time(value: &JsValue) -> Answer<f64> {
    value.as_f64().filter(|time| time.is_finite()).ok_or_else(|| {
        let what = describe(value);
        let message = format!("now() must return a number of milliseconds, not {what}");
        error(ErrorKind::InvalidArgument, &message, Details::at("now"))
    })
}

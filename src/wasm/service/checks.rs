//! Checks of arguments, at the public entrances: one look at each. What is behind them can rely on it. The same rules
//! and messages as in the package (pkg/src/checks).

use wasm_bindgen::prelude::*;

use super::errors::{Details, error, invalid};
use super::host::{Answer, keys, member, well_formed};
use super::kinds::{describe, is_object};
use crate::error::ErrorKind;
use crate::names::{is_among, meant};

/// The largest number up to which all whole numbers are there.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// The members that an object may have, and those that it is known to have elsewhere.
pub(super) struct Names {
    /// What messages call the object.
    pub(super) what: &'static str,
    /// Where its members are, in messages: `actions.`, or nothing.
    pub(super) path: &'static str,
    pub(super) known: &'static [&'static str],
    pub(super) others: &'static [&'static str],
}

/// Checks that something is an object at all.
pub(super) fn check_object(given: &JsValue, path: &str) -> Answer<()> {
    if given.is_undefined() {
        return Err(invalid(path, "is missing"));
    }
    if !is_object(given) {
        return Err(invalid(path, &format!("must be an object, not {}", describe(given))));
    }
    Ok(())
}

/// Checks that no member is called almost as a known one: `stateDetla` would be kept, and write nothing.
pub(super) fn check_names(given: &JsValue, names: &Names) -> Answer<()> {
    for name in keys(given)?.iter().filter_map(|name| name.as_string()) {
        if is_among(&name, [names.known, names.others]) {
            continue;
        }
        if let Some(wanted) = meant(&name, names.known) {
            let path = names.path;
            return Err(unknown(&format!("{path}{name}"), names.what, Some(&format!("{path}{wanted}"))));
        }
    }
    Ok(())
}

/// Checks options, if there are any: all of them must be known. Their `signal` is checked, too. `path` names them in
/// errors.
pub(super) fn check_options(given: &JsValue, known: &[&'static str], path: &str) -> Answer<()> {
    if given.is_undefined() {
        return Ok(());
    }
    check_object(given, path)?;
    for name in keys(given)?.iter().filter_map(|name| name.as_string()) {
        if !known.contains(&name.as_str()) {
            let prefix = if path == "options" { String::new() } else { format!("{path}.") };
            let wanted = meant(&name, known).map(|wanted| format!("{prefix}{wanted}"));
            let what = format!("the options, which are {}", known.join(", "));
            return Err(unknown(&format!("{prefix}{name}"), &what, wanted.as_deref()));
        }
    }
    check_signal(&member(given, "signal")?)
}

/// The error of a member of an unknown name; says which one is meant, if one is.
pub(super) fn unknown(path: &str, what: &str, wanted: Option<&str>) -> JsValue {
    let hint = wanted.map_or_else(String::new, |wanted| format!(": did you mean {wanted}?"));
    let details = Details::at(path);
    error(ErrorKind::InvalidArgument, &format!("{path} is not known in {what}{hint}"), details)
}

/// Checks a signal, if there is one: it is asked only for what every host's `AbortSignal` has.
pub(super) fn check_signal(given: &JsValue) -> Answer<()> {
    if given.is_undefined() {
        return Ok(());
    }
    let is_signal = is_object(given)
        && member(given, "aborted")?.as_bool().is_some()
        && member(given, "throwIfAborted")?.is_function()
        && member(given, "addEventListener")?.is_function();
    if is_signal { Ok(()) } else { Err(invalid("signal", &format!("must be an AbortSignal, not {}", describe(given)))) }
}

/// Throws the reason of a signal that was aborted.
pub(super) fn refuse_aborted(signal: &JsValue) -> Answer<()> {
    if !signal.is_undefined() {
        member(signal, "throwIfAborted")?.unchecked_into::<js_sys::Function>().call0(signal)?;
    }
    Ok(())
}

/// Checks a function that is called later.
pub(super) fn check_function(given: &JsValue, path: &str) -> Answer<js_sys::Function> {
    given.clone().dyn_into().map_err(|given: JsValue| {
        let what = if given.is_undefined() {
            "is missing".into()
        } else {
            format!("must be a function, not {}", describe(&given))
        };
        invalid(path, &what)
    })
}

/// Checks a count: a whole number, not negative; nothing when it is absent.
pub(super) fn check_count(given: &JsValue, path: &str) -> Answer<Option<f64>> {
    if given.is_undefined() {
        return Ok(None);
    }
    let count = given.as_f64().filter(|count| count.fract() == 0.0 && (0.0..=MAX_SAFE_INTEGER).contains(count));
    let refused = || invalid(path, &format!("must be a whole number that is not negative, not {}", describe(given)));
    count.map(Some).ok_or_else(refused)
}

/// Checks a name or an id: a string that every host can hold.
pub(super) fn admit_string(given: &JsValue, path: &str) -> Answer<String> {
    if !given.is_string() {
        let what = if given.is_undefined() {
            "is missing".into()
        } else {
            format!("must be a string and not {}", describe(given))
        };
        return Err(invalid(path, &what));
    }
    well_formed(given).ok_or_else(|| invalid(path, "must be a string without lone surrogates"))
}

/// Checks a name that may be absent.
pub(super) fn admit_optional_string(given: &JsValue, path: &str) -> Answer<Option<String>> {
    if given.is_undefined() { Ok(None) } else { admit_string(given, path).map(Some) }
}

/// Checks a text, which may have lone surrogates where `what` is a template.
pub(super) fn check_text(given: &JsValue, what: &str, path: &str) -> Answer<String> {
    given.as_string().ok_or_else(|| {
        let message = format!("{what} must be a string, not {}", describe(given));
        error(ErrorKind::InvalidArgument, &message, Details::at(path))
    })
}

/// Checks a clock's answer: a `Date`, a text or a bigint would be stored as something else.
pub(super) fn check_time(given: &JsValue) -> Answer<f64> {
    given.as_f64().filter(|time| time.is_finite()).ok_or_else(|| {
        let what = describe(given);
        let message = format!("now() must return a number of milliseconds, not {what}");
        error(ErrorKind::InvalidArgument, &message, Details::at("now"))
    })
}

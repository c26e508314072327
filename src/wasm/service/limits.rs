//! The limits of a service: the option, and the errors of what a caller writes. The rules are those of the core.

use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

use super::checks::{MAX_SAFE_INTEGER, check_options};
use super::delta::{core_delta, is_temp};
use super::errors::{error_at, invalid};
use super::host::{Answer, option};
use super::kinds::describe;
use crate::error::{Error, LimitName};
use crate::json::{quoted, size_at_most, size_of};
use crate::limits::Limits;
use crate::operator::Operator;

/// Checks the option `limits`.
pub(super) fn check_limits(limits: &JsValue) -> Answer<Limits> {
    check_options(limits, &["value", "delta", "event", "state", "keys", "events"], "limits")?;
    let mut checked = Limits::default();
    for (name, limit) in [
        ("value", &mut checked.value),
        ("delta", &mut checked.delta),
        ("event", &mut checked.event),
        ("state", &mut checked.state),
        ("keys", &mut checked.keys),
        ("events", &mut checked.events),
    ] {
        let value = option(limits, name)?;
        if value.is_undefined() {
            continue;
        }
        let is_limit =
            |limit: &f64| *limit == f64::INFINITY || (limit.fract() == 0.0 && (0.0..=MAX_SAFE_INTEGER).contains(limit));
        let number = value.as_f64().filter(is_limit).ok_or_else(|| {
            let what = format!("must be a whole number that is not negative, or Infinity, not {}", describe(&value));
            invalid(&format!("limits.{name}"), &what)
        })?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole, and not negative")]
        let number = Some(number).filter(|number| number.is_finite()).map(|number| number as u64);
        *limit = number;
    }
    Ok(checked)
}

/// Compares what a caller writes, without the results of operators. `path` names the delta.
pub(super) fn check_delta(
    limits: &Limits,
    path: &str,
    members: &Map<String, Value>,
    deleted: &[String],
    operators: &[(String, Operator)],
    session_id: Option<&str>,
) -> Answer<()> {
    let values = members.iter().map(|(key, value)| key.len() as u64 + size_at_most(value));
    let kept = operators.iter().filter(|(key, _)| !is_temp(key));
    let of_operators = kept.map(|(key, operator)| key.len() as u64 + size_of(&operator.to_value())).sum();
    let all = values.sum::<u64>() + of_operators;
    if [limits.value, limits.delta].into_iter().flatten().all(|limit| all <= limit) {
        return Ok(());
    }
    let mut given = members.clone();
    given.retain(|key, _| operators.iter().all(|(operated, _)| operated != key));
    let delta = core_delta(path, &given, deleted)?;
    limits.check_delta(&delta, of_operators).map_err(|error| exceeded(error, path, session_id))
}

/// The error of a limit: with its place in the argument, and its session.
pub(super) fn exceeded(error: Error, path: &str, session_id: Option<&str>) -> JsValue {
    let path = match (error.exceeded(), error.key()) {
        (Some(LimitName::Value), Some(key)) => format!("{path}[{}]", quoted(key)),
        _ => path.to_owned(),
    };
    let error = match session_id {
        Some(id) => error.with_id(id),
        None => error,
    };
    error_at(error, &path)
}

//! A delta on its way to the core.

use serde_json::{Map, Value};

use crate::delta::Delta;
use crate::error::Result;
use crate::json::Json;
use crate::operator::Operator;
use crate::scope::Scope;

/// The delta that the core takes.
pub(super) fn core_delta(record: &str, members: &Map<String, Value>, deleted: &[String]) -> Result<Delta> {
    let mut delta = Delta::of_values(record, members.iter().map(|(key, value)| (key.as_str(), value)))?;
    delta.unset(deleted)?;
    Ok(delta)
}

/// Puts what operators come to over the values that are there into a delta that has their keys.
pub(super) fn resolve_into(
    delta: &mut Map<String, Value>,
    operators: &[(String, Operator)],
    value_of: &dyn Fn(&str) -> Option<Json>,
) -> Result<()> {
    for (key, operator) in operators {
        let result = operator.resolve_key(key, value_of(key).as_ref())?;
        delta.insert(key.clone(), result.to_value());
    }
    Ok(())
}

/// Returns `true` if a key lives for one invocation only.
pub(super) fn is_temp(key: &str) -> bool {
    Scope::split(key).0 == Scope::Temp
}

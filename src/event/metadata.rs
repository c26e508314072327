//! The metadata of an event about its delta: `customMetadata.statepad`.

use serde_json::{Map, Value};

use crate::operator::Operator;

/// The metadata with these deletions in it.
#[cfg(all(feature = "js", target_arch = "wasm32", target_os = "unknown"))]
pub(crate) fn with_deletions(metadata: Option<&Value>, deleted: &[String]) -> Map<String, Value> {
    with_own(metadata.and_then(Value::as_object), |own| {
        own.insert("deleted".into(), deleted.into());
    })
}

/// The metadata with these operators in it, beside those that it has.
pub(crate) fn with_operators<'a>(
    metadata: Option<&Map<String, Value>>,
    operators: impl Iterator<Item = (&'a str, &'a Operator)>,
) -> Map<String, Value> {
    with_own(metadata, |own| {
        let mut all = object(own.get("operators"));
        all.extend(operators.map(|(key, operator)| (key.to_owned(), operator.to_value())));
        own.insert("operators".into(), all.into());
    })
}

/// The metadata after a change of this crate's own part.
fn with_own(metadata: Option<&Map<String, Value>>, change: impl FnOnce(&mut Map<String, Value>)) -> Map<String, Value> {
    let mut metadata = metadata.cloned().unwrap_or_default();
    let mut own = object(metadata.get("statepad"));
    change(&mut own);
    metadata.insert("statepad".into(), own.into());
    metadata
}

fn object(value: Option<&Value>) -> Map<String, Value> {
    value.and_then(Value::as_object).cloned().unwrap_or_default()
}

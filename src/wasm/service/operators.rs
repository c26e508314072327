//! The functions that make operators: what a delta may have in the place of a value.

use js_sys::{Object, Reflect};
use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::errors::invalid;
use super::host::{Answer, parse_frozen};
use super::kinds::describe;
use super::walk::{UNMARKED, admit_value, operator_mark};
use crate::operator::Operator;

/// In a delta, adds a number, by default 1: `{ 'app:visits': increment() }`. A key that is not there counts
/// as 0. Throws `INVALID_ARGUMENT`.
#[wasm_bindgen(unchecked_return_type = "OperatorWrite")]
pub fn increment(#[wasm_bindgen(unchecked_optional_param_type = "number")] by: JsValue) -> Answer<JsValue> {
    let number = if by.is_undefined() { Some(1.0) } else { by.as_f64() };
    let number = number.filter(|number| number.is_finite());
    let number = number.ok_or_else(|| invalid("by", &format!("must be a finite number, not {}", describe(&by))))?;
    write_of(&Operator::Increment(number + 0.0))
}

/// In a delta, adds items to the end of a list: `{ notes: append('tides') }`. A key that is not there counts as an
/// empty list. Throws `VALUE_NOT_JSON`.
#[wasm_bindgen(variadic, unchecked_return_type = "OperatorWrite")]
pub fn append(#[wasm_bindgen(unchecked_param_type = "readonly unknown[]")] items: JsValue) -> Answer<JsValue> {
    match admit_value(&items, "items")? {
        Value::Array(items) => write_of(&Operator::Append(items)),
        _ => Err(invalid("items", "must be a list")),
    }
}

/// In a delta, sets a key unless it is there; `null` is there. Throws `VALUE_NOT_JSON`.
#[wasm_bindgen(js_name = setOnce, unchecked_return_type = "OperatorWrite")]
pub fn set_once(#[wasm_bindgen(unchecked_param_type = "unknown")] value: JsValue) -> Answer<JsValue> {
    write_of(&Operator::SetOnce(admit_value(&value, "value")?))
}

/// In a delta, sets a key to `value` if it has the value `expected`, as `JSON.stringify` writes both; `undefined`: if
/// it is not there. Otherwise nothing of the delta is written: `STATE_CONFLICT`, with the `key`. Throws
/// `VALUE_NOT_JSON`.
#[wasm_bindgen(js_name = compareAndSet, unchecked_return_type = "OperatorWrite")]
pub fn compare_and_set(
    #[wasm_bindgen(unchecked_param_type = "unknown")] expected: JsValue,
    #[wasm_bindgen(unchecked_param_type = "unknown")] value: JsValue,
) -> Answer<JsValue> {
    let expected = if expected.is_undefined() { None } else { Some(admit_value(&expected, "expected")?) };
    write_of(&Operator::CompareAndSet { expected, value: admit_value(&value, "value")? })
}

/// The mark of an operator in a delta, frozen. In JSON and in a structured clone it has lost its symbol, but not the
/// other member, by which it is refused.
fn write_of(operator: &Operator) -> Answer<JsValue> {
    let write = Object::new();
    let parsed = parse_frozen(&operator.to_value().to_string())?;
    Reflect::set(&write, &operator_mark(), &parsed)?;
    Reflect::set(&write, &UNMARKED.into(), &parsed)?;
    Object::freeze(&write);
    Ok(write.into())
}

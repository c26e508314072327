//! The walker: takes a value of JavaScript apart, once, and makes a tree of JSON of it. Values that JSON would
//! silently lose or change are refused, and the error names their place. The same rules as in the package
//! (pkg/src/input/admit.ts): the cases of tests/unit/admission.test.mjs run over both.

use js_sys::{Array, Date, Function, Object, Reflect, Symbol};
use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

use super::errors::{Details, error, refused};
use super::host::{is_array, is_enumerable, keys, member, string_of, stringify, symbols as own_symbols, well_formed};
use super::kinds::{describe, is_plain, is_record_like, is_revoked, type_of};
use crate::error::ErrorKind;
use crate::json::{MAX_DEPTH, js_number, member as spelled_member, normalize, quoted};
use crate::operator::Operator;

/// Copies the members of `from` but one. `path` names `from` in errors.
pub(super) fn admit_members(from: &JsValue, except: &str, path: &str) -> Result<Map<String, Value>, JsValue> {
    let members = copy_members(from, except).map_err(|fault| fault.report(path, Keys::Members))?;
    refuse_symbols(from).map_err(|fault| fault.report(path, Keys::Members))?;
    Ok(members)
}

fn copy_members(from: &JsValue, except: &str) -> Result<Map<String, Value>, Fault> {
    let mut into = Map::new();
    for name in keys(from)?.iter() {
        if name.as_string().is_some_and(|name| name == except) {
            continue;
        }
        let copied =
            Reflect::get(from, &name).map_err(Fault::from).and_then(|value| copy(&value, &name, 1, Symbols::LeftOut));
        if let Some(member) = copied.map_err(|fault| fault.at(from, Step::Name(name.clone())))? {
            into.insert(string_of(&name), member);
        }
    }
    Ok(into)
}

/// A delta that was copied: the keys in their order, those that it deletes as `null`.
#[derive(Debug, Default)]
pub(super) struct AdmittedDelta {
    pub(super) members: Map<String, Value>,
    pub(super) deleted: Vec<String>,
    /// Their keys stand at the end of the members, as `null`.
    pub(super) operators: Vec<(String, Operator)>,
}

/// Copies a delta. `path` names it in errors.
pub(super) fn admit_delta(from: &JsValue, path: &str) -> Result<AdmittedDelta, JsValue> {
    let mut delta = AdmittedDelta::default();
    if from.is_undefined() || from.is_null() {
        return Ok(delta);
    }
    if !is_plain(from) {
        let what = format!("must be a plain object of keys and values, not {}", describe(from));
        return Err(refused(ErrorKind::InvalidArgument, path, &what));
    }
    let mut admit = || -> Result<(), Fault> {
        for key in keys(from)?.iter() {
            let at = |fault: Fault| fault.at(from, Step::Name(key.clone()));
            let value = Reflect::get(from, &key).map_err(|thrown| at(thrown.into()))?;
            let Some(name) = well_formed(&key) else {
                return Err(at(Fault::of("is a key with a lone surrogate")));
            };
            if is_deleted(&value) {
                delta.deleted.push(name.clone());
                delta.members.insert(name, Value::Null);
            } else if let Some(operator) = operator_in(&value) {
                let operator = required(copy(&operator, &key, 1, Symbols::LeftOut)).map_err(at)?;
                let operator = serde_json::from_value(operator).map_err(|_| Fault::from(unknown_operator(&name)))?;
                delta.operators.push((name, operator));
            } else {
                delta.members.insert(name, required(copy(&value, &key, 1, Symbols::Refused)).map_err(at)?);
            }
        }
        Ok(())
    };
    admit().map_err(|fault| fault.report(path, Keys::OfState))?;
    refuse_symbols(from).map_err(|fault| fault.report(path, Keys::OfState))?;
    delta.members.extend(delta.operators.iter().map(|(key, _)| (key.clone(), Value::Null)));
    Ok(delta)
}

/// Copies a value. `path` names it in errors.
pub(super) fn admit_value(value: &JsValue, path: &str) -> Result<Value, JsValue> {
    required(copy(value, &"".into(), 1, Symbols::Refused)).map_err(|fault| fault.report(path, Keys::Members))
}

/// The member that an operator still has when it has lost its mark, in JSON or in a structured clone. As in the package
/// (pkg/src/model/operator-write.ts).
pub(super) const UNMARKED: &str = "statepad.operator";

/// The mark by which operators are known, also those of the package.
pub(super) fn operator_mark() -> JsValue {
    Symbol::for_(UNMARKED).into()
}

/// The operator that stands in the place of a value.
fn operator_in(value: &JsValue) -> Option<JsValue> {
    // A proxy that was revoked throws.
    let operator = if value.is_object() { Reflect::get(value, &operator_mark()).ok()? } else { return None };
    (!operator.is_undefined()).then_some(operator)
}

fn unknown_operator(key: &str) -> JsValue {
    error(ErrorKind::InvalidArgument, &format!("the operator of \"{key}\" is unknown"), Details::of_key(key))
}

/// Returns `true` if a value is the mark of a deletion, also that of the package.
pub(super) fn is_deleted(value: &JsValue) -> bool {
    // A proxy that was revoked throws.
    value.is_object() && Reflect::has(value, &Symbol::for_("statepad.deleted").into()).unwrap_or(false)
}

/// The treatment of members under symbols. As in the package, they are looked for where a lost one would be lost
/// state: in deltas and states with all that is in their values, and among the members of an event and of its actions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbols {
    Refused,
    /// As JSON does it.
    LeftOut,
}

/// The copy of a value; nothing for what an object may leave out. `name` is what its member is called, for its
/// `toJSON`. `depth` counts lists and objects, from 1.
fn copy(value: &JsValue, name: &JsValue, depth: usize, symbols: Symbols) -> Result<Option<Value>, Fault> {
    if value.is_string() {
        let text = well_formed(value).ok_or_else(|| Fault::of("has a lone surrogate"))?;
        return Ok(Some(Value::String(text)));
    }
    if let Some(number) = value.as_f64() {
        if !number.is_finite() {
            return Err(Fault::of(&format!("is {}", js_number(number))));
        }
        // JSON has no minus zero.
        let mut number = Value::from(number + 0.0);
        normalize(&mut number);
        return Ok(Some(number));
    }
    if let Some(flag) = value.as_bool() {
        return Ok(Some(Value::Bool(flag)));
    }
    if value.is_undefined() {
        return Ok(None);
    }
    if value.is_null() {
        return Ok(Some(Value::Null));
    }
    if value.is_object() {
        return copy_object(value, name, depth, symbols);
    }
    Err(Fault::of(&format!("is a {}", type_of(value))))
}

fn copy_object(value: &JsValue, name: &JsValue, depth: usize, symbols: Symbols) -> Result<Option<Value>, Fault> {
    if depth > MAX_DEPTH {
        return Err(Fault::of(&format!("is nested deeper than {MAX_DEPTH} levels")));
    }
    if is_revoked(value) {
        return Err(Fault::of("is a revoked proxy"));
    }
    if operator_in(value).is_some() {
        return Err(Fault::of("is an operator: it can only be the whole value of a key in a delta"));
    }
    if let Ok(to_json) = member(value, "toJSON")?.dyn_into::<Function>() {
        return copy_json(value, &to_json, name, depth, symbols);
    }
    if is_array(value)? {
        return copy_array(value, depth, symbols).map(Some);
    }
    if is_plain(value) {
        return copy_record(value, &keys(value)?, depth, symbols).map(Some);
    }
    Err(Fault::of(&format!("is {}", describe(value))))
}

fn copy_array(items: &JsValue, depth: usize, symbols: Symbols) -> Result<Value, Fault> {
    if symbols == Symbols::Refused {
        refuse_symbols(items)?;
    }
    let mut copied = Vec::new();
    let mut index = 0;
    // The length is asked for anew each time: what is called on the way may change it.
    while f64::from(index) < length_of(items)? {
        let name = index.to_string().into();
        let item = Reflect::get_u32(items, index).map_err(Fault::from);
        let item = item.and_then(|item| required(copy(&item, &name, depth + 1, symbols)));
        copied.push(item.map_err(|fault| fault.at(items, Step::Index(index)))?);
        index += 1;
    }
    let names = keys(items)?;
    if names.length() > index {
        let other = quoted_name(&names.get(index));
        return Err(Fault::of(&format!("is a list with an extra member, {other}")));
    }
    Ok(Value::Array(copied))
}

fn length_of(items: &JsValue) -> Result<f64, Fault> {
    Ok(member(items, "length")?.as_f64().unwrap_or(0.0))
}

fn copy_record(record: &JsValue, names: &Array, depth: usize, symbols: Symbols) -> Result<Value, Fault> {
    if symbols == Symbols::Refused {
        refuse_symbols(record)?;
        if names.length() == 1 && names.get(0).as_string().is_some_and(|name| name == UNMARKED) {
            return Err(Fault::of("is an operator that lost its mark (structuredClone and JSON drop it)"));
        }
    }
    let mut copied = Map::new();
    for name in names.iter() {
        let at = |fault: Fault| fault.at(record, Step::Name(name.clone()));
        let Some(text) = well_formed(&name) else {
            return Err(at(Fault::of("is a member with a lone surrogate in its name")));
        };
        let value = Reflect::get(record, &name).map_err(|thrown| at(thrown.into()))?;
        if let Some(member) = copy(&value, &name, depth + 1, symbols).map_err(at)? {
            copied.insert(text, member);
        }
    }
    Ok(Value::Object(copied))
}

/// The value that `JSON.stringify` would take in the place of a value that has a `toJSON`.
fn copy_json(
    value: &JsValue,
    to_json: &Function,
    name: &JsValue,
    depth: usize,
    symbols: Symbols,
) -> Result<Option<Value>, Fault> {
    if value.dyn_ref::<Date>().is_some_and(|date| date.get_time().is_nan()) {
        return Err(Fault::of("is an invalid date"));
    }
    let json = to_json.call1(value, name)?;
    if !(json.is_object() && member(&json, "toJSON")?.is_function()) {
        return copy(&json, name, depth + 1, symbols);
    }
    // It is asked once: JSON.stringify does not ask the answer for its toJSON either, and leaves out what is a
    // function.
    if is_array(&json)? {
        return copy_array(&json, depth + 1, symbols).map(Some);
    }
    if !is_record_like(&json) {
        return Err(Fault::of(&format!("is {}", describe(&json))));
    }
    let names = keys(&json)?.filter(&mut |name, _, _| name.as_string().is_none_or(|name| name != "toJSON"));
    copy_record(&json, &names, depth + 1, symbols).map(Some)
}

/// JSON would leave these out without a word. ADK's mark of its events is known.
fn refuse_symbols(value: &JsValue) -> Result<(), Fault> {
    for symbol in own_symbols(value)?.iter() {
        if symbol != adk_event() && is_enumerable(value, &symbol)? {
            return Err(Fault::of(&format!("has a member under {}", string_of(&symbol))));
        }
    }
    Ok(())
}

/// The mark of ADK's events: the one symbol that a copy keeps.
pub(super) fn adk_event() -> JsValue {
    Symbol::for_("google.adk.event").into()
}

fn required(copied: Result<Option<Value>, Fault>) -> Result<Value, Fault> {
    copied?.ok_or_else(|| Fault::of("is undefined"))
}

/// A fault in a value. On its way out of the value it gathers its path.
struct Fault {
    what: What,
    /// From the inside to the outside: the objects, and the way from each to the next.
    way: Vec<(JsValue, Step)>,
}

enum What {
    NotJson(String),
    /// The value that a getter or a `toJSON` has thrown.
    Thrown(JsValue),
}

enum Step {
    Index(u32),
    Name(JsValue),
}

/// The spelling of the first step of a path: a key of a state stands in brackets and quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    OfState,
    Members,
}

impl From<JsValue> for Fault {
    fn from(thrown: JsValue) -> Self {
        Self { what: What::Thrown(thrown), way: Vec::new() }
    }
}

impl Fault {
    fn of(what: &str) -> Self {
        Self { what: What::NotJson(what.to_owned()), way: Vec::new() }
    }

    fn at(mut self, object: &JsValue, step: Step) -> Self {
        self.way.push((object.clone(), step));
        self
    }

    /// The error that it becomes.
    fn report(self, root: &str, keys: Keys) -> JsValue {
        let what = match self.what {
            What::NotJson(what) => what,
            What::Thrown(thrown) => return thrown,
        };
        let way: Vec<_> = self.way.into_iter().rev().collect();
        let is_again = |place: &usize| way[..*place].iter().any(|(earlier, _)| Object::is(earlier, &way[*place].0));
        let again = (0..way.len()).find(is_again);
        let mut path = root.to_owned();
        for (place, (_, step)) in way[..again.unwrap_or(way.len())].iter().enumerate() {
            let keys = if place == 0 { keys } else { Keys::Members };
            step.spell(&mut path, keys);
        }
        let what = again.map_or(what, |_| "is part of a cycle".to_owned());
        refused(ErrorKind::ValueNotJson, &path, &format!("{what}: it is not JSON"))
    }
}

impl Step {
    fn spell(&self, path: &mut String, keys: Keys) {
        match self {
            Self::Index(index) => path.extend(["[", &index.to_string(), "]"]),
            Self::Name(name) => match well_formed(name) {
                Some(name) if keys == Keys::Members => {
                    let spelled = spelled_member(&name);
                    let is_first = path.is_empty();
                    path.push_str(spelled.strip_prefix('.').filter(|_| is_first).unwrap_or(&spelled));
                }
                _ => path.extend(["[", &quoted_name(name), "]"]),
            },
        }
    }
}

/// A name as a JSON string: lone surrogates as their numbers.
fn quoted_name(name: &JsValue) -> String {
    let text = stringify(name).ok().and_then(|text| text.as_string());
    text.unwrap_or_else(|| quoted(&string_of(name)))
}

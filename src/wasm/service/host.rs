//! Calls to JavaScript. Every one that runs code of the caller (getters, traps of proxies, `toJSON`) may throw.

use js_sys::{Array, Function, JsString, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;

/// The answer of an operation, or the value that it throws.
pub(super) type Answer<T> = std::result::Result<T, JsValue>;

#[wasm_bindgen]
extern "C" {
    /// Throws for a proxy that was revoked.
    #[wasm_bindgen(catch, js_namespace = Array, js_name = isArray)]
    pub(super) fn is_array(value: &JsValue) -> Answer<bool>;

    /// The names of the own enumerable members.
    #[wasm_bindgen(catch, js_namespace = Object, js_name = keys)]
    pub(super) fn keys(value: &JsValue) -> Answer<Array>;

    #[wasm_bindgen(catch, js_namespace = Object, js_name = getOwnPropertySymbols)]
    pub(super) fn symbols(value: &JsValue) -> Answer<Array>;

    #[wasm_bindgen(catch, js_namespace = Object, js_name = hasOwn)]
    pub(super) fn has_own(value: &JsValue, name: &JsValue) -> Answer<bool>;

    #[wasm_bindgen(catch, js_namespace = ["Object", "prototype", "propertyIsEnumerable"], js_name = call)]
    pub(super) fn is_enumerable(value: &JsValue, name: &JsValue) -> Answer<bool>;

    /// `undefined` for what JSON has no text for.
    #[wasm_bindgen(catch, js_namespace = JSON, js_name = stringify)]
    pub(super) fn stringify(value: &JsValue) -> Answer<JsValue>;

    /// The text of anything, symbols included.
    #[wasm_bindgen(js_name = String)]
    pub(super) fn string_of(value: &JsValue) -> String;

    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, milliseconds: f64, argument: &JsValue) -> JsValue;

    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
}

/// A member of an object.
pub(super) fn member(object: &JsValue, name: &str) -> Answer<JsValue> {
    Reflect::get(object, &name.into())
}

/// A member of options, which may be absent as a whole.
pub(super) fn option(options: &JsValue, name: &str) -> Answer<JsValue> {
    if options.is_undefined() { Ok(JsValue::UNDEFINED) } else { member(options, name) }
}

/// Sets an own member of an object that was made here, whatever its name.
pub(super) fn put(object: &Object, name: &str, value: &JsValue) {
    define(object, &name.into(), value, &Attributes { enumerable: true, configurable: true, writable: true });
}

/// The rights that a member has.
pub(super) struct Attributes {
    pub(super) enumerable: bool,
    pub(super) configurable: bool,
    pub(super) writable: bool,
}

/// Defines a member of an object that was made here.
pub(super) fn define(object: &Object, name: &JsValue, value: &JsValue, attributes: &Attributes) {
    let descriptor = Object::new();
    let members = [
        ("value", value),
        ("enumerable", &attributes.enumerable.into()),
        ("configurable", &attributes.configurable.into()),
        ("writable", &attributes.writable.into()),
    ];
    for (name, value) in members {
        // A plain object takes any member.
        let _ = Reflect::set(&descriptor, &name.into(), value);
    }
    Object::define_property(object, name, &descriptor);
}

/// The text of a string; nothing when it has lone surrogates, which UTF-8 could not hold. Only for strings.
pub(super) fn well_formed(string: &JsValue) -> Option<String> {
    let text = string.as_string()?;
    // A lone surrogate has become the replacement character; a text may have that one, too.
    let is_sound = !text.contains(char::REPLACEMENT_CHARACTER) || JsString::from(string.clone()).is_valid_utf16();
    is_sound.then_some(text)
}

/// The value of a text that was written here. So no member is lost, whatever its name.
pub(super) fn parse(json: &str) -> Answer<JsValue> {
    js_sys::JSON::parse(json)
}

/// Freezes a value that has just been parsed, through and through.
pub(super) fn deep_freeze(value: &JsValue) {
    if let Some(object) = value.dyn_ref::<Object>() {
        for member in Object::values(object).iter() {
            deep_freeze(&member);
        }
        Object::freeze(object);
    }
}

/// A value of a text that was written here, frozen.
pub(super) fn parse_frozen(json: &str) -> Answer<JsValue> {
    let value = parse(json)?;
    deep_freeze(&value);
    Ok(value)
}

/// Returns `true` if a value has a callable `then`: promises of other realms and libraries are instances of other
/// classes.
pub(super) fn is_thenable(value: &JsValue) -> Answer<bool> {
    if !(value.is_object() || value.is_function()) {
        return Ok(false);
    }
    Ok(member(value, "then")?.is_function())
}

/// A promise, and the function that resolves it.
pub(super) fn deferred() -> (Promise, Function) {
    let mut resolve = None;
    let promise = Promise::new(&mut |function, _| resolve = Some(function));
    // A promise calls its executor at once.
    (promise, resolve.unwrap_or_default())
}

/// A promise that is resolved after a time.
pub(super) fn sleep(milliseconds: u32) -> Promise {
    Promise::new(&mut |resolve, _| {
        set_timeout(&resolve, f64::from(milliseconds), &JsValue::UNDEFINED);
    })
}

/// A time that is waited for at most. Dropped, it keeps no process alive.
#[derive(Debug)]
pub(super) struct Timer {
    handle: JsValue,
    end: JsValue,
    /// Resolved when the time is over.
    pub(super) ended: Promise,
}

impl Timer {
    pub(super) fn new(milliseconds: f64) -> Self {
        let (ended, resolve) = deferred();
        // An object that is none of the caller's.
        let end = JsValue::from(Object::new());
        let handle = set_timeout(&resolve, milliseconds, &end);
        Self { handle, end, ended }
    }

    /// Returns `true` if `ended` has resolved to this value.
    pub(super) fn is_end(&self, value: &JsValue) -> bool {
        *value == self.end
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        clear_timeout(&self.handle);
    }
}

/// The answer of a synchronous operation, as a promise.
pub(super) fn settled(answer: Answer<JsValue>) -> Promise {
    match answer {
        Ok(value) => Promise::resolve(&value),
        Err(error) => Promise::reject(&error),
    }
}

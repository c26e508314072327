//! A JSON value as the text that is stored: compact, with numbers as JavaScript writes them.

use std::sync::Arc;

use serde_json::Value;
use unicode_ident::{is_xid_continue, is_xid_start};

use crate::error::{Error, ErrorKind, Result};
use crate::text::slice;

/// The greatest depth of lists and objects nested in a value.
pub const MAX_DEPTH: usize = 100;

/// One JSON value as text, cheap to copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(Arc<str>);

impl Json {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value `null`.
    pub fn null() -> Self {
        Self(Arc::from("null"))
    }

    /// A finite number.
    pub(crate) fn of_number(number: f64) -> Self {
        Self(Arc::from(js_number(number)))
    }

    /// The list with the items of another list behind its own; nothing, when it is no list.
    pub(crate) fn followed_by(&self, items: &Self) -> Option<Self> {
        let inside = |list: &'_ Self| Some(list.0.strip_prefix('[')?.strip_suffix(']')?.to_owned());
        let (own, more) = (inside(self)?, inside(items)?);
        let comma = if own.is_empty() || more.is_empty() { "" } else { "," };
        Some(Self(Arc::from(["[", &own, comma, &more, "]"].concat())))
    }

    /// Takes a text that is known to be a JSON value.
    #[cfg(test)]
    pub(crate) fn from_text(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// Writes a value as text: compact, numbers as JavaScript writes them, so that a template renders the same in
    /// every host.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ValueNotJson`] for a value nested deeper than [`MAX_DEPTH`].
    pub fn from_value(value: &Value) -> Result<Self> {
        Self::written(value).map_err(|way| way.error("value".to_owned()))
    }

    /// As [`Json::from_value`], for the value of a key: errors name it as a member of `record`.
    pub(crate) fn of_key(record: &str, key: &str, value: &Value) -> Result<Self> {
        Self::written(value).map_err(|way| {
            let path = format!("{record}[{}]", quoted(key));
            way.error(path).with_key(key)
        })
    }

    fn written(value: &Value) -> std::result::Result<Self, TooDeep> {
        let mut text = String::new();
        write_value(&mut text, value, 1)?;
        Ok(Self(Arc::from(text)))
    }

    /// Reads the text back.
    pub fn to_value(&self) -> Value {
        #[cfg(test)]
        READS.with(|reads| reads.set(reads.get() + 1));
        or_impossible!(serde_json::from_str(&self.0).ok(), "the text was written as JSON")
    }
}

#[cfg(test)]
thread_local! {
    static READS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The number of values that this thread has read back.
#[cfg(test)]
pub(crate) fn reads() -> usize {
    READS.get()
}

/// Makes the numbers in a value what the text of [`Json::from_value`] reads back as: `1.0` becomes `1`, `-0.0` becomes
/// `0`, as JSON of JavaScript has them. So the log shows the same numbers as the state.
pub(crate) fn normalize(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(float) = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0) {
                let text = js_number(float);
                *value = or_impossible!(serde_json::from_str(&text).ok(), "a number of JSON is finite");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Object(members) => members.values_mut().for_each(normalize),
        _ => {}
    }
}

/// The way to a list or an object that is nested too deep, from the inside to the outside.
#[derive(Debug, Default)]
struct TooDeep(Vec<String>);

impl TooDeep {
    fn at(mut self, step: String) -> Self {
        self.0.push(step);
        self
    }

    /// The error, for a value at a path.
    fn error(&self, mut path: String) -> Error {
        path.extend(self.0.iter().rev().map(String::as_str));
        let message = format!("{path} is nested deeper than {MAX_DEPTH} levels: it is not JSON");
        Error::new(ErrorKind::ValueNotJson, message)
    }
}

/// A member as JavaScript writes it: `.name`, or `["a name"]`.
pub(crate) fn member(name: &str) -> String {
    let begins = |c: char| is_xid_start(c) || matches!(c, '$' | '_');
    let is_plain = name.starts_with(begins) && name.chars().all(|c| is_xid_continue(c) || c == '$');
    if is_plain {
        return format!(".{name}");
    }
    format!("[{}]", quoted(name))
}

/// `depth` counts lists and objects, from 1.
fn write_value(out: &mut String, value: &Value, depth: usize) -> std::result::Result<(), TooDeep> {
    if depth > MAX_DEPTH && (value.is_array() || value.is_object()) {
        return Err(TooDeep::default());
    }
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, item, depth + 1).map_err(|way| way.at(format!("[{index}]")))?;
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(out, name);
                out.push(':');
                write_value(out, value, depth + 1).map_err(|way| way.at(member(name)))?;
            }
            out.push('}');
        }
    }
    Ok(())
}

/// Integers as they are, floats by ECMAScript's algorithm: `1.0` is `1`, `1e21` is `1e+21`.
fn write_number(out: &mut String, number: &serde_json::Number) {
    match number.as_f64() {
        Some(float) if number.is_f64() => out.push_str(&js_number(float)),
        _ => out.push_str(&number.to_string()),
    }
}

/// A number as JavaScript writes it, also one that JSON does not have.
pub(crate) fn js_number(float: f64) -> String {
    ryu_js::Buffer::new().format(float).to_owned()
}

/// The most that the text of an object with these members takes, in bytes.
pub(crate) fn size_of_members<'a>(members: impl IntoIterator<Item = (&'a str, &'a Json)>) -> usize {
    2 + members.into_iter().map(|(name, json)| 6 * name.len() + json.as_str().len() + 4).sum::<usize>()
}

/// The bytes of a value as [`Json::from_value`] writes it, however deep it is nested.
pub(crate) fn size_of(value: &Value) -> u64 {
    measure(value, size_of_string, |number| {
        let mut text = String::new();
        write_number(&mut text, number);
        text.len() as u64
    })
}

/// As [`size_of`], or more: without a look into the texts.
pub(crate) fn size_at_most(value: &Value) -> u64 {
    measure(value, string_at_most, |_| NUMBER_AT_MOST)
}

/// The most bytes of a number: `-1.7976931348623157e+308`.
const NUMBER_AT_MOST: u64 = 24;

/// The most bytes of a string as a JSON string: each of its bytes may become an escape of six.
pub(crate) fn string_at_most(text: &str) -> u64 {
    6 * text.len() as u64 + 2
}

/// The bytes of a string as a JSON string.
fn size_of_string(text: &str) -> u64 {
    let escapes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
        0..=0x1f => 5,
        _ => 0,
    });
    text.len() as u64 + 2 + escapes.sum::<u64>()
}

/// The bytes of a value whose strings and numbers have so many.
fn measure(value: &Value, text: fn(&str) -> u64, number: fn(&serde_json::Number) -> u64) -> u64 {
    let commas = |count: usize| count.saturating_sub(1) as u64;
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(value) => number(value),
        Value::String(value) => text(value),
        Value::Array(items) => {
            2 + commas(items.len()) + items.iter().map(|item| measure(item, text, number)).sum::<u64>()
        }
        Value::Object(members) => {
            let sizes = members.iter().map(|(name, value)| text(name) + 1 + measure(value, text, number));
            2 + commas(members.len()) + sizes.sum::<u64>()
        }
    }
}

/// A string as a JSON string: how messages spell keys.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(&mut out, text);
    out
}

/// Appends a string as a JSON string.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut start = 0;
    for (index, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..=0x1f => {
                out.push_str(slice(text, start..index));
                out.push_str("\\u00");
                out.push(char::from(b'0' + (byte >> 4)));
                out.push(char::from(b"0123456789abcdef"[usize::from(byte & 15)]));
                start = index + 1;
                continue;
            }
            _ => continue,
        };
        out.push_str(slice(text, start..index));
        out.push_str(escape);
        start = index + 1;
    }
    out.push_str(slice(text, start..text.len()));
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        for (value, text) in [
            (json!(1.0), "1"),
            (json!(1e21), "1e+21"),
            (json!(1e20), "100000000000000000000"),
            (json!(1e-7), "1e-7"),
            (json!(5e-324), "5e-324"),
            (json!(-0.5), "-0.5"),
            (json!(9_007_199_254_740_993_u64), "9007199254740993"),
        ] {
            assert_eq!(Json::from_value(&value).unwrap().as_str(), text);
        }
    }

    #[test]
    fn a_normal_value_is_what_its_text_reads_back_as() {
        for value in [
            json!(1.0),
            json!(-0.0),
            json!(-7.0),
            json!(0.5),
            json!(1e21),
            json!(1e20),
            json!(9_007_199_254_740_993_u64),
            json!(u64::MAX),
            json!(18_446_744_073_709_551_616.0),
            json!(-9_223_372_036_854_775_808.0),
            json!({"a": [1.0, {"b": -0.0}], "c": "1.0", "d": null}),
        ] {
            let mut normal = value.clone();
            normalize(&mut normal);
            assert_eq!(normal, Json::from_value(&value).unwrap().to_value(), "{value}");
        }
    }

    #[test]
    fn strings_are_escaped_as_serde_json_does() {
        let text: String = (0..0x300).filter_map(char::from_u32).collect();
        let mut out = String::new();
        write_string(&mut out, &text);
        assert_eq!(out, serde_json::to_string(&text).unwrap());
    }

    #[test]
    fn the_size_of_a_value_is_that_of_its_text() {
        let text: String = (0..0x300).filter_map(char::from_u32).collect();
        for value in [
            json!(null),
            json!([true, false, [], {}]),
            json!({"é\"": [1, -2.5, 1e21, u64::MAX, -1.797_693_134_862_315_7e308], "b": {"c": text}}),
            json!("𝄞\u{0}\u{1f}"),
        ] {
            let written = Json::from_value(&value).unwrap().as_str().len() as u64;
            assert_eq!(size_of(&value), written, "{value}");
            assert!(size_at_most(&value) >= written, "{value}");
        }
    }

    #[test]
    fn a_value_nested_too_deep_is_refused_and_the_deepest_allowed_comes_back() {
        let nested = |levels: usize| {
            let mut value = json!(1);
            for _ in 0..levels {
                value = Value::Array(vec![value]);
            }
            value
        };
        let deepest = nested(MAX_DEPTH);
        assert_eq!(Json::from_value(&deepest).unwrap().to_value(), deepest);
        let error = Json::from_value(&nested(MAX_DEPTH + 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ValueNotJson);
        let way = "[0]".repeat(MAX_DEPTH);
        assert_eq!(error.to_string(), format!("value{way} is nested deeper than 100 levels: it is not JSON"));
        let empty = (0..MAX_DEPTH).fold(json!({}), |value, _| json!([value]));
        assert!(Json::from_value(&empty).is_err(), "a level counts, whether or not there is anything in it");
    }

    #[test]
    fn the_path_of_a_value_that_is_nested_too_deep_is_as_javascript_writes_it() {
        let deep = (0..MAX_DEPTH).fold(json!([]), |value, _| json!([value]));
        let value = json!({"a": [1, {"b c": {"$é": {"1": deep}}}]});
        let error = Json::of_key("state", "user:\"x", &value).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with(r#"state["user:\"x"].a[1]["b c"].$é["1"][0][0]"#), "{message}");
        assert_eq!(error.key(), Some("user:\"x"));
    }
}

//! Splits the text of a JSON object into its members, without parsing the values.
//!
//! The text comes from a JSON writer (`JSON.stringify` in a JavaScript host), so values are not checked, only
//! delimited. The WebAssembly module needs no more of a JSON reader; a whole one is ten times as large.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::text::slice;

/// Goes through the members of an object: the name, and the value's text as it stands.
#[derive(Debug)]
pub struct Members<'a> {
    text: &'a str,
    at: usize,
    begun: bool,
}

impl<'a> Members<'a> {
    /// Begins with the text of an object, without blanks before it.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, begun: false }
    }

    /// The next member, or nothing at the end of the object, which must be the end of the text.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when the text is no JSON object.
    pub fn next_member(&mut self) -> Result<Option<(Cow<'a, str>, &'a str)>> {
        if self.at == self.text.len() && self.begun {
            return Ok(None);
        }
        let first = !std::mem::replace(&mut self.begun, true);
        if first {
            self.pass(b'{')?;
        }
        if self.peek() == Some(b'}') && self.at + 1 == self.text.len() {
            self.at += 1;
            return Ok(None);
        }
        if !first {
            self.pass(b',')?;
        }
        let name = unescape(self.string()?).ok_or_else(fault)?;
        self.pass(b':')?;
        Ok(Some((name, self.value()?)))
    }

    /// Passes over one byte that must stand here.
    fn pass(&mut self, byte: u8) -> Result<()> {
        if self.peek() != Some(byte) {
            return Err(fault());
        }
        self.at += 1;
        Ok(())
    }

    /// A string with its quotes.
    fn string(&mut self) -> Result<&'a str> {
        let start = self.at;
        self.pass(b'"')?;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => return Err(fault()),
            }
        }
        self.at += 1;
        Ok(slice(self.text, start..self.at))
    }

    /// Any value: all up to the comma or brace that ends it.
    fn value(&mut self) -> Result<&'a str> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']' | b',') if depth == 0 => break,
                Some(b'}' | b']') => depth -= 1,
                Some(_) => {}
                None => return Err(fault()),
            }
            self.at += 1;
        }
        if start == self.at { Err(fault()) } else { Ok(slice(self.text, start..self.at)) }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

fn fault() -> Error {
    Error::invalid("a state delta is not the text of a JSON object")
}

/// The text that a JSON string stands for.
fn unescape(quoted: &str) -> Option<Cow<'_, str>> {
    let inner = slice(quoted, 1..quoted.len() - 1);
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'u' => unicode(&mut chars)?,
                c @ ('"' | '\\' | '/') => c,
                _ => return None,
            },
            c => c,
        };
        text.push(c);
    }
    Some(Cow::Owned(text))
}

/// What follows `\u`: four digits, and the second half of a pair where there is one.
fn unicode(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let unit = hex(chars)?;
    if !(0xd800..0xdc00).contains(&unit) {
        return char::from_u32(unit);
    }
    if chars.next()? != '\\' || chars.next()? != 'u' {
        return None;
    }
    let low = hex(chars)?.checked_sub(0xdc00).filter(|&low| low < 0x400)?;
    char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + low)
}

fn hex(chars: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |unit, _| Some(unit << 4 | chars.next()?.to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str) -> Result<Vec<(String, &str)>> {
        let mut members = Members::new(text);
        let mut all = Vec::new();
        while let Some((name, value)) = members.next_member()? {
            all.push((name.into_owned(), value));
        }
        Ok(all)
    }

    #[test]
    fn values_are_delimited_and_names_are_read() {
        let text = r#"{"a":1,"":[{"x":"}\"]"},[]],"\u00e9\ud83d\ude00\n\"\\\/":"\\","__proto__":{}}"#;
        let all = members(text).unwrap();
        let all: Vec<_> = all.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(all, [("a", "1"), ("", r#"[{"x":"}\"]"},[]]"#), ("é😀\n\"\\/", r#""\\""#), ("__proto__", "{}")]);
        assert_eq!(members("{}").unwrap(), []);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in [
            "",
            "{",
            "}",
            "{}x",
            "[]",
            "null",
            "1",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1",
            "{\"a\":1,}",
            "{\"a\":1}}",
            "{\"a\":1}x",
            "{a:1}",
            "{\"a\":\"}",
            "{\"\\x\":1}",
            "{\"\\ud800\":1}",
            "{\"\\",
            "{\"a\":1 ]",
        ] {
            assert!(members(text).is_err(), "{text}");
        }
    }
}

#[cfg(test)]
#[cfg(not(target_arch = "wasm32"))]
mod laws {
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use crate::delta::{Delta, Write};

    /// The objects that a JSON writer writes.
    fn object() -> impl Strategy<Value = Map<String, Value>> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        let members = |value| btree_map(any::<String>(), value, 0..5).prop_map(|members| members.into_iter().collect());
        let value = leaf.prop_recursive(4, 24, 5, move |inner| {
            prop_oneof![vec(inner.clone(), 0..5).prop_map(Value::from), members(inner).prop_map(Value::Object)]
        });
        btree_map(any::<String>(), value, 0..5).prop_map(|members| members.into_iter().collect())
    }

    fn read(delta: &Delta) -> Map<String, Value> {
        let value = |write: &Write| match write {
            Write::Set(json) => serde_json::from_str(json.as_str()).unwrap(),
            Write::Unset => panic!("nothing was deleted"),
        };
        delta.iter().map(|(key, write)| (key.to_owned(), value(write))).collect()
    }

    proptest! {
        #[test]
        fn what_a_json_writer_writes_is_read_as_any_json_reader_reads_it(object in object()) {
            let text = Value::Object(object.clone()).to_string();
            let delta = Delta::trusted(&text, &[]).unwrap();
            prop_assert_eq!(&delta, &Delta::parse(&text, &[]).unwrap());
            let read = read(&delta);
            prop_assert_eq!(read.keys().collect::<Vec<_>>(), object.keys().collect::<Vec<_>>());
            prop_assert_eq!(read, object);
        }

        #[test]
        fn text_that_is_broken_anywhere_never_panics(
            object in object(),
            place in any::<prop::sample::Index>(),
            piece in "[{}\\[\\]\",:\\\\u0dé\u{0}]{0,3}",
        ) {
            let mut text = Value::Object(object).to_string();
            let places: Vec<_> = text.char_indices().map(|(place, _)| place).collect();
            let start = *place.get(&places);
            let end = start + text[start..].chars().next().unwrap().len_utf8();
            text.replace_range(start..end, &piece);
            if let (Ok(delta), Ok(object)) = (&Delta::trusted(&text, &[]), serde_json::from_str(&text)) {
                prop_assert_eq!(read(delta), object);
            }
        }

        #[test]
        fn text_that_is_anything_at_all_never_panics(
            text in any::<String>(),
            quoted in "[{}\\[\\]\",:\\\\u0-9a-f é]{0,24}",
        ) {
            let _ = Delta::trusted(&text, &[]);
            let _ = Delta::trusted(&quoted, &[]);
            let _ = Delta::trusted(&format!("{{{quoted}}}"), &["a".to_owned()]);
        }
    }
}

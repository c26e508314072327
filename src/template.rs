//! Instruction templates: text with placeholders, compiled once and rendered many times.
//!
//! [`scan`] finds the placeholders; this module looks up their values.

pub mod nearest;
pub mod scan;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;

use self::nearest::{SUGGESTIONS, nearest};
use self::scan::{Candidate, Escape, Placeholder, PlaceholderKind, Scanner};
use crate::error::{Error, ErrorKind, Missing, Result};
use crate::json::{Json, quoted};
use crate::state::ReadonlyState;
use crate::text::slice;

/// A compiled template.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use statepad::Template;
///
/// let template = Template::parse("Plan {n} days in {user:profile.city}, {{as is}}.");
/// let state = json!({"n": 3, "user:profile": {"city": "Lisbon"}});
/// let text = template.render(state.as_object().unwrap())?;
/// assert_eq!(text, "Plan 3 days in Lisbon, {{as is}}.");
/// # Ok::<(), statepad::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Template {
    text: String,
    segments: Vec<Segment>,
}

/// A part of a compiled template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// This range of the text, as it is.
    Literal(Range<usize>),
    /// A value.
    Placeholder(Placeholder),
}

impl Template {
    /// Compiles a text. Every text is a template: what is no placeholder is literal.
    pub fn parse(text: impl Into<String>) -> Self {
        let text = text.into();
        let segments = segments(&text);
        Self { text, segments }
    }

    /// Gives a template that renders to exactly `text`.
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::Template;
    ///
    /// assert_eq!(Template::escape(r"use {name} or \{x}"), r"use \{name} or \\\{x}");
    /// ```
    pub fn escape(text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        let mut start = 0;
        for (brace, count) in Self::escapes(text) {
            out.push_str(slice(text, start..brace));
            out.extend(std::iter::repeat_n('\\', count));
            start = brace;
        }
        out.push_str(slice(text, start..text.len()));
        out
    }

    /// The places, in bytes, where [`Template::escape`] puts backslashes, and how many.
    pub fn escapes(text: &str) -> impl Iterator<Item = (usize, usize)> {
        Scanner::new(text)
            .filter_map(|candidate| Some((candidate.placeholder.span.start, candidate.backslashes()? + 1)))
    }

    /// The text that was compiled.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parts, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The placeholders of the template, in the order of the text.
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::Template;
    ///
    /// let template = Template::parse("Plan {days} days in {user:profile.city?}");
    /// let needs: Vec<_> = template
    ///     .placeholders()
    ///     .map(|placeholder| (&template.text()[placeholder.root.clone()], placeholder.optional))
    ///     .collect();
    /// assert_eq!(needs, [("days", false), ("user:profile", true)]);
    /// ```
    pub fn placeholders(&self) -> impl Iterator<Item = &Placeholder> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Placeholder(placeholder) => Some(placeholder),
            Segment::Literal(_) => None,
        })
    }

    /// The line and the column of each placeholder's brace, both from 1, the column in characters. In the order of
    /// [`Template::placeholders`].
    pub fn places(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut place = Place { at: 0, line: 1, column: 1 };
        self.placeholders().map(move |placeholder| {
            place.advance(&self.text, placeholder.span.start);
            (place.line, place.column)
        })
    }

    /// Renders with the values of a state. There are no artifacts.
    ///
    /// # Errors
    ///
    /// As [`Template::render_with`].
    pub fn render<S: ReadonlyState + ?Sized>(&self, state: &S) -> Result<String> {
        self.render_with(state, |_| None)
    }

    /// Renders with the values of a state and with artifacts. `artifact` gives the text of an artifact, and is called
    /// once for each name.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TemplateKeyMissing`] when the state lacks required keys, [`ErrorKind::ArtifactMissing`] when only
    /// artifacts are missing. [`Error::missing`] lists all of them. [`ErrorKind::ValueNotJson`] for a value nested too
    /// deep.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::json;
    /// use statepad::Template;
    ///
    /// let template = Template::parse("Follow {artifact.rules.md}. Topic: {topic}.");
    /// let state = json!({"topic": "tides"});
    /// let text = template.render_with(state.as_object().unwrap(), |name| {
    ///     (name == "rules.md").then(|| "the rules".to_owned())
    /// })?;
    /// assert_eq!(text, "Follow the rules. Topic: tides.");
    /// # Ok::<(), statepad::Error>(())
    /// ```
    pub fn render_with<S: ReadonlyState + ?Sized>(
        &self,
        state: &S,
        mut artifact: impl FnMut(&str) -> Option<String>,
    ) -> Result<String> {
        let mut out = String::with_capacity(self.text.len());
        let mut artifacts = HashMap::new();
        let mut missing: HashSet<usize> = HashSet::new();
        for segment in &self.segments {
            let placeholder = match segment {
                Segment::Literal(range) => {
                    out.push_str(&self.text[range.clone()]);
                    continue;
                }
                Segment::Placeholder(placeholder) => placeholder,
            };
            let value = match placeholder.kind {
                PlaceholderKind::State => self.lookup(placeholder, state),
                PlaceholderKind::Artifact => {
                    let name = &self.text[placeholder.key.clone()];
                    let text: &Option<String> = artifacts.entry(name).or_insert_with(|| artifact(name));
                    text.clone().map(Value::String)
                }
            };
            match value {
                Some(value) => push_value(&mut out, value)?,
                None if placeholder.optional => {}
                None => {
                    missing.insert(placeholder.span.start);
                }
            }
        }
        if missing.is_empty() { Ok(out) } else { Err(self.missing(&missing, state)) }
    }

    /// The whole key first, then the path, own members only.
    fn lookup<S: ReadonlyState + ?Sized>(&self, placeholder: &Placeholder, state: &S) -> Option<Value> {
        if let Some(value) = state.get(&self.text[placeholder.key.clone()]) {
            return Some(value);
        }
        let mut value = state.get(&self.text[placeholder.root.clone()])?;
        for step in &placeholder.path {
            let name = &self.text[step.range.clone()];
            value = match value {
                // A name is never a number.
                Value::Array(mut items) => {
                    let index = name.parse().ok().filter(|&index: &usize| index < items.len())?;
                    items.swap_remove(index)
                }
                Value::Object(mut members) if !step.is_index => members.swap_remove(name)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// The error for the placeholders that begin at these places.
    fn missing<S: ReadonlyState + ?Sized>(&self, starts: &HashSet<usize>, state: &S) -> Error {
        let all = state.to_map();
        let mut seen = HashSet::new();
        let mut missing = Vec::new();
        let mut only_artifacts = true;
        for (placeholder, (line, column)) in self.placeholders().zip(self.places()) {
            let key = slice(&self.text, placeholder.content.clone());
            if !starts.contains(&placeholder.span.start) || !seen.insert(key) {
                continue;
            }
            only_artifacts &= placeholder.kind == PlaceholderKind::Artifact;
            let candidates =
                all.keys().map(String::as_str).take(if missing.len() < SUGGESTIONS { usize::MAX } else { 0 });
            let nearest = nearest(key, candidates).map(str::to_owned);
            missing.push(Missing { key: key.to_owned(), line, column, nearest });
        }
        let kind = if only_artifacts { ErrorKind::ArtifactMissing } else { ErrorKind::TemplateKeyMissing };
        let descriptions = missing.iter().map(describe).collect::<Vec<_>>().join(", ");
        Error::new(kind, format!("values are missing for the template: {descriptions}")).with_missing(missing)
    }
}

/// A missing key as the message tells it.
fn describe(Missing { key, line, column, nearest }: &Missing) -> String {
    let hint = nearest.as_deref().map_or_else(String::new, |key| format!(", did you mean {}?", quoted(key)));
    format!("{} (line {line}, column {column}{hint})", quoted(key))
}

/// A place in the text by line and column. Moves forward only, so that all places together take one pass.
#[derive(Debug)]
struct Place {
    at: usize,
    line: u32,
    column: u32,
}

impl Place {
    fn advance(&mut self, text: &str, to: usize) {
        let mut passed = slice(text, self.at..to);
        while let Some(end) = passed.find('\n') {
            self.line += 1;
            self.column = 1;
            passed = slice(passed, end + 1..passed.len());
        }
        self.column += u32::try_from(passed.chars().count()).unwrap_or(u32::MAX);
        self.at = to;
    }
}

fn segments(text: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut start = 0;
    let literal = |segments: &mut Vec<Segment>, range: Range<usize>| {
        if !range.is_empty() {
            segments.push(Segment::Literal(range));
        }
    };
    for Candidate { placeholder, escape } in Scanner::new(text) {
        let Escape::Backslashes(count) = escape else {
            continue;
        };
        let brace = placeholder.span.start;
        literal(&mut segments, start..brace - count + count / 2);
        start = brace;
        if count % 2 == 0 {
            start = placeholder.span.end;
            segments.push(Segment::Placeholder(placeholder));
        }
    }
    literal(&mut segments, start..text.len());
    segments
}

/// Strings as they are, `null` as nothing, all else as compact JSON.
fn push_value(out: &mut String, value: Value) -> Result<()> {
    match value {
        Value::Null => {}
        Value::String(text) => out.push_str(&text),
        value => out.push_str(Json::from_value(&value)?.as_str()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn render(template: &str, state: &Value) -> Result<String> {
        Template::parse(template).render(state.as_object().unwrap())
    }

    #[test]
    fn a_whole_key_comes_before_a_path() {
        let state = json!({"a.b": "key", "a": {"b": "path", "c": [[1], {"d": null}]}});
        assert_eq!(render("{a.b}|{a.c[0]}|{a.c[1].d}|{a.c}", &state).unwrap(), "key|[1]||[[1],{\"d\":null}]");
    }

    #[test]
    fn a_path_that_leads_nowhere_is_missing() {
        let state = json!({"a": {"b": "text", "l": [1]}});
        for template in
            ["{a.x}", "{a.b.c}", "{a[0]}", "{a.l[1]}", "{a.l.length}", "{a.b[0]}", "{a.l[99999999999999999999]}"]
        {
            assert_eq!(render(template, &state).unwrap_err().kind(), ErrorKind::TemplateKeyMissing, "{template}");
            assert_eq!(render(&template.replace('}', "?}"), &state).unwrap(), "");
        }
    }

    #[test]
    fn every_missing_key_is_listed_once_with_its_first_place() {
        let state = json!({"user:topic": 1});
        let error = render("é {user:topik}\n {x} {user:topik} {y?}{artifact.f}", &state).unwrap_err();
        let missing: Vec<_> = error.missing().iter().map(|m| (m.key.as_str(), m.line, m.column)).collect();
        assert_eq!(missing, [("user:topik", 1, 3), ("x", 2, 2), ("artifact.f", 2, 23)]);
        assert_eq!(error.missing()[0].nearest.as_deref(), Some("user:topic"));
        assert_eq!(error.missing()[1].nearest, None);
    }

    #[test]
    fn the_nearest_key_is_looked_for_so_many_times_and_no_more() {
        let letters = ('a'..='z').take(SUGGESTIONS + 1);
        let text = letters.map(|letter| format!("{{topik{letter}}}")).collect::<Vec<_>>().concat();
        let error = render(&text, &json!({"topic": 1})).unwrap_err();
        let suggested: Vec<_> = error.missing().iter().map(|missing| missing.nearest.is_some()).collect();
        assert_eq!(suggested, [vec![true; SUGGESTIONS], vec![false]].concat());
    }

    #[test]
    fn the_parts_of_a_template_are_text_and_placeholders_in_turn() {
        let template = Template::parse("a{b}{c}{1}");
        let parts: Vec<_> = template
            .segments()
            .iter()
            .map(|segment| match segment {
                Segment::Literal(text) => format!("{text:?}"),
                Segment::Placeholder(placeholder) => template.text()[placeholder.key.clone()].to_owned(),
            })
            .collect();
        assert_eq!(parts.len(), 4, "{parts:?}");
        assert_eq!(parts[1..3], ["b", "c"]);
    }

    #[test]
    fn an_artifact_is_asked_for_once() {
        let mut calls = 0;
        let template = Template::parse("{artifact.a}{artifact.a}{artifact.b?}");
        let text = template.render_with(&serde_json::Map::new(), |name| {
            calls += 1;
            (name == "a").then(|| "A".to_owned())
        });
        assert_eq!((text.unwrap().as_str(), calls), ("AA", 2));
    }
}

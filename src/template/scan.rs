//! The grammar of templates: finds what can be a placeholder, in one pass, in time linear in the text.

use std::ops::Range;

use unicode_ident::{is_xid_continue, is_xid_start};

use crate::scope::Scope;
use crate::text::slice;

const ARTIFACT_PREFIX: &str = "artifact.";

/// The source of a placeholder's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceholderKind {
    /// From the state.
    State,
    /// From an artifact.
    Artifact,
}

/// A placeholder. All ranges are byte ranges of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Placeholder {
    /// The source of its value.
    pub kind: PlaceholderKind,
    /// From its opening to its closing brace, both included.
    pub span: Range<usize>,
    /// The content without blanks and `?`: `user:profile.city`, `artifact.file.txt`.
    pub content: Range<usize>,
    /// The key to look up whole, or the artifact's name.
    pub key: Range<usize>,
    /// The key to look up when there is a path: `user:profile`.
    pub root: Range<usize>,
    /// The steps from the root's value to the placeholder's: `.city`.
    pub path: Vec<Step>,
    /// The value may be missing.
    pub optional: bool,
}

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The member's name or the index.
    pub range: Range<usize>,
    /// The step is an index: `[0]`.
    pub is_index: bool,
}

/// The escape before a placeholder's brace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// A `$`: the whole is text.
    Dollar,
    /// So many backslashes: half of them remain, and an odd number makes the whole text.
    Backslashes(usize),
}

/// Something with the form of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The placeholder, unless what stands before it makes it text.
    pub placeholder: Placeholder,
    /// The escape before it.
    pub escape: Escape,
}

impl Candidate {
    /// The backslashes before it, unless a `$` makes it text anyway.
    pub fn backslashes(&self) -> Option<usize> {
        match self.escape {
            Escape::Dollar => None,
            Escape::Backslashes(count) => Some(count),
        }
    }
}

/// Goes through a text from candidate to candidate.
#[derive(Debug)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The end of a run of one brace.
    fn run_end(&self, from: usize, brace: u8) -> usize {
        let run = self.text.as_bytes().iter().skip(from).take_while(|&&byte| byte == brace);
        from + run.count()
    }

    fn escape_before(&self, brace: usize) -> Escape {
        let before = slice(self.text, 0..brace).as_bytes();
        if before.last() == Some(&b'$') {
            return Escape::Dollar;
        }
        Escape::Backslashes(before.iter().rev().take_while(|&&byte| byte == b'\\').count())
    }
}

impl Iterator for Scanner<'_> {
    type Item = Candidate;

    fn next(&mut self) -> Option<Candidate> {
        loop {
            let open = self.at + slice(self.text, self.at..self.text.len()).find('{')?;
            let content = self.run_end(open, b'{');
            let close = content + slice(self.text, content..self.text.len()).find(['{', '}'])?;
            if self.text.as_bytes().get(close) == Some(&b'{') {
                self.at = close;
                continue;
            }
            let end = self.run_end(close, b'}');
            self.at = end;
            if (content - open).min(end - close) > 1 {
                continue;
            }
            if let Some(placeholder) = parse_content(self.text, content..close) {
                let escape = self.escape_before(placeholder.span.start);
                return Some(Candidate { placeholder, escape });
            }
        }
    }
}

/// Parses what stands between the braces. Answers with nothing when that is not the content of a placeholder.
fn parse_content(text: &str, inner: Range<usize>) -> Option<Placeholder> {
    let mut content = trim(text, inner.clone());
    let optional = slice(text, content.clone()).ends_with('?');
    if optional {
        content.end -= 1;
    }
    let mut placeholder = Placeholder {
        kind: PlaceholderKind::State,
        span: inner.start - 1..inner.end + 1,
        content: content.clone(),
        key: content.clone(),
        root: content.clone(),
        path: Vec::new(),
        optional,
    };
    if slice(text, content.clone()).starts_with(ARTIFACT_PREFIX) {
        placeholder.kind = PlaceholderKind::Artifact;
        placeholder.key.start += ARTIFACT_PREFIX.len();
        return (!placeholder.key.is_empty()).then_some(placeholder);
    }
    let (scope, _) = Scope::split(slice(text, content.clone()));
    let mut at = identifier(text, content.start + scope.prefix().len()..content.end)?;
    placeholder.root.end = at;
    while at < content.end {
        let step = step(text, at..content.end)?;
        at = step.range.end + usize::from(step.is_index);
        placeholder.path.push(step);
    }
    Some(placeholder)
}

/// `.identifier` or `[digits]`, at the beginning of a range.
fn step(text: &str, range: Range<usize>) -> Option<Step> {
    let start = range.start + 1;
    match text.as_bytes()[range.start] {
        b'.' => {
            let end = identifier(text, start..range.end)?;
            Some(Step { range: start..end, is_index: false })
        }
        b'[' => {
            let digits = slice(text, start..range.end).bytes().take_while(u8::is_ascii_digit).count();
            let end = start + digits;
            // The text after the range is not a bracket: the content ends at a brace, a blank or a `?`.
            let closed = text.as_bytes().get(end) == Some(&b']');
            (digits > 0 && closed).then_some(Step { range: start..end, is_index: true })
        }
        _ => None,
    }
}

/// The end of the identifier that a range begins with.
fn identifier(text: &str, range: Range<usize>) -> Option<usize> {
    let mut chars = slice(text, range.clone()).char_indices();
    let (_, first) = chars.next()?;
    if first != '_' && !is_xid_start(first) {
        return None;
    }
    let length = chars.find(|&(_, c)| !continues(c)).map_or(range.len(), |(index, _)| index);
    Some(range.start + length)
}

/// `XID_Continue` without the two joiners, which newer versions of Unicode have in it: they are invisible.
fn continues(c: char) -> bool {
    is_xid_continue(c) && !matches!(c, '\u{200c}' | '\u{200d}')
}

/// Takes Unicode white space off both ends.
fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = slice(text, range.clone());
    let start = range.start + (inner.len() - inner.trim_start().len());
    start..start + inner.trim().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Vec<&str> {
        Scanner::new(text).map(|candidate| &text[candidate.placeholder.content]).collect()
    }

    #[test]
    fn only_single_braces_hold_placeholders() {
        assert_eq!(contents("{a} {{b}} {{{c}}} {{{d}x {e}}} {f{g}}"), ["a", "d", "e", "g"]);
    }

    #[test]
    fn what_is_no_placeholder_is_text() {
        for text in [
            "{}",
            "{ }",
            "{1}",
            "{a:b}",
            "{app:}",
            "{app: x}",
            "{a b}",
            "{a??}",
            "{?a}",
            "{a.}",
            "{a..b}",
            "{.a}",
            "{a[}",
            "{a[]}",
            "{a[x]}",
            "{a[1}",
            "{a[1x}",
            "{a[1x]}",
            "{a[1",
            "{a[1]x}",
            "{a[1]]}",
            "{a]}",
            "{a[-1]}",
            "{a.1}",
            "{artifact.}",
            "{artifact.?}",
            "{a",
            "a}",
            "}{",
            "{\"k\": 1}",
        ] {
            assert!(contents(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_path_is_read_step_by_step() {
        let text = "{ user:a.b[10].ç? }";
        let candidate = Scanner::new(text).next().unwrap();
        let placeholder = candidate.placeholder;
        assert!(placeholder.optional);
        assert_eq!(&text[placeholder.root], "user:a");
        let steps: Vec<_> = placeholder.path.iter().map(|step| (&text[step.range.clone()], step.is_index)).collect();
        assert_eq!(steps, [("b", false), ("10", true), ("ç", false)]);
    }

    #[test]
    fn the_escape_before_the_brace_is_read() {
        let escapes: Vec<_> =
            Scanner::new(r"{a}\{b}\\{c}${d}$\{e}{\{f}\${g}").map(|candidate| candidate.escape).collect();
        let [none, one, two] = [0, 1, 2].map(Escape::Backslashes);
        assert_eq!(escapes, [none, one, two, Escape::Dollar, one, one, Escape::Dollar]);
    }
}

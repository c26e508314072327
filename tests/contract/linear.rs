//! Templates take time in proportion to the text, whatever the text. A quarter of a million characters in each shape
//! must simply come to an end: in time that grows with the square of that, one of them would take hours.

use serde_json::{Map, Value};
use statepad::{ErrorKind, Template};

const LENGTH: usize = 250_000;
const LONG: usize = 100_000;

/// A unit repeated up to the length.
fn filled(unit: &str) -> String {
    unit.repeat(LENGTH / unit.len())
}

/// Shapes that a parser could trip over: each begins again what it has just seen.
fn shapes() -> Vec<String> {
    let units = [
        "{",
        "}",
        "{}",
        "}{",
        "{a",
        "{a?",
        "{a}",
        "{{a}",
        "{a}}",
        "{{a}}",
        "{{{",
        "{ ",
        "{\n",
        "{\\",
        "\\{",
        "\\",
        "\\{a}",
        "\\\\{a}",
        "$",
        "${",
        "${a}",
        "$\\{a}",
        "{a.",
        "{a[",
        "{a[0]",
        "{a.b}",
        "{a:",
        "{app:",
        "{app:a",
        "{artifact.",
        "{é",
        "{👍",
        "é{é}",
        "{a?}",
        "{a??",
        "{_",
        "{_}",
        "{0",
        "{\u{3000}",
        "\u{3000}{a}",
        "{\"k\": {a}}",
        "{a{a}",
    ];
    let half = LENGTH / 2;
    let mut shapes: Vec<_> = units.into_iter().map(filled).collect();
    shapes.extend([
        "{".repeat(half) + &"}".repeat(half),
        "{".repeat(half) + "a" + &"}".repeat(half),
        "{".repeat(LENGTH) + "a}",
        "{a".to_owned() + &"}".repeat(LENGTH),
        "\\".repeat(LENGTH) + "{a}",
        "$".repeat(LENGTH) + "{a}",
        format!("{{{}}}", "a".repeat(LENGTH)),
        format!("{{{}a}}", " ".repeat(LENGTH)),
        format!("{{a{}}}", " ".repeat(LENGTH)),
        format!("{{a{}}}", "?".repeat(LENGTH)),
        format!("{{a{}}}", ".a".repeat(half)),
        format!("{{a{}", ".a".repeat(half)),
        format!("{{a{}}}", "[0]".repeat(LENGTH / 3)),
        format!("{{a[{}]}}", "0".repeat(LENGTH)),
        format!("{{artifact.{}}}", ".".repeat(LENGTH)),
        "{a ".repeat(half / 3) + &"}".repeat(half),
    ]);
    shapes
}

#[test]
fn a_quarter_of_a_million_characters_in_any_shape_are_parsed_and_rendered() {
    let mut state = Map::new();
    state.insert("a".to_owned(), Value::from("x"));
    for text in shapes() {
        let template = Template::parse(text);
        match template.render(&state) {
            Ok(rendered) => assert!(rendered.len() <= template.text().len()),
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::TemplateKeyMissing | ErrorKind::ArtifactMissing));
                assert!(!error.missing().is_empty());
            }
        }
    }
}

#[test]
fn a_quarter_of_a_million_characters_in_any_shape_are_escaped() {
    for text in shapes() {
        let escaped = Template::escape(&text);
        assert!(escaped.len() <= 2 * text.len());
        let template = Template::parse(escaped);
        assert_eq!(template.placeholders().count(), 0);
        assert!(template.render(&Map::new()).unwrap() == text);
    }
}

#[test]
fn a_hundred_thousand_braces_are_parsed() {
    for text in
        ["{".repeat(100_000), "}".repeat(100_000), "{}".repeat(50_000), "{".repeat(50_000) + &"}".repeat(50_000)]
    {
        assert_eq!(Template::parse(text.as_str()).render(&Map::new()).unwrap(), text);
    }
}

#[test]
fn many_different_missing_keys_are_all_listed() {
    let keys: Vec<_> = (0..LONG).map(|number| format!("{{k{number}}}")).collect();
    let text = keys.concat();
    let error = Template::parse(text).render(&Map::new()).unwrap_err();
    assert_eq!(error.missing().len(), LONG);
    assert_eq!(error.missing()[LONG - 1].key, format!("k{}", LONG - 1));
}

#[test]
fn a_missing_key_that_is_very_long_is_told() {
    let mut state = Map::new();
    state.insert("b".repeat(LONG), Value::Null);
    let text = format!("{{{}}}", "a".repeat(LONG));
    let error = Template::parse(text).render(&state).unwrap_err();
    assert_eq!(error.missing()[0].nearest, None);
}

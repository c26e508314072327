//! The golden templates that lie beside the project, at `../shared` from its root, when they are there.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic: that is how it fails")]

use std::io::Write;

use serde_json::Value;
use statepad::Template;

#[test]
fn the_golden_templates_render_as_specified() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/vectors/templating.json");
    #[expect(clippy::disallowed_methods, reason = "the test reads what the core does not")]
    let Ok(text) = std::fs::read_to_string(path) else {
        // Not eprintln: the harness would keep it to itself. scripts/suite.mjs counts the line.
        writeln!(std::io::stderr(), "skipped: no ../shared").unwrap();
        return;
    };
    let file: Value = serde_json::from_str(&text).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    let failed: Vec<_> = vectors.iter().filter_map(differs).collect();
    assert!(failed.is_empty(), "{} of {} differ:\n{}", failed.len(), vectors.len(), failed.join("\n"));
    assert!(vectors.len() >= 184, "there are only {} templates", vectors.len());
}

/// The result of a template that differs from the expected one.
fn differs(vector: &Value) -> Option<String> {
    let template = Template::parse(vector["template"].as_str().unwrap());
    let artifact = |name: &str| vector["artifacts"].get(name)?.as_str().map(str::to_owned);
    let answer = match template.render_with(vector["state"].as_object().unwrap(), artifact) {
        Ok(text) => serde_json::json!({"ok": text}),
        Err(error) => {
            let missing: Vec<_> = error.missing().iter().map(|missing| missing.key.as_str()).collect();
            serde_json::json!({"missing": missing})
        }
    };
    (answer != vector["expect"]).then(|| format!("{}: {answer}, not {}", vector["name"], vector["expect"]))
}

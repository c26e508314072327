//! The class `Template`: the core's, over values of JavaScript.

use std::collections::{HashMap, HashSet};

use js_sys::{Array, Function, Promise, Reflect};
use serde::Serialize;
use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise, spawn_local};

use super::checks::{check_function, check_object, check_options, check_text};
use super::errors::{Details, error, error_by};
use super::host::{Answer, deep_freeze, has_own, is_thenable, keys, member, settled, stringify};
use super::kinds::type_of;
use super::walk::is_deleted;
use crate::error::ErrorKind;
use crate::template::Template as Compiled;
use crate::template::scan::{Placeholder, PlaceholderKind};

/// A text with placeholders, compiled once and rendered many times: `{topic}`, `{user:name?}`, `{cart.items[0].id}`,
/// `{artifact.file.txt}`. Everything else is text, `{{literal}}` and JSON included.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Template {
    compiled: Compiled,
}

/// A place in a template that a value goes into, as callers see it.
#[derive(Debug, Serialize)]
struct ShownPlaceholder<'a> {
    kind: &'static str,
    key: &'a str,
    path: Vec<ShownStep<'a>>,
    optional: bool,
    line: u32,
    column: u32,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ShownStep<'a> {
    Index(f64),
    Name(&'a str),
}

#[wasm_bindgen]
impl Template {
    /// Compiles a text. Every text is a template.
    ///
    /// Throws `INVALID_ARGUMENT` for anything but a string.
    #[wasm_bindgen(constructor)]
    pub fn new(#[wasm_bindgen(unchecked_param_type = "string")] text: JsValue) -> Answer<Template> {
        Ok(Self { compiled: Compiled::parse(check_text(&text, "a template", "text")?) })
    }

    /// The text that was compiled.
    #[wasm_bindgen(getter)]
    pub fn text(&self) -> String {
        self.compiled.text().to_owned()
    }

    /// The placeholders of the template, in the order of the text.
    #[wasm_bindgen(getter, unchecked_return_type = "readonly Placeholder[]")]
    pub fn placeholders(&self) -> Answer<JsValue> {
        let shown: Vec<_> = self
            .compiled
            .placeholders()
            .zip(self.compiled.places())
            .map(|(placeholder, (line, column))| self.shown(placeholder, line, column))
            .collect();
        let shown = serde_wasm_bindgen::to_value(&shown)?;
        deep_freeze(&shown);
        Ok(shown)
    }

    /// Renders. Strings go in as they are and are not scanned again, `null` is empty, everything else is compact JSON.
    ///
    /// Throws `TEMPLATE_KEY_MISSING` or, when only artifacts are missing, `ARTIFACT_MISSING`, with all that is
    /// `missing`; `INVALID_ARGUMENT` when `artifact` answers with a promise.
    pub fn render(&self, #[wasm_bindgen(unchecked_param_type = "RenderOptions")] options: JsValue) -> Answer<String> {
        let (state, artifact) = check_render(&options)?;
        let mut texts = HashMap::new();
        if let Some(artifact) = artifact {
            for name in self.artifacts() {
                let text = artifact.call1(&JsValue::UNDEFINED, &name.into())?;
                texts.insert(name.to_owned(), check_artifact(name, &text)?);
            }
        }
        render(&self.compiled, &state, &texts)
    }

    /// As `render`, with artifacts that may take time; they are asked for all at once.
    #[wasm_bindgen(js_name = renderAsync, unchecked_return_type = "Promise<string>")]
    pub fn render_async(
        &self,
        #[wasm_bindgen(unchecked_param_type = "RenderAsyncOptions")] options: JsValue,
    ) -> Promise {
        let begin = || -> Answer<Promise> {
            let (state, artifact) = check_render(&options)?;
            let names = if artifact.is_some() { self.artifacts() } else { Vec::new() };
            let promises: Array = names
                .iter()
                .zip(artifact.iter().cycle())
                .map(|(name, artifact)| settled(artifact.call1(&JsValue::UNDEFINED, &(*name).into())))
                .collect();
            let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
            let compiled = self.compiled.clone();
            Ok(future_to_promise(async move {
                let texts: Array = JsFuture::from(Promise::all(&promises)).await?.unchecked_into();
                let named_texts = names.into_iter().zip(texts.iter());
                let named_texts = named_texts.map(|(name, text)| Ok((name.clone(), check_artifact(&name, &text)?)));
                let texts = named_texts.collect::<Answer<HashMap<_, _>>>()?;
                render(&compiled, &state, &texts).map(JsValue::from)
            }))
        };
        begin().unwrap_or_else(|thrown| settled(Err(thrown)))
    }

    /// Gives a template that renders to exactly `text`.
    ///
    /// Throws `INVALID_ARGUMENT` for anything but a string.
    pub fn escape(#[wasm_bindgen(unchecked_param_type = "string")] text: JsValue) -> Answer<String> {
        Ok(Compiled::escape(&check_text(&text, "a template", "text")?))
    }

    fn shown(&self, placeholder: &Placeholder, line: u32, column: u32) -> ShownPlaceholder<'_> {
        let text = self.compiled.text();
        let path = placeholder.path.iter().map(|step| {
            let name = &text[step.range.clone()];
            if step.is_index { ShownStep::Index(name.parse().unwrap_or(f64::MAX)) } else { ShownStep::Name(name) }
        });
        let (kind, key) = match placeholder.kind {
            PlaceholderKind::State => ("state", &placeholder.root),
            PlaceholderKind::Artifact => ("artifact", &placeholder.key),
        };
        let key = &text[key.clone()];
        ShownPlaceholder { kind, key, path: path.collect(), optional: placeholder.optional, line, column }
    }

    /// The names of the artifacts that the template needs, each once.
    fn artifacts(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for placeholder in self.compiled.placeholders().filter(|it| it.kind == PlaceholderKind::Artifact) {
            let name = &self.compiled.text()[placeholder.key.clone()];
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// Checks what a template is rendered with: the state, and the function that gives artifacts.
fn check_render(options: &JsValue) -> Answer<(JsValue, Option<Function>)> {
    check_object(options, "options")?;
    check_options(options, &["state", "artifact"], "options")?;
    let state = member(options, "state")?;
    check_object(&state, "state")?;
    let artifact = member(options, "artifact")?;
    let artifact = if artifact.is_undefined() { None } else { Some(check_function(&artifact, "artifact")?) };
    Ok((state, artifact))
}

fn check_artifact(name: &str, text: &JsValue) -> Answer<Option<String>> {
    if text.is_undefined() {
        return Ok(None);
    }
    if let Some(text) = text.as_string() {
        return Ok(Some(text));
    }
    if is_thenable(text)? {
        // Rendering has failed already: this artifact's own failure is not reported.
        let promise = Promise::resolve(text);
        spawn_local(async move { drop(JsFuture::from(promise).await) });
    }
    let what =
        format!("the artifact \"{name}\" must be a string or undefined; await renderAsync() for an asynchronous one");
    Err(error(ErrorKind::InvalidArgument, &what, Details::at("artifact")))
}

/// Renders with artifacts that are there already. Looks only at the keys that the template names, unless one of them is
/// missing.
fn render(compiled: &Compiled, state: &JsValue, artifacts: &HashMap<String, Option<String>>) -> Answer<String> {
    let mut values = Map::new();
    let mut absent = HashSet::new();
    for placeholder in compiled.placeholders().filter(|it| it.kind == PlaceholderKind::State) {
        // The whole key comes first; where it is there, its beginning is not asked for.
        for range in [&placeholder.key, &placeholder.root] {
            let key = &compiled.text()[range.clone()];
            if values.contains_key(key) {
                break;
            }
            if let Some(value) = value_of(state, &key.into())? {
                values.insert(key.to_owned(), value);
                break;
            }
            absent.insert(key);
        }
    }
    let artifact = |name: &str| artifacts.get(name).cloned().flatten();
    let rendered = compiled.render_with(&values, artifact);
    if !matches!(&rendered, Err(error) if !error.missing().is_empty()) {
        return Ok(rendered?);
    }
    // The error suggests the nearest of all keys.
    for key in keys(state)?.iter() {
        if let Some(name) = key.as_string().filter(|name| !absent.contains(name.as_str()))
            && !is_deleted(&Reflect::get(state, &key)?)
        {
            values.entry(name).or_insert(Value::Null);
        }
    }
    Ok(compiled.render_with(&values, artifact)?)
}

/// The value of an own key of a state. A key whose deletion waits for its event is gone already.
fn value_of(state: &JsValue, key: &JsValue) -> Answer<Option<Value>> {
    if !has_own(state, key)? {
        return Ok(None);
    }
    let value = Reflect::get(state, key)?;
    if value.is_undefined() || is_deleted(&value) {
        return Ok(None);
    }
    let refused = || format!("the state has a {} that is not JSON", type_of(&value));
    let text = stringify(&value).map_err(|cause| error_by(ErrorKind::ValueNotJson, &refused(), &cause))?;
    let Some(text) = text.as_string() else {
        return Err(error(ErrorKind::ValueNotJson, &refused(), Details::default()));
    };
    if value.as_f64().is_some_and(|number| !number.is_finite()) {
        return Ok(Some(Value::String(text)));
    }
    Ok(Some(serde_json::from_str(&text).unwrap_or_default()))
}

//! Laws of the core, for whatever comes in.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic: that is how it fails")]

use std::collections::{BTreeSet, VecDeque};

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use statepad::engine::{Json, ListQuery, ScopedDelta, Sessions, Start, Write};
use statepad::{Delta, Event, Invocation, Scope, SentWrites, SessionKey, SessionState, Template};

use pending::{Does, ModelEvent, PendingModel, invocation_step};

#[path = "contract/linear.rs"]
mod linear;
#[path = "contract/lists.rs"]
mod lists;
#[path = "contract/pending.rs"]
mod pending;
#[path = "contract/replay.rs"]
mod replay;
#[path = "contract/time.rs"]
mod time;
#[path = "contract/values.rs"]
mod values;
#[path = "support/block_on.rs"]
mod block_on;

/// Keys with and without prefixes, few enough to meet again.
fn key() -> impl Strategy<Value = String> {
    let prefix = prop_oneof![Just(""), Just("app:"), Just("user:"), Just("temp:"), Just("APP:"), Just("app")];
    let name = prop_oneof!["[abc]", Just(String::new()), Just("__proto__".to_owned()), "temp:[ab]", any::<String>()];
    (prefix, name).prop_map(|(prefix, name)| format!("{prefix}{name}"))
}

/// Any JSON value, a few levels deep.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no such number", |float| float.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![vec(inner.clone(), 0..5).prop_map(Value::from), object_of(inner).prop_map(Value::from)]
    })
}

fn object_of(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    btree_map(any::<String>(), value, 0..5).prop_map(|members| members.into_iter().collect())
}

fn delta() -> impl Strategy<Value = Delta> {
    let write = prop_oneof![3 => value().prop_map(Some), 1 => Just(None)];
    btree_map(key(), write, 0..8).prop_shuffle_keys().prop_map(|writes| {
        let write =
            |value: Option<Value>| value.map_or(Write::Unset, |value| Write::Set(Json::from_value(&value).unwrap()));
        writes.into_iter().map(|(key, value)| (key, write(value))).collect()
    })
}

/// Maps come sorted; deltas must not.
trait ShuffleKeys<T> {
    fn prop_shuffle_keys(self) -> BoxedStrategy<Vec<(String, T)>>;
}

impl<T: Clone + std::fmt::Debug + 'static, S> ShuffleKeys<T> for S
where
    S: Strategy<Value = std::collections::BTreeMap<String, T>> + 'static,
{
    fn prop_shuffle_keys(self) -> BoxedStrategy<Vec<(String, T)>> {
        self.prop_map(|map| map.into_iter().collect::<Vec<_>>()).prop_shuffle().boxed()
    }
}

/// Text that is dense in what templates look at.
fn braces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[{}\\\\$?.\\[\\]: \nab0é名👍]",
        1 => Just("{a}".to_owned()),
        1 => Just("{{".to_owned()),
        1 => Just("app:".to_owned()),
        1 => Just("artifact.".to_owned()),
        1 => any::<char>().prop_map(String::from),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// The writes of a delta, to be compared whatever their order.
fn writes(delta: &Delta) -> BTreeSet<(String, String)> {
    delta.iter().map(|(key, write)| (key.to_owned(), format!("{write:?}"))).collect()
}

/// The values that a delta sets.
fn read_back(delta: &Delta) -> Map<String, Value> {
    let value = |write: &Write| match write {
        Write::Set(json) => json.to_value(),
        Write::Unset => panic!("nothing was deleted"),
    };
    delta.iter().map(|(key, write)| (key.to_owned(), value(write))).collect()
}

fn same_number(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_number(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((name, a), (other, b))| name == other && same_number(a, b))
        }
        _ => a == b,
    }
}

proptest! {
    #[test]
    fn splitting_and_joining_lose_nothing(delta in delta()) {
        let (scoped, temp) = delta.clone().split();
        prop_assert_eq!(writes(&scoped.join(temp)), writes(&delta));
    }

    #[test]
    fn splitting_keeps_the_order_within_each_scope(delta in delta()) {
        let (scoped, temp) = delta.clone().split();
        for (scope, part) in
            [
                (Scope::App, &scoped.app),
                (Scope::User, &scoped.user),
                (Scope::Session, &scoped.session),
                (Scope::Temp, &temp),
            ]
        {
            let keys: Vec<_> = part.iter().map(|(name, _)| scope.key(name)).collect();
            let is_of = |key: &&str| Scope::split(key).0 == scope;
            let expected: Vec<_> = delta.iter().map(|(key, _)| key).filter(is_of).map(str::to_owned).collect();
            prop_assert_eq!(keys, expected);
        }
    }

    #[test]
    fn temp_keys_never_reach_a_change(delta in delta()) {
        let mut sessions = Sessions::default();
        let key = SessionKey::new("app", "u", "s");
        let change = sessions.prepare_create(&key, 1.0, delta.clone()).unwrap();
        let id = sessions.apply_create(&key, &change).unwrap();
        let Ok(statepad::engine::Prepared::Change { change: append, .. }) =
            sessions.prepare_append(id, "e", 2.0, delta.clone(), statepad::engine::Guard::default())
        else {
            panic!("the id is new");
        };
        let expected: BTreeSet<_> =
            writes(&delta).into_iter().filter(|(key, _)| Scope::split(key).0 != Scope::Temp).collect();
        prop_assert_eq!(writes(&change.delta.join(Delta::default())), expected.clone());
        let text: Value = serde_json::from_str(&append.delta.to_json()).unwrap();
        prop_assert!(text.get("temp").is_none());
        sessions.apply_append(id, &append).unwrap();
        prop_assert!(sessions.state(id).unwrap().all().keys().all(|key| Scope::split(key).0 != Scope::Temp));
        prop_assert_eq!(writes(&append.delta.join(Delta::default())), expected);
    }

    #[test]
    fn a_delta_is_read_as_any_json_reader_reads_it(object in object_of(value())) {
        let delta = Delta::parse(&Value::Object(object.clone()).to_string(), &[]).unwrap();
        let read = read_back(&delta);
        prop_assert_eq!(read.keys().collect::<Vec<_>>(), object.keys().collect::<Vec<_>>());
        prop_assert!(same_number(&Value::Object(read), &Value::Object(object)));
    }

    #[test]
    fn a_delta_is_read_from_json_and_from_nothing_else(
        object in object_of(value()),
        place in any::<prop::sample::Index>(),
        piece in "[{}\\[\\]\",:\\\\u0dé\u{0}]{0,3}",
        any_text in any::<String>(),
    ) {
        let mut text = Value::Object(object).to_string();
        let places: Vec<_> = text.char_indices().map(|(place, _)| place).collect();
        let start = *place.get(&places);
        let end = start + text[start..].chars().next().unwrap().len_utf8();
        text.replace_range(start..end, &piece);
        for text in [text, any_text] {
            match (Delta::parse(&text, &[]), serde_json::from_str::<Map<String, Value>>(&text)) {
                (Ok(delta), Ok(object)) => {
                    prop_assert!(same_number(&Value::Object(read_back(&delta)), &Value::Object(object)));
                }
                (Err(error), Err(_)) => prop_assert_eq!(error.code(), "INVALID_ARGUMENT"),
                (delta, json) => prop_assert!(false, "{text} is read as {delta:?}, and by another reader as {json:?}"),
            }
        }
    }

    #[test]
    fn a_value_comes_back_as_it_went_in(value in value()) {
        let json = Json::from_value(&value).unwrap();
        prop_assert!(same_number(&json.to_value(), &value), "{} is not {value}", json.as_str());
        prop_assert_eq!(Json::from_value(&json.to_value()).unwrap(), json);
    }

    #[test]
    fn rendering_never_panics(template in braces(), values in vec(value(), 3)) {
        let keys = ["a", "app:b", "é"];
        let state: Map<String, Value> = keys.iter().map(|key| (*key).to_owned()).zip(values).collect();
        let compiled = Template::parse(template.as_str());
        let rendered = compiled.render_with(&state, |name| (name.len() % 2 == 0).then(|| name.to_owned()));
        match rendered {
            Ok(_) => {}
            Err(error) => {
                prop_assert!(!error.missing().is_empty());
                let keys: BTreeSet<_> = error.missing().iter().map(|missing| &missing.key).collect();
                prop_assert_eq!(keys.len(), error.missing().len());
            }
        }
        for placeholder in compiled.placeholders() {
            prop_assert_eq!(&template[placeholder.span.start..=placeholder.span.start], "{");
            prop_assert_eq!(&template[placeholder.span.end - 1..placeholder.span.end], "}");
        }
    }

    #[test]
    fn an_escaped_text_renders_to_itself(text in prop_oneof![braces(), any::<String>()]) {
        let escaped = Template::escape(&text);
        let template = Template::parse(escaped.as_str());
        prop_assert_eq!(template.placeholders().count(), 0);
        prop_assert_eq!(template.render(&Map::new()).unwrap(), text);
    }

    #[test]
    fn text_without_placeholders_renders_to_itself_but_for_its_escapes(text in braces()) {
        let template = Template::parse(text.as_str());
        if template.placeholders().count() == 0 {
            let rendered = template.render(&Map::new()).unwrap();
            prop_assert!(text.contains('\\') || rendered == text);
            prop_assert_eq!(rendered.replace('\\', ""), text.replace('\\', ""));
        }
    }

    #[test]
    fn of_two_writes_the_later_one_wins_whatever_is_discarded_refused_and_given_again(
        steps in vec(invocation_step(), 1..40),
        last in Just(["a", "b", "c"]).prop_shuffle(),
    ) {
        let mut sessions = Sessions::default();
        let session = SessionKey::new("app", "u", "s");
        let change = sessions.prepare_create(&session, 1.0, Delta::default()).unwrap();
        let id = sessions.apply_create(&session, &change).unwrap();
        let mut invocation = Invocation::new(SessionState::default());
        let mut model = PendingModel::default();
        let mut on_their_way = VecDeque::new();
        let mut count = 0;
        let mut arrive = |invocation: &mut Invocation, model: &mut PendingModel, (event, sent, writes): Sent, stored| {
            model.arrive(writes, stored);
            if !stored {
                return invocation.failed(sent);
            }
            count += 1;
            let (delta, guard) = (event.delta().unwrap(), statepad::engine::Guard::default());
            match sessions.prepare_append(id, &count.to_string(), 2.0, delta, guard) {
                Ok(statepad::engine::Prepared::Change { change, .. }) => sessions.apply_append(id, &change).unwrap(),
                other => panic!("{other:?}"),
            }
            invocation.appended(&sent, sessions.state(id).unwrap());
        };
        for step in steps {
            match step {
                Does::Write(author, key, Some(value)) => {
                    invocation.context(author).set(key, json!(value)).unwrap();
                    model.write(author, key, Some(json!(value)));
                }
                Does::Write(author, key, None) => {
                    let there = invocation.context(author).delete(key).unwrap();
                    prop_assert_eq!(there, model.visible().contains_key(key));
                    if there {
                        model.write(author, key, None);
                    }
                }
                Does::Discard(author) => {
                    invocation.discard(author);
                    model.discard(author);
                }
                Does::Send(author, event_id, own) => {
                    let event_id = if model.is_free(event_id, author) { event_id } else { "" };
                    let mut event = Event { id: event_id.to_owned(), ..Event::new("i") };
                    match &own {
                        Some((key, Some(value))) => {
                            event.actions.set(*key, json!(value));
                        }
                        Some((key, None)) => event.delete(key),
                        None => {}
                    }
                    let sent = invocation.send(author, &mut event).unwrap();
                    let own = own.map(|(key, value)| (key, value.map(|value| json!(value))));
                    let writes = model.send(author, event_id, own);
                    on_their_way.push_back((event, sent, writes));
                }
                Does::Arrive(stored) => {
                    if let Some(sent) = on_their_way.pop_front() {
                        arrive(&mut invocation, &mut model, sent, stored);
                    }
                }
            }
            prop_assert_eq!(invocation.to_map(), model.visible());
        }
        while let Some(sent) = on_their_way.pop_front() {
            arrive(&mut invocation, &mut model, sent, true);
        }
        for author in last {
            let mut event = Event::new("i");
            let sent = invocation.send(author, &mut event).unwrap();
            let writes = model.send(author, "", None);
            arrive(&mut invocation, &mut model, (event, sent, writes), true);
        }
        prop_assert_eq!(invocation.end().is_ok(), model.pending.is_empty());
        let mut state = model.committed;
        state.retain(|key, _| Scope::split(key).0 != Scope::Temp);
        prop_assert_eq!(sessions.state(id).unwrap().to_map(), state);
    }

    #[test]
    fn pages_cover_everything_once(
        rows in vec((0..4_i32, 0..3_u8), 0..25),
        limit in 1..7_usize,
        descending in any::<bool>(),
        one in any::<bool>(),
    ) {
        let mut sessions = Sessions::default();
        for (number, (time, user)) in rows.iter().enumerate() {
            let key = SessionKey::new("app", format!("u{user}"), format!("s{number}"));
            let change = sessions.prepare_create(&key, f64::from(*time), Delta::default()).unwrap();
            sessions.apply_create(&key, &change).unwrap();
        }
        let user_id = one.then_some("u1");
        let all = ListQuery { app_name: "app", user_id, descending, ..ListQuery::default() };
        let whole = sessions.list(&all).unwrap();
        prop_assert_eq!(whole.sessions.len(), rows.iter().filter(|(_, user)| !one || *user == 1).count());
        let (mut by_offset, mut by_cursor) = (Vec::new(), Vec::new());
        for offset in (0..whole.total).step_by(limit) {
            let query = ListQuery { limit: Some(limit), start: Start::Offset(offset), ..all.clone() };
            let page = sessions.list(&query).unwrap();
            prop_assert_eq!(page.cursor.is_some(), offset + limit < whole.total);
            by_offset.extend(page.sessions);
        }
        let mut cursor: Option<String> = None;
        loop {
            let start = cursor.as_deref().map_or(Start::default(), Start::After);
            let page = sessions.list(&ListQuery { limit: Some(limit), start, ..all.clone() }).unwrap();
            by_cursor.extend(page.sessions);
            let Some(next) = page.cursor else { break };
            cursor = Some(next);
        }
        prop_assert_eq!(&by_offset, &whole.sessions);
        prop_assert_eq!(&by_cursor, &whole.sessions);
    }

    #[test]
    fn a_cursor_that_is_anything_at_all_never_panics(
        cursor in prop_oneof![any::<String>(), "[0-9a-f]{0,17}\\.[0-9]{0,20}\\..{0,4}"],
    ) {
        let query = ListQuery { app_name: "app", start: Start::After(&cursor), ..ListQuery::default() };
        let _ = Sessions::default().list(&query);
    }
}

#[test]
fn a_scoped_delta_has_no_part_for_temp_keys() {
    assert!(ScopedDelta::default().get(Scope::Temp).is_none());
}

/// An event on its way, and what the model says that it carries.
type Sent = (Event, SentWrites, ModelEvent);

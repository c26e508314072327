//! Runs the calls of state.json and the steps of invocation.json over the core's invocation.

use serde_json::{Map, Value};
use statepad::engine::Write;
use statepad::{
    Delta, Event, GetRequest, InMemorySessionService, Invocation, OrderedCreateRequest, Result, SentWrites, Session,
    SessionService, Template,
};

use super::scenario::delta_of;
use super::{assert_same, block_on, check_message, list, record, text, texts};

/// A session with this state, under the key app/u/s, and its service.
pub fn session_with(state: Map<String, Value>) -> (InMemorySessionService, Session) {
    let service = InMemorySessionService::new();
    let session_id = Some("s".to_owned());
    let request = OrderedCreateRequest { app_name: "app".into(), user_id: "u".into(), session_id, state };
    let session = block_on(service.create_ordered(request)).unwrap();
    (service, session)
}

/// The values that a delta sets, deletions as `null`, and the keys that it deletes.
pub fn parts_of(delta: &Delta) -> (Value, Vec<String>) {
    let value = |write: &Write| match write {
        Write::Set(json) => json.to_value(),
        Write::Unset => Value::Null,
    };
    let set = delta.iter().map(|(key, write)| (key.to_owned(), value(write))).collect();
    let unset = delta.iter().filter(|(_, write)| **write == Write::Unset).map(|(key, _)| key.to_owned()).collect();
    (Value::Object(set), unset)
}

/// Runs a case of state.json.
pub fn run_state(case: &Value) {
    let (_, session) = session_with(record(case, "value"));
    let mut invocation = Invocation::new(session.state().clone());
    for step in list(case, "do") {
        call(&mut invocation, "a", step).unwrap();
    }
    assert_same(&Value::Object(invocation.to_map()), &case["record"], "all values");
    let (set, unset) = parts_of(&invocation.take_delta("a"));
    let mut expected = record(case, "set");
    expected.extend(texts(case, "unset").into_iter().map(|key| (key, Value::Null)));
    assert_same(&set, &Value::Object(expected), "the pending delta");
    assert_eq!(unset, texts(case, "unset"));
}

/// Runs a case of invocation.json.
pub fn run_invocation(case: &Value) {
    let (service, session) = session_with(record(case, "state"));
    let mut run =
        Run { service, invocation: Invocation::new(session.state().clone()).with_id("i"), on_their_way: Vec::new() };
    for step in list(case, "steps") {
        println!("{step}");
        match (run.step(step), step["error"].as_str()) {
            (Ok(()), None) => {}
            (Err(error), Some(code)) => {
                assert_eq!(error.code(), code);
                check_message(&error, step);
            }
            (answer, _) => panic!("{answer:?}"),
        }
    }
}

struct Run {
    service: InMemorySessionService,
    invocation: Invocation,
    /// Events that were sent, and their writes.
    on_their_way: Vec<(Event, SentWrites)>,
}

impl Run {
    fn step(&mut self, step: &Value) -> Result<()> {
        if step.get("call").is_some() {
            return call(&mut self.invocation, text(step, "by"), step);
        }
        if let Some(author) = step["append"].as_str() {
            return self.append(author, step);
        }
        if let Some(author) = step["send"].as_str() {
            let mut event = event_of(author, step);
            let sent = self.invocation.send(author, &mut event)?;
            self.on_their_way.push((event, sent));
        } else if step.get("arrive").is_some() {
            let (event, sent) = self.on_their_way.remove(0);
            if step["arrive"] == "refused" {
                self.invocation.failed(sent);
            } else {
                check_stored(&block_on(self.service.append_event("s", event))?, step);
                self.invocation.appended(&sent, read(&self.service).state().clone());
            }
        } else if let Some(state) = step.get("session") {
            assert_same(&Value::Object(read(&self.service).state().to_map()), state, "what others see");
        } else if let Some(template) = step["render"].as_str() {
            assert_eq!(Template::parse(template).render(&self.invocation)?, step["is"]);
        } else if let Some(author) = step["discard"].as_str() {
            self.invocation.discard(author);
        } else {
            if step["end"]["discard"] == true {
                self.invocation.discard_all();
            }
            self.invocation.end()?;
        }
        Ok(())
    }

    /// Appends an event, or has it fail: `refused`, or stored, the answer being `lost`.
    fn append(&mut self, author: &str, step: &Value) -> Result<()> {
        let mut event = event_of(author, step);
        if let Some(fails) = step["fails"].as_str() {
            let sent = self.invocation.send(author, &mut event)?;
            if fails == "lost" {
                block_on(self.service.append_event("s", event))?;
            }
            self.invocation.failed(sent);
            return Ok(());
        }
        let session = read(&self.service);
        let stored = block_on(self.invocation.append(&self.service, &session, author, event))?;
        if step.get("stored").is_some() {
            assert_eq!(stored.author, author);
            check_stored(&stored, step);
        }
        Ok(())
    }
}

fn event_of(author: &str, step: &Value) -> Event {
    let id = step["id"].as_str().unwrap_or_default().to_owned();
    let mut event = Event { id, author: author.to_owned(), partial: step["partial"] == true, ..Event::new("i") };
    for (key, value) in step["set"].as_object().into_iter().flatten() {
        event.actions.set(key, value.clone());
    }
    for key in step.get("unset").map(|_| texts(step, "unset")).into_iter().flatten() {
        event.delete(&key);
    }
    event
}

fn check_stored(event: &Event, step: &Value) {
    let expected = &step["stored"];
    assert_same(&delta_of(event), &expected["set"], "the stored delta");
    let deleted = event.custom_metadata.get("statepad").map_or_else(Vec::new, |own| texts(own, "deleted"));
    assert_eq!(deleted, texts(expected, "unset"));
    if expected.get("order").is_some() {
        let keys: Vec<_> = event.actions.in_order().map(|(key, _)| key).collect();
        assert_eq!(keys, texts(expected, "order"));
    }
}

fn read(service: &InMemorySessionService) -> Session {
    let (app_name, user_id, session_id) = ("app".into(), "u".into(), "s".into());
    let request = GetRequest { app_name, user_id, session_id, ..GetRequest::default() };
    block_on(service.get(request)).unwrap().unwrap()
}

/// One call on the state of an author. `hasDelta` is asked of the package alone; here the delta itself is compared.
fn call(invocation: &mut Invocation, author: &str, step: &Value) -> Result<()> {
    let mut context = invocation.context(author);
    let arguments = list(step, "call");
    let key = arguments.get(1).and_then(Value::as_str).unwrap_or_default();
    let argument = || arguments.get(2).cloned().unwrap_or_default();
    let answer = match arguments[0].as_str().unwrap() {
        "get" => context.get(key).or_else(|| arguments.get(2).cloned()),
        "set" => {
            context.set(key, argument())?;
            None
        }
        "has" => Some(context.has(key).into()),
        "delete" => Some(context.delete(key)?.into()),
        "update" => {
            for (key, value) in arguments[1].as_object().unwrap() {
                context.set(key, value.clone())?;
            }
            None
        }
        "setDefault" => {
            if !context.has(key) {
                context.set(key, argument())?;
            }
            context.get(key)
        }
        "hasDelta" => return Ok(()),
        other => panic!("there is no call {other}"),
    };
    if step.get("absent").is_some() {
        assert_eq!(answer, None, "{step}");
    } else if let Some(is) = step.get("is") {
        assert_same(&answer.unwrap_or_else(|| panic!("nothing is there: {step}")), is, "the answer");
    }
    Ok(())
}

/// A list so many levels deep.
pub fn nested(levels: u64) -> Value {
    (0..levels).fold(Value::from(1), |value, _| Value::Array(vec![value]))
}

//! Runs the calls of state.json and the steps of invocation.json over the core's invocation.

use serde_json::{Map, Value};
use statepad::{
    Delta, Event, GetRequest, InMemorySessionService, Invocation, OrderedCreateRequest, Result, Session,
    SessionService, Template, Write,
};

use super::scenario::delta_of;
use super::{assert_same, block_on, list, record, text, texts};

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
    let mut wanted = record(case, "set");
    wanted.extend(texts(case, "unset").into_iter().map(|key| (key, Value::Null)));
    assert_same(&set, &Value::Object(wanted), "the pending delta");
    assert_eq!(unset, texts(case, "unset"));
}

/// Runs a case of invocation.json.
pub fn run_invocation(case: &Value) {
    let (service, session) = session_with(record(case, "state"));
    let mut invocation = Invocation::new(session.state().clone());
    for step in list(case, "steps") {
        println!("{step}");
        match (invocation_step(&service, &mut invocation, step), step["error"].as_str()) {
            (Ok(()), None) => {}
            (Err(error), Some(code)) => assert_eq!(error.code(), code),
            (answer, _) => panic!("{answer:?}"),
        }
    }
}

fn invocation_step(service: &InMemorySessionService, invocation: &mut Invocation, step: &Value) -> Result<()> {
    if step.get("call").is_some() {
        return call(invocation, text(step, "by"), step);
    }
    if let Some(author) = step["append"].as_str() {
        let mut event = Event { author: author.to_owned(), ..Event::new("i") };
        for (key, write) in invocation.take_delta(author).iter() {
            match write {
                Write::Set(json) => drop(event.actions.set(key, json.to_value())),
                Write::Unset => event.delete(key),
            }
        }
        let stored = block_on(service.append_event("s", event))?;
        assert_same(&delta_of(&stored), &step["stored"]["set"], "the stored delta");
        let deleted = stored.custom_metadata.get("statepad").map_or_else(Vec::new, |own| texts(own, "deleted"));
        assert_eq!(deleted, texts(&step["stored"], "unset"));
        invocation.refresh(read(service).state().clone());
    } else if let Some(state) = step.get("session") {
        assert_same(&Value::Object(read(service).state().to_map()), state, "what others see");
    } else if let Some(template) = step["render"].as_str() {
        assert_eq!(Template::parse(template).render(invocation)?, step["is"]);
    } else if step.get("discard").is_some() {
        invocation.discard();
    } else {
        if step["end"]["discard"] == true {
            invocation.discard();
        }
        invocation.end()?;
    }
    Ok(())
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
    let given = || arguments.get(2).cloned().unwrap_or_default();
    let answer = match arguments[0].as_str().unwrap() {
        "get" => context.get(key).or_else(|| arguments.get(2).cloned()),
        "set" => {
            context.set(key, given())?;
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
                context.set(key, given())?;
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

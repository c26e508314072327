//! The effects of an event.

use std::collections::{HashMap, HashSet};

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::operator::Operator;

/// The effects of an event.
///
/// As in adk-rust the delta is a `HashMap`, which has no order: its keys are taken sorted. [`EventActions::set`] is
/// the way that keeps the order of writing, and an event that is read from JSON has the order that it has there.
///
/// # Examples
///
/// ```
/// use std::collections::HashMap;
///
/// use serde_json::json;
/// use statepad::EventActions;
///
/// let state_delta = HashMap::from([("topic".to_string(), json!("tides"))]);
/// let actions = EventActions { state_delta, ..Default::default() };
/// assert_eq!(actions.state_delta["topic"], "tides");
///
/// let mut actions = EventActions::default();
/// actions.set("topic", "tides").set("app:motd", "hi").set("level", 2);
/// let keys: Vec<_> = actions.in_order().map(|(key, _)| key).collect();
/// assert_eq!(keys, ["topic", "app:motd", "level"]);
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "ReadActions")]
pub struct EventActions {
    /// Keys to set, with their prefix. A value replaces the old one whole; `null` is a value.
    pub state_delta: HashMap<String, Value>,
    /// The keys of `state_delta`, and of `operators`, in the order of writing. Keys that are not in it come after it,
    /// sorted; names that there are no keys of are ignored.
    pub order: Vec<String>,
    /// Operators on the values that keys have when the event is appended, after the delta was written. Their results
    /// are in the delta of the stored event, at the end, and the operators in its `customMetadata.statepad.operators`.
    /// A key cannot be in both. An event that is read from JSON has no operators: their results are in its delta.
    pub operators: HashMap<String, Operator>,
    /// Of the marker of a rewind: the invocation that the session went back before. See
    /// [`SessionService::rewind`](crate::SessionService::rewind).
    pub rewind_before_invocation_id: Option<String>,
    /// The versions of saved artifacts.
    pub artifact_delta: Map<String, Value>,
    /// All other members.
    pub other: Map<String, Value>,
}

/// The actions as JSON has them.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ReadActions {
    state_delta: Map<String, Value>,
    artifact_delta: Map<String, Value>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// The member that makes an event the marker of a rewind.
const REWIND: &str = "rewindBeforeInvocationId";

impl From<ReadActions> for EventActions {
    fn from(ReadActions { state_delta, artifact_delta, mut other }: ReadActions) -> Self {
        let order = state_delta.keys().cloned().collect();
        let state_delta = state_delta.into_iter().collect();
        let rewind_before_invocation_id = match other.get(REWIND) {
            Some(Value::String(id)) => Some(id.clone()),
            // Anything else is kept as it is.
            _ => None,
        };
        if rewind_before_invocation_id.is_some() {
            other.shift_remove(REWIND);
        }
        Self { state_delta, order, rewind_before_invocation_id, artifact_delta, other, ..Self::default() }
    }
}

impl Serialize for EventActions {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("stateDelta", &InOrder(self))?;
        members.serialize_entry("artifactDelta", &self.artifact_delta)?;
        if let Some(id) = &self.rewind_before_invocation_id {
            members.serialize_entry(REWIND, id)?;
        }
        self.other.iter().try_for_each(|(name, value)| members.serialize_entry(name, value))?;
        members.end()
    }
}

struct InOrder<'a>(&'a EventActions);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let to_be_written = self.0.operators_in_order().map(|(key, _)| (key, &Value::Null));
        serializer.collect_map(self.0.in_order().chain(to_be_written))
    }
}

/// The order of keys does not matter.
impl PartialEq for EventActions {
    fn eq(&self, other: &Self) -> bool {
        self.state_delta == other.state_delta
            && self.operators == other.operators
            && self.rewind_before_invocation_id == other.rewind_before_invocation_id
            && self.artifact_delta == other.artifact_delta
            && self.other == other.other
    }
}

impl EventActions {
    /// Sets a key. A new key comes after those that were set before; one that is there keeps its place.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<Value>) -> &mut Self {
        let key = key.into();
        if self.state_delta.insert(key.clone(), value.into()).is_none() {
            self.order.push(key);
        }
        self
    }

    /// Sets the operator of a key, on the value that the key has when the event is appended: see
    /// [`EventActions::operators`]. It replaces an earlier operator of the key.
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::{CreateRequest, Event, InMemorySessionService, Operator, SessionService};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> statepad::Result<()> {
    /// let service = InMemorySessionService::new();
    /// let request = CreateRequest { app_name: "tutor".into(), user_id: "ana".into(), ..Default::default() };
    /// let session = service.create(request).await?;
    /// for _ in 0..2 {
    ///     let mut event = Event::new("inv-1");
    ///     event.actions.operate("user:visits", Operator::Increment(1.0));
    ///     event.actions.operate("seen", Operator::append(["tides"]));
    ///     service.append_event(&session, event).await?;
    /// }
    /// let mut event = Event::new("inv-1");
    /// event.actions.operate("user:visits", Operator::Increment(1.0));
    /// let stored = service.append_event(&session, event).await?;
    /// assert_eq!(stored.actions.state_delta["user:visits"], 3);
    /// assert_eq!(stored.custom_metadata["statepad"]["operators"]["user:visits"]["increment"], 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn operate(&mut self, key: impl Into<String>, operator: Operator) -> &mut Self {
        let key = key.into();
        if self.operators.insert(key.clone(), operator).is_none() {
            self.order.push(key);
        }
        self
    }

    /// The keys and values of the delta: those that [`EventActions::order`] names in its order, then the others,
    /// sorted.
    pub fn in_order(&self) -> impl Iterator<Item = (&str, &Value)> {
        ordered(&self.order, &self.state_delta)
    }

    /// The operators, in the order of [`EventActions::in_order`].
    pub fn operators_in_order(&self) -> impl Iterator<Item = (&str, &Operator)> {
        ordered(&self.order, &self.operators)
    }
}

/// Members in an order, and then the others, sorted.
fn ordered<'a, T>(order: &'a [String], members: &'a HashMap<String, T>) -> impl Iterator<Item = (&'a str, &'a T)> {
    let mut named = HashSet::with_capacity(order.len());
    let mut entries: Vec<_> =
        order.iter().filter_map(|key| members.get_key_value(key)).filter(|(key, _)| named.insert(*key)).collect();
    let first = entries.len();
    entries.extend(members.iter().filter(|(key, _)| !named.contains(key)));
    entries[first..].sort_unstable_by_key(|(key, _)| *key);
    entries.into_iter().map(|(key, value)| (key.as_str(), value))
}

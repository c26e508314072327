//! Operators: writes that are resolved against the value at commit. The same rules as in the package
//! (pkg/src/model/operators.ts).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::json::{Json, js_number, normalize};

/// A change to the value of a key that others may write at the same time.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use statepad::engine::Json;
/// use statepad::{Operator, OperatorFault};
///
/// let five = Json::from_value(&json!(5))?;
/// let six = Operator::Increment(1.0).resolve(Some(&five));
/// assert_eq!(six.as_ref().map(Json::as_str), Ok("6"));
/// assert_eq!(Operator::append([1]).resolve(Some(&five)), Err(OperatorFault::Kind));
/// assert_eq!(serde_json::to_value(Operator::append([1])).ok(), Some(json!({"append": [1]})));
/// # Ok::<(), statepad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub enum Operator {
    /// Adds a number, as IEEE doubles do. A key that is not there counts as 0.
    #[serde(serialize_with = "write_double")]
    Increment(f64),
    /// Adds items to the end of a list. A key that is not there counts as an empty list.
    Append(Vec<Value>),
    /// Sets the key unless it is there; `null` is a value that is there.
    SetOnce(Value),
    /// Sets the key to a value if it has another one, as the text of both says: the order of members counts.
    CompareAndSet {
        /// The value that the key must have; `None`, when the key must be absent.
        #[serde(default, deserialize_with = "read_expected", skip_serializing_if = "Option::is_none")]
        expected: Option<Value>,
        /// The value that the key is set to.
        value: Value,
    },
}

/// The reason for which an operator does not fit the current value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OperatorFault {
    /// [`Operator::CompareAndSet`]: the value is another one. Computed anew it may fit: a conflict.
    Changed,
    /// [`Operator::Increment`] of what is no number, or [`Operator::Append`] to what is no list.
    Kind,
    /// [`Operator::Increment`] beyond what a double holds, or by what is no number.
    Overflow,
    /// A value of the operator is nested deeper than JSON values may be.
    TooDeep,
}

impl Operator {
    /// Adds items to the end of a list.
    pub fn append<I: Into<Value>>(items: impl IntoIterator<Item = I>) -> Self {
        Self::Append(items.into_iter().map(Into::into).collect())
    }

    /// Sets a key unless it is there.
    pub fn set_once(value: impl Into<Value>) -> Self {
        Self::SetOnce(value.into())
    }

    /// Sets a key to a value if it has the one that is expected, or if it is not there, when none is.
    pub fn compare_and_set(expected: Option<Value>, value: impl Into<Value>) -> Self {
        Self::CompareAndSet { expected, value: value.into() }
    }

    /// Its name: `increment`, `append`, `setOnce` or `compareAndSet`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Increment(_) => "increment",
            Self::Append(_) => "append",
            Self::SetOnce(_) => "setOnce",
            Self::CompareAndSet { .. } => "compareAndSet",
        }
    }

    /// The value after it; `None` as `current` says that the key is not there.
    ///
    /// # Errors
    ///
    /// The [`OperatorFault`] that leaves the key without a new value.
    pub fn resolve(&self, current: Option<&Json>) -> std::result::Result<Json, OperatorFault> {
        let text_of = |value: &Value| Json::from_value(value).map_err(|_| OperatorFault::TooDeep);
        match self {
            Self::Increment(by) => {
                let current = current.map_or(Some(0.0), number_of).ok_or(OperatorFault::Kind)?;
                let sum = current + by;
                // JSON has no minus zero.
                if sum.is_finite() { Ok(Json::of_number(sum + 0.0)) } else { Err(OperatorFault::Overflow) }
            }
            Self::Append(items) => {
                let items = text_of(&Value::Array(items.clone()))?;
                current.map_or(Some(items.clone()), |list| list.followed_by(&items)).ok_or(OperatorFault::Kind)
            }
            Self::SetOnce(value) => current.map_or_else(|| text_of(value), |current| Ok(current.clone())),
            Self::CompareAndSet { expected, value } => {
                let expected = expected.as_ref().map(text_of).transpose()?;
                if current == expected.as_ref() { text_of(value) } else { Err(OperatorFault::Changed) }
            }
        }
    }

    /// The value after it of a key. Errors name the key.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::StateConflict`] when a value that was to be compared is another one, [`ErrorKind::InvalidArgument`]
    /// for a value that it does not fit, [`ErrorKind::ValueNotJson`].
    pub(crate) fn resolve_key(&self, key: &str, current: Option<&Json>) -> Result<Json> {
        self.check(key)?;
        self.resolve(current).map_err(|fault| fault.error(key, self))
    }

    /// Refuses what is no JSON in an operator of a key.
    pub(crate) fn check(&self, key: &str) -> Result<()> {
        let check = |value: &Value| Json::of_key("operators", key, value).map(drop);
        match self {
            Self::Increment(by) if !by.is_finite() => {
                let message = format!("operators[\"{key}\"] must add a number, not {}", js_number(*by));
                Err(Error::new(ErrorKind::ValueNotJson, message).with_key(key))
            }
            Self::Increment(_) => Ok(()),
            Self::Append(items) => check(&Value::Array(items.clone())),
            Self::SetOnce(value) => check(value),
            Self::CompareAndSet { expected, value } => expected.iter().chain([value]).try_for_each(check),
        }
    }

    /// Its form in the metadata of an event, with numbers as JSON of JavaScript has them.
    pub(crate) fn to_value(&self) -> Value {
        let mut value = or_impossible!(serde_json::to_value(self).ok(), "its members are JSON");
        normalize(&mut value);
        value
    }
}

impl OperatorFault {
    /// The error of an operator of a key.
    pub(crate) fn error(self, key: &str, operator: &Operator) -> Error {
        let (kind, what) = match (self, operator) {
            (Self::Changed, _) => (ErrorKind::StateConflict, "does not have the expected value"),
            (Self::Kind, Operator::Append(_)) => (ErrorKind::InvalidArgument, "has a value that is not a list"),
            (Self::Kind, _) => (ErrorKind::InvalidArgument, "has a value that is not a number"),
            (Self::Overflow, _) => (ErrorKind::InvalidArgument, "cannot be incremented beyond the range of a double"),
            (Self::TooDeep, _) => (ErrorKind::ValueNotJson, "would have a value that is nested too deep"),
        };
        Error::new(kind, format!("the key \"{key}\" {what}")).with_key(key)
    }
}

/// The number that a text is.
fn number_of(json: &Json) -> Option<f64> {
    let text = json.as_str();
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit()).then(|| json.to_value().as_f64()).flatten()
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference; not all targets mind")]
fn write_double<S: Serializer>(number: &f64, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    let mut value = Value::from(number + 0.0);
    normalize(&mut value);
    value.serialize(serializer)
}

/// `null` is a value that can be expected.
fn read_expected<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

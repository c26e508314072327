//! The pending write under a key, and the effect of an operator on the write before it. The same rules as in the
//! package (pkg/src/context/composed.ts).

use std::sync::Arc;

use crate::delta::{Delta, Write};
use crate::error::{Error, Result};
use crate::json::Json;
use crate::operator::{Operator, OperatorFault};

/// A write, or an operator.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PendingWrite {
    Plain(Write),
    Operator(Operator),
}

impl PendingWrite {
    pub fn operator(&self) -> Option<&Operator> {
        match self {
            Self::Plain(_) => None,
            Self::Operator(operator) => Some(operator),
        }
    }

    /// The write after an operator: over a value, or a deletion, the operator is resolved at once; two operators
    /// become one.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument), also for two operators that do not go together, and
    /// [`StateConflict`](crate::ErrorKind::StateConflict).
    pub fn followed_by(&self, key: &str, operator: &Operator) -> Result<Self> {
        match self {
            Self::Plain(write) => {
                let current = match write {
                    Write::Set(json) => Some(json),
                    Write::Unset => None,
                };
                Ok(Self::Plain(Write::Set(operator.resolve_key(key, current)?)))
            }
            Self::Operator(earlier) => composed(key, earlier, operator).map(Self::Operator),
        }
    }
}

fn composed(key: &str, one: &Operator, two: &Operator) -> Result<Operator> {
    match (one, two) {
        (Operator::Increment(first), Operator::Increment(second)) => {
            let by = first + second;
            if by.is_finite() { Ok(Operator::Increment(by)) } else { Err(OperatorFault::Overflow.error(key, two)) }
        }
        (Operator::Append(first), Operator::Append(second)) => {
            Ok(Operator::Append(first.iter().chain(second).cloned().collect()))
        }
        (Operator::SetOnce(_), Operator::SetOnce(_)) => Ok(one.clone()),
        _ => {
            let (one, two) = (one.name(), two.name());
            let message = format!("{two} of \"{key}\" cannot follow a pending {one}: append the event first");
            Err(Error::invalid(message).with_key(key))
        }
    }
}

/// The visible value after pending operators: those that do not fit it are passed over.
pub(crate) fn visible_over<'a>(operators: impl Iterator<Item = &'a Operator>, value: Option<&Json>) -> Option<Json> {
    operators.fold(value.cloned(), |seen, operator| operator.resolve(seen.as_ref()).ok().or(seen))
}

/// The writes of an event, one for each key, in the order of writing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Composed(Vec<(Arc<str>, PendingWrite)>);

impl Composed {
    /// Adds a write: an operator goes together with what was there before.
    pub fn push(&mut self, key: &Arc<str>, write: &PendingWrite) -> Result<()> {
        let before = self.0.iter_mut().find(|(other, _)| other == key).map(|(_, write)| write);
        match (before, write) {
            (None, write) => self.0.push((Arc::clone(key), write.clone())),
            (Some(before), PendingWrite::Operator(operator)) => *before = before.followed_by(key, operator)?,
            (Some(before), write) => *before = write.clone(),
        }
        Ok(())
    }

    pub fn get(&self, key: &str) -> Option<&PendingWrite> {
        self.iter().find(|(other, _)| &***other == key).map(|(_, write)| write)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &PendingWrite)> {
        self.0.iter().map(|(key, write)| (key, write))
    }

    /// The plain writes.
    pub fn delta(&self) -> Delta {
        let plain = self.iter().filter_map(|(key, write)| match write {
            PendingWrite::Plain(write) => Some((Arc::clone(key), write.clone())),
            PendingWrite::Operator(_) => None,
        });
        plain.collect()
    }

    /// The operators.
    pub fn operators(&self) -> impl Iterator<Item = (&str, &Operator)> {
        self.iter().filter_map(|(key, write)| Some((&**key, write.operator()?)))
    }
}

//! The committed values of one scope.

use std::sync::Arc;

use crate::delta::{Delta, Observer};
use crate::json::{Json, size_of_members, write_string};
use crate::scope::Scope;
use crate::text::slice;
use crate::values::Values;

/// The committed values of one scope, with a version that changes whenever they may have changed.
#[derive(Debug, Clone)]
pub struct ScopeState<V = Json> {
    pub(super) scope: Scope,
    pub(super) version: u64,
    pub(super) values: Arc<Values<V>>,
}

impl<V> ScopeState<V> {
    pub(crate) fn new(scope: Scope) -> Self {
        Self { scope, version: 0, values: Arc::default() }
    }

    /// The version: another number whenever the values may have changed, also when the scope was dropped and made
    /// anew; 0 as long as nothing was written.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The values under their full keys.
    pub fn values(&self) -> &Values<V> {
        &self.values
    }

    /// Writes a delta, if there is anything in it. Copies of this scope that readers hold stay as they are. `clock` is
    /// the last version of any scope: the new version is the next.
    pub(crate) fn apply(&mut self, delta: &Delta<V>, clock: &mut u64, observer: &mut impl Observer<V>)
    where
        V: Clone,
    {
        if !delta.is_empty() {
            delta.apply_observed(Arc::make_mut(&mut self.values), self.scope, observer);
            self.advance(clock);
        }
    }

    /// Takes over other values. Copies of this scope that readers hold stay as they are.
    pub(crate) fn replace(&mut self, values: &Delta<V>, clock: &mut u64)
    where
        V: Clone,
    {
        let mut replaced = Values::new();
        values.apply(&mut replaced);
        self.values = Arc::new(replaced);
        self.advance(clock);
    }

    fn advance(&mut self, clock: &mut u64) {
        *clock += 1;
        self.version = *clock;
    }
}

impl ScopeState {
    /// The values as one JSON object, under their full keys or under their names.
    pub fn to_json(&self, full_keys: bool) -> String {
        let mut out = String::with_capacity(size_of_members(self.values.iter().map(|(key, json)| (&**key, json))));
        out.push('{');
        let prefix = if full_keys { 0 } else { self.scope.prefix().len() };
        for (key, json) in self.values.iter() {
            if out.len() > 1 {
                out.push(',');
            }
            write_string(&mut out, slice(key, prefix..key.len()));
            out.push(':');
            out.push_str(json.as_str());
        }
        out.push('}');
        out
    }
}

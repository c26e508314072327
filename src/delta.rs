//! Writes and deletions on their way into a state, in the order of writing.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::json::{Json, write_string};
use crate::maps::Index;
use crate::scope::Scope;
use crate::text::slice;
use crate::values::Values;

/// A write to one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write<V = Json> {
    /// Sets the key to a value, whole.
    Set(V),
    /// Deletes the key.
    Unset,
}

/// Keys to set or to delete, in the order of writing.
///
/// A value is JSON, unless the program keeps the values itself: then it is what the program knows them by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta<V = Json> {
    /// Under full keys, also where [`Delta::iter`] shows names: a key is copied once.
    writes: Vec<(Arc<str>, Write<V>)>,
    /// The length of the prefix that all keys have, once the delta belongs to one scope.
    prefix: usize,
}

/// A delta split by scope; the keys have become names.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScopedDelta<V = Json> {
    /// The writes to the app's scope, which all its users share.
    pub app: Delta<V>,
    /// The writes to the user's scope, which all sessions of the user share.
    pub user: Delta<V>,
    /// The writes to the session's own scope.
    pub session: Delta<V>,
}

/// Receives the places that the writes of a delta take among the values of a scope. `()` ignores them.
pub(crate) trait Observer<V> {
    /// The next write to a scope has set this place.
    fn set(&mut self, scope: Scope, place: usize);

    /// The next write to a scope has emptied this place; none, where it deletes a key that is not there.
    fn unset(&mut self, scope: Scope, place: Option<usize>);

    /// After the writes, the values of the scope have moved down over the holes, in order.
    fn compacted(&mut self, scope: Scope);

    /// Returns `true` if it wants to know the values, too.
    fn counts(&self) -> bool {
        false
    }

    /// A name of this many bytes comes to another value, where there was one, or to none.
    fn changed(&mut self, _scope: Scope, _name: usize, _before: Option<&V>, _after: Option<&V>) {}
}

impl<V> Observer<V> for () {
    fn set(&mut self, _: Scope, _: usize) {}

    fn unset(&mut self, _: Scope, _: Option<usize>) {}

    fn compacted(&mut self, _: Scope) {}
}

impl<V> Delta<V> {
    /// A delta that writes nothing.
    pub fn new() -> Self {
        Self::of(Scope::Session)
    }

    /// Returns `true` if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// The writes, in order: under full keys, or under names once the delta belongs to one scope.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Write<V>)> {
        self.writes.iter().map(|(key, write)| (slice(key, self.prefix..key.len()), write))
    }

    /// As [`Delta::iter`], with the full key of each.
    pub(crate) fn shared(&self) -> impl Iterator<Item = (&str, &Arc<str>, &Write<V>)> {
        self.writes.iter().map(|(key, write)| (slice(key, self.prefix..key.len()), key, write))
    }

    /// Returns the write to a key.
    pub fn get(&self, key: &str) -> Option<&Write<V>> {
        self.iter().find(|(other, _)| *other == key).map(|(_, write)| write)
    }

    /// Adds a write to a full key that the delta does not have yet.
    pub fn push(&mut self, key: impl Into<Arc<str>>, write: Write<V>) {
        self.writes.push((key.into(), write));
    }

    /// A delta that writes nothing yet, with room for so many writes.
    #[cfg(all(feature = "package", target_arch = "wasm32", target_os = "unknown"))]
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { writes: Vec::with_capacity(count), prefix: 0 }
    }

    fn of(scope: Scope) -> Self {
        Self { writes: Vec::new(), prefix: scope.prefix().len() }
    }

    /// Splits by scope. The second part is the `temp:` keys, under their names: they never become part of a change.
    pub fn split(self) -> (ScopedDelta<V>, Self) {
        let mut scoped = ScopedDelta::new();
        let mut temp = Self::of(Scope::Temp);
        for (key, write) in self.writes {
            let delta = match Scope::split(&key).0 {
                Scope::Session => &mut scoped.session,
                Scope::App => &mut scoped.app,
                Scope::User => &mut scoped.user,
                Scope::Temp => &mut temp,
            };
            delta.push(key, write);
        }
        (scoped, temp)
    }

    /// Writes into the values of a scope. A key that is there keeps its place; a new one goes to the end.
    pub fn apply(&self, values: &mut Values<V>)
    where
        V: Clone,
    {
        self.apply_observed(values, Scope::Session, &mut ());
    }

    /// As [`Delta::apply`], for the values of a scope that an observer knows.
    pub(crate) fn apply_observed(&self, values: &mut Values<V>, scope: Scope, observer: &mut impl Observer<V>)
    where
        V: Clone,
    {
        for (key, write) in &self.writes {
            let name = key.len() - self.prefix;
            match write {
                Write::Set(value) => {
                    let (place, before) = values.swap(key, value.clone());
                    observer.changed(scope, name, before.as_ref(), Some(value));
                    observer.set(scope, place);
                }
                Write::Unset => {
                    if observer.counts() {
                        observer.changed(scope, name, values.get(key), None);
                    }
                    observer.unset(scope, values.unset(key));
                }
            }
        }
        if values.compact() {
            observer.compacted(scope);
        }
    }
}

impl Delta {
    /// Reads the text of a JSON object. Keys named in `deleted` must be `null` in it and become deletions.
    ///
    /// # Examples
    ///
    /// ```
    /// use statepad::Delta;
    /// use statepad::engine::Write;
    ///
    /// let delta = Delta::parse(r#"{"topic": "tides", "user:theme": null}"#, &["user:theme".to_owned()])?;
    /// assert_eq!(delta.get("user:theme"), Some(&Write::Unset));
    /// # Ok::<(), statepad::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when the text is not JSON, is no object, or when a
    /// deleted key is not there as `null`, [`ValueNotJson`](crate::ErrorKind::ValueNotJson) for a value nested too
    /// deep.
    pub fn parse(object: &str, deleted: &[String]) -> Result<Self> {
        let members: Map<String, Value> = serde_json::from_str(object)
            .map_err(|error| Error::invalid("a state delta is not the text of a JSON object").with_source(error))?;
        let mut delta = Self::of_values("delta", members.iter().map(|(key, value)| (key.as_str(), value)))?;
        delta.unset(deleted)?;
        Ok(delta)
    }

    /// Sets all these keys, which must differ from each other. Errors name `record` as what has them.
    pub(crate) fn of_values<'a>(record: &str, values: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Result<Self> {
        values.into_iter().map(|(key, value)| Ok((key, Write::Set(Json::of_key(record, key, value)?)))).collect()
    }

    /// Turns the keys named, which must be `null` here, into deletions.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when a key is not there as `null`.
    pub fn unset(&mut self, deleted: &[String]) -> Result<()> {
        if deleted.is_empty() {
            return Ok(());
        }
        let mut places = Index::new();
        self.writes.iter().enumerate().for_each(|(place, (key, _))| places.insert(Arc::clone(key), place));
        for key in deleted {
            let write = places.get(key).and_then(|place| self.writes.get_mut(place));
            match write {
                Some((_, write)) if *write == Write::Unset || *write == Write::Set(Json::null()) => {
                    *write = Write::Unset;
                }
                _ => {
                    let message = format!("the key \"{key}\" is listed as deleted, but is not null in the state delta");
                    return Err(Error::invalid(message).with_key(key.as_str()));
                }
            }
        }
        Ok(())
    }

    /// `{"set":{…},"unset":[…]}`, as a store gets it.
    fn write_json(&self, out: &mut String) {
        out.push_str("{\"set\":{");
        let mut unset = Vec::new();
        let mut first = true;
        for (name, write) in self.iter() {
            match write {
                Write::Set(json) => {
                    if !std::mem::take(&mut first) {
                        out.push(',');
                    }
                    write_string(out, name);
                    out.push(':');
                    out.push_str(json.as_str());
                }
                Write::Unset => unset.push(name),
            }
        }
        out.push_str("},\"unset\":[");
        for (index, name) in unset.into_iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_string(out, name);
        }
        out.push_str("]}");
    }
}

/// The keys must differ from each other.
impl<V, K: Into<Arc<str>>> FromIterator<(K, Write<V>)> for Delta<V> {
    fn from_iter<I: IntoIterator<Item = (K, Write<V>)>>(writes: I) -> Self {
        Self { writes: writes.into_iter().map(|(key, write)| (key.into(), write)).collect(), prefix: 0 }
    }
}

// For JSON alone, so that the type of the values need not be named where it is JSON.
impl Default for Delta {
    fn default() -> Self {
        Self::new()
    }
}

impl Default for ScopedDelta {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> ScopedDelta<V> {
    /// A change of nothing.
    pub fn new() -> Self {
        Self { app: Delta::of(Scope::App), user: Delta::of(Scope::User), session: Delta::of(Scope::Session) }
    }

    /// The part of a stored scope. `temp:` has none: it is never stored.
    pub fn get(&self, scope: Scope) -> Option<&Delta<V>> {
        match scope {
            Scope::App => Some(&self.app),
            Scope::User => Some(&self.user),
            Scope::Session => Some(&self.session),
            Scope::Temp => None,
        }
    }

    /// Returns `true` if there is nothing to write in any scope.
    pub fn is_empty(&self) -> bool {
        self.app.is_empty() && self.user.is_empty() && self.session.is_empty()
    }

    /// Back to one delta under full keys: the reverse of [`Delta::split`].
    pub fn join(self, temp: Delta<V>) -> Delta<V> {
        let deltas = [self.session, self.app, self.user, temp];
        Delta { writes: deltas.into_iter().flat_map(|delta| delta.writes).collect(), prefix: 0 }
    }
}

impl ScopedDelta {
    /// `{"app":{"set":{…},"unset":[…]},…}` with the scopes that change, as a store gets it.
    pub fn to_json(&self) -> String {
        let mut out = String::from("{");
        for (name, delta) in [("app", &self.app), ("user", &self.user), ("session", &self.session)] {
            if delta.is_empty() {
                continue;
            }
            if out.len() > 1 {
                out.push(',');
            }
            write_string(&mut out, name);
            out.push(':');
            delta.write_json(&mut out);
        }
        out.push('}');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::delta;

    #[test]
    fn a_delta_keeps_the_order_of_writing() {
        let delta = delta(r#"{"b":1,"user:a":[2],"a":null}"#);
        let keys: Vec<_> = delta.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["b", "user:a", "a"]);
    }

    #[test]
    fn temp_keys_are_split_off() {
        let (scoped, temp) = delta(r#"{"temp:t":1,"app:a":2,"user:u":3,"s":4}"#).split();
        let json = concat!(
            r#"{"app":{"set":{"a":2},"unset":[]},"user":{"set":{"u":3},"unset":[]},"#,
            r#""session":{"set":{"s":4},"unset":[]}}"#,
        );
        assert_eq!(scoped.to_json(), json);
        assert_eq!(temp.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["t"]);
        let names = |scope| scoped.get(scope).map(|delta| delta.iter().map(|(name, _)| name).collect::<Vec<_>>());
        assert_eq!(
            [Scope::App, Scope::User, Scope::Session].map(names),
            [Some(vec!["a"]), Some(vec!["u"]), Some(vec!["s"])]
        );
        assert_eq!(names(Scope::Temp), None);
    }

    #[test]
    fn a_deleted_key_must_be_null_in_the_delta() {
        let deleted = ["x".to_owned()];
        let delta = Delta::parse(r#"{"x":null,"y":null}"#, &deleted).unwrap();
        assert_eq!(delta.get("x"), Some(&Write::Unset));
        assert_eq!(delta.get("y"), Some(&Write::Set(Json::null())));
        assert!(Delta::parse(r#"{"x":1}"#, &deleted).is_err());
        assert!(Delta::parse("{}", &deleted).is_err());
    }

    #[test]
    fn applying_replaces_whole_values_and_keeps_places() {
        let mut values = Values::new();
        delta(r#"{"a":{"x":1},"b":2}"#).apply(&mut values);
        Delta::parse(r#"{"c":3,"a":{"y":2},"b":null}"#, &["b".to_owned()]).unwrap().apply(&mut values);
        let pairs: Vec<_> = values.iter().map(|(name, json)| (&**name, json.as_str())).collect();
        assert_eq!(pairs, [("a", r#"{"y":2}"#), ("c", "3")]);
    }

    #[test]
    fn text_that_is_no_object_is_refused() {
        for text in ["", "[]", "1", "{", "{}x", "null"] {
            assert!(Delta::parse(text, &[]).is_err(), "{text}");
        }
    }

    #[test]
    fn only_json_is_read() {
        for text in
            [r#"{"a":nonsense}"#, r#"{"a":01}"#, r#"{"a":[1,]}"#, r#"{"a":"\x"}"#, r#"{"a":NaN}"#, r#"{"a":"\ud800"}"#]
        {
            assert_eq!(Delta::parse(text, &[]).unwrap_err().kind(), crate::ErrorKind::InvalidArgument, "{text}");
        }
        let delta = Delta::parse(" { \"b\" : [ 1.0 , -0.0 ] , \"a\" : 1e2 } ", &[]).unwrap();
        let pairs: Vec<_> = delta.iter().collect();
        let set = |text: &str| Write::Set(Json::from_text(text));
        assert_eq!(pairs, [("b", &set("[1,0]")), ("a", &set("100"))]);
    }

    #[test]
    fn joining_takes_session_keys_first_then_app_user_and_temp_keys() {
        let (scoped, temp) = delta(r#"{"temp:t":1,"user:u":2,"app:b":3,"y":4,"app:a":5,"x":6}"#).split();
        let joined = scoped.join(temp);
        let keys: Vec<_> = joined.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["y", "x", "app:b", "app:a", "user:u", "temp:t"]);
    }

    #[test]
    fn a_change_of_any_one_scope_is_not_empty() {
        assert!(ScopedDelta::default().is_empty());
        for object in [r#"{"app:a":1}"#, r#"{"user:u":1}"#, r#"{"s":1}"#] {
            assert!(!delta(object).split().0.is_empty(), "{object}");
        }
        let (scoped, temp) = delta(r#"{"temp:t":1}"#).split();
        assert!(scoped.is_empty() && !temp.is_empty());
    }
}

//! Applying stored changes. Each change is applied in two ways: the public one, and one whose observer receives the
//! places of the writes, for a host that keeps the values.

use crate::change::{Change, SessionKey};
use crate::delta::{Delta, Observer};
use crate::error::Result;
use crate::ids::{ScopeId, SessionId};
use crate::registry::ScopeIds;
use crate::sessions::{Sessions, applied_twice, session_deleted, session_exists};

impl<V: Clone> Sessions<V> {
    /// Takes over a creation.
    ///
    /// # Errors
    ///
    /// [`SessionExists`](crate::ErrorKind::SessionExists) when there is a session of that key by now. Nothing has
    /// changed then.
    pub fn apply_create(&mut self, key: &SessionKey, change: &Change<V>) -> Result<SessionId> {
        self.create_observed(key.clone(), change, &mut ())
    }

    /// As [`Sessions::apply_create`].
    pub(crate) fn create_observed(
        &mut self,
        key: SessionKey,
        change: &Change<V>,
        observer: &mut impl Observer<V>,
    ) -> Result<SessionId> {
        if self.find(&key).is_some() {
            return Err(session_exists(&key));
        }
        let id = self.registry.add(key, 0, change.time);
        self.lists_mut().note_moved(id);
        self.delta_observed(id, change, observer)?;
        Ok(id)
    }

    /// Takes over the values that a store has for a scope, under their full keys.
    pub fn replace(&mut self, scope: ScopeId, values: &Delta<V>) {
        self.registry.replace(scope, values);
    }

    /// Takes over an appended event.
    ///
    /// # Errors
    ///
    /// [`SessionNotFound`](crate::ErrorKind::SessionNotFound) when the session has been deleted,
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when the event has been applied before. Nothing has
    /// changed then.
    pub fn apply_append(&mut self, id: SessionId, change: &Change<V>) -> Result<()> {
        self.append_observed(id, change, &mut ())
    }

    /// As [`Sessions::apply_append`].
    pub(crate) fn append_observed(
        &mut self,
        id: SessionId,
        change: &Change<V>,
        observer: &mut impl Observer<V>,
    ) -> Result<()> {
        let entry = self.registry.entry_mut(id).ok_or_else(session_deleted)?;
        if !entry.log.apply(change) {
            return Err(applied_twice(&change.id));
        }
        self.lists_mut().note_moved(id);
        self.delta_observed(id, change, observer)
    }

    /// Takes over what a change does to the scopes of a session, where its event is known already.
    ///
    /// # Errors
    ///
    /// [`SessionNotFound`](crate::ErrorKind::SessionNotFound) when the session has been deleted.
    pub fn apply_delta(&mut self, id: SessionId, change: &Change<V>) -> Result<()> {
        self.delta_observed(id, change, &mut ())
    }

    /// As [`Sessions::apply_delta`].
    pub(crate) fn delta_observed(
        &mut self,
        id: SessionId,
        change: &Change<V>,
        observer: &mut impl Observer<V>,
    ) -> Result<()> {
        let ScopeIds { session, app, user } = self.scopes(id).ok_or_else(session_deleted)?;
        for (scope, delta) in [(session, &change.delta.session), (app, &change.delta.app), (user, &change.delta.user)] {
            self.registry.write(scope, delta, observer);
        }
        Ok(())
    }

    /// Takes over a change of app and user state.
    ///
    /// # Errors
    ///
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) when it is one of the last 1,024 that were applied.
    /// Nothing has changed then.
    pub fn apply_update(&mut self, app_name: &str, user_id: Option<&str>, change: &Change<V>) -> Result<()> {
        self.update_observed(app_name, user_id, change, &mut ()).map(drop)
    }

    /// As [`Sessions::apply_update`]. Answers with the scopes of the app and of the user as they were written to; one
    /// that is left without sessions and values is dropped.
    pub(crate) fn update_observed(
        &mut self,
        app_name: &str,
        user_id: Option<&str>,
        change: &Change<V>,
        observer: &mut impl Observer<V>,
    ) -> Result<[Option<ScopeId>; 2]> {
        if !self.updates.note(&change.id) {
            return Err(applied_twice(&change.id));
        }
        if !change.delta.app.is_empty() {
            let app = self.registry.scope_mut(app_name, None);
            self.registry.write(app, &change.delta.app, observer);
        }
        if user_id.is_some() && !change.delta.user.is_empty() {
            let user = self.registry.scope_mut(app_name, user_id);
            self.registry.write(user, &change.delta.user, observer);
        }
        let user = user_id.and_then(|user_id| self.scope(app_name, Some(user_id)));
        let written = [self.scope(app_name, None), user];
        self.registry.prune(app_name, user_id);
        Ok(written)
    }
}

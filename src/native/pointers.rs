//! Pointers to a service are services.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::error::Result;
use crate::event::Event;
use crate::native::draft::{StateDraft, StateRef, UpdateOptions};
use crate::native::lease::Lease;
use crate::native::requests::{
    CreateRequest, DeleteRequest, GetRequest, HistoryEntry, ListRequest, ListResponse, OrderedCreateRequest, SessionRef,
};
use crate::native::rewind::Rewound;
use crate::native::service::SessionService;
use crate::native::session::Session;
use crate::state::SessionState;

/// A pointer to a service is one: so [`SessionService::append_event`] and [`SessionService::update_state`], which take
/// any kind of argument, can be called on an `Arc<dyn SessionService>`.
macro_rules! pointer_to_a_service {
    ($($pointer:ty),+) => {$(
        #[async_trait]
        impl<T: SessionService + ?Sized> SessionService for $pointer {
            async fn create(&self, request: CreateRequest) -> Result<Session> {
                (**self).create(request).await
            }

            async fn create_ordered(&self, request: OrderedCreateRequest) -> Result<Session> {
                (**self).create_ordered(request).await
            }

            async fn get(&self, request: GetRequest) -> Result<Option<Session>> {
                (**self).get(request).await
            }

            async fn list(&self, request: ListRequest) -> Result<ListResponse> {
                (**self).list(request).await
            }

            async fn delete(&self, request: DeleteRequest) -> Result<()> {
                (**self).delete(request).await
            }

            async fn append(&self, session: SessionRef<'_>, event: Event) -> Result<Event> {
                (**self).append(session, event).await
            }

            async fn append_expecting(
                &self,
                session: SessionRef<'_>,
                event: Event,
                expected_revision: Option<u64>,
            ) -> Result<Event> {
                (**self).append_expecting(session, event, expected_revision).await
            }

            async fn update(
                &self,
                target: StateRef<'_>,
                options: UpdateOptions,
                function: &mut (dyn for<'s> FnMut(&'s mut StateDraft) -> Result<()> + Send),
            ) -> Result<SessionState> {
                (**self).update(target, options, function).await
            }

            async fn state_at(&self, session: &Session, revision: u64) -> Result<Map<String, Value>> {
                (**self).state_at(session, revision).await
            }

            async fn history(&self, session: &Session, key: &str) -> Result<Vec<HistoryEntry>> {
                (**self).history(session, key).await
            }

            async fn rewind(&self, session: &Session, before: &str) -> Result<Rewound> {
                (**self).rewind(session, before).await
            }

            async fn redo(&self, session: &Session) -> Result<Rewound> {
                (**self).redo(session).await
            }

            async fn fork(
                &self,
                session: &Session,
                revision: Option<u64>,
                session_id: Option<String>,
            ) -> Result<Session> {
                (**self).fork(session, revision, session_id).await
            }

            async fn lease(&self, session: &Session, ttl: Duration) -> Result<Lease> {
                (**self).lease(session, ttl).await
            }

            async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease> {
                (**self).renew(lease, ttl).await
            }

            async fn release(&self, lease: &Lease) -> Result<()> {
                (**self).release(lease).await
            }

            async fn append_leased(
                &self,
                lease: &Lease,
                event: Event,
                expected_revision: Option<u64>,
            ) -> Result<Event> {
                (**self).append_leased(lease, event, expected_revision).await
            }
        }
    )+};
}

pointer_to_a_service!(&T, Box<T>, Arc<T>);

//! Services of tests that change one operation of another service.

/// Implements `SessionService` for a type over the service in one of its fields: the methods in braces are its own, and
/// the field answers the other required ones. The defaults of the trait are not passed on.
macro_rules! service_over {
    ([$($generics:tt)*] $service:ty, $inner:tt, { $($own:item)+ }) => {
        #[async_trait::async_trait]
        impl $($generics)* statepad::SessionService for $service {
            async fn create_ordered(&self, request: statepad::OrderedCreateRequest) -> statepad::Result<statepad::Session> {
                self.$inner.create_ordered(request).await
            }

            async fn get(&self, request: statepad::GetRequest) -> statepad::Result<Option<statepad::Session>> {
                self.$inner.get(request).await
            }

            async fn list(&self, request: statepad::ListRequest) -> statepad::Result<statepad::ListResponse> {
                self.$inner.list(request).await
            }

            async fn delete(&self, request: statepad::DeleteRequest) -> statepad::Result<()> {
                self.$inner.delete(request).await
            }

            async fn update(
                &self,
                target: statepad::StateRef<'_>,
                options: statepad::UpdateOptions,
                function: &mut (dyn for<'s> FnMut(&'s mut statepad::StateDraft) -> statepad::Result<()> + Send),
            ) -> statepad::Result<statepad::SessionState> {
                self.$inner.update(target, options, function).await
            }

            async fn state_at(
                &self,
                session: &statepad::Session,
                revision: u64,
            ) -> statepad::Result<serde_json::Map<String, serde_json::Value>> {
                self.$inner.state_at(session, revision).await
            }

            async fn history(
                &self,
                session: &statepad::Session,
                key: &str,
            ) -> statepad::Result<Vec<statepad::HistoryEntry>> {
                self.$inner.history(session, key).await
            }

            $($own)+
        }
    };
}
pub(crate) use service_over;

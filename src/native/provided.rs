//! Rewinds and forks of any session service: they go over its other methods.

use crate::error::{ErrorKind, Result};
use crate::native::refusals::not_found;
use crate::native::requests::{DeleteRequest, GetRequest, OrderedCreateRequest};
use crate::native::rewind::{self, Rewound};
use crate::native::service::SessionService;
use crate::native::session::Session;
use crate::rewind::Rewind;

/// The number of times that other changes may come between.
const ATTEMPTS: u32 = 100;

/// Appends the marker of what is planned, as the log that is there then has it.
pub(super) async fn go_back<S: SessionService + ?Sized>(
    service: &S,
    session: &Session,
    plan: impl Fn(&Session) -> Result<Rewind> + Send,
) -> Result<Rewound> {
    let mut attempt = 1;
    loop {
        let now = current(service, session).await?;
        let revision = now.revision();
        let plan = plan(&now)?;
        let history = rewind::history_of(service.state_at(&now, 0).await?, now.events())?;
        let marker = rewind::marker(now.events(), &history, &plan);
        let event = rewind::event_of(&marker, rewind::new_invocation("rewind", &now));
        match service.append_expecting((&now).into(), event, Some(revision)).await {
            Ok(event) => return Ok(Rewound { event, revision: revision + 1, shared: marker.shared }),
            Err(error) if error.kind() == ErrorKind::SessionStale && attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// See [`SessionService::fork`].
pub(super) async fn fork<S: SessionService + ?Sized>(
    service: &S,
    session: &Session,
    revision: Option<u64>,
    session_id: Option<String>,
) -> Result<Session> {
    let source = current(service, session).await?;
    let revision = revision.unwrap_or(source.revision());
    // Refuses a revision that there is not.
    service.state_at(&source, revision).await?;
    let state = rewind::own_values(service.state_at(&source, 0).await?);
    let (app_name, user_id) = (source.app_name().to_owned(), source.user_id().to_owned());
    let made = service.create_ordered(OrderedCreateRequest { app_name, user_id, session_id, state }).await?;
    for event in rewind::events_of_fork(&source, revision) {
        if let Err(error) = service.append((&made).into(), event).await {
            // The caller gets the error of the fork.
            let _ = service.delete(DeleteRequest::clone(made.key())).await;
            return Err(error);
        }
    }
    current(service, &made).await
}

/// The session as it is now, with all its events.
async fn current<S: SessionService + ?Sized>(service: &S, session: &Session) -> Result<Session> {
    let (app_name, user_id) = (session.app_name().to_owned(), session.user_id().to_owned());
    let request = GetRequest { app_name, user_id, session_id: session.id().to_owned(), ..GetRequest::default() };
    let now = service.get(request).await?.filter(|now| now.serial() == session.serial());
    now.ok_or_else(|| not_found(session.id()))
}

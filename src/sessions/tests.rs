use super::*;
use crate::fixtures::{append, create, delta};
use crate::ids::SessionId;
use serde_json::json;

#[test]
fn app_and_user_state_reach_every_session_they_belong_to() {
    let mut sessions = Sessions::default();
    let first = create(&mut sessions, &SessionKey::new("app", "u", "1"), "{}");
    let second = create(&mut sessions, &SessionKey::new("app", "u", "2"), r#"{"user:u":1,"app:a":2,"s":3}"#);
    let other = create(&mut sessions, &SessionKey::new("app", "v", "1"), "{}");
    append(&mut sessions, other, "e", r#"{"app:b":4,"user:u":5}"#);
    let keys = |id| sessions.state(id).unwrap().to_map().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(keys(first), "app:a app:b user:u");
    assert_eq!(keys(second), "s app:a app:b user:u");
    assert_eq!(keys(other), "app:a app:b user:u");
    assert_eq!(sessions.state(first).unwrap().get("user:u"), Some(1.into()));
}

#[test]
fn a_taken_key_is_refused_and_its_parts_never_blend() {
    let mut sessions = Sessions::default();
    let key = SessionKey::new("a", "b/c", "d");
    create(&mut sessions, &key, "{}");
    let error = sessions.prepare_create(&key, 1.0, Delta::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionExists);
    assert!(sessions.prepare_create(&SessionKey::new("a/b", "c", "d"), 1.0, Delta::default()).is_ok());
}

#[test]
fn a_deleted_session_stays_deleted_when_its_key_is_used_again() {
    let mut sessions = Sessions::default();
    let key = SessionKey::new("app", "u", "s");
    let old = create(&mut sessions, &key, r#"{"x":1,"user:u":2}"#);
    assert!(sessions.remove(old) && !sessions.remove(old));
    let new = create(&mut sessions, &key, "{}");
    assert_ne!(old, new);
    assert_eq!(sessions.state(new).unwrap().to_map().keys().collect::<Vec<_>>(), ["user:u"]);
    let error = sessions.prepare_append(old, "e", 1.0, Delta::default(), Guard::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SessionNotFound);
}

#[test]
fn an_update_may_only_touch_its_own_scopes_and_only_what_it_read() {
    let mut sessions = Sessions::default();
    let update = |sessions: &Sessions, user, object, guard| {
        sessions.prepare_update("app", user, "id", 1.0, delta(object), guard).map_err(|error| error.kind())
    };
    let none = Guard::default();
    assert_eq!(update(&sessions, None, r#"{"user:x":1}"#, none), Err(ErrorKind::InvalidArgument));
    assert_eq!(update(&sessions, Some("u"), r#"{"x":1}"#, none), Err(ErrorKind::InvalidArgument));
    assert_eq!(update(&sessions, Some("u"), r#"{"temp:x":1}"#, none), Err(ErrorKind::InvalidArgument));
    let guard = Guard { app: Some(0), user: Some(0), ..none };
    let change = update(&sessions, Some("u"), r#"{"app:x":1,"user:x":2}"#, guard).unwrap();
    sessions.apply_update("app", Some("u"), &change).unwrap();
    assert_eq!(update(&sessions, Some("u"), "{}", guard), Err(ErrorKind::StateConflict));
    let id = create(&mut sessions, &SessionKey::new("app", "u", "s"), "{}");
    assert_eq!(sessions.state(id).unwrap().get("user:x"), Some(2.into()));
}

fn guarded(sessions: &Sessions, id: SessionId, guard: Guard) -> Result<Prepared> {
    sessions.prepare_append(id, "guarded", 2.0, delta("{}"), guard)
}

#[test]
fn an_append_is_guarded_by_the_versions_of_the_app_and_of_the_user() {
    let mut sessions = Sessions::default();
    let id = create(&mut sessions, &SessionKey::new("app", "u", "s"), r#"{"app:a":1,"user:u":2}"#);
    let scopes = sessions.scopes(id).unwrap();
    let version = |sessions: &Sessions, scope| sessions.scope_state(scope).map(ScopeState::version);
    let read = Guard { revision: Some(0), app: version(&sessions, scopes.app), user: version(&sessions, scopes.user) };
    assert!(matches!(guarded(&sessions, id, read), Ok(Prepared::Change { .. })));
    let other = create(&mut sessions, &SessionKey::new("app", "v", "s"), "{}");
    append(&mut sessions, other, "e", r#"{"app:a":3}"#);
    let error = guarded(&sessions, id, read).unwrap_err();
    assert_eq!((error.kind(), error.id()), (ErrorKind::StateConflict, Some("s")));
    assert_eq!(error.to_string(), "the state of session \"s\" changed since it was read");
    let app = Guard { app: version(&sessions, scopes.app), ..read };
    assert!(guarded(&sessions, id, app).is_ok());
    let same_user = create(&mut sessions, &SessionKey::new("app", "u", "t"), "{}");
    append(&mut sessions, same_user, "e", r#"{"user:u":3}"#);
    assert_eq!(guarded(&sessions, id, app).unwrap_err().kind(), ErrorKind::StateConflict);
    assert!(guarded(&sessions, id, Guard { user: version(&sessions, scopes.user), ..app }).is_ok());
}

#[test]
fn a_scope_that_is_not_there_yet_is_at_version_0() {
    let sessions = Sessions::default();
    let update = |app, user| {
        let guard = Guard { revision: None, app, user };
        sessions.prepare_update("app", Some("u"), "id", 1.0, delta("{}"), guard).map_err(|error| error.kind())
    };
    assert!(update(Some(0), Some(0)).is_ok());
    assert_eq!(update(Some(1), Some(0)), Err(ErrorKind::StateConflict));
    assert_eq!(update(Some(0), Some(1)), Err(ErrorKind::StateConflict));
}

#[test]
fn a_session_that_is_restored_again_goes_where_its_store_says_that_it_is() {
    let mut sessions = Sessions::default();
    let key = SessionKey::new("app", "u", "s");
    let id = create(&mut sessions, &key, r#"{"x":1}"#);
    assert_eq!(sessions.restore(&key, 7, 9.0), id);
    let log = sessions.log(id).unwrap();
    assert_eq!((log.revision(), log.update_time().to_bits()), (7, 9.0_f64.to_bits()));
    assert!(guarded(&sessions, id, Guard { revision: Some(7), ..Guard::default() }).is_ok());
    let error = guarded(&sessions, id, Guard { revision: Some(0), ..Guard::default() }).unwrap_err();
    assert_eq!((error.kind(), error.actual()), (ErrorKind::SessionStale, Some(7)));
}

#[test]
fn what_cannot_be_applied_is_an_error_and_changes_nothing() {
    let mut sessions = Sessions::default();
    let key = SessionKey::new("app", "u", "s");
    let creation = sessions.prepare_create(&key, 1.0, delta(r#"{"x":1,"app:a":1}"#)).unwrap();
    let id = sessions.apply_create(&key, &creation).unwrap();
    append(&mut sessions, id, "e", r#"{"x":2,"app:a":2}"#);
    assert_eq!(sessions.apply_create(&key, &creation).unwrap_err().kind(), ErrorKind::SessionExists);

    let Ok(Prepared::Change { change, .. }) =
        sessions.prepare_append(id, "f", 3.0, delta(r#"{"x":3,"app:a":3}"#), Guard::default())
    else {
        panic!("the id is new");
    };
    sessions.apply_append(id, &change).unwrap();
    append(&mut sessions, id, "g", r#"{"x":4,"app:a":4}"#);
    assert_eq!(sessions.apply_append(id, &change).unwrap_err().kind(), ErrorKind::InvalidArgument);

    let update =
        sessions.prepare_update("app", None, "update", 4.0, delta(r#"{"app:a":5}"#), Guard::default()).unwrap();
    sessions.apply_update("app", None, &update).unwrap();
    append(&mut sessions, id, "h", r#"{"app:a":6}"#);
    assert_eq!(sessions.apply_update("app", None, &update).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(sessions.state(id).unwrap().to_map(), *json!({"x": 4, "app:a": 6}).as_object().unwrap());
    assert_eq!(sessions.log(id).unwrap().revision(), 4);

    assert!(sessions.remove(id));
    for error in [sessions.apply_append(id, &change), sessions.apply_delta(id, &change)] {
        assert_eq!(error.unwrap_err().kind(), ErrorKind::SessionNotFound);
    }
    assert_eq!(
        sessions.apply_append(SessionId::of_number(99), &change).unwrap_err().kind(),
        ErrorKind::SessionNotFound
    );
    let app = sessions.scope("app", None).unwrap();
    assert_eq!(sessions.scope_state(app).unwrap().to_json(true), r#"{"app:a":6}"#);
}

#[test]
fn a_user_with_state_or_with_another_session_stays() {
    let mut sessions = Sessions::default();
    let keys = ["1", "2"].map(|id| SessionKey::new("app", "u", id));
    let [one, two] = [0, 1].map(|place| create(&mut sessions, &keys[place], "{}"));
    sessions.remove(one);
    assert!(sessions.scope("app", Some("u")).is_some());
    append(&mut sessions, two, "e", r#"{"user:x":1}"#);
    sessions.remove(two);
    let user = sessions.scope("app", Some("u")).unwrap();
    assert_eq!(sessions.scope_state(user).unwrap().to_json(true), r#"{"user:x":1}"#);
    let delta = Delta::parse(r#"{"user:x":null}"#, &["user:x".to_owned()]).unwrap();
    let update = sessions.prepare_update("app", Some("u"), "id", 1.0, delta, Guard::default()).unwrap();
    sessions.apply_update("app", Some("u"), &update).unwrap();
    assert!(sessions.scope("app", Some("u")).is_none() && sessions.scope("app", None).is_none());
}

#[test]
fn a_scope_that_was_dropped_and_is_made_anew_never_has_a_version_that_it_had() {
    let mut sessions = Sessions::default();
    let key = SessionKey::new("app", "u", "s");
    let mut seen = Vec::new();
    for _ in 0..3 {
        let id = create(&mut sessions, &key, r#"{"user:x":1}"#);
        let user = sessions.scopes(id).unwrap().user;
        seen.push(sessions.scope_state(user).unwrap().version());
        sessions.forget(id);
    }
    assert!(seen[0] < seen[1] && seen[1] < seen[2], "{seen:?}");
}

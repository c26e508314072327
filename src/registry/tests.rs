use super::*;
use crate::fixtures::{append, create, delta};
use crate::sessions::Sessions;

#[test]
fn what_is_forgotten_leaves_nothing_behind_and_its_places_are_used_again() {
    let mut sessions = Sessions::default();
    let [first, second] = ["1", "2"].map(|id| SessionKey::new("app", "u", id));
    for _ in 0..3 {
        let one = create(&mut sessions, &first, r#"{"x":1,"user:u":2,"app:a":3}"#);
        let two = sessions.restore(&second, 5, 9.0);
        sessions.replace(sessions.scopes(two).unwrap().session, &delta(r#"{"y":4}"#));
        let keys = sessions.state(two).unwrap().to_map().keys().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!((sessions.log(two).unwrap().revision(), keys.as_str()), (5, "y app:a user:u"));
        sessions.forget(one);
        assert!(sessions.find(&first).is_none() && sessions.find(&second).is_some());
        assert!(sessions.scope("app", Some("u")).is_some(), "another session needs it");
        sessions.forget(two);
        assert!(sessions.scope("app", Some("u")).is_none() && sessions.scope("app", None).is_none());
    }
    let places = |sessions: &Sessions| {
        [
            sessions.registry.entries.len(),
            sessions.registry.scopes.len(),
            sessions.registry.apps.len(),
            sessions.registry.users.len(),
        ]
    };
    assert_eq!(places(&sessions), [0; 4]);
    let other = create(&mut sessions, &SessionKey::new("other", "u", "s"), "{}");
    for _ in 0..3 {
        let one = create(&mut sessions, &first, "{}");
        sessions.forget(one);
    }
    assert_eq!(places(&sessions), [2, 6, 2, 2]);
    sessions.forget(other);
}

#[test]
fn users_without_sessions_and_state_leave_nothing_behind() {
    let mut sessions = Sessions::default();
    let stays = create(&mut sessions, &SessionKey::new("app", "stays", "s"), "{}");
    for number in 0..2_000 {
        let key = SessionKey::new("app", format!("u{number}"), "s");
        let id = create(&mut sessions, &key, r#"{"x":1}"#);
        append(&mut sessions, id, "e", r#"{"x":2}"#);
        assert!(sessions.remove_for_good(id));
        assert!(sessions.scope("app", Some(&key.user_id)).is_none());
    }
    let places = [
        sessions.registry.entries.len(),
        sessions.registry.scopes.len(),
        sessions.registry.apps.len(),
        sessions.registry.users.len(),
    ];
    assert_eq!(places, [2, 5, 1, 2]);

    let many: Vec<_> = (0..2_000)
        .map(|number| create(&mut sessions, &SessionKey::new("app", format!("u{number}"), "s"), "{}"))
        .collect();
    assert!(many.into_iter().all(|id| sessions.remove_for_good(id)));
    let app = sessions.registry.app("app").unwrap();
    assert!(app.users.len() == 1 && app.users.capacity() <= 128, "{}", app.users.capacity());
    assert!(sessions.remove_for_good(stays));
    assert!(
        sessions.registry.app("app").is_none()
            && sessions.registry.scopes.is_empty()
            && sessions.registry.entries.is_empty()
    );
}

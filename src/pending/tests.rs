use super::*;

fn write(pending: &mut PendingWrites, author: &str, keys: &[&str]) {
    for key in keys {
        pending.write(author, key, PendingWrite::Plain(Write::Unset)).unwrap();
    }
}

fn keys(delta: &Delta) -> Vec<&str> {
    delta.iter().map(|(key, _)| key).collect()
}

#[test]
fn an_event_that_is_sent_again_has_its_earlier_writes_as_long_as_some_of_them_were_overtaken() {
    let mut pending = PendingWrites::default();
    write(&mut pending, "a", &["x", "y"]);
    let first = pending.send("a", "1", &Delta::default(), &[]).unwrap();
    assert!(first.before().is_none(), "it is sent for the first time");
    pending.failed(first);
    let second = pending.send("a", "1", &Delta::default(), &[]).unwrap();
    assert_eq!((keys(&second.delta()), second.before().is_none()), (vec!["x", "y"], true), "nothing was overtaken");
    pending.failed(second);

    write(&mut pending, "b", &["x"]);
    let other = pending.send("b", "2", &Delta::default(), &[]).unwrap();
    pending.stored(&other);
    for _ in 0..3 {
        let again = pending.send("a", "1", &Delta::default(), &[]).unwrap();
        assert_eq!(keys(&again.delta()), ["y"]);
        assert_eq!(
            again.before().map(Composed::delta).as_ref().map(keys),
            Some(vec!["x", "y"]),
            "as it was at first, however often it fails"
        );
        pending.failed(again);
    }
}

#[test]
fn an_event_without_an_id_is_another_one_each_time() {
    let mut pending = PendingWrites::default();
    write(&mut pending, "a", &["x"]);
    let first = pending.send("a", "", &Delta::default(), &[]).unwrap();
    pending.failed(first);
    write(&mut pending, "a", &["y"]);
    let second = pending.send("a", "", &Delta::default(), &[]).unwrap();
    assert_eq!((keys(&second.delta()), second.before().is_none()), (vec!["x", "y"], true));
}

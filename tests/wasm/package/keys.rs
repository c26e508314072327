//! The numbers of keys, and their release.

use statepad::wasm::package::{Core, HistoryLog, Outcome, Shift, released_keys};
use wasm_bindgen_test::wasm_bindgen_test;

use super::{ALL, Known, append, create, prepare, token, word, write_keys};

#[wasm_bindgen_test]
fn keys_that_nothing_has_any_more_are_released_and_no_others() {
    let mut core = Core::new();
    let Known { session, .. } = create(&mut core, "u", &["kept", "app:kept"]);
    let mut log = HistoryLog::new();
    assert_eq!(log.push(0.0, write_keys(&["told"])), 1);
    let prepared = prepare(&mut core, session, "held", &["held"], -1.0).unwrap();
    released_keys();
    let numbers = ["kept", "app:kept", "told", "held"].map(word);
    let mut most = 0;
    let mut sweeps = 0;
    for round in 0..20_000 {
        let key = format!("invented-{round}");
        most = most.max(word(&key) >> Shift::Key as u32);
        append(&mut core, session, &format!("set-{round}"), &[&key]);
        let answer = prepare(&mut core, session, &format!("unset-{round}"), &[&format!("-{key}")], -1.0).unwrap();
        if core.apply(token(answer), ALL) & Outcome::KeysDue as u32 != 0 {
            let released = released_keys();
            assert!(released.len() > 300, "{}", released.len());
            sweeps += 1;
        }
    }
    assert!(most < 3_000 && sweeps > 5, "{most} numbers, {sweeps} sweeps");
    assert_eq!(["kept", "app:kept", "told", "held"].map(word), numbers);
    assert_eq!(core.apply(token(prepared), ALL) & !(Outcome::KeysDue as u32), 0);
    drop(log);
    core.remove(session);
    let mut released = released_keys();
    released.sort_unstable();
    let is_released = numbers.map(|number| released.binary_search(&(number >> Shift::Key as u32)).is_ok());
    assert_eq!(is_released, [true, false, true, true], "the app has a value still");
}

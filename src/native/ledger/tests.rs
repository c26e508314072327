use super::*;
use std::cell::Cell;

thread_local! {
    static COPIES: Cell<usize> = const { Cell::new(0) };
}

#[derive(Debug, PartialEq)]
struct Counted(usize);

impl Clone for Counted {
    fn clone(&self) -> Self {
        COPIES.set(COPIES.get() + 1);
        Self(self.0)
    }
}

#[test]
fn a_window_copies_what_is_in_it_and_nothing_else() {
    let log: Vec<_> = (0..1000).map(Counted).collect();
    let numbers = |window: Vec<Counted>| window.into_iter().map(|Counted(number)| number).collect::<Vec<_>>();
    assert_eq!(numbers(window(&log, Some(2), |_| true)), [998, 999]);
    assert_eq!(numbers(window(&log, None, |Counted(number)| number % 400 == 1)), [1, 401, 801]);
    assert_eq!(numbers(window(&log, Some(1), |Counted(number)| number % 400 == 1)), [801]);
    assert_eq!(numbers(window(&log, Some(0), |_| true)), [0; 0]);
    assert_eq!(COPIES.get(), 6);
    assert_eq!(window(&log, None, |_| true), log);
    assert_eq!(window(&log, Some(5000), |_| true).len(), 1000);
}

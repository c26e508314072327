//! The places of values in the list that a host keeps for each scope.

use statepad::wasm::package::{Core, Outcome};
use wasm_bindgen_test::wasm_bindgen_test;

use super::{Known, NOTHING, append, create};

/// The values of a scope as a host keeps them: at the places of the core's answers.
#[derive(Default)]
struct Hosted(Vec<Option<(String, u32)>>);

impl Hosted {
    fn write(&mut self, key: &str, value: u32, place: u32) {
        match (key.strip_prefix('-'), place) {
            (_, NOTHING) => {}
            (Some(key), place) => assert_eq!(self.0[place as usize].take().unwrap().0, key),
            (None, place) => {
                let place = place as usize;
                assert!(place <= self.0.len());
                self.0.resize(self.0.len().max(place + 1), None);
                assert!(self.0[place].as_ref().is_none_or(|(other, _)| other == key));
                self.0[place] = Some((key.to_owned(), value));
            }
        }
    }

    fn values(&self) -> Vec<(String, u32)> {
        self.0.iter().flatten().cloned().collect()
    }
}

#[wasm_bindgen_test]
fn a_host_that_puts_values_where_it_is_told_has_them_in_the_order_of_writing() {
    let mut core = Core::new();
    let Known { session, .. } = create(&mut core, "u", &[]);
    let mut hosted = [Hosted::default(), Hosted::default()];
    let mut model: Vec<(String, u32)> = Vec::new();
    let (mut compactions, mut seed) = (0, 7_u32);
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    for step in 0..600 {
        let keys: Vec<String> = (0..random(8))
            .map(|n| {
                let prefix = if random(3) == 0 { "app:" } else { "" };
                let key = format!("{prefix}{}", n * 20 + random(20));
                // Times of growth and times of decline take turns.
                if random(100) < if step / 100 % 2 == 0 { 20 } else { 80 } { format!("-{key}") } else { key }
            })
            .collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let (outcome, places) = append(&mut core, session, &step.to_string(), &keys);
        for (&key, place) in keys.iter().zip(places) {
            let name = key.trim_start_matches('-');
            hosted[usize::from(name.starts_with("app:"))].write(key, step, place);
            let known = model.iter().position(|(other, _)| other == name);
            match (key.starts_with('-'), known) {
                (true, Some(at)) => drop(model.remove(at)),
                (true, None) => assert_eq!(place, NOTHING),
                (false, Some(at)) => model[at].1 = step,
                (false, None) => model.push((name.to_owned(), step)),
            }
        }
        for (scope, flag) in [Outcome::CompactedSession, Outcome::CompactedApp].into_iter().enumerate() {
            if outcome & flag as u32 != 0 {
                hosted[scope].0.retain(Option::is_some);
                compactions += 1;
            }
            let expected: Vec<_> =
                model.iter().filter(|(key, _)| usize::from(key.starts_with("app:")) == scope).cloned().collect();
            assert_eq!(hosted[scope].values(), expected);
        }
    }
    assert!(compactions > 2, "{compactions}");
}

//! States that the rest of the code rules out.

/// The value of an option that is never empty, for a reason. Where it is empty all the same the program ends with the
/// reason. In WebAssembly, where a host gets no text of a panic and the code for it would make the module a tenth
/// larger, the answer is a cheap one: the default of the type, or the third argument.
macro_rules! or_impossible {
    ($option:expr, $reason:literal) => {
        or_impossible!($option, $reason, Default::default())
    };
    ($option:expr, $reason:literal, $cheap:expr) => {
        match $option {
            Some(value) => value,
            None if cfg!(target_arch = "wasm32") => $cheap,
            None => unreachable!($reason),
        }
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_there_is_taken() {
        assert_eq!(or_impossible!(Some(1), "it is there"), 1);
        assert_eq!(or_impossible!(Some(1), "it is there", 2), 1);
    }

    #[test]
    #[cfg_attr(not(target_arch = "wasm32"), should_panic(expected = "it is always there"))]
    fn a_state_that_cannot_be_ends_the_program_outside_of_webassembly() {
        assert_eq!(or_impossible!(None::<u32>, "it is always there"), 0);
    }
}

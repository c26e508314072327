//! Slices of texts, and numbers as texts.

use std::ops::Range;

/// The part of a text in a range that was found in it.
pub(crate) fn slice(text: &str, range: Range<usize>) -> &str {
    or_impossible!(text.get(range), "the range was found in this text")
}

/// A number as digits to a base of up to 16. With the formatting of the standard library the WebAssembly module would
/// be 5 % larger.
pub(crate) fn digits(mut number: u64, base: u64) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = or_impossible!(u8::try_from(number % base).ok(), "the base is 16 at most");
        digits.push(if digit < 10 { b'0' + digit } else { b'a' - 10 + digit });
        number /= base;
        if number == 0 {
            return digits.into_iter().rev().map(char::from).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_standard_library() {
        for number in [0, 1, 9, 10, 15, 16, 255, 4096, 1_234_567_890, u64::MAX, 0x4079_0000_0000_0000] {
            assert_eq!(digits(number, 10), number.to_string());
            assert_eq!(digits(number, 16), format!("{number:x}"));
        }
    }
}

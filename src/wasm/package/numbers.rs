//! Numbers that cross between JavaScript and the core.

/// A count as JavaScript gets it. The memory has addresses of 32 bits: nothing that is counted in it is larger.
pub(super) fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A version that is expected; a negative number stands for none.
pub(super) fn version(expected: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "versions are whole and not negative")]
    (expected >= 0.0).then_some(expected as u64)
}

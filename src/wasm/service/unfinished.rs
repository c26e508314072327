//! A session that is made by several changes: until it is whole, it is not there for anyone. The id of its creation
//! tells, as in the package (pkg/src/backend/durable/cache/unfinished.ts), so that neither shows what the other has
//! begun.

/// The id of the creation of a session that is whole at a revision: `whole-at-3-…`. `unique` is a new id.
pub(super) fn unfinished_id(revision: u64, unique: &str) -> String {
    format!("whole-at-{revision}-{unique}")
}

/// Returns `true` if a session of this creation is not whole yet at a revision.
pub(super) fn is_unfinished(created: &str, revision: u64) -> bool {
    let whole_at = || {
        let (digits, unique) = created.strip_prefix("whole-at-")?.split_once('-')?;
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        // A number that is too large is that of no session.
        (is_number && !unique.is_empty()).then(|| digits.parse().unwrap_or(u64::MAX))
    };
    whole_at().is_some_and(|whole_at: u64| revision < whole_at)
}

//! Suggestions: the key that is most similar to a missing one.

/// The number of missing keys of one template for which a suggestion is looked for. Where more are missing, the state
/// is another one, and the keys are not mistyped.
pub const SUGGESTIONS: usize = 16;

/// The most characters of a key for which a suggestion is looked for: comparing takes time in proportion to their
/// square.
const LONGEST: usize = 64;

/// The most similar candidate, if any is similar enough: at most a third of the key's characters differ.
pub fn nearest<'a>(key: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let key: Vec<char> = key.chars().take(LONGEST + 1).collect();
    if key.len() > LONGEST {
        return None;
    }
    let limit = key.len() / 3;
    let near = candidates.into_iter().filter_map(|candidate| {
        let chars: Vec<char> = candidate.chars().take(2 * LONGEST).collect();
        let close = chars.len().abs_diff(key.len()) <= limit;
        let distance = if close { distance(&key, &chars) } else { usize::MAX };
        (distance <= limit).then_some((distance, candidate))
    });
    near.min_by_key(|&(distance, _)| distance).map(|(_, candidate)| candidate)
}

/// The number of characters that must be inserted, deleted, replaced or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = [vec![0; b.len() + 1], vec![0; b.len() + 1], (0..=b.len()).collect()];
    for i in 0..a.len() {
        rows.rotate_left(1);
        let [before, above, row] = &mut rows;
        row[0] = i + 1;
        for j in 0..b.len() {
            let replaced = above[j] + usize::from(a[i] != b[j]);
            row[j + 1] = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
    }
    rows[2][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_fingers_is_found_and_another_word_is_not() {
        let keys = ["topic", "user:name", "city", "naïve"];
        assert_eq!(nearest("topci", keys), Some("topic"));
        assert_eq!(nearest("user:nam", keys), Some("user:name"));
        assert_eq!(nearest("naive", keys), Some("naïve"));
        assert_eq!(nearest("x", keys), None);
        assert_eq!(nearest("country", keys), None);
    }
}

//! The nearest other occurrences of a word in the document.

use std::ops::Range;

/// Calls `visit` with the occurrences nearest to number `own`, by distance and those before first:
/// at most `count`, among those that are `visible`. O(count).
pub(super) fn for_nearest(
    occurrences: &[u32],
    own: usize,
    visible: Range<usize>,
    count: u32,
    mut visit: impl FnMut(u32),
) {
    let token = occurrences[own];
    let (mut before, mut after) = (own, own + 1); // the next ones are before - 1 and after
    for _ in 0..count {
        let back = (before > visible.start).then(|| token - occurrences[before - 1]);
        let ahead = (after < visible.end).then(|| occurrences[after] - token);
        match (back, ahead) {
            (None, None) => return,
            (Some(back), ahead) if ahead.is_none_or(|ahead| back <= ahead) => {
                before -= 1;
                visit(occurrences[before]);
            }
            _ => {
                visit(occurrences[after]);
                after += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_are_those_of_a_sort_by_distance() {
        let occurrences = [0, 3, 4, 10, 12, 13, 20, 27];
        for own in 0..occurrences.len() {
            for visible in [0..8, own..own + 1, own.saturating_sub(2)..(own + 3).min(8)] {
                for count in 0..9 {
                    let mut found = Vec::new();
                    for_nearest(&occurrences, own, visible.clone(), count, |u| found.push(u));
                    let others = visible.clone().filter(|&i| i != own);
                    let mut expected: Vec<u32> = others.map(|i| occurrences[i]).collect();
                    expected.sort_by_key(|u| (u.abs_diff(occurrences[own]), *u));
                    expected.truncate(count as usize);
                    assert_eq!(found, expected, "{own} {visible:?} {count}");
                }
            }
        }
    }
}

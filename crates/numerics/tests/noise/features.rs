use dropchain_numerics::noise::{ActiveCounts, AttributeRows, Features};
use dropchain_numerics::testing::internal::ActiveFeatures;

const ROWS: AttributeRows<'_> = AttributeRows {
    ends: &[3, 4, 8],
    entries: &[(7, 1.0), (2, 0.5), (4, 1.0), (4, 2.0), (1, 1.0), (9, -3.0), (8, 1.0), (8, 1.0)],
};

fn active(collapse: bool) -> ActiveFeatures {
    let mut active = ActiveFeatures::default();
    active.set(ROWS, 0, 3, collapse);
    active
}

fn features(active: &ActiveFeatures) -> Vec<Vec<(usize, f64)>> {
    (0..3).map(|t| active.at(t).collect()).collect()
}

#[test]
fn attributes_that_fire_once_at_the_same_token_are_one_feature() {
    let active = active(true);
    assert_eq!(active.columns, [1, 2, 4, 7, 8, 9]);
    assert_eq!(active.members, [(0, 1.0), (1, 0.5), (2, 1.0), (1, 1.0), (3, 1.0), (0, -3.0)]);
    assert_eq!(active.count, 4);
    let expected: [&[_]; 3] = [&[(1, 1.0), (2, 1.0)], &[(2, 2.0)], &[(0, 1.0), (3, 1.0), (3, 1.0)]];
    assert_eq!(features(&active), expected);
}

#[test]
fn without_collapsing_every_attribute_is_a_feature() {
    let active = active(false);
    assert_eq!((active.count, active.columns.len()), (6, 6));
    let members: Vec<_> = (0..6).map(|feature| (feature, 1.0)).collect();
    assert_eq!(active.members, members);
    assert_eq!(features(&active)[0], [(1, 0.5), (2, 1.0), (3, 1.0)]);
}

#[test]
fn sentences_are_counted_before_and_after_collapsing() {
    let mut counts = ActiveCounts::default();
    let sentence = Features { node: ROWS, edge: ROWS, boundary: 0 };
    counts.add(sentence, 3);
    // Edge attributes of the first token do not count: 7 and 2 go, 4 fires once.
    let expected = ActiveCounts { tokens: 3, attributes: 6 + 4, collapsed: 4 + 3 };
    assert_eq!(counts, expected);
    counts.add(Features::default(), 2);
    assert_eq!((counts.tokens, counts.attributes), (5, 10));
}

#[test]
fn tokens_before_the_first_do_not_count() {
    let mut active = ActiveFeatures::default();
    active.set(ROWS, 1, 3, true);
    assert_eq!(active.columns, [1, 4, 8, 9]);
    assert_eq!(active.at(0).count(), 0);
    active.set(AttributeRows::default(), 0, 3, true);
    assert_eq!((active.count, active.at(2).count()), (0, 0));
}

use dropchain_numerics::data::{Allowed, Target};
use dropchain_numerics::ids::LabelId;
use dropchain_numerics::testing::internal::PartialLabels;

#[test]
fn sets_are_interned_and_a_set_of_one_is_a_label() {
    let mut partial = PartialLabels::default();
    let labels = [&[4, 2][..], &[7], &[], &[2, 4, 2], &[1, 2], &[3, 3]];
    let labels: Vec<LabelId> = (10..)
        .zip(labels)
        .map(|(token, set)| {
            let set: Vec<LabelId> = set.iter().copied().map(LabelId).collect();
            partial.push(token, &set)
        })
        .collect();
    let Target::Allowed(allowed) = partial.target(10..16, &labels) else {
        panic!("a partial target");
    };
    assert!(!allowed.is_any());
    let [two_four, one_two] = [[LabelId(2), LabelId(4)], [LabelId(1), LabelId(2)]];
    assert_eq!(
        allowed.iter().collect::<Vec<_>>(),
        [
            Allowed::Some(&two_four[..]),
            Allowed::One(LabelId(7)),
            Allowed::Any,
            Allowed::Some(&two_four),
            Allowed::Some(&one_two),
            Allowed::One(LabelId(3)),
        ]
    );
    assert_eq!((partial.tokens.len(), partial.numbers.len()), (4, 2));
    assert!(matches!(partial.target(11..12, &labels[1..2]), Target::Gold([LabelId(7)])));
    let Target::Allowed(any) = partial.target(12..13, &labels[2..3]) else {
        panic!("a partial target");
    };
    assert!(any.is_any());
}

use proptest::prelude::*;

use dropchain_numerics::data::{Classes, SparseRows};

#[test]
fn values_are_stored_once_one_differs_from_1() {
    let mut m = SparseRows::default();
    m.push_row(&mut vec![(3, 1.0), (1, 1.0)]);
    assert!(m.values.is_none());
    m.push_row(&mut vec![]);
    m.push_row(&mut vec![(2, 0.5), (0, 1.0), (2, 0.25)]);
    assert!(m.values.is_some());
    assert_eq!(m.entries(0).collect::<Vec<_>>(), [(1, 1.0), (3, 1.0)]);
    assert_eq!(m.entries(1).count(), 0);
    assert_eq!(m.entries(2).collect::<Vec<_>>(), [(0, 1.0), (2, 0.75)]);
    assert_eq!(m.nonzeros(), 4);
}

fn matrix(rows: &[&[(u32, f64)]]) -> SparseRows {
    let mut m = SparseRows::default();
    for row in rows {
        m.push_row(&mut row.to_vec());
    }
    m
}

#[test]
fn equal_columns_share_a_class_and_others_do_not() {
    let m =
        matrix(&[&[(0, 1.0), (1, 1.0), (2, 1.0)], &[(0, 1.0), (1, 1.0), (3, 2.0), (4, 3.0)], &[]]);
    let classes = Classes::equal_columns(&m, 6);
    assert_eq!(classes.class, [0, 0, 1, 2, 3, 4]);
    assert_eq!(classes.size(0), 2);
    let collapsed = classes.collapsed(&m);
    assert_eq!(collapsed.entries(1).collect::<Vec<_>>(), [(0, 1.0), (2, 2.0), (3, 3.0)]);
}

#[test]
fn members_on_other_data_share_the_class_weight() {
    let classes = Classes::equal_columns(&matrix(&[&[(0, 1.0), (1, 1.0)]]), 2);
    let other = classes.project(&matrix(&[&[(1, 3.0)], &[(0, 1.0), (1, 1.0)]]));
    assert_eq!(other.entries(0).collect::<Vec<_>>(), [(0, 1.5)]);
    assert_eq!(other.entries(1).collect::<Vec<_>>(), [(0, 1.0)]);
}

proptest! {
    #[test]
    fn classes_are_exactly_the_groups_of_equal_columns(
        cells in proptest::collection::vec(proptest::collection::vec(0u8..3, 7), 0..6),
        groups in proptest::collection::vec(0u32..3, 7),
    ) {
        let mut m = SparseRows::default();
        for row in &cells {
            let mut entries: Vec<_> = row
                .iter()
                .enumerate()
                .filter(|&(_, &v)| v > 0)
                .map(|(column, &v)| (column as u32, f64::from(v)))
                .collect();
            m.push_row(&mut entries);
        }
        let classes = Classes::equal_columns(&m, 7);
        let grouped = Classes::equal_columns_in_groups(&m, groups.clone());
        let column = |c: usize| cells.iter().map(|row| row[c]).collect::<Vec<_>>();
        for a in 0..7 {
            for b in 0..7 {
                prop_assert_eq!(
                    classes.class(a as u32) == classes.class(b as u32),
                    column(a) == column(b)
                );
                prop_assert_eq!(
                    grouped.class(a as u32) == grouped.class(b as u32),
                    column(a) == column(b) && groups[a] == groups[b]
                );
            }
        }
    }
}

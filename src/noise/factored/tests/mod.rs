//! The same bits in any vectors; sums over sentences.

use super::*;
use crate::noise::tests::{Case, Found, Lent, Numbers};

fn found(case: &Case, is_wide: bool) -> Found {
    let lent = Lent::new(case, false);
    let mut found = Found::zeros(case);
    let mut out = Derivatives {
        node: &mut found.node,
        edge: None,
        node_variance: &mut found.node_variance,
        edge_variance: None,
    };
    let sentence = lent.sentence(0.7);
    assert!(Factored::suits(sentence, &out));
    let (mut factored, mut pairs) = (Factored::default(), Pairs::default());
    factored.begin(lent.shared());
    factored.make_room(sentence.node_variance.len());
    let passes = Passes {
        factored: &mut factored,
        transitions: lent.shared().transitions,
        sentence,
        out: &mut out,
    };
    found.value = match is_wide {
        true => simd::dispatch(passes),
        false => passes.run(),
    };
    if !is_wide {
        Sums(&mut factored).run();
    }
    pairs.begin(lent.shared());
    factored.add_to(lent.shared(), &mut pairs);
    (found.trans, found.trans_variance) = (pairs.score_sums, pairs.variance_sums);
    found
}

#[test]
fn wide_vectors_give_the_same_bits_as_narrow_ones() {
    let mut numbers = Numbers(1);
    for labels in [1, 5, 8, 9, 17, 22, 49] {
        let case = Case::new(7, labels, &mut numbers);
        let (wide, narrow) = (found(&case, true), found(&case, false));
        assert_eq!(wide.value.to_bits(), narrow.value.to_bits());
        assert_eq!(wide.gradient(), narrow.gradient());
        assert_eq!(wide.variances(), narrow.variances());
    }
}

#[test]
fn sums_over_sentences_are_those_of_each_whatever_their_weights() {
    let case = Case::new(7, 9, &mut Numbers(2));
    let lent = Lent::new(&case, false);
    let sums = |weights: &[f64]| {
        let (mut factored, mut pairs) = (Factored::default(), Pairs::default());
        factored.begin(lent.shared());
        for &weight in weights {
            let mut found = Found::zeros(&case);
            let mut out = Derivatives {
                node: &mut found.node,
                edge: None,
                node_variance: &mut found.node_variance,
                edge_variance: None,
            };
            factored.regularize(lent.shared().transitions, lent.sentence(weight), &mut out);
        }
        pairs.begin(lent.shared());
        factored.add_to(lent.shared(), &mut pairs);
        [pairs.score_sums, pairs.variance_sums].concat()
    };
    let ones = sums(&[1.0]);
    let weights: Vec<f64> = (1..20).map(f64::from).collect();
    for (sum, one) in sums(&weights).iter().zip(ones) {
        assert!((sum - 190.0 * one).abs() <= 1e-10 * one.abs().max(1e-3));
    }
}

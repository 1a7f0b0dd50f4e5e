use dropchain_numerics::chain::padded;
use dropchain_numerics::testing::internal::{
    add_matrix_product, add_outer_products, row_times_matrix,
};

/// Integers, so that sums of products are exact; 0 in the padding.
fn rows(rows: usize, labels: usize, seed: usize) -> Vec<f64> {
    let stride = padded(labels);
    let number = |i: usize| (i * i + seed) % 23;
    (0..rows * stride)
        .map(|i| if i % stride < labels { number(i) as f64 - 11.0 } else { 0.0 })
        .collect()
}

fn assert_products(labels: usize, tokens: usize) {
    let stride = padded(labels);
    let (x, y) = (rows(tokens, labels, 3), rows(tokens, labels, 7));
    let matrix = rows(labels, labels, 5);

    let mut outer = rows(labels, labels, 1);
    let before = outer.clone();
    add_outer_products(stride, &x, &y, &mut outer);
    for a in 0..labels {
        for b in 0..stride {
            let terms = (0..tokens).map(|t| x[t * stride + a] * y[t * stride + b]);
            let expected = before[a * stride + b] + terms.sum::<f64>();
            assert_eq!(outer[a * stride + b], expected, "{labels} {tokens}");
        }
    }

    let mut product = y.clone();
    add_matrix_product(stride, &x, &matrix, &mut product);
    let mut row = vec![0.0; stride];
    for t in 0..tokens {
        let (x, y) = (&x[t * stride..][..labels], &y[t * stride..][..stride]);
        for b in 0..stride {
            let terms = (0..labels).map(|a| x[a] * matrix[a * stride + b]);
            let expected = y[b] + terms.sum::<f64>();
            assert_eq!(product[t * stride + b], expected, "{labels} {tokens}");
        }
        row_times_matrix(stride, x, &matrix, y, &mut row);
        assert_eq!(row, product[t * stride..][..stride], "{labels} {tokens}");
    }
}

#[test]
fn products_are_sums_of_products_for_any_number_of_labels_and_tokens() {
    for labels in [1, 2, 3, 5, 8, 9, 13, 17, 23, 25, 33, 41, 49, 60] {
        for tokens in [0, 1, 2, 3, 4, 5, 9] {
            assert_products(labels, tokens);
        }
    }
}

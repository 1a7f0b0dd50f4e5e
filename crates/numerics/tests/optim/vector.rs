use dropchain_numerics::testing::internal::{CHUNK, Point, difference, dot, norms, step};

fn ramp(n: usize, factor: f64) -> Vec<f64> {
    (0..n).map(|i| factor * (i % 1000) as f64).collect()
}

#[test]
fn a_dot_product_over_many_chunks_is_exact_on_integers() {
    for n in [0, 1, 7, 8, 9, CHUNK, CHUNK + 1, 3 * CHUNK + 5] {
        let a = ramp(n, 1.0);
        let expected: u64 = (0..n as u64).map(|i| (i % 1000) * (i % 1000)).sum();
        assert_eq!(dot(&a, &a), expected as f64, "n = {n}");
    }
}

#[test]
fn every_operation_on_many_chunks_agrees_with_its_formula() {
    let n = 2 * CHUNK + 3;
    let a = ramp(n, 1.0);
    let b = ramp(n, 2.0);
    let squares = dot(&a, &a);

    let mut out = vec![0.0; n];
    let rounded: Vec<f32> = b.iter().map(|&b| b as f32).collect();
    step(&a, 3.0, &b, &mut out);
    assert_eq!(out[n - 1], 7.0 * a[n - 1]);

    let zeros = a.iter().filter(|a| **a == 0.0).count();
    let nonzero = (n - zeros) as f64;
    assert_eq!(norms(&a, &b), [squares, 4.0 * squares, nonzero]);

    let (mut s, mut y) = (vec![0.0; n], vec![0.0; n]);
    let [from, to] = [[&b, &a], [&a, &b]].map(|vectors| {
        let [x, gradient] = vectors.map(Clone::clone);
        Point { x, gradient, value: 0.0, detail: () }
    });
    let sums = [squares, squares, -squares, squares, 4.0 * squares, nonzero];
    assert_eq!(difference(&from, &to, &mut s, &mut y), sums);
    assert_eq!((s[n - 1], y[n - 1]), (-rounded[n - 1] / 2.0, rounded[n - 1] / 2.0));
}

use dropchain_numerics::testing::internal::{CHUNK, dot};
use dropchain_numerics::testing::internal::{LbfgsMemory, Point};

fn new_memory(memory: usize, inverse_curvature: [f32; 2]) -> LbfgsMemory {
    let mut new = LbfgsMemory::default();
    new.prepare(memory, inverse_curvature.into());
    new
}

/// Updates the memory with the step s and the gradient change y; returns whether the pair is
/// stored, in a memory that is not full.
fn update(memory: &mut LbfgsMemory, s: [f64; 2], y: [f64; 2]) -> bool {
    let pairs = memory.pairs.len();
    let [from, to] = [[[0.0; 2]; 2], [s, y]].map(|vectors| {
        let [x, gradient] = vectors.map(Vec::from);
        Point { x, gradient, value: 0.0, detail: () }
    });
    memory.update(&from, &to);
    memory.pairs.len() > pairs
}

fn direction(memory: &mut LbfgsMemory, gradient: [f64; 2]) -> ([f64; 2], f64) {
    let mut direction = [0.0; 2];
    let slope = memory.direction(&gradient, &mut direction);
    (direction, slope)
}

#[test]
fn an_empty_memory_gives_steepest_descent() {
    let mut memory = new_memory(3, [1.0; 2]);
    assert_eq!(direction(&mut memory, [3.0, -4.0]), ([-3.0, 4.0], -25.0));
}

#[test]
fn two_conjugate_steps_give_the_newton_direction() {
    // Hessian diag(2, 8)
    let mut memory = new_memory(3, [1.0; 2]);
    update(&mut memory, [1.0, 0.0], [2.0, 0.0]);
    update(&mut memory, [0.0, 1.0], [0.0, 8.0]);
    assert_eq!(direction(&mut memory, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
}

#[test]
fn the_newest_steps_survive_when_the_ring_is_full() {
    let mut memory = new_memory(2, [1.0; 2]);
    update(&mut memory, [1.0, 1.0], [500.0, 500.0]);
    update(&mut memory, [1.0, 0.0], [2.0, 0.0]);
    update(&mut memory, [0.0, 1.0], [0.0, 8.0]);
    assert_eq!(direction(&mut memory, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
}

#[test]
fn a_step_without_positive_curvature_is_not_stored() {
    let mut memory = new_memory(3, [1.0; 2]);
    assert!(!update(&mut memory, [1.0, 0.0], [-2.0, 0.0]));
    assert!(!update(&mut memory, [1.0, 0.0], [1e-12, 1.0]));
    assert!(!update(&mut memory, [0.0, 0.0], [0.0, 0.0]));
    assert!(!update(&mut memory, [1.0, 0.0], [f64::NAN, 0.0]));
    assert!(memory.pairs.is_empty());
}

#[test]
fn an_exact_preconditioner_gives_the_newton_direction_at_once() {
    // Hessian diag(2, 8)
    let mut memory = new_memory(3, [0.5, 0.125]);
    assert_eq!(direction(&mut memory, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
    update(&mut memory, [1.0, 1.0], [2.0, 8.0]);
    assert_eq!(direction(&mut memory, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
}

#[test]
fn the_scale_of_the_preconditioner_does_not_matter_after_a_step() {
    let mut memory = new_memory(3, [4.0, 1.0]);
    update(&mut memory, [1.0, 1.0], [2.0, 8.0]);
    assert_eq!(direction(&mut memory, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
}

#[test]
fn the_curvature_test_does_not_depend_on_the_unit() {
    let mut memory = new_memory(3, [1.0; 2]);
    assert!(update(&mut memory, [1.0, 0.0], [1e-30, 0.0]));
    assert!(update(&mut memory, [1.0, 0.0], [1e30, 0.0]));
}

#[test]
fn the_direction_is_that_of_the_recursion() {
    let n = CHUNK + 7;
    let wave = |a: f64| (0..n).map(|i| (a * i as f64).sin()).collect::<Vec<f64>>();
    let p: Vec<f32> = wave(0.3).iter().map(|&x| (1.5 + x) as f32).collect();
    let mut memory = LbfgsMemory::default();
    memory.prepare(3, p.clone());
    let mut pairs = Vec::new();
    for step in 0..5 {
        let s = wave(0.7 + f64::from(step));
        let y: Vec<f64> =
            s.iter().zip(wave(0.1 * f64::from(step))).map(|(s, c)| s * (2.0 + c)).collect();
        let [from, to] = [[vec![0.0; n], vec![0.0; n]], [s.clone(), y.clone()]]
            .map(|[x, gradient]| Point { x, gradient, value: 0.0, detail: () });
        memory.update(&from, &to);
        pairs.push([s, y]);
    }
    let g = wave(0.9);
    let mut direction = vec![0.0; n];
    let slope = memory.direction(&g, &mut direction);

    let mut q: Vec<f64> = g.iter().map(|g| -g).collect();
    let mut alphas = Vec::new();
    let add = |q: &mut [f64], factor: f64, v: &[f64]| {
        q.iter_mut().zip(v).for_each(|(q, v)| *q += factor * v);
    };
    for [s, y] in pairs[2..].iter().rev() {
        let alpha = dot(s, &q) / dot(s, y);
        add(&mut q, -alpha, y);
        alphas.push(alpha);
    }
    let [s, y] = &pairs[4];
    let py: Vec<f64> = y.iter().zip(&p).map(|(y, &p)| y * f64::from(p)).collect();
    let gamma = dot(s, y) / dot(y, &py);
    q.iter_mut().zip(&p).for_each(|(q, &p)| *q *= gamma * f64::from(p));
    for ([s, y], alpha) in pairs[2..].iter().zip(alphas.iter().rev()) {
        let beta = dot(y, &q) / dot(s, y);
        add(&mut q, alpha - beta, s);
    }
    let error = direction.iter().zip(&q).map(|(d, q)| (d - q).abs()).fold(0.0, f64::max);
    assert!(error < 1e-5, "{error}");
    assert!((slope - dot(&q, &g)).abs() < 1e-6 * slope.abs());
}

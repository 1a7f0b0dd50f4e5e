use dropchain_numerics::testing::internal::{LbfgsMemory, Point, VectorOps};

fn new_memory(memory: usize, inverse_curvature: Option<Vec<f32>>) -> LbfgsMemory {
    let mut new = LbfgsMemory::default();
    new.prepare(memory, inverse_curvature);
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
    memory.update(&mut VectorOps::new(2), &from, &to);
    memory.pairs.len() > pairs
}

fn direction(memory: &mut LbfgsMemory, gradient: [f64; 2]) -> ([f64; 2], f64) {
    let mut direction = [0.0; 2];
    let slope = memory.direction(&mut VectorOps::new(2), &gradient, &mut direction);
    (direction, slope)
}

#[test]
fn an_empty_memory_gives_steepest_descent() {
    let mut memory = new_memory(3, None);
    assert_eq!(direction(&mut memory, [3.0, -4.0]), ([-3.0, 4.0], -25.0));
}

#[test]
fn two_conjugate_steps_give_the_newton_direction() {
    // Hessian diag(2, 8)
    let mut memory = new_memory(3, None);
    update(&mut memory, [1.0, 0.0], [2.0, 0.0]);
    update(&mut memory, [0.0, 1.0], [0.0, 8.0]);
    assert_eq!(direction(&mut memory, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
}

#[test]
fn the_newest_steps_survive_when_the_ring_is_full() {
    let mut memory = new_memory(2, None);
    update(&mut memory, [1.0, 1.0], [500.0, 500.0]);
    update(&mut memory, [1.0, 0.0], [2.0, 0.0]);
    update(&mut memory, [0.0, 1.0], [0.0, 8.0]);
    assert_eq!(direction(&mut memory, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
}

#[test]
fn a_step_without_positive_curvature_is_not_stored() {
    let mut memory = new_memory(3, None);
    assert!(!update(&mut memory, [1.0, 0.0], [-2.0, 0.0]));
    assert!(!update(&mut memory, [1.0, 0.0], [1e-12, 1.0]));
    assert!(!update(&mut memory, [0.0, 0.0], [0.0, 0.0]));
    assert!(!update(&mut memory, [1.0, 0.0], [f64::NAN, 0.0]));
    assert!(memory.pairs.is_empty());
}

#[test]
fn an_exact_preconditioner_gives_the_newton_direction_at_once() {
    // Hessian diag(2, 8)
    let mut memory = new_memory(3, Some(vec![0.5, 0.125]));
    assert_eq!(direction(&mut memory, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
    update(&mut memory, [1.0, 1.0], [2.0, 8.0]);
    assert_eq!(direction(&mut memory, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
}

#[test]
fn the_scale_of_the_preconditioner_does_not_matter_after_a_step() {
    let mut memory = new_memory(3, Some(vec![4.0, 1.0]));
    update(&mut memory, [1.0, 1.0], [2.0, 8.0]);
    assert_eq!(direction(&mut memory, [4.0, 8.0]), ([-2.0, -1.0], -16.0));
}

#[test]
fn the_curvature_test_does_not_depend_on_the_unit() {
    let mut memory = new_memory(3, None);
    assert!(update(&mut memory, [1.0, 0.0], [1e-30, 0.0]));
    assert!(update(&mut memory, [1.0, 0.0], [1e30, 0.0]));
}

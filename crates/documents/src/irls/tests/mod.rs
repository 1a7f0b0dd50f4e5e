//! Tests of bounds and iterations against enumeration, finite differences and other solvers.

mod dual;
mod hidden;
mod references;

use std::ops::ControlFlow;

use self::references::{dual_coordinate_descent, expected_loss, second_moment, solve_dense};
use super::loss::Majorizer;
use super::minimize::Solvers;
use super::problem::dot;
use super::quadratic::{Model, Quadratic, by_cholesky};
use super::*;
use dropchain::extract::SparseRows;
use dropchain::optim::StopReason;
use dropchain::random::uniform;

const LOSSES: [Loss; 5] = [
    Loss::Hinge { margin: 1.0 },
    Loss::Hinge { margin: 2.5 },
    Loss::Logistic,
    Loss::Squared,
    Loss::Insensitive { epsilon: 0.3 },
];

const NOISES: [InputNoise; 3] =
    [InputNoise::None, InputNoise::Proportional(0.75), InputNoise::Additive(0.2)];

/// Documents with features at random.
struct Data {
    rows: SparseRows,
    scales: Vec<f64>,
    bias: f64,
    targets: Vec<f64>,
    weights: Vec<f64>,
}

impl Data {
    /// Each feature occurs with probability `density`. A quarter of the classes are wrong.
    fn new(documents: usize, columns: usize, density: f64) -> Self {
        let mut number = 0;
        let mut random = || {
            number += 1;
            uniform(7, number)
        };
        let mut rows = SparseRows::default();
        let mut targets = Vec::new();
        let mut weights = Vec::new();
        for _ in 0..documents {
            let mut row = Vec::new();
            let mut score = 0.2;
            for column in 0..columns {
                if random() < density {
                    let value = if random() < 0.5 { 1.0 } else { 0.5 + random() };
                    score += value * f64::from(column as u32 % 3) - value;
                    row.push((column as u32, value));
                }
            }
            rows.push_row(&mut row);
            let flip = if random() < 0.25 { -1.0 } else { 1.0 };
            targets.push(flip * if score > 0.0 { 1.0 } else { -1.0 });
            weights.push(if random() < 0.2 { 2.0 } else { 1.0 });
        }
        Self {
            rows,
            scales: (0..columns).map(|j| if j % 5 == 4 { 2.0_f64.sqrt() } else { 1.0 }).collect(),
            bias: 2.0_f64.sqrt(),
            targets,
            weights,
        }
    }

    fn problem(&self, loss: Loss, noise: InputNoise, l2: f64) -> Problem<'_> {
        let documents = Documents {
            rows: &self.rows,
            scales: &self.scales,
            bias: self.bias,
            targets: &self.targets,
            weights: &self.weights,
            penalizes_bias: true,
        };
        Problem::new(documents, loss, noise, l2)
    }

    /// Returns the features with their scales and the bias, dense.
    fn dense(&self, n: usize) -> Vec<f64> {
        let mut x = vec![0.0; self.scales.len() + 1];
        for (j, value) in self.rows.entries(n) {
            x[j as usize] = self.scales[j as usize] * value;
        }
        x[self.scales.len()] = self.bias;
        x
    }
}

fn weights(dimension: usize) -> Vec<f64> {
    (0..dimension as u64).map(|j| 2.0 * uniform(3, j) - 1.0).collect()
}

const OPTIONS: IrlsOptions = IrlsOptions {
    max_iterations: Some(3000),
    earlier_iterations: 0,
    improvement_tolerance: 1e-12,
    period: 10,
    gradient_tolerance: 1e-8,
};

const CHOLESKY: Solvers = Solvers { cholesky: usize::MAX, dual: None, tolerance: 0.0 };

const DUAL: Solvers = Solvers { dual: Some(0), ..CHOLESKY };

fn conjugate_gradients(tolerance: f64) -> Solvers {
    Solvers { cholesky: 0, dual: None, tolerance }
}

/// The result of a minimization.
#[derive(PartialEq)]
struct Found {
    w: Vec<f64>,
    value: Value,
    gradient_norm: f64,
    iterations: usize,
    stop_reason: StopReason,
}

fn minimum(problem: &Problem<'_>, solvers: Solvers) -> Found {
    let start = vec![0.0; problem.dimension()];
    minimize_by(solvers, problem, start, &OPTIONS, &mut |_| ())
}

fn minimize_by(
    solvers: Solvers,
    problem: &Problem<'_>,
    start: Vec<f64>,
    options: &IrlsOptions,
    observer: &mut dyn FnMut(f64),
) -> Found {
    let mut run = [Minimization::by(solvers, problem, start, *options)];
    let stop_reason = minimize(&mut run, None, &mut |run| {
        observer(run[0].value.total);
        ControlFlow::Continue(())
    });
    let [run] = run;
    Found {
        iterations: run.iterations(),
        w: run.w,
        value: run.value,
        gradient_norm: run.gradient_norm,
        stop_reason,
    }
}

/// Returns the values of J by iteratively reweighted least squares, as in the paper: each iteration
/// goes to the minimum of the majorizer.
fn reweighted(problem: &Problem<'_>, mut w: Vec<f64>, iterations: usize) -> Vec<f64> {
    let mut values = vec![problem.value(&w).total];
    for _ in 0..iterations {
        let scores = problem.scores(&w);
        let quadratic = Quadratic::new(problem, &w, &scores, Model::Majorizer, problem.delta);
        let step = by_cholesky(&quadratic).unwrap();
        w.iter_mut().zip(&step.direction).for_each(|(w, d)| *w += d);
        values.push(problem.value(&w).total);
        let decrease = -0.5 * dot(&quadratic.gradient, &step.direction);
        if decrease <= 1e-12 * values[0] {
            break;
        }
    }
    values
}

#[test]
fn majorizers_touch_the_bound_and_lie_above_it() {
    let points: Vec<f64> = (-12..=12).map(|i| 0.37 * f64::from(i)).collect();
    for loss in LOSSES {
        for delta in [0.0, 1e-2] {
            for (y, &f) in [-1.0, 1.0].into_iter().flat_map(|y| points.iter().map(move |f| (y, f)))
            {
                let variance = 0.3 + 0.1 * f.abs();
                let Majorizer { weight, target } = loss.majorizer(y, f, variance, delta);
                let quadratic = |f: f64, v: f64| 0.5 * weight * ((f - target).powi(2) + v);
                let bound = |f: f64, v: f64| loss.bound(y, f, v, delta);
                let constant = bound(f, variance) - quadratic(f, variance);
                for &g in &points {
                    for v in [0.0, 0.01, 0.5, 4.0] {
                        let above = quadratic(g, v) + constant - bound(g, v);
                        assert!(above > -1e-12, "{loss:?} {y} {f} {g} {v}: {above}");
                    }
                }
            }
        }
    }
}

#[test]
fn bounds_are_above_the_expected_loss_by_enumeration_and_tight_without_noise() {
    let data = Data::new(12, 5, 0.7);
    let w = weights(6);
    for rate in [0.0, 0.3, 0.8] {
        let noise = InputNoise::Proportional(rate / (1.0 - rate));
        for loss in LOSSES {
            let problem = data.problem(loss, noise, 0.0);
            let scores = problem.scores(&w);
            let delta = loss.smoothing(&data.targets);
            for (n, &y) in data.targets.iter().enumerate() {
                let (f, variance) = (scores.means[n], scores.variances[n]);
                // The features that collapsed columns stand for have noise of their own.
                let moment = second_moment(&data, n, &w, rate, |score| y - score);
                assert!(((y - f).powi(2) + variance - moment).abs() < 1e-10);
                let expected = expected_loss(&data, n, &w, rate, |score| loss.value(y, score));
                let gap = loss.bound(y, f, variance, delta) - expected;
                assert!(gap > -1e-12, "{loss:?} at rate {rate}: {gap}");
                if rate == 0.0 || loss == Loss::Squared {
                    assert!(gap <= delta + 1e-12, "{loss:?} at rate {rate}: {gap}");
                }
            }
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let data = Data::new(30, 8, 0.4);
    for loss in LOSSES {
        for noise in NOISES {
            let problem = data.problem(loss, noise, 0.3);
            let w = weights(problem.dimension());
            let gradient = problem.gradient(&w);
            for j in 0..w.len() {
                let shifted = |h: f64| {
                    let mut w = w.clone();
                    w[j] += h;
                    problem.value(&w).total
                };
                let difference = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                let error = (difference - gradient[j]).abs();
                assert!(error < 1e-5 * (1.0 + difference.abs()), "{loss:?} {noise:?} {j}: {error}");
            }
        }
    }
}

#[test]
fn the_hessian_is_that_of_finite_differences_or_larger() {
    let data = Data::new(30, 8, 0.4);
    for loss in LOSSES {
        for noise in NOISES {
            let problem = data.problem(loss, noise, 0.3);
            let w = weights(problem.dimension());
            let scores = problem.scores(&w);
            let quadratic = |model| Quadratic::new(&problem, &w, &scores, model, problem.delta);
            let [exact, majorizer] = [Model::Expansion, Model::Majorizer].map(quadratic);
            let size = w.len();
            let (lower, diagonal) = (exact.hessian(), exact.hessian_diagonal());
            for j in 0..size {
                let gradient = |h: f64| {
                    let mut w = w.clone();
                    w[j] += h;
                    problem.gradient(&w)
                };
                let mut unit = vec![0.0; size];
                unit[j] = 1.0;
                let column = exact.hessian_product(&unit);
                let (plus, minus) = (gradient(1e-6), gradient(-1e-6));
                for i in 0..size {
                    let expected = (plus[i] - minus[i]) / 2e-6;
                    let error = (column[i] - expected).abs();
                    assert!(error < 1e-5 * (1.0 + expected.abs()), "{loss:?} {noise:?}: {error}");
                    let dense = lower[i.max(j) * size + i.min(j)];
                    assert!((column[i] - dense).abs() < 1e-10, "{loss:?} {noise:?}");
                }
                assert!((diagonal[j] - column[j]).abs() < 1e-10, "{loss:?} {noise:?}");
                let more = majorizer.hessian_product(&unit)[j] - column[j];
                assert!(more > -1e-10, "{loss:?} {noise:?}: {more}");
            }
        }
    }
}

#[test]
fn the_objective_falls_with_every_iteration_however_exact_the_least_squares() {
    let data = Data::new(80, 30, 0.2);
    for loss in LOSSES {
        for noise in NOISES {
            let problem = data.problem(loss, noise, 0.05);
            let start = weights(problem.dimension());
            let mut runs = vec![reweighted(&problem, start.clone(), 60)];
            for solvers in [
                CHOLESKY,
                conjugate_gradients(1e-10),
                conjugate_gradients(0.1),
                conjugate_gradients(0.95),
            ] {
                let mut values = Vec::new();
                let options = IrlsOptions { max_iterations: Some(60), ..OPTIONS };
                let start = start.clone();
                minimize_by(solvers, &problem, start, &options, &mut |value| {
                    values.push(value);
                });
                runs.push(values);
            }
            for values in runs {
                assert!(values.len() > 2 || loss == Loss::Squared);
                let rises = values.windows(2).any(|pair| pair[1] > pair[0] * (1.0 + 1e-13));
                assert!(!rises, "{loss:?} {noise:?}: {values:?}");
            }
        }
    }
}

#[test]
fn a_step_of_the_least_squares_alone_lowers_the_objective() {
    let data = Data::new(80, 30, 0.2);
    for loss in LOSSES {
        let problem = data.problem(loss, NOISES[1], 0.05);
        let w = weights(problem.dimension());
        let scores = problem.scores(&w);
        let quadratic = Quadratic::new(&problem, &w, &scores, Model::Majorizer, problem.delta);
        let mut last = problem.value(&w).total;
        // Each conjugate gradient lowers the quadratic, which is above the objective.
        let mut decreases = Vec::new();
        for limit in 1..8 {
            let step = quadratic::by_conjugate_gradients(&quadratic, 0.0, limit, None);
            let d = &step.direction;
            let change = dot(&quadratic.gradient, d) + 0.5 * dot(d, &quadratic.hessian_product(d));
            decreases.push(change);
            let moved: Vec<f64> = w.iter().zip(d).map(|(w, d)| w + d).collect();
            let value = problem.value(&moved).total;
            assert!(value - problem.value(&w).total <= change + 1e-9, "{loss:?}");
            last = last.min(value);
        }
        assert!(decreases.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12));
        assert!(decreases[0] < 0.0 && last < problem.value(&w).total);
    }
}

#[test]
fn both_solvers_find_the_minimum() {
    let data = Data::new(120, 25, 0.3);
    for loss in LOSSES {
        let problem = data.problem(loss, NOISES[1], 0.2);
        let exact = minimum(&problem, CHOLESKY);
        let inexact = minimum(&problem, conjugate_gradients(0.1));
        let majorized = reweighted(&problem, vec![0.0; problem.dimension()], 3000);
        let difference = (exact.value.total - majorized[majorized.len() - 1]).abs();
        assert!(difference < 1e-6 * exact.value.total, "{loss:?}: {difference}");
        assert!(exact.iterations <= majorized.len().max(15), "{loss:?}");
        let difference = (exact.value.total - inexact.value.total).abs();
        assert!(difference < 1e-7 * exact.value.total, "{loss:?}: {difference}");
        assert!(exact.gradient_norm < 1e-3, "{loss:?}: {}", exact.gradient_norm);
        for j in 0..problem.dimension() {
            for change in [-1e-2, 1e-2] {
                let mut w = exact.w.clone();
                w[j] += change;
                let higher = problem.value(&w).total;
                assert!(higher > exact.value.total, "{loss:?} {j} {change}");
            }
        }
    }
}

#[test]
fn without_noise_the_hinge_is_an_ordinary_support_vector_machine() {
    let data = Data::new(150, 40, 0.15);
    for (l2, margin) in [(0.05, 1.0), (0.5, 1.0), (0.5, 3.0)] {
        let problem = data.problem(Loss::Hinge { margin }, InputNoise::None, l2);
        let reference = dual_coordinate_descent(&data, margin, l2);
        let objective = |w: &[f64]| problem.value(w).loss + problem.value(w).l2;
        let lowest = objective(&reference);
        for (solver, most) in [
            (CHOLESKY, 1e-3), // δ is not 0
            (DUAL, if l2 < 0.1 { 1e-3 } else { 1e-5 }),
        ] {
            let found = minimum(&problem, solver);
            let excess = (objective(&found.w) - lowest) / lowest;
            assert!(excess < most && excess > -1e-9, "{l2} {margin} {solver:?}: {excess}");
        }
        // Noise that hardly is there changes little.
        let noise = InputNoise::Proportional(1e-8);
        let problem = data.problem(Loss::Hinge { margin }, noise, l2);
        let excess = (objective(&minimum(&problem, Solvers::default()).w) - lowest) / lowest;
        assert!((0.0..1e-3).contains(&excess), "{l2} {margin}: {excess}");
    }
}

#[test]
fn the_dual_problem_of_regression_has_the_minimum_of_the_primal_one() {
    let mut data = Data::new(60, 8, 0.4);
    for n in 0..60 {
        let x = data.dense(n);
        let score: f64 = x.iter().zip(weights(9)).map(|(x, w)| x * w).sum();
        data.targets[n] = score + 0.5 * uniform(5, n as u64);
    }
    for (epsilon, l2) in [(0.0, 1.0), (0.1, 1.0), (0.1, 3.0), (100.0, 0.1)] {
        let loss = Loss::Insensitive { epsilon };
        let problem = data.problem(loss, InputNoise::None, l2);
        let found = minimum(&problem, DUAL);
        let objective = |w: &[f64]| problem.value(w).loss + problem.value(w).l2;
        let lowest = objective(&found.w);
        assert!(epsilon < 100.0 || lowest == 0.0);
        for j in 0..problem.dimension() {
            for change in [-1e-3, 1e-3] {
                let mut w = found.w.clone();
                w[j] += change;
                let least = lowest * (1.0 - 1e-7);
                assert!(objective(&w) >= least, "{epsilon} {l2} {j} {change}");
            }
        }
        let mut values = Vec::new();
        let start = weights(problem.dimension());
        let outcome = minimize_by(DUAL, &problem, start, &OPTIONS, &mut |value| {
            values.push(value);
        });
        assert_eq!(Some(&outcome.value.total), values.last());
        assert!((values[values.len() - 1] - lowest).abs() <= 1e-6 * (1.0 + lowest));
    }
}

#[test]
fn the_squared_loss_is_that_of_marginalized_corrupted_features() {
    let data = Data::new(60, 12, 0.4);
    let rate = 0.6;
    let (strength, rho) = (0.7, rate / (1.0 - rate));
    // (c·I + Σ v·(x·xᵀ + V))·w = Σ v·y·x; 2/C is c in eq. 16 with γ = 1/C and ℓ = 0.
    let size = data.scales.len() + 1;
    let mut matrix = vec![vec![0.0; size]; size];
    let mut right = vec![0.0; size];
    for (j, row) in matrix.iter_mut().enumerate() {
        row[j] = strength;
    }
    for n in 0..data.targets.len() {
        let x = data.dense(n);
        let weight = data.weights[n];
        for i in 0..size {
            right[i] += weight * data.targets[n] * x[i];
            for j in 0..size {
                matrix[i][j] += weight * x[i] * x[j];
            }
        }
        for (j, value) in data.rows.entries(n) {
            matrix[j as usize][j as usize] += weight * rho * value * value;
        }
    }
    let expected = solve_dense(matrix, right);
    let problem = data.problem(Loss::Squared, InputNoise::Proportional(rho), strength);
    for solver in [CHOLESKY, conjugate_gradients(1e-12)] {
        let found = minimum(&problem, solver);
        assert!(found.iterations <= 2, "{}", found.iterations);
        for (found, expected) in found.w.iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-8);
        }
    }
}

#[test]
fn a_hinge_of_margin_0_with_fixed_weights_is_a_quarter_of_the_squared_loss() {
    let squared = Loss::Squared.majorizer(-1.0, 0.3, 0.2, 0.0);
    // s = 1: γ = 1/c.
    let hinge = Loss::Hinge { margin: 1e-300 }.majorizer(-1.0, 0.6, 0.64, 0.0);
    assert!((hinge.weight - 0.25 * squared.weight).abs() < 1e-15);
    assert!((hinge.target - squared.target).abs() < 1e-15);
}

#[test]
fn insensitive_regression_fits_numbers_within_epsilon() {
    let mut data = Data::new(60, 6, 0.6);
    let truth = weights(7);
    let clean: Vec<f64> = (0..60).map(|n| dot(&data.dense(n), &truth)).collect();
    let noise = |n: usize| 0.2 * (uniform(11, n as u64) - 0.5);
    data.targets = (0..60).map(|n| clean[n] + noise(n)).collect();
    data.targets[3] += 50.0; // an outlier, which moves least squares but not this
    let epsilon = 0.1;
    let problem = data.problem(Loss::Insensitive { epsilon }, InputNoise::None, 1e-4);
    let found = minimum(&problem, Solvers::default());
    for (n, clean) in clean.iter().enumerate() {
        assert!((dot(&data.dense(n), &found.w) - clean).abs() < 0.1, "{n}");
    }
    let squared = data.problem(Loss::Squared, InputNoise::None, 1e-4);
    let least_squares = minimum(&squared, Solvers::default()).w;
    let worst = (0..60).map(|n| (dot(&data.dense(n), &least_squares) - clean[n]).abs());
    assert!(worst.fold(0.0, f64::max) > 1.0);
    // With noise, scores are shrunk: the variance costs.
    let noisy = data.problem(Loss::Insensitive { epsilon }, NOISES[1], 1e-4);
    let shrunk = minimum(&noisy, Solvers::default()).w;
    assert!(dot(&shrunk[..6], &shrunk[..6]) < dot(&found.w[..6], &found.w[..6]));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let data = Data::new(900, 700, 0.02);
    for loss in [LOSSES[0], Loss::Logistic] {
        let problem = data.problem(loss, NOISES[1], 0.1);
        let found = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| minimum(&problem, conjugate_gradients(0.1)))
        });
        assert!(found[0] == found[1] && found[0] == found[2], "{loss:?}");
        assert!(found[0].iterations > 3);
    }
}

#[test]
fn values_that_overflow_end_without_a_result_and_large_ones_do_not() {
    for (value, expected) in [(1e200, false), (1e30, true)] {
        let mut data = Data::new(4, 2, 1.0);
        data.rows = SparseRows::default();
        for _ in 0..4 {
            data.rows.push_row(&mut vec![(0, value), (1, 1.0)]);
        }
        for noise in NOISES {
            let problem = data.problem(LOSSES[0], noise, 0.1);
            let outcome = minimum(&problem, Solvers::default());
            assert!(outcome.w.iter().all(|w| w.is_finite()));
            let is_finite = outcome.stop_reason != StopReason::NonFinite;
            assert!(is_finite || !expected, "{value} {noise:?}");
        }
    }
}

#[test]
fn an_interrupt_ends_the_iterations_at_a_lower_point() {
    let data = Data::new(80, 30, 0.2);
    let problem = data.problem(LOSSES[0], NOISES[1], 0.05);
    let start = weights(problem.dimension());
    let before = problem.value(&start).total;
    let flag = std::sync::atomic::AtomicBool::new(false);
    let mut run = [Minimization::new(&problem, start, OPTIONS)];
    let stop_reason = minimize(&mut run, Some(&flag), &mut |run| {
        flag.store(run[0].iterations() == 2, std::sync::atomic::Ordering::Relaxed);
        ControlFlow::Continue(())
    });
    assert_eq!((stop_reason, run[0].iterations()), (StopReason::Interrupted, 2));
    assert!(run[0].value.total < before);
}

#[test]
fn margins_and_epsilons_are_checked() {
    for margin in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Loss::Hinge { margin }.check().unwrap_err().to_string();
        assert!(error.contains("expected a number above 0"), "{error}");
        let epsilon = margin - 1.0;
        assert!(Loss::Insensitive { epsilon }.check().is_err());
    }
    assert!(LOSSES.iter().all(|loss| loss.check().is_ok()));
}

//! Tests of losses with kinks against minima that other programs found.

use super::*;

/// `[N][D]`.
const X: [[f64; 3]; 14] = [
    [0.0, 0.3, -0.3],
    [-0.9, -0.5, -1.0],
    [0.1, 1.3, -0.5],
    [-0.6, 0.5, 0.4],
    [0.1, -0.9, 0.0],
    [0.7, -1.3, -0.5],
    [-1.9, -1.3, -1.8],
    [-0.2, -1.3, 0.3],
    [0.2, -0.2, -2.5],
    [-0.5, 0.0, 0.1],
    [-1.5, -0.5, -1.0],
    [-0.8, 1.1, -0.8],
    [0.0, 0.9, -0.6],
    [-0.1, 0.1, 0.1],
];

const CLASSES: [f64; 14] =
    [-1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 1.0];

const NUMBERS: [f64; 14] = [2.2, 3.0, 1.1, 1.2, 5.0, 5.8, 2.9, 4.8, 2.0, 2.4, 2.5, 0.3, 0.1, 2.3];

const HINGE: Loss = Loss::Hinge { margin: 1.0 };
const INSENSITIVE: Loss = Loss::Insensitive { epsilon: 0.2 };

/// The loss, c, whether the bias is penalized, and the weights and bias of scikit-learn's `SVC` and
/// `SVR` with a linear kernel, which do not penalize it, and `LinearSVC` and `LinearSVR`, which do,
/// all with C = 1/(2c).
const MINIMA: [(Loss, f64, bool, [f64; 4]); 8] = [
    (HINGE, 0.05, false, [2.0994474589, -1.0726631424, -0.12148261, 0.0618719962]),
    (HINGE, 0.5, false, [1.3844190048, -0.9607476172, -0.2136326412, -0.0031147641]),
    (HINGE, 0.05, true, [2.0778294881, -1.0784786172, -0.1268552442, 0.0516002685]),
    (HINGE, 0.5, true, [1.3838223489, -0.959380428, -0.2132736259, -0.0018246201]),
    (INSENSITIVE, 0.05, false, [0.6451599979, -1.7050693858, 0.3824898206, 2.7976962971]),
    (INSENSITIVE, 0.5, false, [0.6011432689, -1.6997415986, 0.41812204, 2.7851280673]),
    (INSENSITIVE, 0.05, true, [0.6234868081, -1.7117778927, 0.4000344887, 2.7793757544]),
    (INSENSITIVE, 0.5, true, [0.514057483, -1.6098363223, 0.2981439424, 2.5205810948]),
];

#[test]
fn support_vector_machines_of_few_and_of_many_weights_are_those_of_libsvm_and_liblinear() {
    let mut rows = SparseRows::default();
    for x in X {
        let entries = (0..).zip(x).filter(|(_, x)| *x != 0.0);
        rows.push_row(&mut entries.collect());
    }
    for (loss, l2, penalizes_bias, expected) in MINIMA {
        let documents = Documents {
            rows: &rows,
            scales: &[1.0; 3],
            bias: 1.0,
            targets: if loss == HINGE { &CLASSES } else { &NUMBERS },
            weights: &[1.0; 14],
            penalizes_bias,
        };
        let problem = Problem::new(documents, loss, InputNoise::None, l2);
        for solvers in [Solvers::default(), DUAL] {
            let found = minimum(&problem, solvers);
            for (w, expected) in found.w.iter().zip(expected) {
                let case = (loss, l2, penalizes_bias, solvers);
                assert!((w - expected).abs() < 1e-5, "{case:?}: {:?}", found.w);
            }
        }
    }
}

#[test]
fn a_bias_without_penalty_is_the_best_for_the_weights_of_features() {
    let data = Data::new(300, 20, 0.3);
    for loss in [HINGE, Loss::Logistic, Loss::Squared] {
        for noise in NOISES {
            let mut problem = data.problem(loss, noise, 1e4);
            problem.documents.penalizes_bias = false;
            let w = minimum(&problem, Solvers::default()).w;
            let sizes = w[..w.len() - 1].iter().map(|w| w.abs());
            let largest = sizes.fold(0.0, f64::max);
            assert!(largest < 1e-2, "{loss:?} {noise:?}: {largest}");
            let value = |change: f64| {
                let mut w = w.clone();
                w[data.scales.len()] += change;
                problem.value(&w).total
            };
            let least = value(0.0) - 1e-9;
            assert!(value(0.01) > least && value(-0.01) > least, "{loss:?} {noise:?}");
        }
    }
}

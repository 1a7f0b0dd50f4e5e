//! Learners against dense implementations without tricks, and against themselves.

mod enumeration;
mod masks;
mod mistakes;
mod sgd;

use dropchain::kernel::chain::Order;
use dropchain::kernel::extract::{Classes, Dataset};
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::math::assert_close;
use dropchain::kernel::objective::Penalty;
use dropchain::kernel::score::{Boundary, ParameterSpace, SpaceOptions, States};
use dropchain_numerics::testing::{FIRST_ORDER, Lcg, RandomData, copied, space};

use crate::algorithm::*;
use crate::epochs::{EpochLearner, shuffle};

const DATA: RandomData =
    RandomData { sentences: 6, longest: 4, labels: 3, nodes: 9, edges: 3, binary: false };

/// Small data and parameters of every kind.
fn cases() -> Vec<(Dataset, ParameterSpace)> {
    let mut cases = Vec::new();
    for seed in 0..48_usize {
        let bit = |i: usize| seed >> i & 1 == 1;
        let shape = RandomData {
            // Observed columns of many labels are single weights, of few labels rows.
            labels: [2, 3, 20][seed / 16],
            edges: if bit(0) { DATA.edges } else { 0 },
            longest: if seed < 32 { 4 } else { 2 },
            binary: seed % 3 == 0,
            ..DATA
        };
        let data = shape.build(&mut Lcg(seed as u64));
        let states = [States::All, States::Observed][usize::from(bit(3))];
        let options = SpaceOptions {
            order: [Order::One, Order::Zero][usize::from(bit(1) && !bit(0))],
            boundary: [Boundary::On, Boundary::Off][usize::from(bit(2))],
            states,
            transitions: seed % 5 != 0,
            label_pairs: states,
            min_frequency: None,
        };
        let space = space(&data, &shape, options);
        cases.push((data, space));
    }
    cases
}

/// A data set of one sentence of another.
fn one(data: &Dataset, sentence: usize) -> Dataset {
    data.select(&[sentence])
}

fn settings(algorithm: Algorithm) -> LearnerSettings {
    LearnerSettings {
        algorithm,
        penalty: Penalty::from(0.5),
        noise: None,
        warm_up: 0,
        keeps_lowest: false,
        cooling: None,
        seed: 3,
    }
}

fn learner<'a>(
    data: &'a Dataset,
    space: &'a ParameterSpace,
    settings: &LearnerSettings,
) -> EpochLearner<'a> {
    let start = vec![0.0; space.dimension()];
    EpochLearner::new(data, space, settings.clone(), start)
}

/// The order of the sentences in an epoch.
fn order(settings: &LearnerSettings, epoch: u64, sentences: usize) -> Vec<usize> {
    let mut order = vec![0; sentences];
    shuffle(settings.seed, epoch, &mut order);
    order.into_iter().map(|i| i as usize).collect()
}

/// Every algorithm.
fn algorithms() -> Vec<Algorithm> {
    vec![
        Algorithm::Sgd(LearningRate::Calibrated(0.1)),
        Algorithm::Mistakes(MistakeRule::Perceptron(Perceptron::default())),
        Algorithm::Mistakes(MistakeRule::PassiveAggressive(PassiveAggressive::default())),
        Algorithm::Mistakes(MistakeRule::Arow(Arow::default())),
    ]
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn a_restored_state_continues_with_the_same_bits() {
    for (i, (data, space)) in cases().iter().enumerate() {
        for algorithm in algorithms() {
            let settings = settings(algorithm);
            let mut whole = learner(data, space, &settings);
            let mut first = learner(data, space, &settings);
            for _ in 0..2 {
                whole.run_epoch();
                first.run_epoch();
            }
            let mut second = learner(data, space, &settings);
            second.restore(first.state.clone()).unwrap();
            assert_eq!(bits(&second.theta), bits(&whole.theta), "case {i}");
            for _ in 0..2 {
                assert_eq!(whole.run_epoch(), second.run_epoch());
            }
            assert_eq!(bits(&second.theta), bits(&whole.theta), "case {i}");
        }
    }
}

#[test]
fn a_class_of_equal_attributes_learns_like_its_members() {
    for (i, (data, space)) in cases().iter().enumerate() {
        let columns = [space.nodes.columns(), space.edges.columns()];
        let copies = |column: u32| 1 + column % 3;
        let copied = [(&data.nodes, columns[0]), (&data.edges, columns[1])]
            .map(|(rows, n)| copied(rows, n, copies));
        let mut copied_data = data.clone();
        copied_data.nodes = copied[0].0.clone();
        copied_data.edges = copied[1].0.clone();
        let options = SpaceOptions { order: space.order(), ..FIRST_ORDER };
        let new_space = |data: &Dataset, classes: [&Classes; 2]| {
            ParameterSpace::new(space.labels(), data, classes[0], classes[1], options)
        };
        let singles = [copied[0].1, copied[1].1].map(Classes::singletons);
        let members = new_space(&copied_data, [&singles[0], &singles[1]]);
        let classes = [
            Classes::equal_columns(&copied_data.nodes, copied[0].1),
            Classes::equal_columns(&copied_data.edges, copied[1].1),
        ];
        let mut collapsed_data = data.clone();
        collapsed_data.nodes = classes[0].collapsed(&copied_data.nodes).into();
        collapsed_data.edges = classes[1].collapsed(&copied_data.edges).into();
        let collapsed = new_space(&collapsed_data, [&classes[0], &classes[1]]);
        for algorithm in algorithms() {
            let settings = settings(algorithm);
            let mut one = learner(&copied_data, &members, &settings);
            let mut other = learner(&collapsed_data, &collapsed, &settings);
            for _ in 0..3 {
                let (one, other) = (one.run_epoch(), other.run_epoch());
                assert_close(one.objective, other.objective, 1e-9);
            }
            let (members, collapsed) = (&members.nodes, &collapsed.nodes);
            let (one, other) = (members.weights(&one.theta), collapsed.weights(&other.theta));
            for column in 0..copied[0].1 {
                let class = classes[0].class(column as u32);
                let scale = f64::from(classes[0].size(class)).sqrt();
                let member = &one[members.targets.range(column)];
                let shared = &other[collapsed.targets.range(class as usize)];
                for (w, shared) in member.iter().zip(shared) {
                    assert_close(*w, shared / scale, 1e-9);
                }
            }
            assert!(one.iter().any(|&w| w != 0.0), "case {i}");
        }
    }
}

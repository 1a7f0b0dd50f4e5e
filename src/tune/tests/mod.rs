//! Whole searches.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::corpus::{Format, ReadOptions, Reader};
use crate::error::Result;
use crate::sentence::Sentence;
use crate::template::Template;
use crate::train::{Corpora, DevScore, Iteration, TrainOptions, Trainer};

fn sample(part: &str) -> Vec<Sentence> {
    let root = env!("CARGO_MANIFEST_DIR");
    let file = format!("{root}/corpora/sample/{part}.conll");
    let text = std::fs::read(&file).unwrap();
    let columns = ["word", "upos", "ner"].map(str::to_owned).to_vec();
    let options = ReadOptions {
        format: Some(Format::Conll),
        columns: Some(columns),
        ..ReadOptions::default()
    };
    let reader = Reader::from_read(Box::new(std::io::Cursor::new(text)), &file, &options);
    reader.collect::<Result<_>>().unwrap()
}

fn template() -> Template {
    let source = "word\nword[-1]\nword[1]\nshape\nsuffix(3)\n";
    Template::parse(source, "t.tpl", &mut |_| unreachable!()).unwrap()
}

fn data(judge: &Judge, options: &TrainOptions) -> Data {
    let corpora = Corpora {
        sentences: sample("train"),
        unlabeled: &[],
        dev: Some(sample("dev")),
    };
    Data::extract(&corpora, vec![Some(template())], judge, options).unwrap()
}

fn folds(count: usize) -> Judge {
    Judge::Folds(Folds::new(&sample("train"), count, 1).unwrap())
}

fn space(dropout: &str, l2: &str) -> Space {
    Space {
        dropout: dropout.parse().unwrap(),
        l2: l2.parse().unwrap(),
        ..Space::default()
    }
}

fn search(space: &Space) -> Search<'static> {
    let options = TrainOptions {
        patience: 10,
        ..TrainOptions::default()
    };
    Search {
        configurations: space.grid(&options).unwrap(),
        options,
        schedule: Schedule::new(Some(2), 5).unwrap(),
        warm_start: true,
        threads: 1,
        memory: None,
        interrupt: None,
    }
}

struct Quiet;

impl Observer for Quiet {}

/// Remembers the plan.
#[derive(Default)]
struct Planned(Mutex<Option<Plan>>);

impl Observer for Planned {
    fn start(&self, plan: &Plan, _: &[Rung]) {
        *self.0.lock().unwrap() = Some(*plan);
    }
}

fn run(search: &Search<'_>, judge: &Judge) -> Found {
    search.run(data(judge, &search.options), &Quiet).unwrap()
}

fn fault(search: &Search<'_>) -> String {
    match search.run(data(&Judge::Dev, &search.options), &Quiet) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("no error"),
    }
}

fn bytes(found: &Found) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    found.model.save(folder.path().join("m")).unwrap();
    std::fs::read(folder.path().join("m")).unwrap()
}

/// Scores of training after each iteration, and its last objective.
#[derive(Default)]
struct Scores(Vec<DevScore>, f64);

impl crate::train::Observer for Scores {
    fn iteration(&mut self, iteration: &Iteration) {
        self.0.extend(iteration.dev);
        self.1 = iteration.objective;
    }
}

#[test]
fn one_configuration_with_noise_is_trained_as_train_does_it() {
    let mut search = search(&space("0.3", "0.1"));
    search.options.max_iterations = Some(32);
    search.options.patience = 100;
    let found = run(&search, &Judge::Dev);
    let options = search.configurations[0].options(&search.options);
    let mut scores = Scores::default();
    let trainer = Trainer::new(options).unwrap();
    let corpora = [sample("train"), sample("dev")];
    let [train, dev] = corpora;
    let trained = trainer.train(train, Some(dev), Some(template()), &mut scores);
    let iterations = trained.unwrap().end.iterations;
    let warm_up = 16; // half of the iterations; even, as the steps of the recall bias alternate
    let after: Vec<f64> = scores.0[1 + warm_up..].iter().map(|s| s.value()).collect();
    let best = after.iter().copied().fold(0.0, f64::max);
    let first = 1 + warm_up + after.iter().position(|&score| score == best).unwrap();
    let standing = &found.standings[0];
    assert_eq!(standing.score, Some(DevScore::F1(best)));
    assert_eq!(standing.best_iteration, first);
    assert_eq!(standing.iterations, iterations);
    assert_eq!(standing.objective, Some(scores.1));
}

#[test]
fn threads_and_memory_change_no_bit() {
    for judge in [Judge::Dev, folds(3)] {
        let mut search = search(&space("0,0.3", "0.03,0.3"));
        let planned = Planned::default();
        let one = search.run(data(&judge, &search.options), &planned).unwrap();
        let plan = planned.0.into_inner().unwrap().unwrap();
        assert!(!plan.in_files);
        for (threads, room) in [(3, 1), (4, 3), (2, 100)] {
            search.threads = threads;
            search.memory = Some((plan.data + room * plan.training + 1000) as u64);
            let planned = Planned::default();
            let other = search.run(data(&judge, &search.options), &planned).unwrap();
            let plan = planned.0.into_inner().unwrap().unwrap();
            assert_eq!(plan.trainings, room.min(threads));
            assert_eq!(plan.in_files, room < 100);
            assert_eq!(other.standings, one.standings);
            assert_eq!(other.rungs, one.rungs);
            assert!(bytes(&other) == bytes(&one));
        }
    }
}

#[test]
fn halving_keeps_the_best_and_lets_them_go_on() {
    let search = search(&space("0,0.2,0.4", "0.03,0.3"));
    let found = run(&search, &Judge::Dev);
    let counts: Vec<usize> = found.rungs.iter().map(|end| end.standings.len()).collect();
    assert_eq!(counts, [6, 3, 2]);
    for pair in found.rungs.windows(2) {
        let [before, after] = pair else {
            unreachable!()
        };
        let mut ranked: Vec<&Standing> = before.standings.iter().collect();
        ranked.sort_by(|a, b| a.compare(b));
        let mut kept: Vec<usize> = ranked[..after.standings.len()]
            .iter()
            .map(|s| s.number)
            .collect();
        kept.sort_unstable();
        let numbers: Vec<usize> = after.standings.iter().map(|s| s.number).collect();
        assert_eq!(numbers, kept);
        for standing in &after.standings {
            let earlier = before
                .standings
                .iter()
                .find(|s| s.number == standing.number)
                .unwrap();
            assert!(standing.iterations > earlier.iterations || earlier.reason.is_some());
            assert!(standing.compare(earlier).is_le());
        }
    }
    assert_eq!(found.standings.len(), 6);
    assert!(found.standings.is_sorted_by(|a, b| a.compare(b).is_le()));
    assert_eq!(found.standings[0].rungs, 3);
}

#[test]
fn the_model_has_the_score_of_the_best_row() {
    let search = search(&space("0,0.3", "0.03,0.3"));
    let found = run(&search, &Judge::Dev);
    let tagger = crate::tag::Tagger::new(found.model);
    let mut evaluation = crate::eval::Evaluation::new();
    for sentence in sample("dev") {
        let tagging = tagger.tag(&sentence).unwrap();
        let labels = tagger.label_names(&tagging.labels);
        evaluation
            .add(&sentence.labels().unwrap(), &labels)
            .unwrap();
    }
    // Weights of four bytes have changed no label here.
    assert_eq!(
        found.standings[0].score,
        Some(DevScore::F1(evaluation.f1()))
    );
}

#[test]
fn a_warm_start_leads_to_the_same_minimum() {
    let mut search = search(&space("0", "0.03,0.3,3"));
    search.schedule = Schedule::new(None, 5).unwrap();
    search.options.patience = 1000;
    let warm = run(&search, &Judge::Dev);
    search.warm_start = false;
    let cold = run(&search, &Judge::Dev);
    for number in 1..=3 {
        let objective = |found: &Found| {
            let standing = found.standings.iter().find(|s| s.number == number);
            standing.unwrap().objective.unwrap()
        };
        let (warm, cold) = (objective(&warm), objective(&cold));
        assert!((warm - cold).abs() < 1e-3 * cold, "{number}: {warm} {cold}");
    }
}

#[test]
fn folds_suggest_iterations_and_a_recall_bias_for_all_data() {
    let search = search(&space("0,0.3", "0.1"));
    let found = run(&search, &folds(3));
    let best = &found.standings[0];
    assert_eq!(best.fold_scores.len(), 3);
    let mean = best.fold_scores.iter().sum::<f64>() / 3.0;
    assert_eq!(best.score, Some(DevScore::F1(mean)));
    assert!(best.standard_error.unwrap() > 0.0);
    assert_eq!(found.refitted, Some(best.best_iteration));
    let provenance = &found.model.header().provenance;
    assert_eq!(provenance.sentences, sample("train").len() as u64);
}

#[test]
fn a_search_that_is_interrupted_at_once_has_no_model() {
    let flag = AtomicBool::new(true);
    let search = Search {
        interrupt: Some(&flag),
        ..search(&space("0.3", "0.1"))
    };
    assert_eq!(
        fault(&search),
        "interrupted before any configuration was scored: there is no model to write"
    );
}

#[test]
fn a_limit_of_iterations_must_leave_some() {
    let mut search = search(&space("0.3", "0.1"));
    search.options.warm_up = Some(5);
    search.options.max_iterations = Some(5);
    assert_eq!(
        fault(&search),
        "no iterations are left after those without noise; expected more"
    );
}

//! Searches from end to end.

mod resume;

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::*;
use dropchain::corpus::{Corpus, Format, ReadOptions};
use dropchain::memory::MemoryLimit;
use dropchain::template::Template;
use dropchain::train::{
    DevScore, Iteration, ObserverError, TrainOptions, TrainSettings, Trainer, TrainingCorpora,
};

fn sample(part: &str) -> Corpus {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let file = format!("{root}/corpora/sample/{part}.conll");
    let columns = ["word", "upos", "ner"].map(str::to_owned).to_vec();
    let options = ReadOptions {
        format: Some(Format::Conll),
        columns: Some(columns),
        ..ReadOptions::default()
    };
    let text = std::fs::read_to_string(&file).unwrap();
    // The beginning, to train in a moment.
    let sentences = text.split_inclusive("\n\n");
    let text: String = sentences.take(if part == "train" { 392 } else { 84 }).collect();
    Corpus::parse(text, &file, &options).unwrap()
}

fn template() -> Template {
    let source = "word\nword[-1]\nword[1]\nshape\nsuffix(3)\n";
    Template::parse(source, "t.tpl", &mut |_| unreachable!()).unwrap()
}

fn data(validation: &Validation, settings: &TrainSettings) -> TuningData {
    let corpora = TrainingCorpora::new(sample("train")).dev(sample("dev"));
    let templates = vec![Some(template())];
    TuningData::extract(&corpora, templates, validation.clone(), settings).unwrap()
}

fn folds(count: usize) -> Validation {
    Validation::Folds(Folds::new(sample("train").sentences(), count, 1).unwrap())
}

fn space(dropout: &str, l2: &str) -> SearchSpace {
    SearchSpace {
        dropout: dropout.parse().unwrap(),
        l2: l2.parse().unwrap(),
        ..SearchSpace::default()
    }
}

fn settings(change: impl FnOnce(&mut TrainOptions)) -> TrainSettings {
    let mut options = TrainOptions { patience: 10, ..TrainOptions::default() };
    change(&mut options);
    TrainSettings::new(options).unwrap()
}

fn search(space: &SearchSpace) -> Search<'static> {
    let settings = settings(|_| {});
    Search {
        configurations: space.grid(&settings).unwrap(),
        settings,
        schedule: Schedule::new(Some(2), 5).unwrap(),
        warm_start: true,
        threads: 1,
        memory: MemoryLimit::default(),
        checkpoint: None,
        interrupt: None,
    }
}

/// Records the plan.
#[derive(Default)]
struct PlanRecorder(Mutex<Option<ResourcePlan>>);

impl TuneObserver for PlanRecorder {
    fn start(&self, plan: &ResourcePlan, _: &[Rung]) {
        *self.0.lock().unwrap() = Some(*plan);
    }
}

fn run(search: &Search<'_>, validation: &Validation) -> TuneResult {
    let data = data(validation, &search.settings);
    search.run(data, &()).unwrap()
}

fn error(search: &Search<'_>) -> String {
    match search.run(data(&Validation::Dev, &search.settings), &()) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("no error"),
    }
}

fn bytes(result: &TuneResult) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    result.model().unwrap().save(folder.path().join("m")).unwrap();
    std::fs::read(folder.path().join("m")).unwrap()
}

/// Records the last objective.
#[derive(Default)]
struct LastObjective(f64);

impl dropchain::train::Observer for LastObjective {
    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        self.0 = iteration.objective;
        Ok(ControlFlow::Continue(()))
    }
}

#[test]
fn one_configuration_with_noise_is_trained_as_train_does_it() {
    let mut search = search(&space("0.3", "0.1"));
    search.settings = settings(|o| (o.max_iterations, o.patience) = (Some(32), 100));
    let result = run(&search, &Validation::Dev);
    let settings = search.configurations[0].settings(&search.settings).unwrap();
    let mut last = LastObjective::default();
    let trainer = Trainer::new(settings.all_options()).unwrap();
    let corpora = TrainingCorpora::new(sample("train")).dev(sample("dev"));
    let trained = trainer.train(corpora, template(), &mut last);
    let end = trained.unwrap().end;
    let trial = &result.trials[0];
    assert_eq!(trial.score, end.dev);
    assert_eq!(trial.best_iteration, end.best_iteration);
    assert_eq!(trial.iterations, end.iterations);
    assert_eq!(trial.objective, Some(last.0));
}

#[test]
fn threads_and_memory_do_not_change_a_bit_of_the_result() {
    for validation in [Validation::Dev, folds(3)] {
        let search = search(&space("0,0.3", "0.03,0.3"));
        let recorder = PlanRecorder::default();
        let data = || data(&validation, &search.settings);
        let one = search.run(data(), &recorder).unwrap();
        let plan = recorder.0.into_inner().unwrap().unwrap();
        for (threads, room) in [(3, 1), (4, 3), (2, 100)] {
            let memory = plan.data_memory + room * plan.training_memory + 1000;
            let limited =
                Search { threads, memory: MemoryLimit::Bytes(memory as u64), ..search.clone() };
            let recorder = PlanRecorder::default();
            let other = limited.run(data(), &recorder).unwrap();
            let plan = recorder.0.into_inner().unwrap().unwrap();
            assert_eq!(plan.concurrency, room.min(threads));
            assert_eq!(other.trials, one.trials);
            assert_eq!(other.rungs, one.rungs);
            assert!(bytes(&other) == bytes(&one));
        }
    }
}

#[test]
fn halving_keeps_the_best_and_resumes_them() {
    let search = search(&space("0,0.2,0.4", "0.03,0.3"));
    let result = run(&search, &Validation::Dev);
    let counts: Vec<usize> = result.rungs.iter().map(|end| end.trials.len()).collect();
    assert_eq!(counts, [6, 3, 2]);
    for pair in result.rungs.windows(2) {
        let [before, after] = pair else { unreachable!() };
        let mut ranked: Vec<&TrialResult> = before.trials.iter().collect();
        ranked.sort_by(|a, b| a.compare(b));
        let mut kept: Vec<usize> = ranked[..after.trials.len()].iter().map(|s| s.number).collect();
        kept.sort_unstable();
        let numbers: Vec<usize> = after.trials.iter().map(|s| s.number).collect();
        assert_eq!(numbers, kept);
        for trial in &after.trials {
            let earlier = before.trials.iter().find(|s| s.number == trial.number).unwrap();
            assert!(trial.iterations > earlier.iterations || earlier.reason.is_some());
            assert!(trial.compare(earlier).is_le());
        }
    }
    assert_eq!(result.trials.len(), 6);
    assert!(result.trials.is_sorted_by(|a, b| a.compare(b).is_le()));
    assert_eq!(result.trials[0].rungs, 3);
}

#[test]
fn the_model_has_the_score_of_the_best_row() {
    let search = search(&space("0,0.3", "0.03,0.3"));
    let result = run(&search, &Validation::Dev);
    let tagger = dropchain::tag::Tagger::new(result.model().unwrap());
    let mut evaluation = dropchain::eval::Evaluation::new();
    for sentence in sample("dev") {
        let tagging = tagger.tag(&sentence).unwrap();
        let labels = tagger.label_names(&tagging.labels);
        evaluation.add(&sentence.labels().unwrap(), &labels).unwrap();
    }
    // Rounding the weights to four bytes changes no label here.
    assert_eq!(result.trials[0].score, Some(DevScore::F1(evaluation.f1())));
}

#[test]
fn a_warm_start_leads_to_the_same_minimum() {
    let mut search = search(&space("0", "0.03,0.3,3"));
    search.schedule = Schedule::new(None, 5).unwrap();
    search.settings = settings(|o| o.patience = 1000);
    let warm = run(&search, &Validation::Dev);
    search.warm_start = false;
    let cold = run(&search, &Validation::Dev);
    for number in 1..=3 {
        let objective = |result: &TuneResult| {
            let trial = result.trials.iter().find(|s| s.number == number);
            trial.unwrap().objective.unwrap()
        };
        let (warm, cold) = (objective(&warm), objective(&cold));
        assert!((warm - cold).abs() < 1e-3 * cold, "{number}: {warm} {cold}");
    }
}

#[test]
fn the_final_model_has_the_iterations_and_the_recall_bias_of_the_folds() {
    let search = search(&space("0,0.3", "0.1"));
    let result = run(&search, &folds(3));
    let best = &result.trials[0];
    assert_eq!(best.fold_scores.len(), 3);
    let mean = best.fold_scores.iter().sum::<f64>() / 3.0;
    assert_eq!(best.score, Some(DevScore::F1(mean)));
    assert!(best.standard_error.unwrap() > 0.0);
    assert_eq!(result.refit_iterations, Some(best.best_iteration));
    let model = result.model().unwrap();
    let provenance = &model.header().provenance;
    assert_eq!(provenance.sentences, sample("train").len() as u64);
}

#[test]
fn a_search_that_is_interrupted_at_once_has_no_model() {
    let flag = AtomicBool::new(true);
    let search = Search { interrupt: Some(&flag), ..search(&space("0.3", "0.1")) };
    assert_eq!(
        error(&search),
        "interrupted before any configuration was scored: there is no model to write"
    );
}

#[test]
fn a_limit_of_iterations_must_leave_some() {
    let mut search = search(&space("0.3", "0.1"));
    search.settings = settings(|o| (o.method.warm_up, o.max_iterations) = (Some(5), Some(5)));
    assert_eq!(
        error(&search),
        "no iterations are left after the warm-up; expected a larger maximum"
    );
}

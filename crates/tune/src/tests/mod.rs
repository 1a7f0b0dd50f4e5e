//! Searches from end to end.

mod resume;

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::*;
use dropchain::corpus::{Corpus, Format, ReadOptions};
use dropchain::template::Template;
use dropchain::train::{
    BaseModels, DevScore, NoiseKind, TrainOptions, TrainSettings, Trainer, TrainingCorpora,
};
use dropchain::{MemoryLimit, Result, Sentence};

/// The beginning of a part of the sample corpus, to train in a moment.
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
    let text: String = text.split_inclusive("\n\n").take(14).collect();
    Corpus::parse(text, &file, &options).unwrap()
}

fn template(source: &str) -> Template {
    Template::parse(source, "t.tpl", &mut |_| unreachable!()).unwrap()
}

const TEMPLATE: &str = "word\nword[-1]\nword[1]\nshape\nsuffix(3)\n";

/// The data of a search with as many folds, or with development data if there are none.
fn data(folds: usize) -> TuningData<'static> {
    let (labeled, dev) = (sample("train"), sample("dev"));
    TuningData {
        folds: (folds > 0).then(|| Folds::new(labeled.sentences(), folds, 1).unwrap()),
        corpora: TrainingCorpora::new(labeled).dev(dev),
        templates: vec![Some(template(TEMPLATE))],
        models: BaseModels::default(),
    }
}

/// Makes settings of options by name; others are short runs.
pub fn settings_of(options: &[(String, String)]) -> Result<TrainSettings> {
    with_options(options, |_| {})
}

fn with_options(
    options: &[(String, String)],
    change: impl FnOnce(&mut TrainOptions),
) -> Result<TrainSettings> {
    let mut base = TrainOptions { patience: 4, ..TrainOptions::default() };
    (base.method.warm_up, base.max_iterations) = (Some(2), Some(8));
    change(&mut base);
    TrainSettings::new(dropchain_options::parse(options)?.over(base)?)
}

/// Returns a configuration without a template.
pub fn configuration(dropout: f64, l2: f64) -> Configuration {
    let [dropout, l2] = [dropout, l2].map(|value| value.to_string());
    search(&[("dropout", &dropout), ("l2", &l2)], |_| {}).configurations.remove(0)
}

/// A search of a grid, with other options changed.
fn search(axes: &[(&str, &str)], change: fn(&mut TrainOptions)) -> Search<'static> {
    let settings_of = |options: &[(String, String)]| with_options(options, change);
    let axes = axes.iter().map(|(option, values)| (*option, values.parse().unwrap()));
    let space = SearchSpace::new(&[], axes, false, &settings_of).unwrap();
    Search {
        configurations: space.grid().unwrap(),
        settings: settings_of(&[]).unwrap(),
        threads: 1,
        memory: MemoryLimit::default(),
        checkpoint: None,
        interrupt: None,
    }
}

const GRID: [(&str, &str); 2] = [("dropout", "0,0.3"), ("l2", "0.03,0.3")];
const ONE: [(&str, &str); 2] = [("dropout", "0.3"), ("l2", "0.1")];

/// Searches with a different course each, and their numbers of folds.
fn searches() -> Vec<(Search<'static>, usize)> {
    let noise = ("dropout", "0,0.3");
    let course = [noise, ("l2", "0.1"), ("warm_up", "0,4"), ("gradient", "exact,window=1")];
    let sampled = |o: &mut TrainOptions| o.method.noise.kind = NoiseKind::MonteCarlo(4);
    vec![
        (search(&GRID, |_| {}), 0),
        (search(&GRID, |_| {}), 3),
        (search(&course, |_| {}), 0),
        (search(&[noise, ("l2", "0.1"), ("l1", "0,0.2")], |_| {}), 0),
        (search(&[("dropout", "0.2,0.4"), ("l2", "0.1")], sampled), 2),
    ]
}

/// Everything that depends on neither concurrency nor interruptions.
#[derive(PartialEq)]
struct Outcome {
    trials: Vec<Trial>,
    refit_iterations: Option<usize>,
    predicted: Vec<Vec<String>>,
    file: Vec<u8>,
}

impl From<TuneResult> for Outcome {
    fn from(result: TuneResult) -> Self {
        let TuneResult { trials, refit_iterations, out_of_fold, model, .. } = result;
        let predicted = out_of_fold.iter().flat_map(OutOfFold::labels).map(<[String]>::to_vec);
        let (predicted, file) = (predicted.collect(), model.as_bytes().to_vec());
        Self { trials, refit_iterations, predicted, file }
    }
}

/// Records the plan.
#[derive(Default)]
struct PlanRecorder(Mutex<Option<Plan>>);

impl TuneObserver for PlanRecorder {
    fn start(&self, plan: &Plan) {
        *self.0.lock().unwrap() = Some(plan.clone());
    }
}

#[test]
fn every_configuration_is_trained_as_train_does_it() {
    let (search, folds) = &searches()[2];
    let result = search.run(&data(*folds), &()).unwrap();
    assert_eq!(result.trials.len(), 5);
    assert!(result.trials.is_sorted_by(|a, b| a.compare(b).is_le()));
    for (i, trial) in result.trials.iter().enumerate() {
        let trainer = Trainer::with_settings(trial.configuration.settings.clone());
        let corpora = TrainingCorpora::new(sample("train")).dev(sample("dev"));
        let trained = trainer.train(corpora, template(TEMPLATE), &mut ()).unwrap();
        let (end, score) = (trained.end, trial.score.as_ref().unwrap());
        assert_eq!(Some(score.score), end.dev);
        assert_eq!(score.best_iteration, end.best_iteration);
        assert_eq!((trial.iterations, trial.stop_reason), (end.iterations, end.reason.name()));
        assert_eq!(i == 0, result.model.as_bytes() == trained.model.as_bytes());
    }
}

#[test]
fn threads_and_memory_do_not_change_a_bit_of_the_result() {
    for folds in [0, 3] {
        let search = search(&GRID, |_| {});
        let recorder = PlanRecorder::default();
        let one: Outcome = search.run(&data(folds), &recorder).unwrap().into();
        let plan = recorder.0.into_inner().unwrap().unwrap();
        assert_eq!(plan.runs, 4 * folds.max(1));
        let text = sample("train").memory() + sample("dev").memory();
        for (threads, room) in [(3, 1), (2, 100)] {
            let memory = MemoryLimit::Bytes(text + room * (plan.memory - text) + 1000);
            let limited = Search { threads, memory, ..search.clone() };
            let recorder = PlanRecorder::default();
            let other: Outcome = limited.run(&data(folds), &recorder).unwrap().into();
            let plan = recorder.0.into_inner().unwrap().unwrap();
            assert_eq!(plan.concurrency, threads.min(room as usize));
            assert!(other == one);
        }
    }
}

#[test]
fn the_final_model_has_the_iterations_and_the_recall_bias_of_the_folds() {
    let result = search(&ONE, |_| {}).run(&data(3), &()).unwrap();
    let score = result.trials[0].score.clone().unwrap();
    let folds = score.folds.unwrap();
    assert_eq!(folds.fold_scores.len(), 3);
    let mean = folds.fold_scores.iter().sum::<f64>() / 3.0;
    assert_eq!(score.score, DevScore::F1(mean));
    assert!(folds.standard_error > 0.0);
    assert_eq!(result.refit_iterations, Some(score.best_iteration));
    let mut options = result.settings.all_options();
    options.max_iterations = Some(score.best_iteration);
    options.recall_bias = Some(score.recall_bias).filter(|bias| *bias != 0.0);
    let trainer = Trainer::with_settings(TrainSettings::new(options).unwrap());
    let trained = trainer.train(sample("train"), template(TEMPLATE), &mut ()).unwrap();
    assert!(result.model.as_bytes() == trained.model.as_bytes());
}

#[test]
fn every_sentence_is_predicted_by_a_model_of_the_other_folds() {
    let mut data = data(3);
    let search = search(&ONE, |_| {});
    let mut sentences = std::mem::take(&mut data.corpora.labeled).into_sentences();
    sentences[0].layout.document_start = true; // of another sentence, which is none any more
    data.folds = Some(Folds::new(&sentences, 3, 1).unwrap());
    data.corpora.labeled = sentences.into();
    let result = search.run(&data, &()).unwrap();
    let found = result.out_of_fold.as_ref().unwrap();
    let corpus = &data.corpora.labeled;
    assert_eq!(found.labels().next(), Some(&[][..]));
    // The model of the second fold, trained as that of all data.
    let mut options = result.settings.all_options();
    let score = result.trials[0].score.as_ref().unwrap();
    options.max_iterations = Some(score.best_iteration);
    options.recall_bias = Some(score.recall_bias).filter(|bias| *bias != 0.0);
    let [rest, held_out] = data.parts(data.folds.as_ref().unwrap(), 0, 1);
    let trainer = Trainer::with_settings(TrainSettings::new(options).unwrap());
    let trained = trainer.train(rest, template(TEMPLATE), &mut ()).unwrap();
    let tagger = dropchain::Tagger::new(trained.model);
    let tagged = found.tagged(corpus).unwrap();
    for sentence in held_out.iter().skip(1) {
        let own = tagged.iter().find(|one| one.sentence == sentence).unwrap();
        let tagging = tagger.tag(sentence).unwrap();
        assert_eq!(own.labels, tagger.label_names(&tagging.labels));
        for (t, label) in sentence.labels().unwrap().into_iter().enumerate() {
            let probabilities = [&own.labels[t], label].map(|label| own.marginal(t, label));
            assert!(probabilities.iter().all(|p| p.is_some_and(|p| p > 0.0)));
        }
    }
    let scores = serde_json::json!(found);
    assert_eq!(scores["sentences"], corpus.len() - 1);
    assert_eq!(scores["f1"], found.evaluation().f1());
    assert!(scores["confusions"].as_array().is_some_and(|all| !all.is_empty()));
    assert_eq!(result.notes().len(), 1);
    assert!(result.notes()[0].starts_with("mean F1 "), "{:?}", result.notes());
}

#[test]
fn a_fold_is_text_that_its_run_has_not_seen() {
    let mut data = data(3);
    data.templates = vec![Some(template("word\nmention(count)\n"))];
    let words = |corpus: &Corpus| -> Vec<String> {
        corpus.iter().flat_map(Sentence::words).flatten().map(str::to_owned).collect()
    };
    let all = words(&data.corpora.labeled);
    let mut held_out = 0;
    for fold in 0..3 {
        let corpora = data.corpora(0, Some(fold)).unwrap();
        let (rest, dev) = (words(&corpora.labeled), words(&corpora.dev.unwrap()));
        assert_eq!(rest.len() + dev.len(), all.len());
        held_out += dev.len();
        // A document that continues beyond the fold is divided there.
        let parts =
            corpora.labeled.iter().filter(|s| s.layout.separation != Default::default()).count();
        assert!(parts > 0);
    }
    assert_eq!(held_out, all.len());
}

#[test]
fn a_search_that_is_interrupted_at_once_has_no_model() {
    let flag = AtomicBool::new(true);
    let search = search(&ONE, |_| {});
    let search = Search { interrupt: Some(&flag), ..search };
    assert_eq!(
        search.run(&data(0), &()).unwrap_err().to_string(),
        "interrupted before any configuration was scored: there is no model to write"
    );
}

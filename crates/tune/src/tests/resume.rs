//! Searches that continue from a checkpoint.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tempfile::TempDir;

use super::*;
use dropchain::noise::Engine;
use dropchain::train::{AnyOptions, NoiseKind};

/// Number of sentences of the corpora, so that a search takes a moment.
const SENTENCES: usize = 30;

fn small(part: &str) -> Corpus {
    let mut corpus = Corpus::new();
    for sentence in sample(part).into_sentences().into_iter().take(SENTENCES) {
        corpus.push(sentence);
    }
    corpus
}

fn small_data(validation: &Validation, settings: &TrainSettings) -> TuningData {
    let corpora = TrainingCorpora::new(small("train")).dev(small("dev"));
    let templates = vec![Some(template())];
    TuningData::extract(&corpora, templates, validation.clone(), settings).unwrap()
}

fn small_folds(count: usize) -> Validation {
    Validation::Folds(Folds::new(small("train").sentences(), count, 1).unwrap())
}

/// Searches with a different course each.
fn searches() -> Vec<(Search<'static>, Validation)> {
    let with = |space: SearchSpace, change: fn(&mut TrainOptions)| {
        let settings = settings(|o| {
            (o.method.warm_up, o.max_iterations, o.patience) = (Some(3), Some(14), 4);
            change(o);
        });
        Search {
            configurations: space.grid(&settings).unwrap(),
            settings,
            schedule: Schedule::new(Some(2), 2).unwrap(),
            ..search(&space)
        }
    };
    let l1 = SearchSpace { l1: "0,0.2".parse().unwrap(), ..space("0,0.3", "0.1") };
    let course = SearchSpace {
        warm_up: Some("0,4".parse().unwrap()),
        gradients: vec![Engine::Exact, Engine::Window(1)],
        ..space("0,0.3", "0.1")
    };
    vec![
        (with(space("0,0.3", "0.03,0.3"), |_| {}), Validation::Dev),
        (with(space("0,0.3", "0.03,0.3"), |_| {}), small_folds(3)),
        (with(course, |_| {}), Validation::Dev),
        (with(l1, |_| {}), Validation::Dev),
        (
            with(space("0.2,0.4", "0.1"), |o| {
                o.method.noise.kind = NoiseKind::MonteCarlo;
                o.method.noise.sampler = Some(dropchain_online::SAMPLER);
            }),
            small_folds(2),
        ),
    ]
}

/// Records what is reported, and interrupts the search after a number of trainings.
struct Recorder {
    trials: Mutex<Vec<(usize, TrialResult)>>,
    resumed: Mutex<Option<Resumed>>,
    left: AtomicUsize,
    interrupt: AtomicBool,
}

impl Recorder {
    fn new(trainings: usize) -> Self {
        Self {
            trials: Mutex::default(),
            resumed: Mutex::default(),
            left: AtomicUsize::new(trainings),
            interrupt: AtomicBool::new(false),
        }
    }
}

impl TuneObserver for Recorder {
    fn resumed(&self, resumed: &Resumed) {
        *self.resumed.lock().unwrap() = Some(*resumed);
    }

    fn trial(&self, rung: usize, result: &TrialResult) {
        self.trials.lock().unwrap().push((rung, result.clone()));
    }

    fn progress(&self, _: Phase, done: usize, _: usize) {
        if done > 0 && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.interrupt.store(true, Ordering::SeqCst);
        }
    }
}

/// Everything that must not depend on interruptions.
#[derive(PartialEq)]
struct Outcome {
    trials: Vec<TrialResult>,
    rungs: Vec<RungResult>,
    reported: Vec<(usize, TrialResult)>,
    refit_iterations: Option<usize>,
    model: Vec<u8>,
}

/// Runs a search, with a checkpoint or without.
fn outcome(
    (search, validation): &(Search<'_>, Validation),
    checkpoint: Option<(&Path, bool)>,
    threads: usize,
) -> Result<(Outcome, Option<Resumed>), String> {
    let recorder = Recorder::new(usize::MAX);
    let open = |(path, resume)| Checkpoint::open(path, resume).map_err(|e| e.to_string());
    let checkpoint = checkpoint.map(open).transpose()?;
    let search = Search { threads, checkpoint: checkpoint.as_ref(), ..search.clone() };
    let data = small_data(validation, &search.settings);
    let result = search.run(data, &recorder).map_err(|e| e.to_string())?;
    let outcome = Outcome {
        reported: recorder.trials.into_inner().unwrap(),
        model: bytes(&result),
        trials: result.trials,
        rungs: result.rungs,
        refit_iterations: result.refit_iterations,
    };
    Ok((outcome, recorder.resumed.into_inner().unwrap()))
}

/// Returns the ends of the lines of a checkpoint, without those of the mark.
fn line_ends(checkpoint: &[u8]) -> Vec<usize> {
    let bytes = checkpoint.iter().enumerate();
    let ends = bytes.filter(|(_, byte)| **byte == b'\n');
    ends.map(|(i, _)| i + 1).skip(1).collect()
}

#[test]
fn a_search_continues_after_any_segment_to_the_same_bits() {
    for search in searches() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("ck");
        let (expected, _) = outcome(&search, None, 1).unwrap();
        let (with_checkpoint, resumed) = outcome(&search, Some((&path, false)), 2).unwrap();
        assert!(with_checkpoint == expected);
        assert_eq!(resumed, None);
        let complete = fs::read(&path).unwrap();
        let ends = line_ends(&complete);
        assert!(ends.len() > 8, "{}", ends.len());
        for (i, &end) in ends.iter().enumerate() {
            // Every second time, a part of the next line is there.
            let torn = if i % 2 == 1 && i + 1 < ends.len() { 31 } else { 0 };
            fs::write(&path, &complete[..end + torn]).unwrap();
            let (found, resumed) = outcome(&search, Some((&path, true)), 1 + i % 3).unwrap();
            assert!(found == expected, "{i}");
            let resumed = resumed.unwrap();
            assert_eq!((resumed.segments, resumed.was_torn), (i, torn > 0));
            // Nothing was trained again, and everything is in the checkpoint again.
            assert_eq!(line_ends(&fs::read(&path).unwrap()).len(), ends.len(), "{i}");
        }
    }
}

#[test]
fn a_search_continues_after_an_interrupt_to_the_same_bits() {
    for search in searches() {
        let (expected, _) = outcome(&search, None, 1).unwrap();
        for trainings in [1, 3, 5, 8, 11] {
            let dir = TempDir::new().unwrap();
            let path = dir.path().join("ck");
            let recorder = Recorder::new(trainings);
            let checkpoint = Checkpoint::open(&path, false).unwrap();
            let interrupted = Search {
                threads: 2,
                checkpoint: Some(&checkpoint),
                interrupt: Some(&recorder.interrupt),
                ..search.0.clone()
            };
            let data = small_data(&search.1, &interrupted.settings);
            // In the warm-up there may be no model yet.
            let _ = interrupted.run(data, &recorder);
            drop(checkpoint);
            let (found, resumed) = outcome(&search, Some((&path, true)), 1).unwrap();
            assert!(found == expected, "{trainings}");
            assert!(resumed.unwrap().segments >= trainings.min(2), "{trainings}");
        }
    }
}

#[test]
fn a_checkpoint_of_another_search_names_the_difference() {
    let all = searches();
    let (search, validation) = &all[0];
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ck");
    outcome(&all[0], Some((&path, false)), 1).unwrap();
    let before = fs::read(&path).unwrap();
    let changed = |change: fn(&mut Search<'_>)| {
        let mut search = search.clone();
        change(&mut search);
        let error = outcome(&(search, validation.clone()), Some((&path, true)), 1).err();
        let error = error.unwrap();
        let name = format!("{}: ", path.display());
        error.strip_prefix(&name).unwrap().to_owned()
    };
    let with = |change: fn(&mut AnyOptions), search: &mut Search<'_>| {
        let mut options = search.settings.all_options();
        change(&mut options);
        search.settings = TrainSettings::new(options).unwrap();
    };
    let expected = "expected the search that was interrupted";
    assert_eq!(
        changed(|s| s.settings = settings(|_| {})),
        format!(
            "was written with --max-iterations 14, this search is without --max-iterations; \
             {expected}"
        )
    );
    assert_eq!(
        changed(|s| s.configurations.truncate(3)),
        format!("was written with other configurations; {expected}")
    );
    assert_eq!(
        changed(|s| s.configurations.retain(|c| c.l2 > 0.1)),
        format!("was written with --l2 0.03,0.3, this search is with --l2 0.3; {expected}")
    );
    assert_eq!(
        changed(|s| s.configurations.iter_mut().for_each(|c| c.warm_up = Some(5))),
        format!("was written with --warm-up 3, this search is with --warm-up 5; {expected}")
    );
    assert_eq!(
        changed(|s| s.schedule = Schedule::new(None, 2).unwrap()),
        format!("was written with --halving 2, this search is with --halving off; {expected}")
    );
    assert_eq!(
        changed(|s| s.warm_start = false),
        format!(
            "was written with --warm-start on, this search is with --warm-start off; {expected}"
        )
    );
    let folds = outcome(&(search.clone(), small_folds(2)), Some((&path, true)), 1);
    assert!(folds.is_err_and(|e| e.ends_with(&format!(
        "was written without --folds, this search is with --folds 2; {expected}"
    ))));
    assert!(fs::read(&path).unwrap() == before);
    // What only the model depends on may change.
    let mut other = search.clone();
    with(|o| o.prune = 0.01, &mut other);
    let (_, resumed) = outcome(&(other, validation.clone()), Some((&path, true)), 1).unwrap();
    assert!(resumed.unwrap().segments > 0);
}

#[test]
fn a_checkpoint_of_other_data_names_them() {
    let all = searches();
    let (search, _) = &all[0];
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ck");
    outcome(&all[0], Some((&path, false)), 1).unwrap();
    let error = |train: &str, dev: &str, template: Template| {
        let corpora = TrainingCorpora::new(small(train)).dev(small(dev));
        let templates = vec![Some(template)];
        let settings = &search.settings;
        let data = TuningData::extract(&corpora, templates, Validation::Dev, settings).unwrap();
        let checkpoint = Checkpoint::open(&path, true).unwrap();
        let search = Search { checkpoint: Some(&checkpoint), ..search.clone() };
        search.run(data, &()).unwrap_err().to_string()
    };
    let other = Template::parse("word\n", "t.tpl", &mut |_| unreachable!()).unwrap();
    for (error, expected) in [
        (error("dev", "dev", template()), "training data"),
        (error("train", "test", template()), "development data"),
        (error("train", "dev", other), "attributes of template 1"),
    ] {
        let expected = format!("was written with other {expected}; expected the search that");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn two_searches_cannot_share_a_checkpoint() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ck");
    let first = Checkpoint::open(&path, false).unwrap();
    let error = Checkpoint::open(&path, true).unwrap_err().to_string();
    assert!(error.contains("another search is writing this checkpoint"), "{error}");
    drop(first);
    assert!(!path.exists(), "an empty file is left");
    let error = Checkpoint::open(dir.path(), true).unwrap_err().to_string();
    assert!(error.contains("is not a regular file"), "{error}");
}

#[test]
fn damage_is_an_error_with_its_line_and_a_torn_line_is_ignored() {
    let all = searches();
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ck");
    let (expected, _) = outcome(&all[0], Some((&path, false)), 1).unwrap();
    let complete = fs::read(&path).unwrap();
    let ends = line_ends(&complete);
    let resume = |contents: &[u8]| {
        fs::write(&path, contents).unwrap();
        outcome(&all[0], Some((&path, true)), 1)
    };
    let name = path.display();
    let mut damaged = complete.clone();
    damaged[ends[2] + 20..ends[2] + 40].fill(0);
    let error = resume(&damaged).err().unwrap();
    assert!(error.starts_with(&format!("{name}:5: is damaged: ")), "{error}");
    assert!(error.ends_with("; remove it to start from the beginning"), "{error}");
    assert!(fs::read(&path).unwrap() == damaged);
    let error = resume(b"Ann NNP\n").err().unwrap();
    assert!(error.starts_with(&format!("{name}: is not a checkpoint of `tune`")), "{error}");
    // After a power failure, a file may end in zeros.
    for (rest, segments) in [(&b""[..], 0), (&complete[..3], 0), (&complete[..ends[0] - 1], 0)] {
        let (found, resumed) = resume(rest).unwrap();
        assert!(found == expected);
        assert_eq!(resumed.unwrap(), Resumed { segments, was_torn: false });
    }
    let (found, resumed) = resume(&[&complete[..ends[3]], &[0; 99]].concat()).unwrap();
    assert!(found == expected);
    assert_eq!(resumed.unwrap(), Resumed { segments: 3, was_torn: true });
}

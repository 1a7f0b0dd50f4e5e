//! Searches that continue from a checkpoint.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use super::*;

/// Records what is reported.
#[derive(Default)]
struct Recorder {
    resumed: Mutex<Option<usize>>,
    trials: AtomicUsize,
}

impl TuneObserver for Recorder {
    fn start(&self, plan: &Plan) {
        *self.resumed.lock().unwrap() = plan.resumed;
    }

    fn trial(&self, trial: &Trial, _: bool) {
        let before = self.trials.fetch_add(1, Ordering::SeqCst);
        assert_eq!(trial.number, before + 1);
    }
}

/// Runs a search, with a checkpoint to resume or not. Also returns what it continued from.
fn outcome(
    search: &Search<'_>,
    data: &TuningData<'_>,
    (path, resume): (&Path, bool),
) -> Result<(Outcome, Option<usize>), String> {
    let recorder = Recorder::default();
    let checkpoint = Checkpoint::open(path, resume).map_err(|e| e.to_string())?;
    let search = Search { checkpoint: Some(&checkpoint), ..search.clone() };
    let result = search.run(data, &recorder).map_err(|e| e.to_string())?;
    assert_eq!(recorder.trials.into_inner(), result.trials.len());
    Ok((result.into(), recorder.resumed.into_inner().unwrap()))
}

/// Returns the ends of the lines of a checkpoint, without those of the mark.
fn line_ends(checkpoint: &[u8]) -> Vec<usize> {
    let ends = checkpoint.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    ends.map(|(i, _)| i + 1).skip(1).collect()
}

#[test]
fn a_search_continues_after_any_run_to_the_same_bits() {
    for (search, folds) in searches() {
        let data = data(folds);
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("ck");
        let expected: Outcome = search.run(&data, &()).unwrap().into();
        let threads = Search { threads: 2, ..search.clone() };
        let (with_checkpoint, resumed) = outcome(&threads, &data, (&path, false)).unwrap();
        assert!(with_checkpoint == expected);
        assert_eq!(resumed, None);
        let complete = fs::read(&path).unwrap();
        let ends = line_ends(&complete);
        assert_eq!(ends.len(), 1 + search.configurations.len() * folds.max(1));
        for (i, &end) in ends.iter().enumerate() {
            // Every second time, a part of the next line is there.
            let torn = if i % 2 == 1 && i + 1 < ends.len() { 31 } else { 0 };
            fs::write(&path, &complete[..end + torn]).unwrap();
            let search = Search { threads: 1 + i % 3, ..search.clone() };
            let (found, resumed) = outcome(&search, &data, (&path, true)).unwrap();
            assert!(found == expected, "{i}");
            assert_eq!(resumed, Some(i));
            // Nothing was trained again, and everything is in the checkpoint again.
            assert_eq!(line_ends(&fs::read(&path).unwrap()).len(), ends.len(), "{i}");
        }
    }
}

#[test]
fn a_checkpoint_of_another_search_or_other_data_names_the_difference() {
    let (search, _) = &searches()[0];
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ck");
    outcome(search, &data(0), (&path, false)).unwrap();
    let before = fs::read(&path).unwrap();
    let expect = |search: &Search<'_>, data: &TuningData<'_>, difference: &str| {
        let error = outcome(search, data, (&path, true)).err().unwrap();
        let name = path.display();
        let expected = format!("{name}: was written with {difference}; expected the search that");
        assert!(error.starts_with(&expected), "{error}");
        assert!(fs::read(&path).unwrap() == before);
    };
    let with = |change: fn(&mut Search<'_>)| {
        let mut search = search.clone();
        change(&mut search);
        search
    };
    let longer = with(|s| s.settings = with_options(&[], |o| o.max_iterations = None).unwrap());
    expect(&longer, &data(0), "max-iterations 8, and now null");
    expect(&with(|s| s.configurations.truncate(3)), &data(0), "other configurations");
    expect(search, &data(2), "folds null, and now 2");
    let changes: [fn(&mut TuningData<'_>); 3] = [
        |d| d.corpora.labeled = sample("dev"),
        |d| d.corpora.dev = Some(sample("test")),
        |d| d.templates = vec![Some(template("word\n"))],
    ];
    for change in changes {
        let mut data = data(0);
        change(&mut data);
        expect(search, &data, "other data, templates or models");
    }
    // What only the model depends on may change.
    let pruned = with(|s| s.settings = with_options(&[], |o| o.storage.prune = 0.01).unwrap());
    let (_, resumed) = outcome(&pruned, &data(0), (&path, true)).unwrap();
    assert_eq!(resumed.unwrap(), 4);
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
    let ((search, _), data) = (&searches()[0], data(0));
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("ck");
    let (expected, _) = outcome(search, &data, (&path, false)).unwrap();
    let complete = fs::read(&path).unwrap();
    let ends = line_ends(&complete);
    let resume = |contents: &[u8]| {
        fs::write(&path, contents).unwrap();
        outcome(search, &data, (&path, true))
    };
    let name = path.display();
    let expect_damage = |damaged: &[u8], line: usize, what: &str| {
        let error = resume(damaged).err().unwrap();
        assert!(error.starts_with(&format!("{name}:{line}: is damaged: {what}")), "{error}");
        assert!(error.ends_with("; remove it to start from the beginning"), "{error}");
        assert!(fs::read(&path).unwrap() == damaged);
    };
    // Digits of the options and of the scores, by one.
    let digits = (ends[1]..ends[2]).chain(ends[0] - 40..ends[0]);
    for i in digits.filter(|&i| complete[i].is_ascii_digit()).step_by(5) {
        let mut damaged = complete.clone();
        damaged[i] ^= 1;
        let line = if i < ends[0] { 2 } else { 4 };
        expect_damage(&damaged, line, "the line does not match its checksum");
    }
    // A score that no run has, with the right checksum.
    let line = String::from_utf8(complete[ends[1] + 16..ends[2]].to_vec()).unwrap();
    let (before, rest) = line.split_once("\"value\":").unwrap();
    let forged = format!("{before}\"value\":1.7{}", &rest[rest.find(',').unwrap()..]);
    let sum = format!("{:016x}", xxhash_rust::xxh3::xxh3_64(forged.as_bytes()));
    let forged = [&complete[..ends[1]], (sum + &forged).as_bytes(), &complete[ends[2]..]].concat();
    expect_damage(&forged, 4, "a score is not from 0 to 1");
    let error = resume(b"Ann NNP\n").err().unwrap();
    assert!(error.starts_with(&format!("{name}: is not a checkpoint of `tune`")), "{error}");
    // After a power failure, a file may end in zeros.
    for (rest, runs) in [
        (complete[..0].to_vec(), 0),
        (complete[..3].to_vec(), 0),
        (complete[..ends[0] - 1].to_vec(), 0),
        ([&complete[..ends[3]], &[0; 99]].concat(), 3),
    ] {
        let (found, resumed) = resume(&rest).unwrap();
        assert!(found == expected);
        assert_eq!(resumed, Some(runs));
    }
}

//! Any schedule, stopped anywhere and resumed with any number of ranks, gives the same model.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use tempfile::TempDir;

use super::watcher::Interrupter;
use super::*;
use crate::testing::run_ranks;

/// The result of a run on some ranks: that of rank 0.
fn run(options: &TrainOptions, ranks: usize, has_dev: bool, at: usize, path: &Path) -> Trained {
    let trainer = Trainer::new(options.clone()).unwrap();
    let mut trained = run_ranks(ranks, |ranks| {
        let request = AtomicBool::new(false);
        let mut stop = Interrupter { at, flag: &request };
        let trainer = trainer.clone().checkpoints(Checkpoints::new(path).resume());
        let mut corpora = TrainingCorpora::new(corpus(NAMES));
        if has_dev {
            corpora =
                corpora.dev(corpus("Ada/B-PER left/O New/B-LOC York/I-LOC\nMary/B-PER died/O"));
        }
        let trainer = trainer.interrupt(&request).ranks(ranks);
        trainer.train(corpora, template("word\nword[-1]\n"), &mut stop).unwrap()
    });
    trained.swap_remove(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_resumed_run_has_the_bits_of_a_whole_one(
        warm_up in 0_usize..6,
        noise in prop_oneof![Just(None), Just(Some(1)), Just(Some(3))],
        max_iterations in 1_usize..14,
        patience in 1_usize..5,
        has_dev: bool,
        l1 in prop_oneof![Just(0.0), Just(0.05)],
        at in 1_usize..12,
        ranks in proptest::array::uniform3(1_usize..4),
    ) {
        let options = changed(options(), |o| {
            o.method.l1 = l1;
            o.method.warm_up = Some(warm_up);
            o.method.noise.dropout = if noise.is_some() { 0.3 } else { 0.0 };
            if let Some(round) = noise.filter(|&round| round > 1) {
                o.method.noise.kind = NoiseKind::Reweighted(round);
            }
            (o.max_iterations, o.patience) = (Some(max_iterations), patience);
        });
        let directory = TempDir::new().unwrap();
        let [whole, parts] = ["whole", "parts"].map(|name| directory.path().join(name));
        let expected = run(&options, ranks[0], has_dev, usize::MAX, &whole);
        run(&options, ranks[1], has_dev, at, &parts);
        let resumed = run(&options, ranks[2], has_dev, usize::MAX, &parts);
        prop_assert!(resumed.model.as_bytes() == expected.model.as_bytes());
        let time = expected.end.time;
        prop_assert_eq!(End { time, ..resumed.end }, expected.end);
    }
}

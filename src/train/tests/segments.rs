//! Training in segments, and held-out folds.

use super::*;

fn settings(change: impl FnOnce(&mut TrainOptions)) -> TrainSettings {
    let mut options = options();
    change(&mut options);
    TrainSettings::new(options).unwrap()
}

fn segment(set: &TrainingSet, limit: Option<usize>) -> Segment<'static> {
    Segment {
        start: vec![0.0; set.space().dimension()],
        done: 0,
        limit,
        is_warm_up: false,
        best: None,
        scores: Vec::new(),
        recall_bias: 0.0,
        interrupt: None,
    }
}

fn run(set: &TrainingSet, settings: &TrainSettings) -> SegmentEnd {
    segment(set, Some(25)).run(set, settings).unwrap()
}

#[test]
fn a_fold_is_held_out_as_if_it_did_not_exist() {
    for (min_count, collapse, dropout) in [(1, true, 0.3), (2, true, 0.0), (1, false, 0.3)] {
        let settings = settings(|options| {
            (options.min_count, options.collapse) = (min_count, collapse);
            options.method.noise.dropout = dropout;
        });
        let template = template("word\nword[-1]\nshape\n");
        let whole = ExtractedCorpora::for_cross_validation(
            corpus(NAMES),
            Some(template.clone()),
            &settings,
            &BaseModels::default(),
        );
        let held_out = [1, 4];
        let fold = whole.unwrap().hold_out(&held_out, &settings).unwrap();
        let part = |is_held_out: bool| -> Vec<Sentence> {
            let all = corpus(NAMES).into_iter().enumerate();
            all.filter(|(i, _)| held_out.contains(i) == is_held_out)
                .map(|(_, sentence)| sentence)
                .collect()
        };
        let corpora = TrainingCorpora::new(part(false)).dev(part(true));
        let alone = TrainingSet::new(corpora, template, &settings).unwrap();
        let (fold, alone) = (run(&fold, &settings), run(&alone, &settings));
        assert_eq!(fold.scores, alone.scores);
        assert_eq!(fold.recall_biases, alone.recall_biases);
        assert!((fold.objective - alone.objective).abs() < 1e-8 * alone.objective);
    }
}

#[test]
fn sentences_that_cannot_be_held_out_are_an_error() {
    let settings = settings(|_| {});
    let template = Some(template("word"));
    let whole = ExtractedCorpora::for_cross_validation(
        corpus(NAMES),
        template,
        &settings,
        &BaseModels::default(),
    );
    let whole = whole.unwrap();
    let error = |held_out: &[usize]| match whole.hold_out(held_out, &settings) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("no error"),
    };
    assert_eq!(error(&[]), "0 of 8 sentences held out; expected some, and not all");
    let all: Vec<usize> = (0..8).collect();
    assert_eq!(error(&all), "8 of 8 sentences held out; expected some, and not all");
    assert_eq!(error(&[8]), "sentence 8 held out; expected a number below 8");
}

#[test]
fn resumed_segments_reach_the_same_minimum_as_a_single_one() {
    let settings = settings(|options| options.method.noise.dropout = 0.0);
    let corpora = TrainingCorpora::new(corpus(NAMES)).dev(corpus(NAMES));
    let set = TrainingSet::new(corpora, template("word"), &settings).unwrap();
    let to_the_end = |segment: Segment<'_>| {
        let segment = Segment { limit: None, ..segment };
        segment.run(&set, &settings).unwrap()
    };
    let once = to_the_end(segment(&set, None));
    let first = segment(&set, Some(6)).run(&set, &settings).unwrap();
    assert_eq!((first.done, first.scores.len(), first.reason), (6, 6, None));
    assert_eq!(first.scores, once.scores[..6]);
    let best = first.best.clone().map(|best| BestWeights { theta: Vec::new(), ..best });
    let second = to_the_end(Segment {
        start: first.theta.clone(),
        done: first.done,
        best: best.clone(),
        scores: first.scores.clone(),
        recall_bias: first.recall_bias,
        ..segment(&set, None)
    });
    assert_eq!(second.done, 6 + second.scores.len());
    assert!((second.objective - once.objective).abs() < 1e-4 * once.objective);
    if let (Some(earlier), Some(later)) = (best, second.best) {
        assert!(later.mean > earlier.mean);
    }
}

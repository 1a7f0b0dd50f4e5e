//! Legs, and parts of a corpus that are held out.

use super::*;
use crate::train::{Corpora, Extracted, Segment, SegmentEnd, TrainingSet};

fn corpora(sentences: Vec<Sentence>, dev: Option<Vec<Sentence>>) -> Corpora<'static> {
    Corpora {
        sentences,
        unlabeled: &[],
        dev,
    }
}

fn leg(material: &TrainingSet, limit: Option<usize>) -> Segment<'static> {
    Segment {
        start: vec![0.0; material.space().dimension()],
        done: 0,
        limit,
        is_warm_up: false,
        best: None,
        recall_bias: 0.0,
        interrupt: None,
    }
}

fn run(material: &TrainingSet, options: &TrainOptions) -> SegmentEnd {
    material.run(options, leg(material, Some(25))).unwrap()
}

#[test]
fn a_part_is_held_out_as_if_it_had_never_been_there() {
    for (min_count, collapse, dropout) in [(1, true, 0.3), (2, true, 0.0), (1, false, 0.3)] {
        let options = TrainOptions {
            min_count,
            collapse,
            dropout,
            ..options()
        };
        let source = "word\nword[-1]\nshape\n";
        let whole = Extracted::to_be_cut(
            corpora(corpus(NAMES), None),
            Some(template(source)),
            &options,
        );
        let held_out = [1, 4];
        let part = whole.unwrap().without(&held_out, &options).unwrap();
        let chosen = |is_out: bool| -> Vec<Sentence> {
            let all = corpus(NAMES).into_iter().enumerate();
            all.filter(|(i, _)| held_out.contains(i) == is_out)
                .map(|(_, s)| s)
                .collect()
        };
        let alone = corpora(chosen(false), Some(chosen(true)));
        let alone = Extracted::new(alone, Some(template(source)), &options).unwrap();
        let alone = alone.material(&options);
        let (part, alone) = (run(&part, &options), run(&alone, &options));
        assert_eq!(part.scores, alone.scores);
        assert_eq!(part.recall_biases, alone.recall_biases);
        assert!((part.objective - alone.objective).abs() < 1e-8 * alone.objective);
    }
}

#[test]
fn what_cannot_be_held_out_is_an_error() {
    let options = options();
    let whole = || {
        Extracted::to_be_cut(
            corpora(corpus(NAMES), None),
            Some(template("word")),
            &options,
        )
    };
    let whole = whole().unwrap();
    let fault = |held_out: &[usize]| match whole.without(held_out, &options) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("no error"),
    };
    assert_eq!(
        fault(&[]),
        "0 of 8 sentences held out; expected some, and not all"
    );
    let all: Vec<usize> = (0..8).collect();
    assert_eq!(
        fault(&all),
        "8 of 8 sentences held out; expected some, and not all"
    );
    assert_eq!(
        fault(&[8]),
        "sentence 8 held out; expected a number below 8"
    );
}

#[test]
fn legs_that_go_on_reach_what_one_leg_does() {
    let options = TrainOptions {
        dropout: 0.0,
        ..options()
    };
    let extracted = Extracted::new(
        corpora(corpus(NAMES), Some(corpus(NAMES))),
        Some(template("word")),
        &options,
    );
    let material = extracted.unwrap().material(&options);
    let to_the_end = |leg: Segment<'_>| {
        material
            .run(&options, Segment { limit: None, ..leg })
            .unwrap()
    };
    let once = to_the_end(leg(&material, None));
    let first = material.run(&options, leg(&material, Some(6))).unwrap();
    assert_eq!((first.done, first.scores.len(), first.reason), (6, 6, None));
    assert_eq!(first.scores, once.scores[..6]);
    let best = first.best.as_ref().map(|best| (best.iteration, best.score));
    let second = to_the_end(Segment {
        start: first.theta.clone(),
        done: first.done,
        best,
        recall_bias: first.recall_bias,
        ..leg(&material, None)
    });
    assert_eq!(second.done, 6 + second.scores.len());
    assert!((second.objective - once.objective).abs() < 1e-4 * once.objective);
    if let (Some(earlier), Some(later)) = (best, second.best) {
        assert!(later.score.value() > earlier.1.value());
    }
}

//! Training by ranks gives the model of training without.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::TempDir;

use super::*;
use crate::Corpus;
use crate::error::Error;
use crate::label::Scheme;
use crate::optim::StopReason;
use crate::ranks::tests::run_ranks;

const TEMPLATE: &str = "word\nword[-1]\nsuffix(2)\n";

fn corpora() -> TrainingCorpora {
    TrainingCorpora::new(synthetic_sentences(3_000, 1))
        .dev(synthetic_sentences(100, 2))
        .unlabeled(synthetic_sentences(1_500, 3))
}

/// Like [`corpora`], with the sentences that are a rank's own.
fn own_corpora(ranks: &Ranks) -> TrainingCorpora {
    own_part(corpora(), ranks)
}

/// Returns the corpora with the sentences that are a rank's own: many of rank 0, none of the last;
/// of labeled sentences, none of rank 0.
fn own_part(mut corpora: TrainingCorpora, ranks: &Ranks) -> TrainingCorpora {
    let cut = |sentences: usize, rank: usize| match ranks.size() - rank {
        0 | 1 => sentences,
        _ => sentences * rank.min(1) / 3 + 7 * rank,
    };
    let own = |corpus: Corpus, is_reversed: bool| {
        let sentences = corpus.into_sentences();
        let n = sentences.len();
        let rank = ranks.rank();
        let own = match is_reversed {
            _ if ranks.size() == 1 => 0..n,
            false => cut(n, rank)..cut(n, rank + 1),
            true => {
                let [start, end] = [rank, rank + 1].map(|rank| n - cut(n, ranks.size() - rank));
                start..end
            }
        };
        Corpus::from(sentences[own].to_vec())
    };
    corpora.unlabeled = own(corpora.unlabeled, false);
    if ranks.has_own_labeled() {
        corpora.labeled = own(corpora.labeled, true);
    }
    corpora
}

fn bytes(trained: &Trained) -> Vec<u8> {
    trained.model.as_bytes().to_vec()
}

#[test]
fn models_are_those_of_one_process() {
    for (dropout, source) in [
        (0.0, TEMPLATE),
        (0.5, TEMPLATE),
        (0.5, "word\nshape\npredicted\n"),
    ] {
        let trainer = Trainer::new(short_options(dropout)).unwrap();
        let expected = trainer.train(corpora(), template(source), &mut ());
        let expected = bytes(&expected.unwrap());
        for size in [1, 2, 3] {
            let models = run_ranks(size, |ranks| {
                let trainer = trainer.clone().ranks(ranks);
                bytes(&trainer.train(corpora(), template(source), &mut ()).unwrap())
            });
            assert!(
                models.iter().all(|model| *model == expected),
                "{size} ranks"
            );
        }
    }
}

#[test]
fn ranks_may_have_unlabeled_text_of_their_own() {
    let options = TrainOptions {
        min_count: 2,
        ..short_options(0.5)
    };
    let trainer = Trainer::new(options).unwrap();
    let expected = trainer.train(corpora(), template(TEMPLATE), &mut ());
    let expected = bytes(&expected.unwrap());
    for size in [1, 2, 3, 5] {
        let models = run_ranks(size, |ranks| {
            let own = own_corpora(&ranks);
            let trainer = trainer.clone().ranks(ranks.with_own_unlabeled());
            bytes(&trainer.train(own, template(TEMPLATE), &mut ()).unwrap())
        });
        assert!(
            models.iter().all(|model| *model == expected),
            "{size} ranks"
        );
    }
}

/// Sentences with weights, partial labels, and labels that only the last ones have.
fn varied_sentences() -> Vec<Sentence> {
    let mut sentences = synthetic_sentences(2_000, 1);
    let rare = "w001/B-MISC w002/I-MISC w003/O w777/B-PER ".repeat(3);
    sentences.extend(corpus(&format!("{rare}\n{rare}\n")));
    let weights = [1.0, 0.3, 2.0].into_iter().cycle();
    let weighted = sentences.into_iter().zip(weights);
    weighted
        .map(|(sentence, weight)| sentence.with_weight(weight).unwrap())
        .collect()
}

#[test]
fn ranks_may_have_sentences_of_their_own() {
    let of_scheme = |scheme| TrainOptions {
        scheme,
        ..short_options(0.5)
    };
    let observed = TrainOptions {
        states: Some(States::Observed),
        min_count: 3,
        ..short_options(0.5)
    };
    let separate = TrainOptions {
        collapse: false,
        ..short_options(0.0)
    };
    for (options, source) in [
        (of_scheme(Scheme::Raw), TEMPLATE),
        (
            of_scheme(Scheme::Bioes),
            "word l2=3\nedge: word\nsuffix(2) dropout=0.2\n",
        ),
        (observed, "word\nedge: word\nword[-1]\n"),
        (separate, "word\nshape(dan2)\n"),
    ] {
        let trainer = Trainer::new(options).unwrap();
        let corpora = || TrainingCorpora {
            labeled: varied_sentences().into(),
            ..corpora()
        };
        let mut start = Starts::default();
        let expected = trainer.train(corpora(), template(source), &mut start);
        let expected = bytes(&expected.unwrap());
        for size in [1, 2, 3, 5] {
            let models = run_ranks(size, |ranks| {
                let ranks = ranks.with_own_labeled();
                let own = own_part(corpora(), &ranks);
                let trainer = trainer.clone().ranks(ranks);
                let mut of_rank = Starts::default();
                let trained = trainer.train(own, template(source), &mut of_rank);
                (bytes(&trained.unwrap()), of_rank)
            });
            for (model, of_rank) in models {
                assert!(model == expected, "{size} ranks, {source}");
                assert_eq!(of_rank, start);
            }
        }
    }
}

/// The counts of the data that training starts with.
#[derive(Debug, Default, PartialEq)]
struct Starts(Vec<usize>, [f64; 3]);

impl Observer for Starts {
    fn start(&mut self, start: &Start<'_>) {
        self.0 = vec![
            start.sentences,
            start.tokens,
            start.partial_tokens,
            start.unlabeled_sentences,
            start.dev_sentences,
            start.labels,
            start.attributes,
            start.collapsed_attributes,
            start.parameters,
            start.weights,
        ];
        self.1 = [
            start.total_weight.map_or(0.0, f64::round),
            start.active_per_token,
            start.collapsed_active_per_token,
        ];
    }
}

#[test]
fn what_is_wrong_with_the_sentences_of_a_rank_ends_all() {
    let trainer = Trainer::new(short_options(0.0)).unwrap();
    let train = |of_rank: fn(usize) -> Vec<Sentence>| {
        error_of(run_ranks(3, |ranks| {
            let sentences = of_rank(ranks.rank());
            let trainer = trainer.clone().ranks(ranks.with_own_labeled());
            trainer.train(sentences, template(TEMPLATE), &mut ())
        }))
    };
    assert_eq!(train(|_| Vec::new()), "there are no sentences to train on");
    let other_columns = train(|rank| {
        if rank < 2 {
            return synthetic_sentences(10, 1);
        }
        let names = ["word", "pos", "label"].map(str::to_owned).to_vec();
        let schema = Arc::new(Schema::new(names, Some(2)).unwrap());
        let mut sentence = Sentence::new(schema, Arc::from("y.conll"));
        sentence.push(["Ada", "NNP", "O"], 1).unwrap();
        vec![sentence]
    });
    assert_eq!(
        other_columns,
        "rank 2: y.conll:1: the columns are word pos label, but those of an earlier rank word label"
    );
    let without_weight = train(|rank| {
        let sentences = synthetic_sentences(10, rank as u64).into_iter();
        sentences
            .map(|sentence| sentence.with_weight(0.0).unwrap())
            .collect()
    });
    assert!(without_weight.starts_with("the weights of all training sentences are 0"));
    let trainer = Trainer::new(short_options(0.0)).unwrap();
    let message = error_of(run_ranks(3, |ranks| {
        let text = if ranks.rank() == 1 {
            "1/O many/O"
        } else {
            "1/O 2/O"
        };
        let trainer = trainer.clone().ranks(ranks.with_own_labeled());
        trainer.train(corpus(text), template("value(word)\n"), &mut ())
    }));
    assert_eq!(
        message,
        "rank 1: x.conll:1: column 'word' holds 'many'; expected a number of at most 1e15"
    );
}

#[test]
fn a_checkpoint_with_sentences_by_rank_is_one_of_all_sentences() {
    checkpoint_is_one_of_all_sentences(Ranks::with_own_unlabeled);
    checkpoint_is_one_of_all_sentences(Ranks::with_own_labeled);
}

fn checkpoint_is_one_of_all_sentences(with_own: fn(Ranks) -> Ranks) {
    let directory = TempDir::new().unwrap();
    let checkpoints = Checkpoints::new(directory.path().join("run"));
    let trainer = Trainer::new(short_options(0.5)).unwrap();
    let expected = trainer.train(corpora(), template(TEMPLATE), &mut ());
    let expected = bytes(&expected.unwrap());
    let ends = run_ranks(3, |ranks| {
        let request = AtomicBool::new(false);
        let mut stop = Stop {
            at: 3,
            request: &request,
        };
        let ranks = with_own(ranks);
        let own = own_corpora(&ranks);
        let trainer = trainer.clone().interrupt(&request);
        let trainer = trainer.checkpoints(checkpoints.clone()).ranks(ranks);
        trainer
            .train(own, template(TEMPLATE), &mut stop)
            .unwrap()
            .end
    });
    assert!(ends.iter().all(|end| end.iterations == 3));
    let resumed = trainer.checkpoints(checkpoints.resume());
    let resumed = resumed.train(corpora(), template(TEMPLATE), &mut ());
    assert_eq!(bytes(&resumed.unwrap()), expected);
}

#[test]
fn sentences_by_rank_are_refused_where_more_than_sums_depends_on_them() {
    let refused = |options: &TrainOptions, source: &str, with_own: fn(Ranks) -> Ranks| {
        let trainer = Trainer::new(options.clone()).unwrap();
        error_of(run_ranks(2, |ranks| {
            let ranks = with_own(ranks);
            let own = own_corpora(&ranks);
            let trainer = trainer.clone().ranks(ranks);
            trainer.train(own, template(source), &mut ())
        }))
    };
    let discover = TrainOptions {
        discover: true,
        ..short_options(0.5)
    };
    let message = refused(&discover, TEMPLATE, Ranks::with_own_unlabeled);
    assert!(message.starts_with("unlabeled text of each rank with attributes discovered"));
    for source in ["word\nmention(order)\n", "word\npredicted\n"] {
        let message = refused(&short_options(0.5), source, Ranks::with_own_unlabeled);
        let expected = "unlabeled text of each rank with a template that reads documents";
        assert!(message.starts_with(expected), "{message}");
    }
    let caseless = TrainOptions {
        caseless: 0.5,
        ..short_options(0.5)
    };
    let frequent = TrainOptions {
        min_frequency: Some(2.0),
        ..short_options(0.5)
    };
    for (options, source, found) in [
        (&discover, TEMPLATE, "attributes discovered"),
        (&caseless, TEMPLATE, "copies of sentences"),
        (&frequent, TEMPLATE, "a minimum frequency"),
        (
            &short_options(0.5),
            "lexicon(training)\n",
            "a template that learns names",
        ),
        (
            &short_options(0.5),
            "shape(dan2, known(reading))\n",
            "a template that learns names",
        ),
    ] {
        let message = refused(options, source, Ranks::with_own_labeled);
        let expected = format!("sentences of each rank with {found}");
        assert!(message.starts_with(&expected), "{message}");
    }
}

/// Asks a rank to end at an iteration.
struct Stop<'a> {
    at: usize,
    request: &'a AtomicBool,
}

impl Observer for Stop<'_> {
    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        if iteration.number == self.at {
            self.request.store(true, Ordering::Relaxed);
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[test]
fn a_run_that_one_rank_is_asked_to_end_resumes_with_another_number_of_ranks() {
    let directory = TempDir::new().unwrap();
    let checkpoint = |name: &str| Checkpoints::new(directory.path().join(name));
    let trainer = Trainer::new(short_options(0.5)).unwrap();
    let train = |trainer: &Trainer<'_>, observer: &mut dyn Observer| {
        trainer.train(corpora(), template(TEMPLATE), observer)
    };
    let expected = bytes(&train(&trainer, &mut ()).unwrap());
    let ends = run_ranks(3, |ranks| {
        let request = AtomicBool::new(false);
        let at = if ranks.rank() == 1 { 3 } else { usize::MAX };
        let file = checkpoint(if ranks.rank() == 0 { "run" } else { "other" });
        let trainer = trainer.clone().interrupt(&request).checkpoints(file);
        let mut stop = Stop {
            at,
            request: &request,
        };
        train(&trainer.ranks(ranks), &mut stop).unwrap().end
    });
    for end in ends {
        assert_eq!(end.reason, EndReason::Optimizer(StopReason::Interrupted));
        assert_eq!(end.iterations, 3);
    }
    let exists = |name: &str| Path::exists(&directory.path().join(name));
    assert!(exists("run") && !exists("other"));

    let models = run_ranks(2, |ranks| {
        let file = checkpoint(if ranks.rank() == 0 { "run" } else { "other" });
        let trainer = trainer.clone().checkpoints(file.resume());
        bytes(&train(&trainer.ranks(ranks), &mut ()).unwrap())
    });
    assert!(models.iter().all(|model| *model == expected));
    let alone = trainer.checkpoints(checkpoint("run").resume());
    assert_eq!(bytes(&train(&alone, &mut ()).unwrap()), expected);
}

fn error_of(outcomes: Vec<Result<Trained>>) -> String {
    let messages: Vec<String> = (outcomes.into_iter())
        .map(|outcome| outcome.unwrap_err().to_string())
        .collect();
    assert!(
        messages.iter().all(|message| *message == messages[0]),
        "{messages:?}"
    );
    messages[0].clone()
}

#[test]
fn ranks_with_other_data_or_without_any_end_all() {
    let trainer = Trainer::new(short_options(0.0)).unwrap();
    let train = |of_rank: fn(usize) -> Vec<Sentence>| {
        error_of(run_ranks(3, |ranks| {
            let sentences = of_rank(ranks.rank());
            let trainer = trainer.clone().ranks(ranks);
            trainer.train(sentences, template(TEMPLATE), &mut ())
        }))
    };
    assert_eq!(
        train(|rank| synthetic_sentences(if rank == 2 { 11 } else { 10 }, 1)),
        "rank 2 has other training or development data than rank 0; expected the same on all \
         machines"
    );
    assert_eq!(
        train(|rank| synthetic_sentences(if rank == 1 { 0 } else { 10 }, 1)),
        "rank 1: there are no sentences to train on"
    );
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let refused = |options: TrainOptions| {
        let trainer = Trainer::new(options).unwrap();
        error_of(run_ranks(2, |ranks| {
            let trainer = trainer.clone().ranks(ranks);
            trainer.train(synthetic_sentences(10, 1), template(TEMPLATE), &mut ())
        }))
    };
    let online = TrainOptions {
        algorithm: Algorithm::Ap(PerceptronOptions::default()),
        l2: None,
        ..options()
    };
    assert!(
        refused(online)
            .starts_with("--algorithm ap updates weights by sentence, and runs in one process")
    );
    let warm = TrainOptions {
        warm_start: WarmStart::Online,
        ..options()
    };
    assert!(refused(warm).starts_with("--warm-start online updates weights by sentence"));
    let sampled = TrainOptions {
        noise: NoiseKind::MonteCarlo,
        dropout: 0.5,
        ..options()
    };
    assert!(refused(sampled).starts_with("--noise monte-carlo is for comparison only"));
}

/// An observer with an error of its own.
struct Full;

impl Observer for Full {
    fn iteration(&mut self, iteration: &Iteration) -> Result<ControlFlow<()>, ObserverError> {
        match iteration.number {
            2 => Err("no space left".into()),
            _ => Ok(ControlFlow::Continue(())),
        }
    }
}

#[test]
fn a_rank_whose_observer_fails_ends_all() {
    let trainer = Trainer::new(short_options(0.0)).unwrap();
    let outcomes = run_ranks(2, |ranks| {
        let is_first = ranks.rank() == 0;
        let trainer = trainer.clone().ranks(ranks);
        let observer: &mut dyn Observer = if is_first { &mut Full } else { &mut () };
        trainer.train(corpora(), template(TEMPLATE), observer)
    });
    let messages: Vec<Error> = outcomes.into_iter().map(Result::unwrap_err).collect();
    assert_eq!(messages[0].to_string(), "no space left");
    let other = "another rank ended training after iteration 2";
    assert_eq!(messages[1].to_string(), other);
}

//! Training by ranks over TCP gives the model of one process, byte by byte.

use std::thread;
use std::time::Duration;

use dropchain::corpus::{Corpus, Format, ReadOptions, SAMPLE_TRAIN};
use dropchain::train::{
    Ranks, SocketListener, SocketRanks, TrainOptions, Trained, Trainer, TrainingCorpora,
};
use dropchain::{Result, Sentence, Template};

const TEMPLATE: &str = "word\nword[-1]\nsuffix(2)\n";

fn sentences() -> Vec<Sentence> {
    let options = ReadOptions {
        format: Some(Format::Conll),
        ..ReadOptions::default()
    };
    let corpus = Corpus::parse(SAMPLE_TRAIN, "sample.conll", &options).unwrap();
    corpus.into_sentences()
}

/// Runs `work` on each of `size` connected ranks and returns the results, by rank.
fn run_sockets<T: Send>(size: usize, work: impl Fn(SocketRanks) -> T + Sync) -> Vec<T> {
    let bind = |_| SocketListener::bind("127.0.0.1:0").unwrap();
    let listeners: Vec<_> = (0..size).map(bind).collect();
    let address = |listener: &SocketListener| listener.address().unwrap().to_string();
    let addresses: Vec<_> = listeners.iter().map(address).collect();
    thread::scope(|scope| {
        let ranks = listeners.into_iter().enumerate().map(|(rank, listener)| {
            let (addresses, work) = (&addresses, &work);
            let timeout = Duration::from_secs(600);
            let connect = move || listener.connect(rank, addresses, [3; 16], timeout);
            scope.spawn(move || work(connect().unwrap()))
        });
        let ranks: Vec<_> = ranks.collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

fn train(trainer: &Trainer<'_>, labeled: &[Sentence], unlabeled: &[Sentence]) -> Result<Trained> {
    let corpora = TrainingCorpora::new(labeled.to_vec()).unlabeled(unlabeled.to_vec());
    trainer.train(corpora, TEMPLATE.parse::<Template>()?, &mut ())
}

#[test]
fn models_over_tcp_are_those_of_one_process() {
    let options = TrainOptions {
        dropout: 0.3,
        warm_up: Some(2),
        max_iterations: Some(6),
        ..TrainOptions::default()
    };
    let trainer = Trainer::new(options).unwrap();
    let all = sentences();
    let (labeled, unlabeled) = all.split_at(all.len() / 2);
    let expected = train(&trainer, labeled, unlabeled).unwrap().model;
    for size in [2, 3] {
        let models = run_sockets(size, |ranks| {
            let ranks = Ranks::new(ranks).with_own_labeled();
            let rank = ranks.rank();
            let own = |sentences: &[Sentence]| {
                let end = |rank: usize| sentences.len() * rank / size;
                sentences[end(rank)..end(rank + 1)].to_vec()
            };
            let trainer = trainer.clone().ranks(ranks);
            train(&trainer, &own(labeled), &own(unlabeled))
                .unwrap()
                .model
        });
        for model in models {
            assert!(model.as_bytes() == expected.as_bytes(), "{size} ranks");
        }
    }
}

#[test]
fn ranks_over_tcp_end_together_where_one_cannot_train() {
    let trainer = Trainer::new(TrainOptions::default()).unwrap();
    let messages = run_sockets(3, |ranks| {
        let ranks = Ranks::new(ranks).with_own_labeled();
        let sentences = match ranks.rank() {
            1 => vec![Sentence::from_columns([("other", ["x"])]).unwrap()],
            _ => sentences(),
        };
        let trainer = trainer.clone().ranks(ranks);
        train(&trainer, &sentences, &[]).unwrap_err().to_string()
    });
    assert!(messages[0].starts_with("rank 1: "), "{messages:?}");
    assert!(
        messages.iter().all(|message| *message == messages[0]),
        "{messages:?}"
    );
}

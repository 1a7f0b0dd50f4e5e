//! Threads that share a tagger.

use dropchain::corpus::{Corpus, ReadOptions};
use dropchain::tag::Workspace;
use dropchain::{TagOptions, Tagger, Tagging};

use crate::support::TestDir;

#[test]
fn eight_threads_on_one_tagger_get_the_results_of_one() {
    let dir = TestDir::with_sample_corpus();
    let train = "train train.conll --template ner --max-iterations 5 --model m --quiet";
    dir.run(train).success();
    let tagger = Tagger::open(dir.path("m")).unwrap();
    let dev = dir.path("dev.conll").display().to_string();
    let corpus = Corpus::read([dev], &ReadOptions::default()).unwrap();
    let sentences = corpus.sentences();
    assert!(sentences.len() > 20);
    let options =
        TagOptions { marginals: true, nbest: 3, probability: true, ..TagOptions::default() };
    let mut workspace = Workspace::default();
    let mut full = |s| tagger.tag_with(s, options, &mut workspace).unwrap();
    let expected: Vec<Tagging> = sentences.iter().map(&mut full).collect();
    // A second tagger, so that nothing is memoized when the threads start.
    let shared = Tagger::open(dir.path("m")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (shared, expected) = (&shared, &expected);
            scope.spawn(move || {
                let mut workspace = Workspace::default();
                let all = sentences.iter().zip(expected);
                for (sentence, expected) in all.cycle().skip(7 * thread).take(2 * sentences.len()) {
                    assert_eq!(shared.tag(sentence).unwrap().labels, expected.labels);
                    let tagging = shared.tag_with(sentence, options, &mut workspace);
                    // Marginals and probabilities to the bit.
                    assert_eq!(tagging.unwrap(), *expected);
                }
            });
        }
    });
}

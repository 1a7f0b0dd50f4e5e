//! Sizes of the data of a role, and how much of it training data know.

use std::collections::HashSet;

use super::labels::LabelReport;
use super::sentences::{Role, WordsHash, content, word_hashes};
use dropchain::sentence::{DocumentRule, Sentence, Separation};

/// Sizes of the data of a role.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Sizes {
    /// The role.
    pub role: Role,
    /// Number of files.
    pub files: usize,
    /// Number of sentences.
    pub sentences: u64,
    /// Number of tokens.
    pub tokens: u64,
    /// Number of different words; 0 for ready-made attributes.
    pub words: u64,
    /// Number of documents, if they are marked.
    pub documents: Option<u64>,
    /// Number of tokens of the longest sentence.
    pub longest: u64,
    /// Number of spans, if labels encode spans.
    pub spans: Option<u64>,
    /// Number of sentences with a span, if labels encode spans.
    pub sentences_with_spans: Option<u64>,
    /// Number of tokens whose word training data do not have; `None` for training data.
    pub unknown_tokens: Option<u64>,
    /// Number of spans whose words are no span of training data; `None` for training data.
    pub unseen_spans: Option<u64>,
}

/// Vocabulary of the training data.
#[derive(Default)]
pub(super) struct Known {
    words: HashSet<u128>,
    spans: HashSet<WordsHash>,
}

impl Sizes {
    /// Counts the data of a role. `known` has what training data know, unless they are these, and
    /// gets it then.
    pub(super) fn new(
        role: Role,
        files: usize,
        sentences: &[Sentence],
        labels: &LabelReport,
        known: &mut Known,
    ) -> Self {
        let encodes_spans = labels.spans;
        let is_train = role == Role::Train;
        let is_compared = !is_train && !known.words.is_empty();
        let counted = |is_counted: bool| is_counted.then_some(0);
        let mut sizes = Self {
            role,
            files,
            sentences: 0,
            tokens: 0,
            words: 0,
            documents: documents(sentences),
            longest: 0,
            spans: counted(encodes_spans),
            sentences_with_spans: counted(encodes_spans),
            unknown_tokens: counted(is_compared),
            unseen_spans: counted(is_compared && encodes_spans),
        };
        let mut words = HashSet::new();
        for sentence in content(sentences) {
            let hashes = word_hashes(sentence);
            sizes.sentences += 1;
            sizes.tokens += sentence.len() as u64;
            sizes.longest = sizes.longest.max(sentence.len() as u64);
            add(&mut sizes.unknown_tokens, &hashes, |word| !known.words.contains(word));
            if encodes_spans {
                let names = sentence.labels().unwrap_or_default();
                let spans = labels.labeling.spans(&names).into_iter();
                let spans = spans.map(|span| WordsHash::of(&hashes[span.start..span.end]));
                let spans: Vec<WordsHash> = spans.collect();
                add(&mut sizes.spans, &spans, |_| true);
                add(&mut sizes.sentences_with_spans, &[spans.is_empty()], |none| !none);
                add(&mut sizes.unseen_spans, &spans, |span| !known.spans.contains(span));
                if is_train {
                    known.spans.extend(spans);
                }
            }
            if sentence.attributes.is_none() {
                words.extend(hashes);
            }
        }
        sizes.words = words.len() as u64;
        if is_train {
            known.words = words;
        }
        sizes
    }
}

/// Adds the number of items that fulfill a condition to a count, if it is counted.
fn add<T>(count: &mut Option<u64>, items: &[T], is_counted: impl Fn(&T) -> bool) {
    if let Some(count) = count {
        *count += items.iter().filter(|item| is_counted(item)).count() as u64;
    }
}

/// Returns the number of documents, if any are marked.
fn documents(sentences: &[Sentence]) -> Option<u64> {
    let is_marked = |s: &Sentence| s.layout.separation.contains(Separation::MARK);
    sentences.iter().any(is_marked).then(|| {
        DocumentRule::Auto.documents(sentences).iter().filter(|d| !d.is_empty()).count() as u64
    })
}

//! The sample corpus, for demonstrations and first steps (`corpora/sample/README.md`).
//!
//! CoNLL columns: the word, its part of speech (`upos`) and its entity label (`ner`).

/// The training part: 1,076 sentences.
pub const SAMPLE_TRAIN: &str = include_str!("../../corpora/sample/train.conll");

/// The development part: 311 sentences.
pub const SAMPLE_DEV: &str = include_str!("../../corpora/sample/dev.conll");

/// The test part: 311 sentences.
pub const SAMPLE_TEST: &str = include_str!("../../corpora/sample/test.conll");

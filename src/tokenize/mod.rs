//! Tokenization: raw text to sentences of words.
//!
//! Word boundaries are those of UAX #29 (`unicode-segmentation`), corrected where UAX #29 alone
//! would hurt a tagger, following the conventions of the corpora that taggers are trained on
//! (English Web Treebank, CoNLL, W-NUT). `docs/tokenization.md` lists the rules with examples,
//! which are tests.
//!
//! Tokenizing takes time linear in the length of the text, for any text.

mod abbreviation;
mod sentence;
mod text_run;
mod tokenizer;
mod web;
mod word;

#[cfg(test)]
mod tests;

pub use tokenizer::{Tokenizer, offsets, sentences, tokens};

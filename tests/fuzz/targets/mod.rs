//! What is fuzzed, by module.

mod corpora;
mod labels;
mod models;
mod templates;
mod tokenizer;

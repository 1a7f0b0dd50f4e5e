//! What is fuzzed, by module.

mod checkpoints;
mod corpora;
mod labels;
mod models;
mod templates;
mod tokenizer;

//! What is fuzzed, by module.

mod checkpoints;
mod corpora;
mod crfsuite_models;
mod labels;
mod models;
mod templates;
mod tokenizer;

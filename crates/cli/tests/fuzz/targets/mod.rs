//! What is fuzzed, by module.

mod checkpoints;
mod corpora;
mod crfsuite_models;
mod instances;
mod labels;
mod models;
#[cfg(feature = "serve")]
mod requests;
mod templates;
mod tokenizer;

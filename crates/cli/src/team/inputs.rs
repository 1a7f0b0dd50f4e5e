//! What a rank has read, as hashes: ranks that have read different files would train different
//! models.

use std::hash::{Hash, Hasher};

use dropchain::train::BaseModels;
use dropchain::{Corpus, Result, Sentence, Template};
use serde_json::{Value, json};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// What a rank has read, part by part: how to name a difference, and a hash.
#[derive(Debug, Default, PartialEq)]
pub struct Inputs(Vec<(String, u64)>);

impl Inputs {
    /// Adds the options, and the version of the program that has them.
    pub fn options(mut self, options: &Value) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        self.add("runs another version".to_owned(), version.as_bytes());
        let options = options.to_string();
        self.add("has other options".to_owned(), options.as_bytes());
        self
    }

    /// Adds the sentences of each file.
    pub fn corpus(mut self, corpus: &Corpus) -> Self {
        let files = corpus.sentences().chunk_by(|a, b| a.file() == b.file());
        for sentences in files {
            let mut hasher = Xxh3::new();
            sentences.iter().for_each(|s| hash_sentence(s, &mut hasher));
            let what = format!("read other sentences from {}", sentences[0].file());
            self.0.push((what, hasher.finish()));
        }
        self
    }

    /// Adds the template, with the files that belong to it.
    pub fn template(mut self, template: Option<&Template>) -> Self {
        let mut hasher = Xxh3::new();
        if let Some(template) = template {
            template.hash_content(&mut hasher);
        }
        let what = "read another template, or other clusters, vectors or lists for it,";
        self.0.push((what.to_owned(), hasher.finish()));
        self
    }

    /// Adds the models to continue from.
    ///
    /// # Errors
    ///
    /// A model is damaged.
    pub fn models(mut self, models: &BaseModels<'_>) -> Result<Self> {
        for (_, model) in models.iter() {
            let what = format!("read another model from {}", model.path().display());
            self.add(what, &model.fingerprint()?.to_le_bytes());
        }
        Ok(self)
    }

    fn add(&mut self, what: String, contents: &[u8]) {
        self.0.push((what, xxh3_64(contents)));
    }

    /// Returns what is different from `first`, if anything is.
    pub fn difference(&self, first: &Self) -> Option<&str> {
        let mut pairs = self.0.iter().zip(&first.0);
        match pairs.find(|(here, there)| here != there) {
            Some(((what, _), _)) => Some(what),
            None if self.0.len() == first.0.len() => None,
            None => Some("read other files"),
        }
    }

    /// Encodes the inputs for another rank.
    pub fn encode(&self) -> Vec<u8> {
        json!(self.0).to_string().into_bytes()
    }

    /// Decodes the inputs of another rank. Those of a rank that encodes them differently are
    /// different.
    pub fn decode(bytes: &[u8]) -> Self {
        Self(serde_json::from_slice(bytes).unwrap_or_default())
    }
}

/// Hashes what training uses of a sentence.
fn hash_sentence(sentence: &Sentence, hasher: &mut impl Hasher) {
    sentence.hash_content(hasher);
    let Some(attributes) = &sentence.attributes else {
        return;
    };
    for t in 0..attributes.len() {
        hash_attributes(attributes.token(t), hasher);
        hash_attributes(attributes.edge(t), hasher);
    }
}

fn hash_attributes<'a>(list: impl Iterator<Item = (&'a str, f64)>, hasher: &mut impl Hasher) {
    for (name, value) in list {
        (name, value.to_bits()).hash(hasher);
    }
    hasher.write_u8(0);
}

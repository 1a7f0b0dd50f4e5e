//! The files that the user has, and how they are used.

use std::path::{Path, PathBuf};

use dropchain::corpus::ReadOptions;

/// The files that the user has.
#[derive(Clone, Debug, Default)]
pub struct KnowledgeFiles {
    /// Text to learn Brown clusters from, all of it together; or finished cluster files of any
    /// [`ResourceKind`](dropchain::template::ResourceKind), each by itself.
    pub clusters: Vec<PathBuf>,
    /// Word vectors in the formats of word2vec and GloVe.
    pub vectors: Vec<PathBuf>,
    /// Lists of names of any [`ResourceKind`](dropchain::template::ResourceKind).
    pub gazetteers: Vec<PathBuf>,
}

impl KnowledgeFiles {
    /// Returns all files.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.clusters.iter().chain(&self.vectors).chain(&self.gazetteers).map(PathBuf::as_path)
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// How files become lines of a template.
#[derive(Clone, Debug)]
pub struct KnowledgeOptions {
    /// Number of clusters to learn from text, 2 to 10,000.
    pub clusters: usize,
    /// Number of words to read from the beginning of each file of vectors.
    pub vectors: usize,
    /// How to read the text that clusters are learned from. Without a format, `.txt` is raw text.
    pub read: ReadOptions,
}

impl KnowledgeOptions {
    /// The default of [`clusters`](field@Self::clusters).
    pub const CLUSTERS: usize = 1000;
    /// The default of [`vectors`](field@Self::vectors).
    pub const VECTORS: usize = 50_000;
}

impl Default for KnowledgeOptions {
    fn default() -> Self {
        Self { clusters: Self::CLUSTERS, vectors: Self::VECTORS, read: ReadOptions::default() }
    }
}

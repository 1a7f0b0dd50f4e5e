//! Clusters, vectors and gazetteers for any template.

use std::path::PathBuf;

use clap::Args;
use dropchain::corpus::Format;
use dropchain::template::Template;
use dropchain::train::log::Source;
use dropchain::{Error, Result};
use dropchain_knowledge::{Knowledge, KnowledgeFiles, KnowledgeOptions};
use serde_json::json;

use super::arguments::InputArguments;
use super::file_name::FileName;
use super::progress::Progress;

/// Files of outside knowledge, and how they are used.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Outside knowledge (docs/knowledge.md)")]
pub struct KnowledgeArguments {
    /// Text to learn word clusters from, or finished cluster files; adds lines to the template
    ///
    /// Brown clusters are learned from all text together (.txt is raw text, other files are read
    /// like training files, without their labels). A file with lines `path TAB word` holds finished
    /// clusters. Takes all arguments up to the next option, so put TRAIN first.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    clusters: Vec<FileName>,
    /// Number of clusters to learn from text
    #[arg(long, default_value_t = KnowledgeOptions::CLUSTERS, value_name = "N",
          requires = "clusters", hide_short_help = true, hide_long_help = true)]
    cluster_count: usize,
    /// Files of word vectors (word2vec, GloVe); adds lines to the template
    #[arg(long, num_args = 1.., value_name = "FILE", hide_short_help = true)]
    vectors: Vec<FileName>,
    /// Number of words to take from the beginning of each file of vectors
    #[arg(long, default_value_t = KnowledgeOptions::VECTORS, value_name = "N",
          requires = "vectors", hide_short_help = true, hide_long_help = true)]
    vector_count: usize,
    /// Lists of names, one phrase per line; adds lines to the template
    #[arg(long, num_args = 1.., value_name = "FILE")]
    gazetteer: Vec<FileName>,
}

impl KnowledgeArguments {
    /// Returns the files.
    pub fn files(&self) -> KnowledgeFiles {
        let paths = |names: &[FileName]| names.iter().map(PathBuf::from).collect();
        KnowledgeFiles {
            clusters: paths(&self.clusters),
            vectors: paths(&self.vectors),
            gazetteers: paths(&self.gazetteer),
        }
    }

    /// Reads the files, and learns clusters from those that are text.
    pub fn read(&self, input: &InputArguments, progress: &Progress) -> Result<Knowledge> {
        let files = self.files();
        if files.is_empty() {
            return Ok(Knowledge::default());
        }
        let mut read = input.read_options();
        // The format of training files in columns says nothing about text.
        read.format = read.format.filter(|format| *format != Format::Conll);
        let options = KnowledgeOptions {
            clusters: self.cluster_count,
            vectors: self.vector_count,
            read,
        };
        let knowledge = Knowledge::read(&files, &options, &mut |what| progress.update(what))?;
        for part in knowledge.parts() {
            progress.println(&format!("{}: {}", part.name, part.description()));
        }
        Ok(knowledge)
    }

    /// Adds lines to a template; sentences that come with attributes have none.
    pub fn attach(
        &self,
        knowledge: &Knowledge,
        template: Option<Template>,
    ) -> Result<Option<Template>> {
        match template {
            Some(template) => knowledge.attach(&template).map(Some),
            None if knowledge.parts().is_empty() => Ok(None),
            None => Err(Error::parameter(
                "--clusters, --vectors and --gazetteer add lines to a template, and the training \
                 files come with attributes (CRFsuite's format); expected other training files",
            )),
        }
    }
}

/// Returns what a log says of knowledge: its parts serialize to the fields of sources.
pub fn sources(knowledge: &Knowledge) -> Vec<Source> {
    let parts = knowledge.parts().iter();
    parts
        .filter_map(|part| serde_json::from_value(json!(part)).ok())
        .collect()
}

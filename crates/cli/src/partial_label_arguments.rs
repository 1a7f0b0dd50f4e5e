//! The arguments for labels that are not fully known.

use std::collections::HashSet;

use clap::Args;
use dropchain::corpus::Corpus;

/// How to read labels that are not fully known.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct PartialLabelArguments {
    /// Labels of TRAIN may be unknown (`_`) or one of several (`B-PER|B-ORG`)
    ///
    /// Otherwise `_` and `B-PER|B-ORG` are labels like any other. In JSON lines, null and arrays
    /// of labels are partial labels too.
    #[arg(long)]
    pub partial_labels: bool,
}

impl PartialLabelArguments {
    /// Returns a hint if labels of `corpus` look partial, but are read as ordinary labels.
    pub fn hint(&self, corpus: &Corpus) -> Option<String> {
        if self.partial_labels {
            return None;
        }
        let mut labels = HashSet::new();
        for sentence in corpus {
            labels.extend((0..sentence.len()).filter_map(|t| sentence.label(t)));
        }
        let is_set = |label: &&&str| {
            label.contains('|') && label.split('|').all(|part| labels.contains(part))
        };
        let label = match labels.get("_") {
            Some(label) if labels.len() > 1 => label,
            _ => labels.iter().filter(|label| is_set(label)).min()?,
        };
        Some(format!(
            "note: '{label}' is trained as a label like any other; with --partial-labels, '_' is \
             an unknown label and A|B one of two"
        ))
    }
}

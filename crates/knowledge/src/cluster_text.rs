//! Learning clusters from files of text.

use std::path::Path;

use crate::KnowledgeOptions;
use crate::cluster::{Clusters, InternedText};
use crate::part::{KnowledgeKind, KnowledgePart};
use dropchain::corpus::{Format, ReadOptions, Reader, Supervision};
use dropchain::kernel::memory::input_over_limit;
use dropchain::sentence::SourceFile;
use dropchain::template::cluster_lines;
use dropchain::{Error, Result};

/// Learns clusters from the text of all files together.
///
/// # Errors
///
/// A file cannot be read or holds pre-extracted attributes; there are too few words, or too little
/// memory.
pub(super) fn learn_clusters(
    files: &[&Path],
    name: String,
    options: &KnowledgeOptions,
    progress: &mut dyn FnMut(String),
) -> Result<KnowledgePart> {
    let (text, sources) = read_cluster_text(files, &options.read, progress)?;
    let (tokens, words) = (text.tokens(), text.words(1));
    let (held, needed) = (text.memory(), text.memory_to_cluster(options.clusters));
    options.read.limits.memory.check(needed as u64, held as u64).map_err(|over| {
        Error::parameter(format!(
            "learning clusters: {over}; expected fewer clusters, less text or a larger limit"
        ))
    })?;
    let learned = Clusters::learn(text, options.clusters, 1, &mut in_tenths(progress))?;
    let text = cluster_lines(&learned.text(), &name)?;
    Ok(KnowledgePart {
        clusters: Some(learned.count),
        words: Some(words),
        tokens: Some(tokens),
        ..KnowledgePart::new(KnowledgeKind::Clusters, name, sources, text, 0)
    })
}

/// Returns an observer of [`Clusters::learn`] that reports progress in steps of 10 %.
pub fn in_tenths(mut progress: impl FnMut(String)) -> impl FnMut(usize, usize) {
    let mut reported = 0;
    move |done, total| {
        let tenths = 10 * done / total.max(1);
        if tenths > reported {
            reported = tenths;
            progress(format!("clustered {done} of {total} words"));
        }
    }
}

/// Streams the sentences of all files, and returns their words and the files that were read. Their
/// format is guessed unless the options have one.
///
/// # Errors
///
/// A file cannot be read or holds pre-extracted attributes; the text takes more memory than the
/// options allow.
pub fn read_cluster_text<P: AsRef<Path>>(
    files: &[P],
    options: &ReadOptions,
    progress: &mut dyn FnMut(String),
) -> Result<(InternedText, Vec<SourceFile>)> {
    let (mut text, mut sources) = (InternedText::default(), Vec::new());
    let limit = options.limits.memory.bytes(0);
    for file in files {
        let name = file.as_ref().to_string_lossy();
        progress(format!("reading {name}"));
        let format = options.format.unwrap_or_else(|| Format::guess_unlabeled(&name));
        let options = ReadOptions {
            format: Some(format),
            unlabeled: true,
            supervision: Supervision { weights: false, ..Supervision::default() },
            ..options.clone()
        };
        for sentence in Reader::open(&[file.as_ref().as_os_str()], &options)? {
            let sentence = sentence?;
            if sources.last() != Some(sentence.file()) {
                sources.push(sentence.file().clone());
            }
            if !sentence.layout.document_start {
                let words = sentence.words().filter(|_| sentence.attributes.is_none());
                text.add(words.ok_or_else(|| {
                    let message = "found pre-extracted attributes; expected words (raw text, \
                                   CoNLL, CoNLL-U or JSON lines)";
                    Error::input(sentence.place(0), message)
                })?)?;
            }
            if text.memory() as u64 > limit {
                let what = "the text up to here needs";
                let place = sentence.place(0);
                return Err(input_over_limit(place, what, limit, "less text"));
            }
        }
    }
    Ok((text, sources))
}

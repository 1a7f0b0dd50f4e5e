//! How to write sentences.

use std::sync::Arc;

use super::format::WriteFormat;
use super::tagged::Tagged;
use crate::error::{Error, Result};
use crate::sentence::split_label;

/// How to write sentences.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The format.
    pub format: Arc<dyn WriteFormat>,
    /// CoNLL: the column separator, a tab or a space. It is the same for the whole output, since a
    /// reader detects it from the first line. That of the input is
    /// [`Reader::separator`](crate::corpus::Reader::separator).
    pub separator: char,
    /// Whether the labels encode spans (any scheme but raw): then JSON lines have `spans`, and
    /// other formats mark spans instead of single tokens.
    pub spans: bool,
    /// CoNLL-U: the column for the label, by name or index; any other name is a key in `MISC`.
    pub label: String,
    /// The names of the columns that the labels join, if they join several: labels are split, and
    /// columns (or keys) of these names hold the parts. In CoNLL-U they replace `label`.
    pub joined: Vec<String>,
    /// JSON lines: whether each object names the file of its sentence, as `file`.
    pub files: bool,
    /// JSON lines: whether `offset` is the position in the file, not in the text of the sentence.
    pub file_offsets: bool,
    /// CoNLL-U: whether the first sentence starts a document, for when several writers share the
    /// sentences of an input.
    pub new_document: bool,
}

impl WriteOptions {
    /// Tab-separated columns, labels that encode spans, and `upos` as the label column of CoNLL-U.
    #[must_use]
    pub fn new(format: impl WriteFormat + 'static) -> Self {
        Self {
            format: Arc::new(format),
            separator: '\t',
            spans: true,
            label: "upos".to_owned(),
            joined: Vec::new(),
            files: false,
            file_offsets: false,
            new_document: false,
        }
    }

    /// Splits the label of token `t` into the values of the columns that it joins, if it joins any.
    pub(super) fn parts<'a>(
        &self,
        tagged: &Tagged,
        t: usize,
        label: &'a str,
    ) -> Result<Vec<&'a str>> {
        if self.joined.is_empty() {
            return Ok(vec![label]);
        }
        split_label(label, self.joined.len()).ok_or_else(|| {
            Error::input(
                tagged.sentence.place(t),
                format!(
                    "the label {label:?} does not consist of values of {} columns ({})",
                    self.joined.len(),
                    self.joined.join("+")
                ),
            )
        })
    }
}

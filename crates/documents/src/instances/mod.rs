//! Documents with a class, and how files store them: a document per line, ready-made features, or a
//! document each.

mod line;
mod reader;
mod table;

use std::ffi::OsStr;
use std::path::Path;

use clap::ValueEnum;

use dropchain::corpus::ReadOptions;
use dropchain::sentence::SourceFile;
use dropchain::{Error, Place, Result};

pub use reader::InstanceReader;

/// A document: a text, or features that were made elsewhere, perhaps with its class.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The name of its class, if it is known.
    pub label: Option<String>,
    /// Its content: text or features.
    pub content: InstanceContent,
    /// The name of its file; `-` is standard input.
    pub file: SourceFile,
    /// First line of the document in the file, from 1; 0 if it is the whole file.
    pub line: u64,
}

/// The content of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum InstanceContent {
    /// Text.
    Text(String),
    /// Names of features with their values.
    Features(Vec<(String, f64)>),
}

/// How files store documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum InstanceFormat {
    /// A class, a tab, and a text on each line
    Labeled,
    /// A text on each line, without classes
    Text,
    /// Comma-separated values (RFC 4180) with a row of column names
    Csv,
    /// Tab-separated values with a row of column names
    Tsv,
    /// JSON: {"text": …, "label": …}, one on a line or in an array
    Jsonl,
    /// Ready-made features as in SVMlight and LIBSVM: a class, then index:value, ascending indices
    /// from 1, then perhaps a comment after #
    Svmlight,
    /// A folder of files for each class, or of files without classes
    Folder,
}

/// The format of documents, and the keys or columns of their text and class.
#[derive(Clone, Debug)]
pub struct InstanceReadOptions {
    /// The format; `None`: by name, and of lines with tabs by whether the first names the columns.
    pub format: Option<InstanceFormat>,
    /// The format of files whose name does not tell.
    pub default_format: InstanceFormat,
    /// The column or key of texts. Of tables, `text` also stands for other common names.
    pub text: String,
    /// The column or key of labels; `None`: `label`, of tables also other common names.
    pub label: Option<String>,
    /// Whether a document without a label is an error.
    pub needs_labels: bool,
    /// The encoding, the report of what was replaced, and the limit on memory; the rest is unused.
    pub read: ReadOptions,
}

impl Default for InstanceReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            default_format: InstanceFormat::Labeled,
            text: Self::TEXT.to_owned(),
            label: None,
            needs_labels: true,
            read: ReadOptions::default(),
        }
    }
}

impl InstanceReadOptions {
    /// The default of [`text`](field@Self::text).
    const TEXT: &str = "text";

    /// Returns the column or key of labels.
    fn label(&self) -> &str {
        self.label.as_deref().unwrap_or("label")
    }

    /// Returns whether the column or key of texts or of labels was named.
    fn has_names(&self) -> bool {
        self.text != Self::TEXT || self.label.is_some()
    }

    /// Checks the class of a document; `fault` makes an error with its place.
    fn check_label(
        &self,
        label: Option<String>,
        fault: impl Fn(&str) -> Error,
    ) -> Result<Option<String>> {
        match label.as_deref() {
            Some("") if self.needs_labels => Err(fault("the label is empty; expected a class")),
            None if self.needs_labels => Err(fault("found no label; expected a class")),
            Some("") | None => Ok(None),
            Some(_) => Ok(label),
        }
    }
}

impl Instance {
    /// Creates a document in memory from a text.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { label: None, content: InstanceContent::Text(text.into()), file: "-".into(), line: 1 }
    }

    /// Creates a document in memory from names of features with their values.
    pub fn from_features<S: Into<String>>(features: impl IntoIterator<Item = (S, f64)>) -> Self {
        let features = features.into_iter().map(|(name, value)| (name.into(), value));
        Self { content: InstanceContent::Features(features.collect()), ..Self::from_text("") }
    }

    /// Returns the document with its class.
    #[must_use]
    pub fn with_label(self, label: impl Into<String>) -> Self {
        Self { label: Some(label.into()), ..self }
    }

    /// Returns the document without its class.
    #[must_use]
    pub fn without_label(self) -> Self {
        Self { label: None, ..self }
    }

    /// Returns where the document begins.
    pub fn place(&self) -> Place {
        match self.line {
            0 => Place::file(&*self.file),
            line => Place::line(&*self.file, line),
        }
    }
}

impl InstanceFormat {
    /// Returns the format that the name of a file tells, after an ending `.gz`; `None` for other
    /// names.
    pub fn of_name(name: &OsStr) -> Option<Self> {
        let path = Path::new(name);
        if path.is_dir() {
            return Some(Self::Folder);
        }
        let path = match path.extension() {
            Some(extension) if extension == "gz" => Path::new(path.file_stem()?),
            _ => path,
        };
        match path.extension()?.to_str()? {
            "csv" => Some(Self::Csv),
            "jsonl" | "json" | "ndjson" => Some(Self::Jsonl),
            "svm" | "svmlight" | "libsvm" => Some(Self::Svmlight),
            _ => None,
        }
    }
}

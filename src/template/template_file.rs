//! A parsed template file and its stored form.

use std::hash::{Hash, Hasher};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use super::ast::{ColumnRef, TemplateFunction, TemplateLine, TemplateLines};
use super::attribute_lines::AttributeLines;
use super::bind;
use super::caseless::CaseFolder;
use super::extractor::Extractor;
use super::parser::{format_document, parse_lines, strip_document};
use super::resources::{Load, Resources};
use super::shape::{KnownWords, is_known_word_candidate};
use crate::error::{Error, Place, Result, ensure};
use crate::input_file::{read_text, read_text_prefix};
use crate::sentence::{DocumentOptions, PREDICTIONS, Schema, Sentence, SourceFile};

/// Maximum size of a template file, in bytes; typical ones have a few kilobytes.
const MAX_SOURCE: usize = 1 << 20;

/// The name and text of each template in `features/`.
const SHIPPED: [(&str, &str); 9] = [
    ("minimal", include_str!("../../features/minimal.tpl")),
    ("chunk", include_str!("../../features/chunk.tpl")),
    ("pos", include_str!("../../features/pos.tpl")),
    ("ner", include_str!("../../features/ner.tpl")),
    ("ner-document", include_str!("../../features/ner-document.tpl")),
    ("ner-two-passes", include_str!("../../features/ner-two-passes.tpl")),
    ("ner-finkel", include_str!("../../features/ner-finkel.tpl")),
    ("ner-finkel-edges", include_str!("../../features/ner-finkel-edges.tpl")),
    ("pos-sancl", include_str!("../../features/pos-sancl.tpl")),
];

/// A parsed template file, with the files it refers to and what was learned from the training data.
///
/// Models store it whole: text, lexica, clusters, word vectors and known words. Deserializing
/// parses the text again, so a damaged model yields an error, never an invalid template.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "StoredTemplate", into = "StoredTemplate")]
pub struct Template {
    pub(super) stored: StoredTemplate,
    pub(super) parsed: Arc<TemplateLines>,
    sources: Vec<SourceFile>, // that were read
}

/// The stored form of a [`Template`].
#[derive(Clone, Debug, Default, Hash, Serialize, Deserialize)]
pub(super) struct StoredTemplate {
    source: Arc<str>,
    pub file: Arc<str>,
    pub files: Vec<(String, Arc<str>)>,
    pub known_words: Arc<KnownWords>, // learned from the training data
    caseless: bool,                   // whether sentences without case have their own attributes
}

impl From<Template> for StoredTemplate {
    fn from(template: Template) -> Self {
        template.stored
    }
}

impl TryFrom<StoredTemplate> for Template {
    type Error = Error;

    fn try_from(stored: StoredTemplate) -> Result<Self> {
        // Files in the file system are not opened, whatever the names.
        let mut load = |name: &str| {
            let file = stored.files.iter().rfind(|(other, _)| other == name);
            let missing = || Error::parameter("the file is not stored with the template");
            Ok(file.ok_or_else(missing)?.1.to_string())
        };
        let resources = Resources::stored(&mut load);
        let mut template = Self::parse_in(&stored.source, &stored.file, resources)?;
        template.stored.known_words = stored.known_words;
        template.stored.caseless = stored.caseless;
        Ok(template)
    }
}

/// Parses a template that refers to no files. Its name in error messages is `template`.
///
/// ```
/// use dropchain::Template;
///
/// let template: Template = "word\nsuffix(3)\n".parse()?;
/// assert!("lexicon(\"names.txt\")".parse::<Template>().is_err());
/// # Ok::<(), dropchain::Error>(())
/// ```
impl FromStr for Template {
    type Err = Error;

    fn from_str(source: &str) -> Result<Self> {
        Self::parse(source, "template", &mut no_files)
    }
}

impl Template {
    /// Parses the text of a template file, in dropchain's own language or that of CRF++ or Wapiti.
    ///
    /// `file` is its name in error messages. `resources` returns the text of a file that the
    /// template refers to, such as a lexicon, given the name in the template.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at the line and column of the first error, or at the line of an invalid
    /// file that the template refers to.
    pub fn parse(
        source: &str,
        file: &str,
        resources: &mut dyn FnMut(&str) -> Result<String>,
    ) -> Result<Self> {
        Self::parse_in(source, file, Resources::new(Path::new(""), resources))
    }

    /// Reads a template file. File names in it are relative to its directory.
    ///
    /// It may refer to any file that the process can read, and the model will hold their contents.
    /// Read a template from an untrusted source with [`Template::read_without_files`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read, and those of [`Template::parse`].
    pub fn read(path: &Path) -> Result<Self> {
        let directory = path.parent().unwrap_or(Path::new(""));
        let mut sources = Vec::new();
        let mut load = |name: &str| {
            let path = directory.join(name);
            let file = read_text_prefix(&path, Resources::READ_LIMIT, "a text file")?;
            sources.push(file.source);
            Ok(file.text)
        };
        Ok(Self::read_in(directory, path, &mut load)?.with_sources(sources))
    }

    /// Reads a template file that may not refer to other files.
    ///
    /// # Errors
    ///
    /// The errors of [`Template::read`], and [`Error::Input`] at the first reference to a file.
    pub fn read_without_files(path: &Path) -> Result<Self> {
        Self::read_in(Path::new(""), path, &mut no_files)
    }

    fn read_in(directory: &Path, path: &Path, load: Load<'_>) -> Result<Self> {
        let file = read_text(path, MAX_SOURCE, "a template")?;
        let resources = Resources::new(directory, load);
        let template = Self::parse_in(&file.text, &path.display().to_string(), resources)?;
        Ok(template.with_sources([file.source]))
    }

    /// Returns the template with more files that its contents were read from.
    #[must_use]
    pub fn with_sources(mut self, sources: impl IntoIterator<Item = SourceFile>) -> Self {
        self.sources.extend(sources);
        self
    }

    /// Returns the files that the template was read from, and of each whether it is the template
    /// itself. None of a template of a model, or one that ships with dropchain.
    #[cfg(feature = "train")]
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&SourceFile, bool)> {
        self.sources.iter().map(|source| (source, **source == *self.stored.file))
    }

    fn parse_in(source: &str, file: &str, mut resources: Resources<'_>) -> Result<Self> {
        if source.len() > MAX_SOURCE {
            let message = format!("the template file is larger than {MAX_SOURCE} bytes");
            return Err(Error::input(Place::file(file), message));
        }
        let parsed = parse_lines(source, file, &mut resources)?.into();
        let stored = StoredTemplate {
            source: source.into(),
            file: file.into(),
            files: resources.into_files(),
            ..StoredTemplate::default()
        };
        Ok(Self { stored, parsed, sources: Vec::new() })
    }

    /// Returns the names of the templates that ship with dropchain.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        SHIPPED.iter().map(|(name, _)| *name)
    }

    /// Parses the template `name` that ships with dropchain; `None` if there is no such template.
    pub fn shipped(name: &str) -> Option<Result<Self>> {
        let (_, source) = SHIPPED.iter().find(|(shipped, _)| *shipped == name)?;
        Some(Self::parse(source, &format!("{name}.tpl"), &mut no_files))
    }

    /// Returns the text of the template file, as read.
    pub fn source(&self) -> &str {
        &self.stored.source
    }

    /// Returns the names of the files that the template refers to, relative to its directory.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.stored.files.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the name and the number of bytes of each file that the template stores.
    pub fn files(&self) -> impl Iterator<Item = (&str, usize)> {
        self.stored.files.iter().map(|(name, text)| (name.as_str(), text.len()))
    }

    /// Returns whether the template has the syntax of CRF++ or Wapiti.
    pub fn is_pattern_file(&self) -> bool {
        self.parsed.dialect.is_some()
    }

    /// Returns the template with more lines, which may refer to more files, given by name and
    /// contents: vectors, [`cluster_lines`](super::cluster_lines) or
    /// [`phrase_lines`](super::phrase_lines). It has learned nothing yet.
    ///
    /// # Errors
    ///
    /// The errors of [`Template::parse`].
    pub fn with_lines(&self, lines: &str, files: &[(&str, &str)]) -> Result<Self> {
        let mut load = |name: &str| {
            let own = self.stored.files.iter().map(|(own, text)| (&**own, &**text));
            let found = own.chain(files.iter().copied()).find(|(own, _)| *own == name);
            let missing = || Error::parameter("the template does not have this file");
            Ok(found.ok_or_else(missing)?.1.to_owned())
        };
        let source = format!("{}\n{lines}", self.stored.source.trim_end());
        let template = Self::parse_in(&source, &self.stored.file, Resources::stored(&mut load))?;
        Ok(template.with_sources(self.sources.iter().cloned()))
    }

    /// Returns the template without the name of its file, which only error messages use.
    #[must_use]
    pub fn without_name(mut self) -> Self {
        self.stored.file = Arc::default();
        self
    }

    /// Hashes all that the template stores but its name.
    pub fn hash_content(&self, hasher: &mut impl Hasher) {
        StoredTemplate { file: Arc::default(), ..self.stored.clone() }.hash(hasher);
    }

    /// Returns whether label pairs have weights of their own. They do, except in a CRF++ or Wapiti
    /// file without a bare `B`.
    pub fn transitions(&self) -> bool {
        self.parsed.transitions
    }

    /// Returns what a document is to the template; `None` if no attribute depends on other
    /// sentences.
    pub fn documents(&self) -> Option<DocumentOptions> {
        let sees_document = |f: &TemplateFunction| f.sees_document() || reads_one(f, &PREDICTIONS);
        self.functions().any(sees_document).then_some(self.parsed.documents)
    }

    /// Sets what a document is, as the line `document: …` of the file does, which is replaced or
    /// appended.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if no attribute depends on other sentences, or the file is too large
    /// for another line.
    pub fn with_documents(mut self, documents: DocumentOptions) -> Result<Self> {
        ensure(self.documents().is_some(), || {
            let expected = "expected such a line, or no rule for documents";
            let fault = "no line of the template looks at the document (others, mention)";
            format!("{fault}; {expected}")
        })?;
        if self.parsed.documents == documents {
            return Ok(self);
        }
        let line = format_document(documents) + "\n";
        let is_document = |text: &str| strip_document(text).is_some();
        let lines = self.stored.source.split_inclusive('\n');
        let lines = lines.map(|text| if is_document(text) { &line } else { text });
        let mut source: String = lines.collect();
        if !self.stored.source.lines().any(is_document) {
            source += if source.ends_with('\n') { "" } else { "\n" };
            source += &line;
        }
        ensure(source.len() <= MAX_SOURCE, || {
            format!("the template file is larger than {MAX_SOURCE} bytes")
        })?;
        Arc::make_mut(&mut self.parsed).documents = documents;
        self.stored.source = source.into();
        Ok(self)
    }

    /// Returns whether some template is crossed with the label pair.
    pub fn has_edges(&self) -> bool {
        self.parsed.lines.iter().any(|line| line.edge)
    }

    /// Returns the columns that the templates read, without duplicates, in order of first mention.
    pub fn columns(&self) -> Vec<ColumnRef> {
        distinct(self.functions().filter_map(TemplateFunction::column))
    }

    /// Returns the template without the lines that read one of these columns; `None` if no line
    /// does.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] if no line is left.
    pub fn without_columns(&self, names: &[&str]) -> Result<Option<Self>> {
        let reads = |line: &&TemplateLine| line.functions().any(|f| reads_one(f, names));
        let lines = self.parsed.lines.iter().filter(reads);
        let numbers: HashSet<u64> = lines.map(|line| line.number).collect();
        if numbers.is_empty() {
            return Ok(None);
        }
        // Blank lines instead of no lines keep the numbers of the others.
        let kept = self.stored.source.split('\n').zip(1..);
        let kept = kept.map(|(line, number)| if numbers.contains(&number) { "" } else { line });
        let source = kept.collect::<Vec<_>>().join("\n");
        let stored = StoredTemplate { source: source.into(), ..self.stored.clone() };
        Self::try_from(stored).map(Some)
    }

    fn functions(&self) -> impl Iterator<Item = &TemplateFunction> {
        self.parsed.lines.iter().flat_map(TemplateLine::functions)
    }

    /// Learns what depends on the training data: the known words that the Stanford shapes mark with
    /// `k`, which are those that occur in lower case. Replaces what was learned before. Does
    /// nothing if no template uses such a shape.
    pub fn learn<'a>(&mut self, sentences: impl Iterator<Item = &'a Sentence>) {
        let with_known_words = self.functions().filter(|f| f.uses_known_words());
        let read = with_known_words.filter_map(TemplateFunction::column);
        let columns = distinct(read.chain(self.stored.caseless.then_some(&ColumnRef::Word)));
        if columns.is_empty() {
            return;
        }
        let mut known_words = KnownWords::default();
        for sentence in sentences {
            let columns = columns.iter().filter_map(|c| c.index(sentence.schema()));
            for (column, t) in columns.flat_map(|c| (0..sentence.len()).map(move |t| (c, t))) {
                let word = sentence.cell(t, column);
                if is_known_word_candidate(word) && !known_words.contains(word) {
                    known_words.insert(word.into());
                }
            }
        }
        self.stored.known_words = Arc::new(known_words);
    }

    /// Adds what another template has learned, if this one uses it.
    pub fn learn_from(&mut self, other: &Self) {
        self.stored.caseless |= other.stored.caseless;
        if self.stored.caseless || self.functions().any(TemplateFunction::uses_known_words) {
            let known_words = Arc::make_mut(&mut self.stored.known_words);
            known_words.extend(other.stored.known_words.iter().cloned());
        }
    }

    /// Gives sentences whose case says nothing attributes of their own, those of their words in
    /// lower case, with a prefix. Call it before [`learn`](Self::learn).
    pub fn set_caseless(&mut self) {
        self.stored.caseless = true;
    }

    /// Returns the lines that have attributes, and which attributes are theirs.
    pub fn attribute_lines(&self) -> AttributeLines<'_> {
        AttributeLines::new(&self.parsed, &self.stored.source)
    }

    /// Binds the templates to the columns of a corpus.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at a template that reads a missing column, or the column of the labels.
    pub fn bind(&self, schema: &Schema) -> Result<Extractor> {
        let bind = |known| bind::bind(&self.parsed, &self.stored.file, schema, known);
        let known = Arc::clone(&self.stored.known_words);
        let extractor = bind(Arc::clone(&known))?;
        let Some(column) = ColumnRef::Word.index(schema).filter(|_| self.stored.caseless) else {
            return Ok(extractor);
        };
        // The shapes of sentences without case do not mark known words: in lower case, a word of
        // the training data without the mark would be a name, and one of other text only a new
        // word.
        Ok(extractor.with_caseless(CaseFolder { column, known }, bind(Arc::default())?))
    }
}

/// Refuses a file that a template refers to.
fn no_files(_: &str) -> Result<String> {
    Err(Error::parameter("files are not allowed in this template"))
}

/// Returns whether a function reads one of the columns with these names.
fn reads_one(function: &TemplateFunction, names: &[&str]) -> bool {
    let column = function.column();
    matches!(column, Some(ColumnRef::Name(name)) if names.contains(&name.as_str()))
}

/// Collects `columns` without duplicates.
fn distinct<'a>(columns: impl Iterator<Item = &'a ColumnRef>) -> Vec<ColumnRef> {
    let mut seen = HashSet::new();
    columns.filter(|column| seen.insert(*column)).cloned().collect()
}

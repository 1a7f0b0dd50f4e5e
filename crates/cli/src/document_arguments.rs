//! What a document is, for templates that look at documents.

use clap::Args;
use dropchain::corpus::{Corpus, DocumentOptions, DocumentRule, Separation};
use dropchain::tag::Tagger;
use dropchain::{Result, Template};

use super::arguments::by_name;
use super::progress::Progress;

/// The windows that are allowed.
const WINDOWS: std::ops::RangeInclusive<i64> = 1..=DocumentOptions::MAX_WINDOW as i64;

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
    #[arg(
        long,
        value_parser = by_name::<DocumentRule>(DocumentRule::ALL.map(DocumentRule::name)),
        value_name = "RULE",
        hide_short_help = true
    )]
    document: Option<DocumentRule>,
    /// Number of tokens before and after a word that such templates look at [default: what the
    /// model was trained with, or 1000]
    #[arg(
        long,
        value_name = "TOKENS",
        value_parser = clap::value_parser!(u32).range(WINDOWS),
        hide_short_help = true, hide_long_help = true
    )]
    document_window: Option<u32>,
}

impl DocumentArguments {
    /// Changes what a document is as far as the arguments say so.
    fn apply(self, documents: DocumentOptions) -> DocumentOptions {
        DocumentOptions {
            rule: self.document.unwrap_or(documents.rule),
            window: self.document_window.unwrap_or(documents.window),
        }
    }

    /// Returns whether there are arguments.
    pub fn are_given(self) -> bool {
        self.document.is_some() || self.document_window.is_some()
    }

    /// Sets what a document is to a template. The built-in template `ner` becomes `ner-document`,
    /// unless every sentence is to be a document.
    ///
    /// # Errors
    ///
    /// There are arguments, but the template does not look at documents.
    pub fn apply_to_template(self, template: Template) -> Result<Template> {
        if !self.are_given() {
            return Ok(template);
        }
        let template = match in_documents(&template) {
            Some(_) if self.document == Some(DocumentRule::Sentence) => return Ok(template),
            Some(in_documents) => in_documents?,
            None => template,
        };
        let documents = template.documents().unwrap_or_default();
        template.with_documents(self.apply(documents))
    }

    /// Sets what a document is to a tagger, if its template looks at documents.
    pub fn apply_to_tagger(self, tagger: Tagger) -> Result<Tagger> {
        match tagger.documents() {
            Some(documents) => tagger.with_documents(self.apply(documents)),
            None => Ok(tagger),
        }
    }
}

/// Returns the built-in template `ner-document` for `ner`; `None` for other templates.
fn in_documents(template: &Template) -> Option<Result<Template>> {
    let ner = Template::shipped("ner")?.ok()?;
    let is_ner = template.source() == ner.source();
    is_ner.then(|| Template::shipped("ner-document")).flatten()
}

/// Returns the template for a corpus: the built-in template `ner` becomes `ner-document` if the
/// corpus marks documents, which is printed.
pub fn template_for(template: Template, corpus: &Corpus, progress: &Progress) -> Result<Template> {
    match in_documents(&template) {
        Some(in_documents) if marks_documents(corpus) => {
            progress.println(
                "the corpus marks documents, so the template ner is ner-document (--document \
                 sentence keeps ner)",
            );
            in_documents
        }
        _ => Ok(template),
    }
}

fn marks_documents(corpus: &Corpus) -> bool {
    let mut sentences = corpus.iter();
    sentences.any(|sentence| sentence.layout.separation.contains(Separation::MARK))
}

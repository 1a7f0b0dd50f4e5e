//! What a document is, for templates that look at documents.

use clap::{Args, ValueEnum};
use dropchain::corpus::{DocumentOptions, DocumentRule};
use dropchain::tag::Tagger;
use dropchain::{Result, Template};

/// What a document is, for templates that look at documents.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Documents")]
pub struct DocumentArguments {
    /// What separates documents, for templates that look at documents (others, mention) [default:
    /// what the model was trained with, or auto]
    #[arg(long, value_enum, value_name = "RULE")]
    document: Option<DocumentName>,
    /// Number of tokens before and after a word that such templates look at [default: what the
    /// model was trained with, or 1000]
    #[arg(long, value_name = "TOKENS",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(DocumentOptions::MAX_WINDOW)))]
    document_window: Option<u32>,
}

/// What separates documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DocumentName {
    /// Marks (-DOCSTART-, # newdoc, the key \"doc\"), and the end of each file
    Auto,
    /// Every sentence is a document
    Sentence,
    /// Every file is a document
    File,
    /// Only marks: a document may go on in the next file
    Marks,
    /// Blank lines of raw text; elsewhere, two in a row
    BlankLine,
    /// Form feeds in raw text
    FormFeed,
    /// Every line of raw text, or of JSON lines, is a document
    Line,
}

impl From<DocumentName> for DocumentRule {
    fn from(name: DocumentName) -> Self {
        match name {
            DocumentName::Auto => Self::Auto,
            DocumentName::Sentence => Self::Sentence,
            DocumentName::File => Self::File,
            DocumentName::Marks => Self::Marks,
            DocumentName::BlankLine => Self::BlankLine,
            DocumentName::FormFeed => Self::FormFeed,
            DocumentName::Line => Self::Line,
        }
    }
}

impl DocumentArguments {
    /// Changes what a document is as far as the arguments say so.
    fn apply(self, documents: DocumentOptions) -> DocumentOptions {
        DocumentOptions {
            rule: self.document.map_or(documents.rule, DocumentRule::from),
            window: self.document_window.unwrap_or(documents.window),
        }
    }

    /// Sets what a document is to a template.
    ///
    /// # Errors
    ///
    /// There are arguments, but the template does not look at documents.
    pub fn apply_to_template(self, template: Template) -> Result<Template> {
        if self.document.is_none() && self.document_window.is_none() {
            return Ok(template);
        }
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

//! The source of attributes: a template, or the input itself.

use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::sentence::{Document, Schema, Sentence};
use crate::template::{Attribute, AttributeSink, Extractor, Template, Workspace};

/// Produces the attributes of each token.
#[derive(Debug)]
pub struct AttributeSource(SourceKind);

#[derive(Debug)]
enum SourceKind {
    /// A template, bound to the columns of the input.
    Template(Box<Extractor>),
    /// The input itself ([`Sentence::attributes`]).
    Input(Fingerprinter),
}

impl AttributeSource {
    /// Creates the source for sentences of `schema`: the template or, if there is none, the
    /// attributes that come with the input.
    ///
    /// # Errors
    ///
    /// The template reads columns that `schema` does not have.
    pub fn bind(template: Option<&Template>, schema: &Schema) -> Result<Self> {
        Ok(Self(match template {
            Some(template) => SourceKind::Template(Box::new(template.bind(schema)?)),
            None => SourceKind::Input(Fingerprinter::default()),
        }))
    }

    /// Returns whether some attributes belong to a group of template lines with options.
    #[must_use]
    pub(super) fn has_groups(&self) -> bool {
        match &self.0 {
            SourceKind::Template(extractor) => extractor.has_groups(),
            SourceKind::Input(_) => false,
        }
    }

    /// Returns whether attributes depend on other sentences of the document.
    #[must_use]
    pub fn sees_document(&self) -> bool {
        match &self.0 {
            SourceKind::Template(extractor) => extractor.sees_document(),
            SourceKind::Input(_) => false,
        }
    }

    /// Sets the fingerprinter that computes the keys of attributes.
    #[must_use]
    pub(crate) fn with_fingerprinter(self, fingerprinter: Fingerprinter) -> Self {
        Self(match self.0 {
            SourceKind::Template(extractor) => {
                SourceKind::Template(Box::new(extractor.with_fingerprinter(fingerprinter)))
            }
            SourceKind::Input(_) => SourceKind::Input(fingerprinter),
        })
    }

    /// Passes all attributes of a sentence to `sink`, token by token; `end_token(t)` follows the
    /// attributes of token `t`.
    ///
    /// # Errors
    ///
    /// A cell that should be a number is not; without a template, the sentence has no attributes or
    /// the wrong number of them; the sink returns an error.
    pub fn attributes<S: TokenSink>(
        &self,
        sentence: &Sentence,
        workspace: &mut Workspace,
        sink: &mut S,
    ) -> Result<()> {
        match &self.0 {
            SourceKind::Template(extractor) => {
                extractor.prepare(sentence, workspace)?;
                template_attributes(extractor, sentence, workspace, sink)
            }
            SourceKind::Input(fingerprinter) => input_attributes(sentence, *fingerprinter, sink),
        }
    }

    /// Like [`attributes`](Self::attributes), for sentence `i` of a document.
    ///
    /// # Errors
    ///
    /// Same as [`attributes`](Self::attributes), or there is no such sentence.
    pub fn attributes_in<S: TokenSink>(
        &self,
        document: &Document<'_>,
        i: usize,
        workspace: &mut Workspace,
        sink: &mut S,
    ) -> Result<()> {
        match &self.0 {
            SourceKind::Template(extractor) => {
                extractor.prepare_in(document, i, workspace)?;
                template_attributes(extractor, document.sentences()[i], workspace, sink)
            }
            SourceKind::Input(_) => self.attributes(document.sentences()[i], workspace, sink),
        }
    }
}

/// Passes the attributes of a sentence that the workspace is prepared for to `sink`.
fn template_attributes<S: TokenSink>(
    extractor: &Extractor,
    sentence: &Sentence,
    workspace: &mut Workspace,
    sink: &mut S,
) -> Result<()> {
    for t in 0..sentence.len() {
        extractor.extract(sentence, t, workspace, sink);
        sink.end_token(t)?;
    }
    Ok(())
}

/// Passes the attributes that come with a sentence to `sink`.
fn input_attributes<S: TokenSink>(
    sentence: &Sentence,
    fingerprinter: Fingerprinter,
    sink: &mut S,
) -> Result<()> {
    let Some(attributes) = &sentence.attributes else {
        return Err(Error::input(
            sentence.place(0),
            "found columns; expected pre-extracted attributes (CRFsuite's format), because \
             there is no template",
        ));
    };
    if attributes.is_full() {
        let message = "the sentence has more than 4 GiB of attributes";
        return Err(Error::input(sentence.place(0), message));
    }
    if attributes.len() != sentence.len() {
        return Err(Error::input(
            sentence.place(0),
            format!(
                "found attributes for {} tokens; expected them for all {} of the sentence",
                attributes.len(),
                sentence.len()
            ),
        ));
    }
    for t in 0..sentence.len() {
        for (name, value) in attributes.token(t) {
            sink.node(&Attribute::named(name.as_bytes(), fingerprinter), value);
        }
        for (name, value) in attributes.edge(t) {
            sink.edge(&Attribute::named(name.as_bytes(), fingerprinter), value);
        }
        sink.end_token(t)?;
    }
    Ok(())
}

/// An [`AttributeSink`] that also receives the boundaries of tokens.
pub trait TokenSink: AttributeSink {
    /// Called after the last attribute of token `t`.
    ///
    /// # Errors
    ///
    /// The first error among the attributes of this token.
    fn end_token(&mut self, t: usize) -> Result<()>;
}

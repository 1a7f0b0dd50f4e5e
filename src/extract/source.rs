//! The source of attributes: a template, or the input itself.

use crate::error::{Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::sentence::{Schema, Sentence, SentenceRef};
use crate::template::{Attribute, AttributeSink, BundleSink, Extractor, Template, Workspace};

/// Produces the attributes of each token.
#[derive(Debug)]
pub enum AttributeSource {
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
        Ok(match template {
            Some(template) => Self::Template(Box::new(template.bind(schema)?)),
            None => Self::Input(Fingerprinter::default()),
        })
    }

    /// Sets the fingerprinter that computes the keys of attributes.
    #[must_use]
    pub fn with_fingerprinter(self, fingerprinter: Fingerprinter) -> Self {
        match self {
            Self::Template(extractor) => {
                Self::Template(Box::new(extractor.with_fingerprinter(fingerprinter)))
            }
            Self::Input(_) => Self::Input(fingerprinter),
        }
    }

    /// Returns a copy of a training sentence without case, with `weight` times its weight, if the
    /// template gives such sentences attributes of their own and the copy is another sentence.
    ///
    /// # Errors
    ///
    /// The sentence is too long, or the weight too large.
    pub fn caseless_copy(&self, sentence: &Sentence, weight: f64) -> Result<Option<Sentence>> {
        match self {
            Self::Template(extractor) => extractor.caseless_copy(sentence, weight),
            Self::Input(_) => Ok(None),
        }
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
        context: SentenceRef<'_>,
        workspace: &mut Workspace,
        sink: &mut S,
    ) -> Result<()> {
        let sentence = context.sentence();
        match self {
            Self::Template(extractor) => {
                extractor.prepare(context, workspace)?;
                for t in 0..sentence.len() {
                    extractor.extract(sentence, t, workspace, sink);
                    sink.end_token(t)?;
                }
                Ok(())
            }
            Self::Input(fingerprinter) => input_attributes(sentence, *fingerprinter, sink),
        }
    }

    /// Passes all attributes of a sentence to `sink` like [`attributes`](Self::attributes), those
    /// of bundles first, and of these only what the sink wants.
    ///
    /// # Errors
    ///
    /// Same as [`attributes`](Self::attributes).
    pub fn bundles<S: TokenSink + BundleSink>(
        &self,
        context: SentenceRef<'_>,
        workspace: &mut Workspace,
        sink: &mut S,
    ) -> Result<()> {
        let Self::Template(extractor) = self else {
            return self.attributes(context, workspace, sink);
        };
        extractor.prepare(context, workspace)?;
        extractor.start_bundles(workspace, sink);
        for t in 0..context.sentence().len() {
            extractor.extract_bundles(t, workspace, sink);
            sink.end_token(t)?;
        }
        Ok(())
    }
}

/// Passes the attributes that come with a sentence to `sink`.
fn input_attributes<S: TokenSink>(
    sentence: &Sentence,
    fingerprinter: Fingerprinter,
    sink: &mut S,
) -> Result<()> {
    let fault = |message: &str| Err(Error::input(sentence.place(0), message));
    let Some(attributes) = &sentence.attributes else {
        return fault(
            "found columns; expected pre-extracted attributes (CRFsuite's format), because there \
             is no template",
        );
    };
    if attributes.is_full() {
        return fault("the sentence has more than 4 GiB of attributes");
    }
    let (found, tokens) = (attributes.len(), sentence.len());
    if found != tokens {
        return fault(&format!(
            "found attributes for {found} tokens; expected them for all {tokens} of the sentence"
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

//! Reads, tags and writes a stream of sentences.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use dropchain::corpus::{Reader, WriteOptions, Writer};
use dropchain::label::Scheme;
use dropchain::tag::{
    Batch, BatchOutput, Condition, NamedTagging, TagInput, TagOptions, Tagger, Tagging, Workspace,
    stream_documents, stream_in_order,
};
use dropchain::{Error, Result, Sentence};
use dropchain_formats::{InputFormat, TextFormat, TextWriter};

use super::forced_arguments::ForcedArguments;

/// Reads, tags and writes a stream of sentences.
pub struct TaggingPipeline<'a> {
    pub tagger: &'a Tagger,
    pub options: TagOptions,
    /// The scheme of the labels in the output.
    pub scheme: Scheme,
    pub forced: &'a ForcedArguments,
    pub format: InputFormat,
    pub threads: usize,
}

/// Where the output goes.
pub struct OutputStreams<W> {
    pub out: W,
    /// The name of `out` in error messages.
    pub name: String,
    /// The text of annotations ([`TextWriter::with_text`]).
    pub text: Option<Box<dyn Write + Send>>,
}

/// The sentences of a batch, in a format that needs all of them in order.
#[derive(Default)]
struct TaggedBatch<'a>(Vec<(Arc<Sentence>, NamedTagging<'a>)>);

impl BatchOutput for TaggedBatch<'_> {
    fn memory(&self) -> usize {
        let sentences = self.0.iter();
        sentences
            .map(|(s, tagging)| s.memory() + tagging.memory())
            .sum()
    }
}

impl TaggingPipeline<'_> {
    /// Tags what the reader has.
    pub fn run<W: Write + Send>(
        &self,
        reader: Reader,
        options: &WriteOptions,
        streams: OutputStreams<W>,
    ) -> Result<()> {
        // Report invalid output options before reading anything.
        Writer::new(io::sink(), &streams.name, options)?;
        match options.format.has_texts() {
            true => self.write_texts(reader, options, streams),
            false => self.write_sentences(reader, options, streams),
        }
    }

    /// Writes sentences: their batches are formatted in parallel.
    fn write_sentences<W: Write + Send>(
        &self,
        reader: Reader,
        options: &WriteOptions,
        streams: OutputStreams<W>,
    ) -> Result<()> {
        let name = &streams.name;
        let tag = |batch: &Batch, workspace: &mut Workspace, text: &mut Vec<u8>| {
            let options = WriteOptions {
                separator: batch.separator,
                new_document: batch.new_document,
                ..options.clone()
            };
            let mut writer = Writer::new(text, name, &options)?;
            let documents = batch.documents();
            for (i, sentence) in batch.sentences.iter().enumerate() {
                let condition = self.forced.condition(sentence, self.format)?;
                let input = documents.input(i);
                let tagging = self.tag(input, condition.as_ref(), self.options, workspace)?;
                let tagging = NamedTagging::new(self.tagger, tagging, self.scheme);
                writer.write(&tagging.tagged(sentence))?;
            }
            Ok(())
        };
        let documents = self.tagger.context();
        let error = |error| Error::io(name, error);
        stream_documents(reader, documents, self.threads, streams.out, tag, error)
    }

    /// Writes texts: sentences are tagged in parallel, and written one after the other. Spans do
    /// not depend on the scheme of their labels.
    fn write_texts<'a, W: Write + Send>(
        &'a self,
        reader: Reader,
        options: &WriteOptions,
        streams: OutputStreams<W>,
    ) -> Result<()> {
        let tag = |batch: &Batch, workspace: &mut Workspace, tagged: &mut TaggedBatch<'a>| {
            let documents = batch.documents();
            for (i, sentence) in batch.sentences.iter().enumerate() {
                let tagging = self.mark(sentence, documents.input(i), workspace)?;
                tagged.0.push((Arc::clone(sentence), tagging));
            }
            Ok(())
        };
        let out = BufWriter::new(streams.out);
        let mut writer = match streams.text {
            None => Writer::new(out, &streams.name, options)?,
            Some(text) => {
                let annotations = TextWriter::new(TextFormat::Brat, options.spans);
                let annotations = annotations.with_text(text);
                Writer::with(out, &streams.name, Box::new(annotations))
            }
        };
        let documents = self.tagger.context();
        let write = |batch: TaggedBatch<'a>| {
            for (sentence, tagging) in &batch.0 {
                writer.write(&tagging.tagged(sentence))?;
            }
            writer.flush()
        };
        stream_in_order(reader, documents, self.threads, tag, write)?;
        writer.finish()
    }

    fn tag(
        &self,
        input: TagInput<'_>,
        condition: Option<&Condition>,
        options: TagOptions,
        workspace: &mut Workspace,
    ) -> Result<Tagging> {
        match condition {
            None => self.tagger.tag_with(input, options, workspace),
            Some(condition) => (self.tagger).tag_given(input, condition, options, workspace),
        }
    }

    /// Tags a sentence, with the probabilities of its spans, or of its labels if these encode no
    /// spans, if marginals were requested.
    fn mark(
        &self,
        sentence: &Sentence,
        input: TagInput<'_>,
        workspace: &mut Workspace,
    ) -> Result<NamedTagging<'_>> {
        let tagger = self.tagger;
        let condition = self.forced.condition(sentence, self.format)?;
        let options = TagOptions {
            marginals: false,
            ..self.options
        };
        let mut tagging = self.tag(input, condition.as_ref(), options, workspace)?;
        let header = tagger.model().header();
        let mut probabilities = None;
        if self.options.marginals && !sentence.layout.document_start {
            let distribution = match &condition {
                None => tagger.distribution(input)?,
                Some(condition) => tagger.distribution_given(input, condition)?,
            };
            let labels = tagger.label_names(&tagging.labels);
            let marks: Result<Vec<f64>> = if header.encodes_spans() {
                let spans = header.scheme.spans(&labels);
                let spans = spans.iter();
                spans
                    .map(|span| distribution.span_probability(span))
                    .collect()
            } else {
                let labels = labels.iter().enumerate();
                labels
                    .map(|(t, label)| distribution.marginal(t, label))
                    .collect()
            };
            probabilities = Some(marks?);
            tagging.probability = Some(distribution.probability(&labels)?);
        }
        let tagging = NamedTagging::new(tagger, tagging, header.scheme);
        Ok(tagging.with_mark_probabilities(probabilities))
    }
}

//! Reads, tags and writes a stream of sentences.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use dropchain::corpus::{Reader, WriteOptions, Writer};
use dropchain::label::Labeling;
use dropchain::tag::{
    Batch, BatchOutput, TagInput, TagOptions, Tagger, Tagging, Threshold, Workspace, stream,
};
use dropchain::{Error, Result, Sentence};
use dropchain_formats::{InputFormat, TextFormat, TextWriter};

use crate::tag_batch::Totals;
use crate::tag_input::ForcedArguments;
use crate::tag_output::OutputStreams;

/// Reads, tags and writes a stream of sentences.
pub struct TaggingPipeline<'a> {
    pub tagger: &'a Tagger,
    pub options: TagOptions,
    /// Which spans are written, if their probabilities are computed.
    pub threshold: Option<Threshold>,
    /// The scheme of the labels in the output.
    pub labeling: Labeling,
    pub forced: &'a ForcedArguments,
    pub format: InputFormat,
    pub threads: usize,
    pub totals: Totals,
}

/// A sentence with its predictions.
pub struct Candidate {
    pub sentence: Arc<Sentence>,
    pub tagging: Tagging,
    pub separator: char,
}

impl Candidate {
    pub fn memory(&self) -> usize {
        self.sentence.memory() + self.tagging.memory()
    }
}

/// The sentences of a batch, each with what their output also needs: its uncertainty and its place.
pub struct TaggedBatch<T>(pub Vec<(Candidate, T)>);

impl<T> Default for TaggedBatch<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Send> BatchOutput for TaggedBatch<T> {
    fn memory(&self) -> usize {
        self.0.iter().map(|(candidate, _)| candidate.memory() + size_of::<T>()).sum()
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
        mut streams: OutputStreams<W>,
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
                let tagging = self.tag(sentence, documents.input(i), workspace)?;
                writer.write(&self.tagger.tagged(sentence, &tagging, &self.labeling))?;
            }
            Ok(())
        };
        let (documents, out) = (self.tagger.context(), &mut streams.out);
        let write = |text: Vec<u8>| {
            out.write_all(&text).and_then(|()| out.flush()).map_err(|error| Error::io(name, error))
        };
        stream(reader, documents, self.threads, tag, write)
    }

    /// Writes texts: sentences are tagged in parallel, and written one after the other. Spans do
    /// not depend on the scheme of their labels.
    fn write_texts<W: Write + Send>(
        &self,
        reader: Reader,
        options: &WriteOptions,
        streams: OutputStreams<W>,
    ) -> Result<()> {
        type Batched = TaggedBatch<()>;
        let tag = |batch: &Batch, workspace: &mut Workspace, tagged: &mut Batched| {
            let documents = batch.documents();
            for (i, sentence) in batch.sentences.iter().enumerate() {
                let tagging = self.tag(sentence, documents.input(i), workspace)?;
                let sentence = Arc::clone(sentence);
                tagged.0.push((Candidate { sentence, tagging, separator: batch.separator }, ()));
            }
            Ok(())
        };
        let out = BufWriter::new(streams.out);
        let mut writer = match streams.text {
            None => Writer::new(out, &streams.name, options)?,
            Some(text) => {
                let annotations = TextWriter::new(TextFormat::Brat, options).with_text(text);
                Writer::with(out, &streams.name, Box::new(annotations))
            }
        };
        let documents = self.tagger.context();
        let labeling = &self.tagger.model().header().labeling;
        let write = |batch: Batched| {
            for (Candidate { sentence, tagging, .. }, ()) in batch.0 {
                writer.write(&self.tagger.tagged(&sentence, &tagging, labeling))?;
            }
            writer.flush()
        };
        stream(reader, documents, self.threads, tag, write)?;
        writer.finish()
    }

    /// Tags a sentence, without the spans below the threshold, if there is one.
    pub fn tag(
        &self,
        sentence: &Sentence,
        input: TagInput<'_>,
        workspace: &mut Workspace,
    ) -> Result<Tagging> {
        let condition = self.forced.condition(sentence, self.format)?;
        let mut tagging = self.tagger.tag_given(input, &condition, self.options, workspace)?;
        if let Some(threshold) = &self.threshold {
            self.tagger.mark(input, &condition, threshold, &mut tagging)?;
        }
        self.totals.add(sentence);
        Ok(tagging)
    }
}

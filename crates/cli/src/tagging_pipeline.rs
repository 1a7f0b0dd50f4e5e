//! Reads, tags and writes a stream of sentences, or those that are worth labeling next.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use clap::Args;
use dropchain::corpus::{Reader, Tagged, WriteOptions, Writer};
use dropchain::kernel::corpus::with_notes;
use dropchain::label::Labeling;
use dropchain::tag::{
    Batch, BatchOutput, Condition, TagInput, TagOptions, Tagger, Tagging, Workspace, stream,
};
use dropchain::{Error, MemoryLimit, Result, Sentence};
use dropchain_analysis::{Highest, uncertainty};
use dropchain_formats::{InputFormat, TextFormat, TextWriter};
use serde_json::Value;

use crate::tag_input::ForcedArguments;
use crate::tag_output::{OutputName, OutputStreams};
use dropchain_layout::printable;

/// Reads, tags and writes a stream of sentences.
pub struct TaggingPipeline<'a> {
    pub tagger: &'a Tagger,
    pub options: TagOptions,
    /// The scheme of the labels in the output.
    pub labeling: Labeling,
    pub forced: &'a ForcedArguments,
    pub format: InputFormat,
    pub threads: usize,
}

/// A sentence with its predictions.
struct Candidate {
    sentence: Arc<Sentence>,
    tagging: Tagging,
    separator: char,
}

impl Candidate {
    fn memory(&self) -> usize {
        self.sentence.memory() + self.tagging.memory()
    }
}

/// The sentences of a batch, each with what their output also needs: the probabilities of its
/// marks, or its uncertainty and its place.
struct TaggedBatch<T>(Vec<(Candidate, T)>);

/// The probabilities of the spans of a sentence, or of its labels if these encode none.
type MarkProbabilities = Option<Vec<f64>>;

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
                let condition = self.forced.condition(sentence, self.format)?;
                let input = documents.input(i);
                let tagging = self.tag(input, condition.as_ref(), self.options, workspace)?;
                writer.write(&self.tagger.tagged(sentence, &tagging, &self.labeling))?;
            }
            Ok(())
        };
        let (documents, out) = (self.tagger.context(), &mut streams.out);
        let write = |text: Vec<u8>| {
            let written = out.write_all(&text).and_then(|()| out.flush());
            written.map_err(|error| Error::io(name, error))
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
        type Batched = TaggedBatch<MarkProbabilities>;
        let tag = |batch: &Batch, workspace: &mut Workspace, tagged: &mut Batched| {
            let documents = batch.documents();
            for (i, sentence) in batch.sentences.iter().enumerate() {
                let (tagging, marks) = self.mark(sentence, documents.input(i), workspace)?;
                let sentence = Arc::clone(sentence);
                tagged.0.push((Candidate { sentence, tagging, separator: batch.separator }, marks));
            }
            Ok(())
        };
        let out = BufWriter::new(streams.out);
        let mut writer = match streams.text {
            None => Writer::new(out, &streams.name, options)?,
            Some(text) => {
                let annotations = TextWriter::new(TextFormat::Brat, options);
                let annotations = annotations.with_text(text);
                Writer::with(out, &streams.name, Box::new(annotations))
            }
        };
        let documents = self.tagger.context();
        let labeling = &self.tagger.model().header().labeling;
        let write = |batch: Batched| {
            for (Candidate { sentence, tagging, .. }, marks) in batch.0 {
                let tagged = self.tagger.tagged(&sentence, &tagging, labeling);
                writer.write(&Tagged { mark_probabilities: marks, ..tagged })?;
            }
            writer.flush()
        };
        stream(reader, documents, self.threads, tag, write)?;
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
    ) -> Result<(Tagging, MarkProbabilities)> {
        let tagger = self.tagger;
        let condition = self.forced.condition(sentence, self.format)?;
        let options = TagOptions { marginals: false, ..self.options };
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
                let spans = header.labeling.spans(&labels);
                let spans = spans.iter();
                spans.map(|span| distribution.span_probability(span)).collect()
            } else {
                let labels = labels.iter().enumerate();
                labels.map(|(t, label)| distribution.marginal(t, label)).collect()
            };
            probabilities = Some(marks?);
            tagging.probability = Some(distribution.probability(&labels)?);
        }
        Ok((tagging, probabilities))
    }
}

/// How many uncertain sentences to output.
#[derive(Clone, Copy, Debug, Args)]
pub struct UncertainArguments {
    /// Output only the N sentences that the model is most uncertain about, the most uncertain
    /// first: those worth labeling next
    ///
    /// Each has its uncertainty and its place in the input, as comments or as members of its JSON
    /// object. Nothing is written before the input ends.
    #[arg(long, value_name = "N", conflicts_with = "forced", help_heading = "Choosing sentences",
          value_parser = clap::value_parser!(u32).range(1..))]
    uncertain: Option<u32>,
}

impl UncertainArguments {
    /// Returns where uncertain sentences are collected, if only these are to be written.
    pub fn collector(
        self,
        memory: MemoryLimit,
        format: OutputName,
    ) -> Result<Option<UncertainSentences>> {
        let Some(limit) = self.uncertain else {
            return Ok(None);
        };
        if format.has_texts() {
            return Err(Error::parameter(format!(
                "--uncertain: the output format {format} has whole texts; expected one of \
                 sentences: conll, conllu, jsonl, inline"
            )));
        }
        Ok(Some(UncertainSentences { limit: limit as usize, format, memory: memory.bytes(0) }))
    }
}

/// Chooses the sentences that a model is most uncertain about.
pub struct UncertainSentences {
    limit: usize,
    format: OutputName,
    memory: u64, // limit of the sentences that are held
}

impl UncertainSentences {
    /// Tags what the reader has, and writes the sentences that the model is most uncertain about.
    pub fn choose<W: Write + Send>(
        self,
        pipeline: &TaggingPipeline<'_>,
        reader: Reader,
        options: &WriteOptions,
        streams: OutputStreams<W>,
    ) -> Result<()> {
        let OutputStreams { out, name, .. } = streams;
        let (tagger, format) = (pipeline.tagger, self.format);
        Writer::new(io::sink(), &name, options)?;
        type Ranked = TaggedBatch<(f64, (u64, usize))>; // uncertainty, and place in the input
        let tag = |batch: &Batch, workspace: &mut Workspace, ranked: &mut Ranked| {
            let documents = batch.documents();
            let sentences = batch.sentences.iter().enumerate();
            for (i, sentence) in
                sentences.filter(|(_, s)| !s.layout.document_start && !s.is_empty())
            {
                let input = documents.input(i);
                let candidate = Candidate {
                    sentence: Arc::clone(sentence),
                    tagging: tagger.tag_with(input, pipeline.options, workspace)?,
                    separator: batch.separator,
                };
                let uncertainty = uncertainty(tagger, input, workspace)?;
                let place = (batch.index(), i);
                ranked.0.push((candidate, (uncertainty, place)));
            }
            Ok(())
        };
        let (mut highest, mut held) = (Highest::new(self.limit), 0);
        let add = |batch: Ranked| {
            for (candidate, (uncertainty, place)) in batch.0 {
                // Counted once: what sentences of one line share would count differently later.
                let bytes = candidate.memory() as u64;
                held += bytes;
                if let Some((left, _)) = highest.add(uncertainty, place, (bytes, candidate)) {
                    held -= left;
                }
                if held > self.memory {
                    return Err(Error::parameter(
                        "--uncertain: so many sentences do not fit in memory; expected fewer, or \
                         a larger limit (--memory)",
                    ));
                }
            }
            Ok(())
        };
        let error = |error| Error::io(&name, error);
        stream(reader, tagger.context(), pipeline.threads, tag, add)?;
        let mut out = BufWriter::new(out);
        for (uncertainty, (_, candidate)) in highest.into_ranked() {
            let Candidate { sentence, tagging, separator } = candidate;
            let place = sentence.place(0);
            let notes = [
                ("uncertainty", Value::from(uncertainty)),
                ("file", Value::from(printable(&place.file))),
                ("line", Value::from(place.line)),
            ];
            if format == OutputName::Inline {
                let place = printable(&place.to_string());
                writeln!(out, "# {uncertainty:.6} {place}").map_err(error)?;
            }
            let options = WriteOptions { separator, ..options.clone() };
            let sentence = with_notes(&sentence, &notes);
            let tagged = tagger.tagged(&sentence, &tagging, &pipeline.labeling);
            Writer::new(&mut out, &name, &options)?.write(&tagged)?;
        }
        out.flush().map_err(error)
    }
}

//! Reads and tags a stream of sentences, and writes all of them, or those that are worth labeling
//! next: those that the model is most uncertain about.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use dropchain::corpus::{Reader, WriteOptions, Writer};
use dropchain::kernel::corpus::with_notes;
use dropchain::label::Labeling;
use dropchain::sentence::Offsets;
use dropchain::tag::{
    Batch, BatchOutput, Condition, TagInput, TagOptions, Tagger, Tagging, Threshold, Workspace,
    stream,
};
use dropchain::{Error, MemoryLimit, Result, Sentence, tokenize};
use dropchain_analysis::{Highest, WordPairs, uncertainty};
use dropchain_formats::{InputFormat, TextFormat, TextWriter};
use dropchain_layout::printable;
use serde_json::Value;

use crate::tag_input::ForcedArguments;
use crate::tag_output::{OutputName, OutputStreams};

/// Reads, tags and writes a stream of sentences.
pub struct TaggingPipeline<'a> {
    pub tagger: &'a Tagger,
    pub options: TagOptions,
    pub write: WriteOptions,
    /// Which spans are written, if their probabilities are computed.
    pub threshold: Option<Threshold>,
    /// The scheme of the labels in the output.
    pub labeling: Labeling,
    pub forced: &'a ForcedArguments,
    pub format: InputFormat,
    pub threads: usize,
    pub totals: Totals,
    /// The sentences that are chosen, if only some are to be written.
    pub uncertain: Option<UncertainSentences>,
}

/// How much was tagged.
#[derive(Debug, Default)]
pub struct Totals {
    pub sentences: AtomicU64,
    pub tokens: AtomicU64,
    pub conditions: AtomicU64, // sentences of which something was known
}

impl Totals {
    /// Adds a sentence that was tagged.
    pub fn add(&self, sentence: &Sentence, known: &Condition) {
        let is_content = !sentence.layout.document_start;
        self.sentences.fetch_add(is_content.into(), Ordering::Relaxed);
        self.tokens.fetch_add(sentence.len() as u64, Ordering::Relaxed);
        self.conditions.fetch_add((!known.is_empty()).into(), Ordering::Relaxed);
    }
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

/// The sentences of a batch, each with what their output also needs: its uncertainty and its place.
#[derive(Default)]
struct TaggedBatch<T>(Vec<(Candidate, T)>);

impl<T: Default + Send> BatchOutput for TaggedBatch<T> {
    fn memory(&self) -> usize {
        self.0.iter().map(|(candidate, _)| candidate.memory() + size_of::<T>()).sum()
    }
}

impl TaggingPipeline<'_> {
    /// Tags what the reader has.
    pub fn run<W: Write + Send>(&self, reader: Reader, streams: OutputStreams<W>) -> Result<()> {
        // Report invalid output options before reading anything.
        Writer::new(io::sink(), &streams.name, &self.write)?;
        match (&self.uncertain, self.write.format.has_texts()) {
            (Some(uncertain), _) => self.write_uncertain(uncertain, reader, streams),
            (None, true) => self.write_texts(reader, streams),
            (None, false) => self.write_sentences(reader, streams),
        }
    }

    /// Writes sentences: their batches are formatted in parallel.
    fn write_sentences<W>(&self, reader: Reader, mut streams: OutputStreams<W>) -> Result<()>
    where
        W: Write + Send,
    {
        let name = &streams.name;
        let tag = |batch: &Batch, workspace: &mut Workspace, text: &mut Vec<u8>| {
            let options = WriteOptions {
                separator: batch.separator,
                new_document: batch.new_document,
                ..self.write.clone()
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
            None => Writer::new(out, &streams.name, &self.write)?,
            Some(text) => {
                let annotations = TextWriter::new(TextFormat::Brat, &self.write).with_text(text);
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

    /// Writes the sentences that the model is most uncertain about.
    fn write_uncertain<W: Write + Send>(
        &self,
        uncertain: &UncertainSentences,
        reader: Reader,
        streams: OutputStreams<W>,
    ) -> Result<()> {
        let (name, format) = (streams.name, uncertain.format);
        let mut ranked = self.rank(uncertain, reader)?;
        ranked.truncate(uncertain.limit);
        // One separator for the whole output, from which readers detect it.
        let separator = ranked.first().map_or(self.write.separator, |(_, held)| held.separator);
        let options = WriteOptions { separator, ..self.write.clone() };
        let mut writer = Writer::new(BufWriter::new(streams.out), &name, &options)?;
        let labeling = match format.has_texts() {
            true => &self.tagger.model().header().labeling,
            false => &self.labeling,
        };
        for (uncertainty, Candidate { sentence, tagging, .. }) in ranked {
            let place = sentence.place(0);
            let notes = [
                ("uncertainty", Value::from(uncertainty)),
                ("file", Value::from(printable(&place.file))),
                ("line", Value::from(place.line)),
            ];
            if format == OutputName::Inline {
                let place = printable(&place.to_string());
                writeln!(writer.get_mut(), "# {uncertainty:.6} {place}")
                    .map_err(|error| Error::io(&name, error))?;
            }
            let mut sentence = with_notes(&sentence, &notes);
            if format.has_texts() {
                become_text(&mut sentence);
            }
            writer.write(&self.tagger.tagged(&sentence, &tagging, labeling))?;
        }
        writer.finish()
    }

    /// Tags what the reader has, and returns the sentences that the model is most uncertain about,
    /// the most uncertain first.
    fn rank(&self, chosen: &UncertainSentences, reader: Reader) -> Result<Vec<(f64, Candidate)>> {
        type Ranked = TaggedBatch<(f64, (u64, usize), WordPairs)>;
        let tag = |batch: &Batch, workspace: &mut Workspace, ranked: &mut Ranked| {
            let documents = batch.documents();
            let sentences = batch.sentences.iter().enumerate();
            for (i, sentence) in
                sentences.filter(|(_, s)| !s.layout.document_start && !s.is_empty())
            {
                let input = documents.input(i);
                let candidate = Candidate {
                    sentence: Arc::clone(sentence),
                    tagging: self.tag(sentence, input, workspace)?,
                    separator: batch.separator,
                };
                let uncertainty = uncertainty(self.tagger, input, workspace)?;
                let is_diverse = chosen.diverse;
                let pairs = if is_diverse { WordPairs::of(sentence) } else { WordPairs::default() };
                ranked.0.push((candidate, (uncertainty, (batch.index(), i), pairs)));
            }
            Ok(())
        };
        // Twice as many, for some of these leave when a later one is like several of them.
        let mut highest = Highest::new(chosen.limit << u32::from(chosen.diverse));
        let mut held = 0;
        let add = |batch: Ranked| {
            for (candidate, (uncertainty, place, pairs)) in batch.0 {
                // Counted once: what sentences of one line share would count differently later.
                let bytes = (candidate.memory() + pairs.memory()) as u64;
                held += bytes;
                let item = (bytes, pairs, candidate);
                let left = match chosen.diverse {
                    true => highest.add_unlike(uncertainty, place, item, |a, b| a.1.is_alike(&b.1)),
                    false => Vec::from_iter(highest.add(uncertainty, place, item)),
                };
                held -= left.iter().map(|(bytes, ..)| bytes).sum::<u64>();
                if held > chosen.memory {
                    return Err(Error::parameter(
                        "--uncertain: so many sentences do not fit in memory; expected fewer, or \
                         a larger limit (--memory)",
                    ));
                }
            }
            Ok(())
        };
        stream(reader, self.tagger.context(), self.threads, tag, add)?;
        let ranked = highest.into_ranked().into_iter();
        Ok(ranked.map(|(uncertainty, (.., candidate))| (uncertainty, candidate)).collect())
    }

    /// Tags a sentence, without the spans below the threshold, if there is one.
    fn tag(
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
        self.totals.add(sentence, &condition);
        Ok(tagging)
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
    /// Choose no sentence that is nearly the same as one the model is more uncertain about
    ///
    /// These share at least half of the pairs of neighboring words that either has, whatever the
    /// case and the numbers in them.
    #[arg(long, requires = "uncertain", help_heading = "Choosing sentences")]
    diverse: bool,
}

impl UncertainArguments {
    /// Returns the sentences that are to be chosen, if only these are to be written.
    pub fn chosen(
        self,
        limit: MemoryLimit,
        format: OutputName,
    ) -> Result<Option<UncertainSentences>> {
        if self.uncertain.is_some() && format == OutputName::Brat {
            return Err(Error::parameter(
                "--uncertain: annotations for BRAT refer to the positions in one text; expected \
                 another output format, such as label-studio or jsonl",
            ));
        }
        let (diverse, memory) = (self.diverse, limit.bytes(0));
        let chosen = |limit| UncertainSentences { limit: limit as usize, diverse, format, memory };
        Ok(self.uncertain.map(chosen))
    }
}

/// The sentences to choose: those that a model is most uncertain about.
pub struct UncertainSentences {
    limit: usize,
    diverse: bool,
    format: OutputName,
    memory: u64, // limit of the sentences that are held
}

/// Makes a sentence a text of its own, which was a part of one.
fn become_text(sentence: &mut Sentence) {
    let whole = Offsets::of_tokens(&sentence.offsets).map(|offsets| offsets.bytes);
    let source = sentence.layout.source.take();
    let text = source.as_deref().zip(whole.clone()).and_then(|(source, whole)| source.get(whole));
    if let Some((text, whole)) = text.zip(whole) {
        let tokens = sentence.offsets.iter().map(|token| &token.bytes);
        let tokens = tokens.map(|bytes| bytes.start - whole.start..bytes.end - whole.start);
        sentence.offsets = tokenize::offsets(text, tokens);
        sentence.layout.source = Some(text.into());
        sentence.layout.source_start = None;
        sentence.layout.ends_source = true;
    }
}

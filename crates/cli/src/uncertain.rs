//! The sentences that are worth labeling next.

use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::{Args, ValueEnum};
use dropchain::corpus::{Reader, WriteOptions, Writer, with_notes};
use dropchain::tag::{Batch, NamedTagging, TagInput, Tagger, Tagging, Workspace, stream_documents};
use dropchain::{Error, MemoryLimit, Result, Sentence};
use dropchain_analysis::{Highest, UncertaintyMeasure};
use serde_json::Value;

use super::tag_output::OutputName;
use super::tagging_pipeline::{OutputStreams, TaggingPipeline};
use super::terminal::printable;

/// How many uncertain sentences to output, and by which measure.
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
    /// Measure of uncertainty
    #[arg(
        long,
        value_enum,
        default_value = "confidence",
        value_name = "MEASURE",
        requires = "uncertain",
        help_heading = "Choosing sentences",
        hide_short_help = true
    )]
    uncertain_by: MeasureName,
}

/// Measures of uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeasureName {
    /// Low probability of the best labels, as the mean of a token: 1 − p^(1/T)
    Confidence,
    /// Small difference between the probabilities of the two best label sequences
    Margin,
    /// Entropy of the distribution over all label sequences, per token
    Entropy,
}

impl From<MeasureName> for UncertaintyMeasure {
    fn from(name: MeasureName) -> Self {
        match name {
            MeasureName::Confidence => Self::Confidence,
            MeasureName::Margin => Self::Margin,
            MeasureName::Entropy => Self::Entropy,
        }
    }
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
        let limit = limit as usize;
        Ok(Some(UncertainSentences {
            measure: self.uncertain_by.into(),
            format,
            memory: memory.bytes(0),
            collected: Mutex::new(Collected {
                highest: Highest::new(limit),
                held: 0,
            }),
        }))
    }
}

/// A sentence with its predictions.
struct Candidate {
    sentence: Arc<Sentence>,
    tagging: Tagging,
    separator: char,
}

impl Candidate {
    /// Returns the memory in bytes.
    fn memory(&self) -> u64 {
        let marginals = self.tagging.marginals.as_ref().map_or(0, |m| size_of_val(m.values()));
        let paths = 1 + self.tagging.nbest.len();
        (self.sentence.memory() + marginals + paths * (2 * self.sentence.len() + 64)) as u64
    }
}

struct Collected {
    highest: Highest<Candidate>,
    held: u64, // memory of the sentences
}

/// Collects the sentences that a model is most uncertain about.
pub struct UncertainSentences {
    measure: UncertaintyMeasure,
    format: OutputName,
    memory: u64,
    collected: Mutex<Collected>,
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
        let add = |batch: &Batch, workspace: &mut Workspace, _: &mut Vec<u8>| {
            let documents = batch.documents();
            for i in 0..batch.sentences.len() {
                let input = documents.input(i);
                let tagging = tagger.tag_with(input, pipeline.options, workspace)?;
                self.add(tagger, (batch, i), input, tagging, workspace)?;
            }
            Ok(())
        };
        let error = |error| Error::io(&name, error);
        let documents = tagger.context();
        stream_documents(reader, documents, pipeline.threads, io::sink(), add, error)?;
        let mut out = BufWriter::new(out);
        for (uncertainty, candidate) in self.into_ranked() {
            let Candidate {
                sentence,
                tagging,
                separator,
            } = candidate;
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
            let options = WriteOptions {
                separator,
                ..options.clone()
            };
            let tagging = NamedTagging::new(tagger, tagging, pipeline.scheme);
            let sentence = with_notes(&sentence, &notes);
            Writer::new(&mut out, &name, &options)?.write(&tagging.tagged(&sentence))?;
        }
        out.flush().map_err(error)
    }

    /// Adds sentence `i` of a batch with its predictions, if it is among the most uncertain ones
    /// so far.
    fn add(
        &self,
        tagger: &Tagger,
        (batch, i): (&Batch, usize),
        input: TagInput<'_>,
        tagging: Tagging,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let sentence = &batch.sentences[i];
        if sentence.layout.document_start || sentence.is_empty() {
            return Ok(());
        }
        let uncertainty = self.measure.of(tagger, input, workspace)?;
        let candidate = Candidate {
            sentence: Arc::clone(sentence),
            tagging,
            separator: batch.separator,
        };
        let mut collected = self.collected();
        collected.held += candidate.memory();
        let place = (batch.index(), i);
        if let Some(left) = collected.highest.add(uncertainty, place, candidate) {
            collected.held -= left.memory();
        }
        if collected.held > self.memory {
            return Err(Error::parameter(
                "--uncertain: so many sentences do not fit in memory; expected fewer, or a larger \
                 limit (--memory)",
            ));
        }
        Ok(())
    }

    /// Returns the sentences with their uncertainties, the most uncertain first.
    fn into_ranked(self) -> Vec<(f64, Candidate)> {
        let collected = self.collected.into_inner();
        let collected = collected.unwrap_or_else(PoisonError::into_inner);
        collected.highest.into_ranked()
    }

    fn collected(&self) -> MutexGuard<'_, Collected> {
        self.collected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

//! A gold file, tagged with a model.

use dropchain::corpus::{Corpus, Format, Reader, Tagged};
use dropchain::label::{LabelSet, Labeling, PlainLabels, Scheme, SchemeDetector};
use dropchain::model::Header;
use dropchain::sentence::{JoinedColumns, Sentence};
use dropchain::tag::{TagDocuments, TagOptions, Tagger, Tagging};
use dropchain::{Error, Result};
use dropchain_formats::InputFormat;
use rayon::prelude::*;

use crate::arguments::{FileName, InputArguments};
use crate::model_columns::ModelColumns;
use crate::predictions::{joined, labels, observed, say_reading};
use crate::progress::notice;
use crate::tag_input::open_tagger;
use crate::template_arguments::DocumentArguments;

/// Number of sentences that are tagged before their predictions are handed on: marginals of a
/// whole corpus would not fit in memory.
const BATCH: usize = 10_000;

/// A model and a gold file, read as the training data of the model.
pub struct GoldTagger {
    pub tagger: Tagger,
    file: FileName,
    pub corpus: Corpus,
}

impl GoldTagger {
    /// Opens a model and reads a gold file, by default in the columns of its training data.
    pub fn open(
        model: &FileName,
        gold: &FileName,
        (input, quiet): (&InputArguments, bool),
        documents: DocumentArguments,
    ) -> Result<Self> {
        let tagger = open_tagger(model)?.with_memory_limit(input.limits.memory());
        let tagger = documents.apply_to_tagger(tagger)?;
        let corpus = read_gold((input, quiet), tagger.model().header(), gold)?;
        Ok(Self { tagger, file: gold.clone(), corpus })
    }

    /// Replaces the gold data by a corpus with the columns of the training data, and returns them.
    pub fn with_corpus(self, corpus: Corpus) -> (Self, Corpus) {
        let old = self.corpus;
        (Self { corpus, ..self }, old)
    }

    /// Returns how the gold labels and the predictions encode spans, and says it; `detector` has
    /// seen none of them.
    pub fn labelings(&self, detector: &SchemeDetector, quiet: bool) -> [Labeling; 2] {
        let header = self.tagger.model().header();
        if self.joined().is_some() {
            return Default::default();
        }
        let predicted = match (detector.plain_labels(), header.corpus_labeling.scheme) {
            (PlainLabels::Tags, Scheme::Plain) => Labeling::default(),
            (PlainLabels::Spans, Scheme::Raw) => Scheme::Plain.into(),
            _ => header.corpus_labeling.clone(),
        };
        let observed = observed(&self.corpus, detector, Sentence::labels);
        let detected = observed.detected_for(&predicted);
        if !quiet {
            // What labels without prefixes are, the model has said.
            say_reading(&self.file, &detected, PlainLabels::Spans);
        }
        [detected.labeling, predicted]
    }

    /// Returns the columns that the labels of the model or the gold labels join, if they join
    /// several.
    pub fn joined(&self) -> Option<&JoinedColumns> {
        let header = self.tagger.model().header();
        header.columns.joined().or_else(|| joined(&self.corpus))
    }

    /// Tags the sentences and calls `visit` with the gold labels of each and its predictions, in
    /// the scheme of the gold labels; in their order, document boundaries without labels.
    pub fn tag(
        &self,
        options: TagOptions,
        visit: &mut dyn FnMut(&[&str], &Tagged<'_>) -> Result<()>,
    ) -> Result<()> {
        let header = self.tagger.model().header();
        let sentences = self.corpus.sentences();
        let documents = TagDocuments::new(&self.tagger, sentences);
        let outside = header.labeling.outside();
        let is_known = |label: &&str| *label != outside && header.labels.id(label).is_some();
        let mut any_known = header.corpus_labeling != header.labeling;
        for start in (0..sentences.len()).step_by(BATCH) {
            let batch = start..sentences.len().min(start + BATCH);
            let tag = |i: usize| {
                let tag = |workspace: &mut _| {
                    (self.tagger).tag_with(documents.input(i), options, workspace)
                };
                self.tagger.with_workspace(tag)
            };
            let taggings: Vec<Result<Tagging>> = batch.into_par_iter().map(tag).collect();
            for (sentence, tagging) in sentences[start..].iter().zip(taggings) {
                if sentence.layout.document_start {
                    visit(&[], &Tagged::new(sentence, Vec::new()))?;
                    continue;
                }
                let tagging = tagging?;
                let gold = labels(sentence)?;
                check_complete(sentence, &gold, &header.labels)?;
                any_known = any_known || gold.iter().any(is_known);
                visit(&gold, &self.tagger.tagged(sentence, &tagging, &header.corpus_labeling))?;
            }
        }
        if !any_known {
            notice(&format!(
                "warning: {}: the model knows none of the gold labels; check the label column \
                 (--label)",
                self.file
            ));
        }
        Ok(())
    }
}

/// Reads a gold file for a model.
fn read_gold(
    (input, quiet): (&InputArguments, bool),
    header: &Header,
    gold: &FileName,
) -> Result<Corpus> {
    let format = match input.format {
        Some(format) => format,
        None => match Format::of_labeled(gold)? {
            Format::Conll if header.template.is_none() => Format::Crfsuite.into(),
            format => format.into(),
        },
    };
    let model = ModelColumns(header);
    if format == InputFormat::Brat {
        // A folder has no first lines.
        let corpus = Corpus::read([gold], &input.read_options())?;
        input.text.print_notices(quiet);
        return Ok(corpus);
    }
    let reader = Reader::open_by_content(&[gold], |lines| {
        let mut options = input.read_options();
        options.decode(lines);
        let has_defaults = input.columns.is_none() && input.label.is_none();
        match format {
            InputFormat::Core(Format::Conll) if has_defaults => {
                options.columns = model.fewer(lines, &options, true)?;
            }
            InputFormat::Core(Format::Conllu) if has_defaults => {
                options.label = model.key(lines)?;
            }
            _ => {}
        }
        Ok(model.read_options(format, input.spans.options(), options))
    })?;
    let corpus = Corpus::collect(reader)?;
    input.text.print_notices(quiet);
    Ok(corpus)
}

/// Rejects gold labels that the model does not have and that look partial: `_`, or a set of labels
/// that it has.
fn check_complete(sentence: &Sentence, gold: &[&str], known: &LabelSet) -> Result<()> {
    let is_partial = |label: &&str| {
        let is_set = || label.contains('|') && label.split('|').all(|l| known.id(l).is_some());
        known.id(label).is_none() && (*label == "_" || is_set())
    };
    match gold.iter().position(is_partial) {
        None => Ok(()),
        Some(t) => Err(Error::input(
            sentence.place(t),
            format!(
                "found the partial label '{}'; evaluation needs one gold label for every token",
                gold[t]
            ),
        )),
    }
}

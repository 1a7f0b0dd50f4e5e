//! A gold file, tagged with a model.

use dropchain::corpus::{Corpus, Format, JoinedColumns, Reader, Tagged};
use dropchain::label::{LabelSet, PlainLabels, Scheme};
use dropchain::sentence::Sentence;
use dropchain::tag::{Header, NamedTagging, TagDocuments, TagOptions, Tagger, Tagging};
use dropchain::{Error, Result};
use dropchain_formats::InputFormat;
use rayon::prelude::*;

use crate::arguments::{FileName, InputArguments};
use crate::model_columns::ModelColumns;
use crate::predictions::{detect_scheme, joined, labels};
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
        input: &InputArguments,
        documents: DocumentArguments,
    ) -> Result<Self> {
        let tagger = open_tagger(model)?.with_memory_limit(input.limits.memory());
        let tagger = documents.apply_to_tagger(tagger)?;
        let corpus = read_gold(input, tagger.model().header(), gold)?;
        Ok(Self {
            tagger,
            file: gold.clone(),
            corpus,
        })
    }

    /// Returns the schemes of the gold labels and of the predictions, if labels without prefixes
    /// are `plain`.
    pub fn schemes(&self, plain: PlainLabels) -> [Scheme; 2] {
        let header = self.tagger.model().header();
        let plain = match header.joined {
            Some(_) => PlainLabels::Tags,
            None => header.plain_labels(plain),
        };
        let predicted = match (plain, header.corpus_scheme) {
            (PlainLabels::Tags, Scheme::Plain) => Scheme::Raw,
            (PlainLabels::Spans, Scheme::Raw) if !header.encodes_spans() => Scheme::Plain,
            (_, scheme) => scheme,
        };
        [detect_scheme(&self.corpus, plain), predicted]
    }

    /// Returns the columns that the labels of the model or the gold labels join, if they join
    /// several.
    pub fn joined(&self) -> Option<&JoinedColumns> {
        let header = self.tagger.model().header();
        header.joined.as_ref().or_else(|| joined(&self.corpus))
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
        let mut any_known = header.corpus_scheme != header.scheme;
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
                let named = NamedTagging::new(&self.tagger, tagging?, header.corpus_scheme);
                let gold = labels(sentence)?;
                check_complete(sentence, &gold, &header.labels)?;
                any_known = any_known || gold.iter().any(|label| header.labels.id(label).is_some());
                visit(&gold, &named.tagged(sentence))?;
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
fn read_gold(input: &InputArguments, header: &Header, gold: &FileName) -> Result<Corpus> {
    let format = match (input.format, Format::guess(gold)) {
        (Some(format), _) => format,
        (None, Format::Conll) if header.template.is_none() => Format::Crfsuite.into(),
        (None, format) => format.into(),
    };
    let model = ModelColumns(header);
    if format == InputFormat::Brat {
        // A folder has no first lines.
        let corpus = Corpus::read([gold], &input.read_options())?;
        input.text.print_notices();
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
    input.text.print_notices();
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

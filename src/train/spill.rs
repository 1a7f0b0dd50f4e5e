//! Training on text that memory does not hold: sentences are read several times, and their
//! attributes are kept in temporary files ([`Trainer::train_streamed`](super::Trainer)).
//!
//! Sentences are extracted, collapsed and counted part by part, in passes over a file with the
//! attributes; a last pass writes them as training multiplies them ([`SpilledBlocks`]). In memory
//! remain labels, names of attributes, weights, and one part or block at a time.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::corpus_info::CorpusInfo;
use super::data_counts::{DataCounts, entries};
use super::extracted::ExtractedCorpora;
use super::extraction::{add_labeled, check_weights};
use super::labels::TrainingLabels;
use super::settings::TrainSettings;
use super::storage::Storage;
use super::streamed::{SentenceSource, StreamedCorpora, content};
use super::training_set::{CollapsedCorpora, TrainingSet};
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::extract::{
    Alphabets, AttributeGroups, AttributeSource, Classes, ColumnCount, Dataset, DatasetBuilder,
    Refinement, SparseRows,
};
use crate::ids::AttributeId;
use crate::memory::{MemoryLimit, input_over_limit};
use crate::objective::{Parts, SpilledBlocks};
use crate::score::States;
use crate::sentence::{Schema, Sentence};
use crate::spill::{Spill, SpillFile};
use crate::template::Template;

/// Where attributes are kept, and when they go there.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpillOptions<'a> {
    pub directory: &'a Path,
    /// Memory of the attributes of a part in bytes, from which it is written.
    pub part: usize,
}

/// Sentences in memory, with their attributes in a file.
struct StoredParts {
    file: SpillFile,
    data: Dataset, // without attributes
    parts: Vec<StoredPart>,
}

struct StoredPart {
    sentences: Range<usize>,
    matrices: [<SparseRows as Spill>::Arrays; 2], // nodes, edges
}

impl StoredParts {
    fn create(directory: &Path) -> Result<Self> {
        Ok(Self {
            file: SpillFile::create(directory)?,
            data: Dataset::default(),
            parts: Vec::new(),
        })
    }

    /// Appends sentences; none are no part.
    fn push(&mut self, part: &Dataset) -> Result<()> {
        let first = self.data.len();
        self.data.append_without_attributes(part, 0..part.len());
        if !part.is_empty() {
            self.parts.push(StoredPart {
                sentences: first..self.data.len(),
                matrices: [part.nodes.spill(&self.file)?, part.edges.spill(&self.file)?],
            });
        }
        Ok(())
    }
}

impl Parts for StoredParts {
    fn for_each(&self, visit: &mut dyn FnMut(&Dataset) -> Result<()>) -> Result<()> {
        for stored in &self.parts {
            let mut part = Dataset::default();
            part.append_without_attributes(&self.data, stored.sentences.clone());
            let matrices = [&mut part.nodes, &mut part.edges];
            for (matrix, arrays) in matrices.into_iter().zip(&stored.matrices) {
                Arc::make_mut(matrix).load(arrays, &self.file)?;
            }
            visit(&part)?;
        }
        Ok(())
    }
}

/// Lets a template know the words of the labeled sentences.
fn learn_words(template: &mut Template, labeled: &dyn SentenceSource) -> Result<()> {
    let mut learner = template.word_learner();
    if !learner.is_idle() {
        for sentence in content(labeled)? {
            learner.add(&sentence?);
        }
    }
    template.set_known_words(learner);
    Ok(())
}

/// Extraction of attributes to a file.
struct Extraction {
    builder: DatasetBuilder,
    stored: StoredParts,
    part: usize,        // memory of a part
    development: usize, // memory of the sentences that are kept
    limit: u64,         // of memory
    sentences: usize,   // since the last check
}

impl Extraction {
    /// Sentences from one check of the memory to the next.
    const INTERVAL: usize = 64;

    /// Checks the memory from time to time, and writes the sentences since the last part if they
    /// are enough for one.
    fn end_sentence(&mut self, sentence: &Sentence) -> Result<()> {
        let is_part = self.builder.data_memory() >= self.part;
        self.sentences += 1;
        if is_part || self.sentences >= Self::INTERVAL {
            self.sentences = 0;
            self.check(sentence)?;
        }
        if is_part {
            self.stored.push(&self.builder.take_data())?;
        }
        Ok(())
    }

    /// Checks the memory after a sentence.
    fn check(&self, sentence: &Sentence) -> Result<()> {
        let memory = self.development + self.builder.memory() + self.stored.data.memory();
        if memory as u64 <= self.limit {
            return Ok(());
        }
        Err(input_over_limit(
            sentence.place(0),
            "the names of attributes up to here need",
            self.limit,
            "less text, a smaller template",
        ))
    }

    fn add_labeled(
        &mut self,
        source: &dyn SentenceSource,
        labels: &TrainingLabels,
        info: &mut CorpusInfo,
    ) -> Result<()> {
        for sentence in content(source)? {
            let sentence = sentence?;
            info.add_file(&sentence);
            add_labeled(&mut self.builder, labels, (&sentence).into())?;
            self.end_sentence(&sentence)?;
        }
        Ok(())
    }

    fn add_unlabeled(
        &mut self,
        source: &dyn SentenceSource,
        template: Option<&Template>,
    ) -> Result<()> {
        let mut schema: Option<Arc<Schema>> = None;
        for sentence in content(source)? {
            let sentence = sentence?;
            if schema.as_ref() != Some(sentence.schema()) {
                let source = AttributeSource::bind(template, sentence.schema())?;
                self.builder.switch_source(source, false);
                schema = Some(Arc::clone(sentence.schema()));
            }
            self.builder.add(&sentence, &[])?;
            self.end_sentence(&sentence)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(StoredParts, Alphabets, AttributeGroups)> {
        self.stored.push(&self.builder.take_data())?;
        let (_, alphabets, groups) = self.builder.finish_grouped(1);
        Ok((self.stored, alphabets, groups))
    }
}

/// New numbers of columns; `None` for those that are left out.
type Renumbering = [Vec<Option<u32>>; 2];

/// Retains the attributes that occur at `min_count` labeled tokens or more. Returns their new
/// numbers.
fn retain_frequent(
    stored: &StoredParts,
    alphabets: &mut Alphabets,
    min_count: u32,
) -> Result<Renumbering> {
    let sizes = [alphabets.nodes.len(), alphabets.edges.len()];
    let mut counts = sizes.map(|size| vec![ColumnCount::default(); size]);
    stored.for_each(&mut |part| {
        for (counts, matrix) in counts.iter_mut().zip([&part.nodes, &part.edges]) {
            part.add_column_counts(matrix, 0..part.labeled(), counts);
        }
        Ok(())
    })?;
    let [node_counts, edge_counts] = counts;
    let is_kept =
        |counts: &[ColumnCount], id: AttributeId| counts[id.index()].is_at_least(min_count);
    let new_nodes = alphabets.nodes.retain(|id| is_kept(&node_counts, id));
    let new_edges = alphabets.edges.retain(|id| is_kept(&edge_counts, id));
    Ok([new_nodes, new_edges])
}

/// Attributes in a file, and those of them that are kept.
pub(super) struct StreamedAttributes {
    extracted: ExtractedCorpora, // without the attributes of sentences
    stored: StoredParts,
    new_numbers: Option<Renumbering>, // if some attributes are left out
}

impl StreamedAttributes {
    /// Extracts the attributes of all sentences.
    ///
    /// # Errors
    ///
    /// Same as [`Trainer::train_streamed`](super::Trainer::train_streamed).
    pub fn extract(
        corpora: StreamedCorpora<'_>,
        template: Option<Template>,
        settings: &TrainSettings,
        spill: SpillOptions<'_>,
        limit: MemoryLimit,
    ) -> Result<Self> {
        let options = settings.options();
        let Some(first) = content(corpora.labeled)?.next().transpose()? else {
            return Err(Error::parameter("there are no sentences to train on"));
        };
        let mut info = CorpusInfo::new(std::slice::from_ref(&first));
        let schema = first.schema();
        let labels = TrainingLabels::of_stream(corpora.labeled, schema.joined(), options)?;
        let mut template = template;
        if let Some(template) = &mut template {
            learn_words(template, corpora.labeled)?;
        }
        let source = AttributeSource::bind(template.as_ref(), schema)?;
        let alphabets = Alphabets::default();
        let development = corpora
            .dev
            .map_or(0, |dev| dev.iter().map(Sentence::memory).sum());
        let mut extraction = Extraction {
            builder: DatasetBuilder::extending(source, alphabets, options.order == Order::One),
            stored: StoredParts::create(spill.directory)?,
            part: spill.part,
            development,
            limit: limit.bytes(development as u64),
            sentences: 0,
        };
        extraction.add_labeled(corpora.labeled, &labels, &mut info)?;
        if options.has_noise()
            && let Some(unlabeled) = corpora.unlabeled
        {
            extraction.add_unlabeled(unlabeled, template.as_ref())?;
        }
        let (stored, mut alphabets, mut groups) = extraction.finish()?;
        let mut new_numbers = None;
        if options.min_count > 1 {
            let numbers = retain_frequent(&stored, &mut alphabets, options.min_count)?;
            for (groups, numbers) in groups.iter_mut().flatten().zip(&numbers) {
                let mut numbers = numbers.iter();
                groups.retain(|_| numbers.next().is_some_and(Option::is_some));
            }
            new_numbers = Some(numbers);
        }
        check_weights(&stored.data, None)?;
        let mut extracted = ExtractedCorpora {
            labels,
            node_attributes: alphabets.nodes.len(),
            edge_attributes: alphabets.edges.len(),
            alphabets: Arc::new(alphabets),
            data: Dataset::default(), // until it is final
            copies: Vec::new(),
            development: None,
            template,
            source: info,
            base: None,
            groups: groups.map(Arc::new),
            zeros: Vec::new(),
            classes_elsewhere: None,
            gold: Vec::new(),
        };
        if let Some(dev) = corpora.dev {
            extracted.add_development_corpus(dev, options.order)?;
        }
        extracted.drop_indices();
        Ok(Self {
            extracted,
            stored,
            new_numbers,
        })
    }

    /// Returns the corpora, to check their attributes.
    pub fn extracted(&self) -> &ExtractedCorpora {
        &self.extracted
    }

    /// Returns the node and edge attributes of a part that are kept.
    fn kept(&self, part: &Dataset) -> [Arc<SparseRows>; 2] {
        let matrices = [&part.nodes, &part.edges];
        match &self.new_numbers {
            None => matrices.map(Arc::clone),
            Some(numbers) => [0, 1].map(|kind| {
                let number = |column: u32| numbers[kind][column as usize];
                Arc::new(matrices[kind].map_columns(number, |_, value| value))
            }),
        }
    }

    /// Finds the classes of attributes that always occur together.
    fn classes(&self, settings: &TrainSettings) -> Result<[Classes; 2]> {
        let Some(groups) = self.extracted.class_groups(settings) else {
            return Ok(self.extracted.single_classes());
        };
        let mut refinements = groups.map(Refinement::new);
        self.stored.for_each(&mut |part| {
            let matrices = self.kept(part);
            for (refinement, matrix) in refinements.iter_mut().zip(&matrices) {
                refinement.add(matrix);
            }
            Ok(())
        })?;
        Ok(refinements.map(Refinement::finish))
    }

    /// Collapses classes, lays out the parameters, and writes what training multiplies to a file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] with the directory.
    pub fn into_training_set(
        self,
        settings: &TrainSettings,
        directory: &Path,
    ) -> Result<TrainingSet> {
        let classes = self.classes(settings)?;
        let mut collapsed = StoredParts::create(directory)?;
        let (mut attributes, mut columns) = ([0; 2], [0; 2]);
        let mut fingerprint = 0u64;
        self.stored.for_each(&mut |part| {
            let mut part = part.clone();
            [part.nodes, part.edges] = self.kept(&part);
            add_counts(&mut attributes, entries(&part));
            if settings.options().collapse {
                let [nodes, edges] = &classes;
                part.nodes = Arc::new(nodes.collapsed(&part.nodes));
                part.edges = Arc::new(edges.collapsed(&part.edges));
            }
            add_counts(&mut columns, entries(&part));
            let first = collapsed.data.len() as u64;
            let own = part.fingerprint(0..part.len(), first);
            fingerprint = fingerprint.wrapping_add(own);
            collapsed.push(&part)
        })?;
        let Self {
            mut extracted,
            stored,
            ..
        } = self;
        drop(stored);
        extracted.data = collapsed.data.clone();
        let states = settings.options().states_of(extracted.labels.set.len());
        let corpora = CollapsedCorpora {
            counts: DataCounts::new(&extracted.data, attributes, columns),
            classes,
            extracted,
            occurrences: None,
        };
        let mut set = TrainingSet::lay_out(corpora, settings, |space, layout| {
            if states == States::All {
                return Ok(None);
            }
            let mut observed = space.observed();
            collapsed.for_each(&mut |part| {
                observed.merge(layout(part).observed());
                Ok(())
            })?;
            Ok::<_, Error>(Some(observed))
        })?;
        let file = SpillFile::create(directory)?;
        let blocks = SpilledBlocks::new(file, set.data(), set.space(), &collapsed)?;
        set.storage = Storage::File {
            blocks: Arc::new(blocks),
            fingerprint,
        };
        Ok(set)
    }
}

fn add_counts(sums: &mut [u64; 2], counts: [u64; 2]) {
    sums.iter_mut()
        .zip(counts)
        .for_each(|(sum, count)| *sum += count);
}

//! Text as numbers, before anything is made of it that a part of the data could not share.

use super::development::Development;
use super::options::TrainOptions;
use super::prepare::{Prepared, entries_per_token, is_text, prepare};
use super::training_set::TrainingSet;
use crate::chain::Order;
use crate::error::{Error, Result};
use crate::extract::{Alphabets, Classes, SparseRows};
use crate::sentence::Sentence;
use crate::template::Template;

/// The sentences of a training.
#[derive(Debug)]
pub struct Corpora<'a> {
    /// Labeled sentences.
    pub sentences: Vec<Sentence>,
    /// Unlabeled sentences, for the noise term.
    pub unlabeled: &'a [Sentence],
    /// Development data.
    pub dev: Option<Vec<Sentence>>,
}

/// The attributes of all sentences of a training. Whoever trains on parts of the sentences extracts
/// once and cuts the parts out ([`Extracted::without`]).
pub struct Extracted {
    prepared: Prepared,
    development: Option<Development>,
    template: Option<Template>,
    source: Source,
    gold: Vec<Vec<String>>, // of labeled sentences; empty unless parts are to be cut out
}

impl Extracted {
    /// Extracts the attributes. Document boundaries
    /// ([`Layout::document_start`](crate::sentence::Layout)) are passed over.
    ///
    /// # Errors
    ///
    /// Those of [`Trainer::train`](super::Trainer::train).
    pub fn new(
        mut corpora: Corpora<'_>,
        mut template: Option<Template>,
        options: &TrainOptions,
    ) -> Result<Self> {
        let Corpora { sentences, dev, .. } = &mut corpora;
        for corpus in [Some(sentences), dev.as_mut()].into_iter().flatten() {
            corpus.retain(is_text);
        }
        if let Some(template) = &mut template {
            template.learn(corpora.sentences.iter());
        }
        let source = Source::of(&corpora.sentences);
        let (sentences, unlabeled) = (corpora.sentences, corpora.unlabeled);
        let mut prepared = prepare(sentences, unlabeled, template.as_ref(), options)?;
        let edges = options.order == Order::One;
        let development = match corpora.dev {
            None => None,
            Some(dev) => {
                let alphabets = std::mem::take(&mut prepared.alphabets);
                let (development, alphabets) =
                    Development::new(&dev, template.as_ref(), alphabets, edges, &prepared.labels)?;
                prepared.alphabets = alphabets;
                Some(development)
            }
        };
        prepared.close();
        Ok(Self {
            prepared,
            development,
            template,
            source,
            gold: Vec::new(),
        })
    }

    /// Extracts the attributes of labeled sentences that parts are to be cut out of.
    ///
    /// # Errors
    ///
    /// As [`Extracted::new`].
    pub fn to_be_cut(
        corpora: Corpora<'_>,
        template: Option<Template>,
        options: &TrainOptions,
    ) -> Result<Self> {
        let sentences = corpora.sentences.iter().filter(|s| is_text(s));
        let own = |labels: Vec<&str>| labels.into_iter().map(str::to_owned).collect();
        let gold = sentences.map(|s| s.labels().map_or_else(Vec::new, own));
        let gold = gold.collect();
        Ok(Self {
            gold,
            ..Self::new(corpora, template, options)?
        })
    }

    /// Number of labeled sentences.
    #[must_use]
    pub fn sentences(&self) -> usize {
        self.prepared.data.labeled()
    }

    /// Bytes of memory.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.prepared.memory() + self.development.as_ref().map_or(0, Development::memory)
    }

    fn transitions(&self) -> bool {
        self.template.as_ref().is_none_or(Template::transitions)
    }

    /// What training works on, with attributes that always occur together in one class if `options` say
    /// so.
    #[must_use]
    pub fn material(self, options: &TrainOptions) -> TrainingSet {
        let transitions = self.transitions();
        let mut prepared = self.prepared;
        let mut development = self.development;
        if options.collapse {
            prepared.collapse();
        }
        if let Some(development) = &mut development {
            development.collapse(&prepared);
        }
        TrainingSet {
            space: prepared.space(options, transitions),
            prepared,
            development,
            template: self.template,
            source: self.source,
        }
    }

    /// The material without some labeled sentences, which become the development data: the attributes,
    /// those too rare to be kept, and classes are those of the rest, as if the sentences had never been
    /// there. Labels are those of the whole. No model can be made of it.
    ///
    /// # Errors
    ///
    /// No sentence held out, or none left; a sentence that is not there; sentences that were not
    /// extracted [to be cut](Extracted::to_be_cut).
    pub fn without(&self, held_out: &[usize], options: &TrainOptions) -> Result<TrainingSet> {
        let whole = &self.prepared.data;
        let labeled = whole.labeled();
        let mut is_held_out = vec![false; whole.len()];
        for &sentence in held_out {
            if sentence >= labeled.min(self.gold.len()) {
                return Err(Error::parameter(format!(
                    "sentence {sentence} held out; expected a number below {}",
                    labeled.min(self.gold.len())
                )));
            }
            is_held_out[sentence] = true;
        }
        if held_out.is_empty() || is_held_out[..labeled].iter().all(|&held_out| held_out) {
            return Err(Error::parameter(format!(
                "{} of {labeled} sentences held out; expected some, and not all",
                held_out.len()
            )));
        }
        let [rest, part]: [Vec<usize>; 2] = [false, true].map(|part| {
            (0..whole.len())
                .filter(|&i| is_held_out[i] == part)
                .collect()
        });
        let kept = self.kept_columns(&rest, options);
        let gold = part.iter().map(|&i| self.gold[i].clone()).collect();
        let part = whole.select(&part, &kept);
        let data = whole.select(&rest, &kept);
        let before = entries_per_token(&data);
        let [nodes, edges] = self.prepared.columns;
        let extracted = Self {
            development: Some(Development::held_out(part, gold, &self.prepared.labels)),
            prepared: Prepared {
                labels: self.prepared.labels.clone(),
                alphabets: Alphabets::default(),
                columns: self.prepared.columns,
                node_classes: Classes::singletons(nodes),
                edge_classes: Classes::singletons(edges),
                data,
                per_token: [before, before],
            },
            template: self.template.clone(),
            source: Source::default(),
            gold: Vec::new(),
        };
        Ok(extracted.material(options))
    }

    /// Whether each column of nodes and of edges would be there if the data had only these sentences.
    fn kept_columns(&self, sentences: &[usize], options: &TrainOptions) -> [Vec<bool>; 2] {
        let whole = &self.prepared.data;
        let labeled = whole.labeled();
        let kept = |matrix: &SparseRows, columns: usize| -> Vec<bool> {
            let mut counts = vec![0; columns];
            for &i in sentences {
                // As in extraction: unlabeled sentences count only where they are asked to.
                if i < labeled || (options.discover && options.min_count == 1) {
                    for row in whole.sentence(i) {
                        matrix
                            .row(row)
                            .0
                            .iter()
                            .for_each(|&c| counts[c as usize] += 1);
                    }
                }
            }
            counts.iter().map(|&n| n >= options.min_count).collect()
        };
        let [nodes, edges] = self.prepared.columns;
        [kept(&whole.nodes, nodes), kept(&whole.edges, edges)]
    }
}

/// Where training data come from.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub files: Vec<String>,
    pub columns: Vec<String>,
    pub label_column: Option<u32>,
}

impl Source {
    fn of(sentences: &[Sentence]) -> Self {
        let mut files: Vec<String> = Vec::new();
        for file in sentences.iter().map(Sentence::file) {
            if files.last().is_none_or(|last| **last != **file) {
                files.push(file.to_string());
            }
        }
        let schema = sentences.first().map(Sentence::schema);
        Self {
            files,
            columns: schema.map_or_else(Vec::new, |s| s.names().to_vec()),
            label_column: schema.and_then(|s| s.label()).map(|c| c as u32),
        }
    }
}

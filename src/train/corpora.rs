//! The sentences of a training run.

use std::fmt;
use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::Xxh3;

use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::model::{FileRecord, FileRole};
use crate::sentence::{Document, DocumentRule, PREDICTIONS, Sentence, SentenceRef};
use crate::template::Template;

/// The corpora of a training run.
///
/// A [`Corpus`] alone is a training corpus without development data; more is added by
/// [`dev`](Self::dev()) and [`unlabeled`](Self::unlabeled()).
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct TrainingCorpora {
    /// Labeled sentences.
    pub labeled: Corpus,
    /// Development data, for early stopping.
    pub dev: Option<Corpus>,
    /// Sentences that only the noise term uses; any labels are ignored. Without noise they have no
    /// effect.
    pub unlabeled: Corpus,
    /// What the development data are, if they were [held out](Self::hold_out).
    pub held_out: Option<HeldOut>,
}

impl TrainingCorpora {
    /// Creates corpora of labeled sentences only.
    pub fn new(labeled: impl Into<Corpus>) -> Self {
        Self { labeled: labeled.into(), ..Self::default() }
    }

    /// Adds development data.
    pub fn dev(self, dev: impl Into<Corpus>) -> Self {
        Self { dev: Some(dev.into()), ..self }
    }

    /// Adds unlabeled sentences.
    pub fn unlabeled(self, unlabeled: impl Into<Corpus>) -> Self {
        Self { unlabeled: unlabeled.into(), ..self }
    }

    /// Returns the records of all files that were read for training with a template: those of the
    /// sentences, one after the other, and those of the template.
    pub fn files(&self, template: Option<&Template>) -> Vec<FileRecord> {
        let corpora = [
            (FileRole::Train, Some(&self.labeled)),
            (FileRole::Dev, self.dev.as_ref()),
            (FileRole::Unlabeled, Some(&self.unlabeled)),
        ];
        let of_corpus = |(role, corpus): (FileRole, Option<&Corpus>)| {
            let sentences = corpus.map(Corpus::sentences).unwrap_or_default();
            let files = sentences.chunk_by(|a, b| a.file() == b.file());
            files.filter_map(|part| record(role, part)).collect::<Vec<_>>()
        };
        let of_corpora = corpora.into_iter().flat_map(of_corpus);
        let sources = template.into_iter().flat_map(Template::sources);
        let of_template = sources.map(|(file, is_template)| {
            let role = if is_template { FileRole::Template } else { FileRole::Resource };
            FileRecord::new(role, file, Default::default)
        });
        of_corpora.chain(of_template).collect()
    }
}

/// Returns the record of sentences of one file; `None` if there are only document boundaries.
fn record(role: FileRole, sentences: &[Sentence]) -> Option<FileRecord> {
    let sentences = sentences.iter().filter(|sentence| is_content(sentence));
    let file = sentences.clone().next()?.file();
    let content = || {
        let mut hasher = Xxh3::new();
        sentences.clone().for_each(|sentence| hash_tokens(sentence, &mut hasher));
        hasher.finish()
    };
    let record = FileRecord::new(role, file, content);
    Some(FileRecord { sentences: Some(sentences.count() as u64), ..record })
}

/// Hashes the tokens of a sentence, with their attributes and labels, wherever they come from.
fn hash_tokens(sentence: &Sentence, hasher: &mut Xxh3) {
    (sentence.len(), sentence.weight().to_bits()).hash(hasher);
    for t in 0..sentence.len() {
        sentence.cells(t).for_each(|cell| cell.hash(hasher));
        sentence.partial_label(t).hash(hasher);
        let attributes = sentence.attributes.iter().flat_map(|all| all.token(t).chain(all.edge(t)));
        attributes.for_each(|(name, value)| (name, value.to_bits()).hash(hasher));
    }
}

impl From<Corpus> for TrainingCorpora {
    fn from(labeled: Corpus) -> Self {
        Self::new(labeled)
    }
}

impl From<Vec<Sentence>> for TrainingCorpora {
    fn from(labeled: Vec<Sentence>) -> Self {
        Self::new(labeled)
    }
}

/// Returns whether a sentence has tokens and is not a document boundary.
pub fn is_content(sentence: &Sentence) -> bool {
    !sentence.is_empty() && !sentence.layout.document_start
}

/// Returns the rule that divides sentences into documents, if attributes depend on them.
pub(super) fn document_rule(template: Option<&Template>) -> Option<DocumentRule> {
    Some(template?.documents()?.rule)
}

/// Calls `add` with each sentence that has tokens, in its document if attributes depend on it.
pub(super) fn for_each_in_context(
    sentences: &[Sentence],
    template: Option<&Template>,
    mut add: impl FnMut(SentenceRef<'_>) -> Result<()>,
) -> Result<()> {
    let Some(rule) = document_rule(template) else {
        let mut content = sentences.iter().filter(|s| is_content(s));
        return content.try_for_each(|sentence| add(sentence.into()));
    };
    rule.documents(sentences).into_iter().try_for_each(|document| {
        let document = Document::new(document);
        document.in_contexts().filter(|s| is_content(s.sentence())).try_for_each(&mut add)
    })
}

/// Returns the template of the first pass, if `template` reads columns of predictions that the
/// corpus itself does not have.
///
/// # Errors
///
/// [`Error::Input`] if all lines do.
pub(super) fn first_template(template: &Template, corpus: &Corpus) -> Result<Option<Template>> {
    let Some(first) = corpus.iter().next().filter(|s| s.attributes.is_none()) else {
        return Ok(None);
    };
    let is_missing = |name: &&str| first.schema().position(name).is_none();
    let missing: Vec<&str> = PREDICTIONS.into_iter().filter(is_missing).collect();
    template.without_columns(&missing)
}

/// The share of the training data to hold out as development data, such as `10%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoldOut {
    pub(super) percent: f64,
}

/// The held-out data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldOut {
    /// Number of sentences that were held out.
    pub sentences: usize,
    /// Number of all sentences.
    pub of: usize,
    /// Whether they are whole documents.
    pub by_document: bool,
    /// The share that was asked for.
    pub share: HoldOut,
    /// The seed that chose them.
    pub seed: u64,
}

impl HoldOut {
    /// Creates a share from a fraction, such as 0.1.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is not between 0 and 1.
    pub fn new(fraction: f64) -> Result<Self> {
        // 7 percent are 0.07, but 100 times 0.07 is more than 7.
        let percent = (fraction * 1e11).round() / 1e9;
        Self::of_percent(percent).ok_or_else(|| {
            Error::parameter(format!(
                "development data: {fraction} of the training data; expected a share between 0 \
                 and 1, such as 0.1"
            ))
        })
    }

    fn of_percent(percent: f64) -> Option<Self> {
        (percent > 0.0 && percent < 100.0).then_some(Self { percent })
    }

    /// Parses a number of percent, such as `10%`. Returns `None` for a text of another form, such
    /// as the name of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it is not between 0 and 100.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let number = text.strip_suffix('%').map(str::parse);
        let Some(Ok(percent)) = number else { return Ok(None) };
        let share = Self::of_percent(percent).ok_or_else(|| {
            Error::parameter(format!(
                "development data: {text} of the training data; expected more than 0% and less \
                 than 100%, such as 10% (./{text} is a file of this name)"
            ))
        });
        share.map(Some)
    }
}

impl fmt::Display for HoldOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.percent)
    }
}

impl fmt::Display for HeldOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sentences, of, share, seed, .. } = self;
        let units = ["sentences", "documents"][usize::from(self.by_document)];
        write!(
            f,
            "development data: {sentences} of {of} sentences, {share} of the {units}, seed {seed}"
        )
    }
}

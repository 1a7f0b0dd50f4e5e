//! Gold labels and the predictions of systems, evaluated sentence by sentence, and the training
//! data that they are compared with.

use dropchain::label::{Labeling, SchemeDetector};
use dropchain::{Error, Result, Sentence, corpus::Corpus, eval::Evaluation};
use dropchain_analysis::{
    Calibration, ErrorCounts, FrequencyEvaluation, SpanError, WordCounts, compare_spans,
    label_errors,
};

use crate::errors::{ErrorList, words_of};

/// Maximum number of sentences of the training data that a model is scored on.
const SAMPLE: usize = 5000;

/// The labels of sentences, document boundaries left out: `[sentences][tokens]`.
type Labels = Vec<Vec<String>>;

/// Gold labels, and the predictions of one or more systems for the same sentences.
#[derive(Debug, Default)]
pub struct Evaluated {
    pub(crate) corpus: Corpus,
    pub(crate) gold: Labels,
    pub(crate) gold_labeling: Labeling,
    pub(crate) systems: Vec<System>,
}

/// The score of a system on its training data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrainingScore {
    /// F1 or accuracy, a fraction.
    pub value: f64,
    /// Number of sentences that it is of.
    pub sentences: u64,
    /// Whether these are the first of more.
    pub is_sample: bool,
}

/// The predictions of a system.
#[derive(Debug, Default)]
pub(crate) struct System {
    pub name: String,
    /// Warning that the model was kept before any iteration with noise.
    pub warning_of_noise: Option<String>,
    pub labels: Labels,
    /// The score on training data, if known.
    pub training: Option<TrainingScore>,
    /// Probability of each predicted label, if known, `[sentences][tokens]`.
    probabilities: Vec<Vec<Option<f64>>>,
    pub labeling: Labeling,
    /// Calibration over all tokens with a known probability.
    pub tokens: Calibration,
    /// Calibration over tokens in predicted spans.
    pub in_spans: Calibration,
}

impl Evaluated {
    /// Creates the predictions of a system, none yet.
    pub fn new(name: &str) -> Self {
        let system = System { name: name.to_owned(), ..System::default() };
        Self { systems: vec![system], ..Self::default() }
    }

    /// Sets the warning that the model of the system has not seen the noise that was asked for.
    #[must_use]
    pub fn with_warning_of_noise(mut self, warning: Option<String>) -> Self {
        self.systems[0].warning_of_noise = warning;
        self
    }

    /// Sets what the system predicts for its training data, or for the first sentences of these.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if sentences are too many or too long to be counted.
    pub fn with_training(mut self, training: &Self, is_sample: bool) -> Result<Self> {
        let labelings = (&training.gold_labeling, &training.systems[0].labeling);
        let mut evaluation = Evaluation::new().with_labelings(labelings.0, labelings.1);
        for (gold, predicted) in training.gold.iter().zip(&training.systems[0].labels) {
            evaluation.add(gold, predicted)?;
        }
        let sentences = evaluation.sentences();
        let value = score(&evaluation, evaluation.has_spans());
        let training = TrainingScore { value, sentences, is_sample };
        self.systems[0].training = Some(training).filter(|_| sentences > 0);
        Ok(self)
    }

    /// Joins the systems of several; `None` without any.
    ///
    /// # Errors
    ///
    /// The errors of the systems, and of [`join`](Self::join).
    pub fn joined(mut systems: impl Iterator<Item = Result<Self>>) -> Result<Option<Self>> {
        let Some(first) = systems.next() else { return Ok(None) };
        let mut all = first?;
        systems.try_for_each(|next| all.join(next?))?;
        Ok(Some(all))
    }

    /// Adds the labels of the next sentence, and returns how probable the predicted ones are.
    pub fn add<S: AsRef<str>>(
        &mut self,
        gold: &[&str],
        predicted: &[S],
        probability: impl Fn(usize, &str) -> Option<f64>,
    ) {
        if gold.is_empty() {
            return; // a document boundary
        }
        let system = &mut self.systems[0];
        let predicted = || predicted.iter().map(S::as_ref);
        let probabilities = predicted().enumerate().map(|(t, label)| probability(t, label));
        system.probabilities.push(probabilities.collect());
        system.labels.push(predicted().map(str::to_owned).collect());
        self.gold.push(gold.iter().map(|&label| label.to_owned()).collect());
    }

    /// Sets the sentences, document boundaries among them, whose labels were added, and how gold
    /// and predicted labels encode spans.
    #[must_use]
    pub fn with_corpus(mut self, corpus: Corpus, labelings: [Labeling; 2]) -> Self {
        self.corpus = corpus;
        let system = &mut self.systems[0];
        [self.gold_labeling, system.labeling] = labelings;
        for ((gold, labels), row) in self.gold.iter().zip(&system.labels).zip(&system.probabilities)
        {
            for ((gold, label), probability) in gold.iter().zip(labels).zip(row) {
                let Some(probability) = *probability else { continue };
                system.tokens.add(probability, gold == label);
                if label != system.labeling.outside() {
                    system.in_spans.add(probability, gold == label);
                }
            }
        }
        self
    }

    /// Detects how the labels that were added, those of a corpus, encode spans, with a detector
    /// that has seen none.
    pub fn detect(&self, corpus: &Corpus, detector: &SchemeDetector) -> [Labeling; 2] {
        let mut detector = detector.clone();
        if let Some(first) = corpus.iter().next() {
            detector.observe_column(first.schema());
        }
        let gold = detector.after(&self.gold).detected().labeling;
        let predicted = detector.after(&self.systems[0].labels).detected_for(&gold);
        [gold, predicted.labeling]
    }

    /// Adds the systems of `other`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] or [`Error::Input`] if its gold labels are not the same.
    pub fn join(&mut self, mut other: Self) -> Result<()> {
        let [first, name] = [&self, &&mut other].map(|one| one.systems[0].name.clone());
        let [expected, found] =
            [&self.gold, &other.gold].map(|gold| gold.iter().map(Vec::len).sum::<usize>());
        if expected != found || self.gold.len() != other.gold.len() {
            return Err(Error::parameter(format!(
                "{name} has labels for {found} tokens, {first} for {expected}; expected systems \
                 for the same text"
            )));
        }
        let sentences = self.corpus.iter().filter(|s| !s.layout.document_start);
        for (sentence, i) in sentences.zip(0..) {
            let [expected, found] = [&self.gold[i], &other.gold[i]];
            if let Some(t) = (0..expected.len()).find(|&t| found.get(t) != Some(&expected[t])) {
                let [expected, found] = [expected, found].map(|all| all.get(t).map_or("", |l| l));
                let message = format!(
                    "the gold label is '{expected}' for {first}, but '{found}' for {name}; \
                     expected systems for the same labels"
                );
                return Err(Error::input(sentence.place(t), message));
            }
        }
        self.systems.append(&mut other.systems);
        Ok(())
    }

    /// Returns the names of the systems.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.systems.iter().map(|one| one.name.as_str()).collect()
    }

    /// Returns the sentences with the numbers of their labels; document boundaries have none.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = (&Sentence, Option<usize>)> {
        let mut numbers = 0..self.gold.len();
        self.corpus.iter().map(move |sentence| match sentence.layout.document_start {
            true => (sentence, None),
            false => (sentence, numbers.next()),
        })
    }
}

/// Returns F1, or the accuracy if labels encode no spans.
fn score(evaluation: &Evaluation, has_spans: bool) -> f64 {
    if has_spans { evaluation.f1() } else { evaluation.accuracy() }
}

/// Counts of each system, and the sentences with errors.
pub(crate) struct Analysis {
    pub has_spans: bool,
    pub systems: Vec<SystemAnalysis>,
    pub errors: ErrorList,
}

/// The counts of a system.
pub(crate) struct SystemAnalysis {
    pub evaluation: Evaluation,
    pub errors: ErrorCounts,
    pub by_frequency: FrequencyEvaluation,
}

impl Analysis {
    /// Evaluates all systems. `words` are those of the training data, if these are known.
    pub fn new(all: &Evaluated, words: Option<&WordCounts>, max_errors: usize) -> Result<Self> {
        let gold_labeling = &all.gold_labeling;
        let systems = all.systems.iter().map(|system| SystemAnalysis {
            evaluation: Evaluation::with_confusions()
                .with_labelings(gold_labeling, &system.labeling),
            errors: ErrorCounts::default(),
            by_frequency: FrequencyEvaluation::default()
                .with_labelings(gold_labeling, &system.labeling),
        });
        let has_spans = gold_labeling.scheme.has_spans();
        let mut analysis = Self {
            has_spans,
            systems: systems.collect(),
            errors: ErrorList::new(max_errors, has_spans),
        };
        for (sentence, number) in all.sentences() {
            match number {
                Some(number) => analysis.add(all, sentence, number, words)?,
                None => {
                    let systems = analysis.systems.iter_mut();
                    systems.for_each(|system| system.evaluation.add_document_start());
                }
            }
        }
        Ok(analysis)
    }

    /// Returns the name of the score.
    pub fn metric(&self) -> &'static str {
        if self.has_spans { "F1" } else { "accuracy" }
    }

    /// Returns the F1 of a system, or its accuracy if labels encode no spans.
    pub fn score(&self, system: usize) -> f64 {
        score(&self.systems[system].evaluation, self.has_spans)
    }

    /// Returns the number of the system with the highest score, the first of equal ones.
    pub fn best(&self) -> usize {
        let better = |a, b| if self.score(b) > self.score(a) { b } else { a };
        (0..self.systems.len()).reduce(better).unwrap_or(0)
    }

    fn add(
        &mut self,
        all: &Evaluated,
        sentence: &Sentence,
        number: usize,
        words: Option<&WordCounts>,
    ) -> Result<()> {
        let gold = &all.gold[number];
        let own_words = words.zip(words_of(sentence));
        let frequencies: Option<Vec<u64>> =
            own_words.map(|(words, own)| own.map(|word| words.count(word)).collect());
        let gold_spans = all.gold_labeling.spans(gold);
        let mut errors: Vec<Vec<SpanError<'_>>> = Vec::new();
        let mut spans = Vec::new();
        for (counts, system) in self.systems.iter_mut().zip(&all.systems) {
            let predicted = &system.labels[number];
            counts.evaluation.add(gold, predicted)?;
            if let Some(frequencies) = &frequencies {
                counts.by_frequency.add(frequencies, gold, predicted)?;
            }
            let own = system.labeling.spans(predicted);
            let found = match self.has_spans {
                true => compare_spans(&gold_spans, &own),
                false => label_errors(gold, predicted),
            };
            found.iter().for_each(|error| counts.errors.add(error));
            errors.push(found);
            spans.push(own);
        }
        self.errors.add(sentence, (&gold_spans, &spans), &errors);
        Ok(())
    }
}

/// Counts the words of the training data.
///
/// # Errors
///
/// Errors of reading the sentences.
pub fn count_words(sentences: impl Iterator<Item = Result<Sentence>>) -> Result<WordCounts> {
    let mut words = WordCounts::default();
    for sentence in sentences {
        let sentence = sentence?;
        if !sentence.layout.document_start {
            words_of(&sentence).into_iter().flatten().for_each(|word| words.add(word));
        }
    }
    Ok(words)
}

/// Returns the first sentences of the training data that have a label for every token, at most
/// 5000, and whether there are more; `None` without any.
///
/// # Errors
///
/// Errors of reading the sentences.
pub fn training_sample(
    sentences: impl Iterator<Item = Result<Sentence>>,
) -> Result<Option<(Corpus, bool)>> {
    let (mut sample, mut count) = (Corpus::new(), 0);
    for sentence in sentences {
        let sentence = sentence?;
        if !sentence.layout.document_start {
            if sentence.labels().is_none() || sentence.first_partial_label().is_some() {
                continue;
            }
            if count == SAMPLE {
                return Ok(Some((sample, true)));
            }
            count += 1;
        }
        sample.push(sentence);
    }
    Ok(Some((sample, false)).filter(|_| count > 0))
}

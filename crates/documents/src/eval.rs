//! Scores of predicted classes, for people and programs: accuracy, F1 of each, log-loss and
//! calibration, with 95 % percentile intervals of a bootstrap over documents.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use dropchain::eval::{Counts, Metrics};
use dropchain::kernel::eval::ratio;
use dropchain::kernel::random::uniform;
use dropchain_analysis::{BootstrapReport, Calibration};

/// Number of resamples of the bootstrap.
const SAMPLES: u64 = 1000;

/// The bounds of a 95 % interval, as positions in sorted resamples.
const INTERVAL: [usize; 2] = [(SAMPLES as usize * 25) / 1000, (SAMPLES as usize * 975) / 1000 - 1];

/// The least probability that the log-loss takes for granted, as scikit-learn does for 64 bits.
const LEAST: f64 = f64::EPSILON;

/// Counts the predictions of a classifier.
///
/// ```
/// use dropchain_documents::ClassEvaluation;
///
/// let classes = ["neg".to_owned(), "pos".to_owned()];
/// let mut evaluation = ClassEvaluation::new(&classes);
/// evaluation.add("pos", 1, &[0.25, 0.75]);
/// evaluation.add("neg", 1, &[0.5, 0.5]);
/// let report = evaluation.report(1);
/// assert_eq!(report.accuracy, 0.5);
/// assert!((report.log_loss - (0.75_f64.ln() + 0.5_f64.ln()) / -2.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ClassEvaluation {
    classes: Vec<String>,    // of the model, then others that were found
    outcomes: Vec<[u32; 2]>, // gold and predicted class of each document
    log_loss: f64,
    squared_error: f64,
    unseen: u64,
    calibration: Calibration,
}

/// The scores of a classifier, as fractions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassReport {
    /// Number of documents.
    pub documents: u64,
    /// The fraction of documents with the right class.
    pub accuracy: f64,
    /// 95 % confidence interval of the accuracy, by the percentiles of a bootstrap over documents.
    pub accuracy_interval: [f64; 2],
    /// The mean F1 of the classes that occur or are predicted.
    pub macro_f1: f64,
    /// 95 % confidence interval of the macro-averaged F1.
    pub macro_f1_interval: [f64; 2],
    /// The mean −ln p(right class), in nats, of documents whose class the model has. Probabilities
    /// below 2⁻⁵² count as 2⁻⁵².
    pub log_loss: f64,
    /// The mean over documents of Σ_c (p_c − y_c)², where y is 1 for the right class and 0 for the
    /// others, and of a model of two classes half of that: the squared error of one of them
    /// (`brier_score_loss` of scikit-learn).
    pub brier_score: f64,
    /// The expected calibration error over ten bins.
    pub calibration_error: f64,
    /// Documents whose class the model does not have.
    pub unseen: u64,
    /// The scores of each class that occurs or is predicted.
    pub classes: Vec<ClassScores>,
}

/// The scores of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassScores {
    /// Name of the class.
    pub class: String,
    /// The fraction of documents predicted to be of the class that are.
    pub precision: f64,
    /// The fraction of documents of the class that are predicted to be.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f1: f64,
    /// Number of documents of the class.
    pub support: u64,
    /// Number of documents of the class by what was predicted.
    pub predicted: BTreeMap<String, u64>,
}

impl ClassEvaluation {
    /// Begins with no documents; `classes` are those of the model.
    pub fn new(classes: &[String]) -> Self {
        Self { classes: classes.to_vec(), ..Self::default() }
    }

    /// Adds a document: its class, the number of the predicted one, and the probability of each
    /// class of the model.
    pub fn add(&mut self, gold: &str, predicted: usize, probabilities: &[f64]) {
        let number = self.classes.iter().position(|class| class == gold).unwrap_or_else(|| {
            self.classes.push(gold.to_owned());
            self.classes.len() - 1
        });
        let probability = probabilities.get(number);
        match probability {
            Some(p) => self.log_loss -= p.max(LEAST).ln(),
            None => self.unseen += 1,
        }
        // The class of an unseen one has the probability 0.
        let missing = f64::from(u8::from(probability.is_none()));
        let errors = probabilities.iter().enumerate();
        let errors = errors.map(|(c, p)| (p - f64::from(u8::from(c == number))).powi(2));
        let error = errors.sum::<f64>() + missing;
        self.squared_error += if probabilities.len() == 2 { 0.5 * error } else { error };
        let confidence = probabilities.get(predicted).copied().unwrap_or(0.0);
        self.calibration.add(confidence, predicted == number);
        self.outcomes.push([number as u32, predicted as u32]);
    }

    /// Returns the scores; `seed` is that of the bootstrap.
    pub fn report(&self, seed: u64) -> ClassReport {
        let all = self.counts(&self.outcomes);
        let [accuracy, macro_f1] = averages(&all);
        let [accuracy_interval, macro_f1_interval] = self.intervals(seed);
        let documents = self.outcomes.len() as u64;
        let known = documents - self.unseen;
        let mut predicted = vec![BTreeMap::new(); self.classes.len()];
        for &[gold, other] in &self.outcomes {
            let name = self.classes[other as usize].clone();
            *predicted[gold as usize].entry(name).or_insert(0) += 1;
        }
        let classes = self.classes.iter().zip(&all).zip(predicted);
        let classes = classes.filter(|((_, counts), _)| occurs(counts));
        let classes = classes.map(|((class, counts), predicted)| {
            let Metrics { precision, recall, f1 } = counts.metrics();
            let (class, support) = (class.clone(), counts.gold);
            ClassScores { class, precision, recall, f1, support, predicted }
        });
        ClassReport {
            documents,
            accuracy,
            accuracy_interval,
            macro_f1,
            macro_f1_interval,
            log_loss: if known > 0 { self.log_loss / known as f64 } else { 0.0 },
            brier_score: self.squared_error / (documents.max(1) as f64),
            calibration_error: self.calibration.expected_error(),
            unseen: self.unseen,
            classes: classes.collect(),
        }
    }

    /// Returns a table of how often predictions of some probability are right.
    pub fn calibration_rows(&self) -> Vec<Vec<String>> {
        let rows = self.calibration.bins().into_iter().filter(|bin| bin.count > 0).map(|bin| {
            [
                format!("{:.1}–{:.1}", bin.low, bin.high),
                bin.count.to_string(),
                format!("{:.3}", bin.confidence),
                format!("{:.3}", bin.accuracy),
            ]
        });
        table(["probability", "documents", "mean", "right"], rows)
    }

    /// Returns a report of this evaluation with its calibration and a comparison as JSON.
    pub fn json(&self, report: &ClassReport, comparison: Option<&BootstrapReport>) -> Value {
        let mut value = json!(report);
        value["calibration"] = json!(self.calibration.bins());
        if let Some(comparison) = comparison {
            value["against"] = json!(comparison);
        }
        value
    }

    /// Draws documents with replacement, and returns the intervals of accuracy and macro-F1.
    fn intervals(&self, seed: u64) -> [[f64; 2]; 2] {
        let n = self.outcomes.len();
        if n == 0 {
            return [[0.0; 2]; 2];
        }
        let mut samples = [Vec::new(), Vec::new()];
        for sample in 0..SAMPLES {
            let drawn = (0..n as u64).map(|i| {
                let position = (1.0 - uniform(seed, sample * n as u64 + i)) * n as f64;
                self.outcomes[(position as usize).min(n - 1)]
            });
            let scores = averages(&self.counts(&drawn.collect::<Vec<_>>()));
            samples.iter_mut().zip(scores).for_each(|(sample, score)| sample.push(score));
        }
        samples.map(|mut sample| {
            sample.sort_by(f64::total_cmp);
            INTERVAL.map(|position| sample[position])
        })
    }

    /// Counts documents of each class.
    fn counts(&self, outcomes: &[[u32; 2]]) -> Vec<Counts> {
        let mut counts = vec![Counts::default(); self.classes.len()];
        for &[gold, predicted] in outcomes {
            counts[gold as usize].gold += 1;
            counts[predicted as usize].predicted += 1;
            counts[gold as usize].correct += u64::from(gold == predicted);
        }
        counts
    }
}

fn occurs(counts: &Counts) -> bool {
    counts.gold + counts.predicted > 0
}

/// Returns accuracy and macro-averaged F1.
fn averages(counts: &[Counts]) -> [f64; 2] {
    let (mut correct, mut total, mut f1, mut classes) = (0, 0, 0.0, 0);
    for counts in counts.iter().filter(|counts| occurs(counts)) {
        correct += counts.correct;
        total += counts.gold;
        f1 += counts.metrics().f1;
        classes += 1;
    }
    [ratio(1.0, correct, total), f1 / f64::from(classes.max(1))]
}

fn percent(fraction: f64) -> String {
    format!("{:.2}", 100.0 * fraction)
}

impl ClassReport {
    /// Returns the scores over all classes, for people.
    pub fn summary(&self) -> String {
        let Self { documents, log_loss, brier_score, calibration_error, .. } = self;
        let with_interval = |score: f64, [low, high]: [f64; 2]| {
            format!("{}% ({}–{})", percent(score), percent(low), percent(high))
        };
        let accuracy = with_interval(self.accuracy, self.accuracy_interval);
        let macro_f1 = with_interval(self.macro_f1, self.macro_f1_interval);
        let summary = format!(
            "{documents} documents; accuracy {accuracy}; macro-F1 {macro_f1}\n\
             log-loss {log_loss:.4}; Brier score {brier_score:.4}; expected calibration error \
             {calibration_error:.4}\n"
        );
        let unseen = match self.unseen {
            0 => return summary,
            1 => "1 document is".to_owned(),
            n => format!("{n} documents are"),
        };
        format!(
            "{summary}{unseen} of a class that the model does not have, and so wrong; they are \
             left out of the log-loss\n"
        )
    }

    /// Returns a table of the scores of each class.
    pub fn class_rows(&self) -> Vec<Vec<String>> {
        let classes = self.classes.iter().map(|class| {
            [
                class.class.clone(),
                percent(class.precision),
                percent(class.recall),
                percent(class.f1),
                class.support.to_string(),
            ]
        });
        table(["class", "precision", "recall", "F1", "documents"], classes)
    }

    /// Returns a table of what the documents of each class were predicted to be.
    pub fn confusion_rows(&self) -> Vec<Vec<String>> {
        let rows = self.classes.iter().flat_map(|class| {
            let predicted = class.predicted.iter();
            predicted.map(|(name, count)| [class.class.clone(), name.clone(), count.to_string()])
        });
        table(["class", "predicted", "documents"], rows)
    }
}

fn table<const N: usize>(
    heading: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> Vec<Vec<String>> {
    let heading = heading.map(str::to_owned);
    [heading].into_iter().chain(rows).map(|row| row.to_vec()).collect()
}

/// Returns the difference in accuracy between two classifiers, for people.
pub fn comparison_text(report: &BootstrapReport) -> String {
    let (accuracy, samples) = (&report.accuracy, report.samples);
    let other = percent(accuracy.scores[1]);
    // The report has this model minus the other.
    let difference = -100.0 * accuracy.difference;
    let [high, low] = accuracy.interval.map(|end| -100.0 * end);
    format!(
        "\nthe other model: accuracy {other}%; difference {difference:+.2} ({low:+.2} to \
         {high:+.2}), p = {:.4} by {samples} resamples\n",
        accuracy.p_value
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(outcomes: &[(&str, usize, [f64; 3])]) -> ClassEvaluation {
        let mut evaluation = ClassEvaluation::new(&["a", "b", "c"].map(str::to_owned));
        for (gold, predicted, probabilities) in outcomes {
            evaluation.add(gold, *predicted, probabilities);
        }
        evaluation
    }

    #[test]
    fn scores_are_those_of_the_definitions() {
        let report = evaluation(&[
            ("a", 0, [0.8, 0.1, 0.1]),
            ("a", 1, [0.3, 0.6, 0.1]),
            ("b", 1, [0.0, 1.0, 0.0]),
            ("d", 0, [0.5, 0.3, 0.2]),
        ])
        .report(1);
        assert_eq!((report.documents, report.unseen, report.accuracy), (4, 1, 0.5));
        let f1: Vec<(&str, f64)> = report.classes.iter().map(|c| (&*c.class, c.f1)).collect();
        assert_eq!(f1, [("a", 0.5), ("b", 2.0 / 3.0), ("d", 0.0)]); // c does not occur
        assert!((report.macro_f1 - (0.5 + 2.0 / 3.0) / 3.0).abs() < 1e-15);
        let loss = -(0.8_f64.ln() + 0.3_f64.ln()) / 3.0;
        assert!((report.log_loss - loss).abs() < 1e-15);
        let confusions = &report.classes[0].predicted;
        assert_eq!((confusions["a"], confusions["b"]), (1, 1));
        let brier = (0.06 + 0.86 + 0.0 + 1.38) / 4.0;
        assert!((report.brier_score - brier).abs() < 1e-15);
    }

    #[test]
    fn the_brier_score_of_two_classes_is_the_squared_error_of_one() {
        let mut evaluation = ClassEvaluation::new(&["a", "b"].map(str::to_owned));
        evaluation.add("a", 0, &[0.8, 0.2]);
        evaluation.add("a", 1, &[0.3, 0.7]);
        let expected = (0.04 + 0.49) / 2.0;
        assert!((evaluation.report(1).brier_score - expected).abs() < 1e-15);
    }

    #[test]
    fn an_impossible_class_has_a_finite_loss() {
        let report = evaluation(&[("a", 1, [0.0, 1.0, 0.0])]).report(1);
        assert_eq!(report.log_loss, -f64::EPSILON.ln());
        assert_eq!(report.accuracy_interval, [0.0; 2]);
        assert_eq!(evaluation(&[]).report(1).accuracy, 0.0);
    }

    #[test]
    fn intervals_are_those_of_the_binomial_distribution() {
        // 80 of 100: the standard error is 4 points, so the interval is about 72 to 88.
        let right = ("a", 0, [1.0, 0.0, 0.0]);
        let wrong = ("b", 0, [1.0, 0.0, 0.0]);
        let outcomes = [vec![right; 80], vec![wrong; 20]].concat();
        let evaluation = evaluation(&outcomes);
        let [low, high] = evaluation.report(7).accuracy_interval;
        assert!((low - 0.72).abs() <= 0.015 && (high - 0.88).abs() <= 0.015, "{low} {high}");
        assert_eq!(evaluation.report(7), evaluation.report(7));
        assert_ne!(evaluation.report(8).accuracy_interval, [0.0; 2]);
    }
}

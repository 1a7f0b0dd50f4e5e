//! The labels of a corpus: counts, the scheme, and what contradicts it.

use std::collections::{BTreeMap, HashMap};

use super::characters::quoted;
use super::finding::{FindingKind, Findings};
use super::reading::CheckOptions;
use super::sentences::{Role, Sentences, content};
use dropchain::kernel::label::{Misfit, convert_partial, may_follow};
use dropchain::kernel::model::MAX_LABELS;
use dropchain::label::{Detected, Labeling, Scheme};
use dropchain::sentence::{Sentence, TokenLabel};

/// How often a label, or the type of a span, occurs.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LabelCount {
    /// The label or type.
    pub label: String,
    /// The number of occurrences in the data of each role.
    #[serde(flatten)]
    pub counts: BTreeMap<Role, u64>,
}

impl LabelCount {
    /// The number of occurrences in data of a role.
    pub fn of(&self, role: Role) -> u64 {
        self.counts.get(&role).copied().unwrap_or(0)
    }
}

/// How many labels contradict a scheme.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SchemeFit {
    /// The scheme.
    pub scheme: Scheme,
    /// The number of labels that are illegal in it.
    pub illegal: u64,
}

/// The labels of a corpus.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LabelReport {
    /// The scheme that training would use: that of training data, or else of all data.
    pub scheme: Scheme,
    /// The scheme with the notation of its labels.
    #[serde(skip)]
    pub labeling: Labeling,
    /// The same, and the number of labels, in words.
    pub read_as: String,
    /// Why, in words.
    pub reason: String,
    /// How well schemes fit to which all labels belong.
    pub fits: Vec<SchemeFit>,
    /// Whether labels encode spans.
    pub spans: bool,
    /// Labels, the most frequent first.
    pub labels: Vec<LabelCount>,
    /// Types of spans, the most frequent first; empty if labels encode none.
    pub types: Vec<LabelCount>,
}

impl LabelReport {
    /// Looks at the labels of a corpus.
    pub(super) fn new(
        sentences: &Sentences,
        options: &CheckOptions,
        findings: &mut Findings,
    ) -> Self {
        let mut first: HashMap<&str, &Sentence> = HashMap::new();
        let mut counts: HashMap<&str, LabelCount> = HashMap::new();
        for (&role, sentence) in labeled(sentences) {
            for t in 0..sentence.len() {
                for label in known_labels(sentence, t) {
                    first.entry(label).or_insert(sentence);
                    add(&mut counts, label, role);
                }
            }
        }
        let train = (sentences.iter()).any(|(&role, all)| role == Role::Train && !all.is_empty());
        let basis = labeled(sentences).filter(|&(&role, _)| role == Role::Train || !train);
        let detected = options.labels.of(basis.map(|(_, sentence)| sentence)).detected();
        let labeling = detected.labeling.clone();
        let encodes_spans = labeling.scheme.has_spans();
        let mut types: HashMap<&str, LabelCount> = HashMap::new();
        let mut all: Vec<(Role, &Sentence, Vec<&str>)> = (labeled(sentences))
            .map(|(&role, sentence)| (role, sentence, sentence.labels().unwrap_or_default()))
            .collect();
        for (role, _, labels) in all.iter().filter(|_| encodes_spans) {
            for span in labeling.spans(labels) {
                add(&mut types, span.kind, *role);
            }
        }
        let fits = detected.fits.iter().filter(|_| encodes_spans);
        let fits = fits.map(|&(scheme, illegal)| SchemeFit { scheme, illegal });
        check_detected(&detected, findings);
        let report = Self {
            scheme: labeling.scheme,
            read_as: detected.to_string(),
            reason: reason(&detected, encodes_spans),
            labeling,
            fits: fits.collect(),
            spans: encodes_spans,
            labels: sorted(counts),
            types: sorted(types),
        };
        let labeling = &report.labeling;
        for role in [Role::Dev, Role::Test].into_iter().filter(|_| train) {
            let own = || labeled(sentences).filter(|(own, _)| **own == role).map(|(_, s)| s);
            let read = options.labels.of(own()).detected_for(labeling);
            if let Some(first) = own().next().filter(|_| read.labeling != *labeling) {
                let text = || format!("labels read as {read}, converted to {labeling}");
                findings.add(FindingKind::DoubtfulReading, first.place(0), text);
                all.retain(|(other, ..)| *other != role);
            }
        }
        report.check_legality(&all, findings);
        report.check_names(&first, train, options.read.supervision.partial_labels, findings);
        report
    }

    fn check_legality(&self, all: &[(Role, &Sentence, Vec<&str>)], findings: &mut Findings) {
        let (scheme, labeling) = (self.labeling.scheme.title(), &self.labeling);
        if matches!(labeling.scheme, Scheme::Raw | Scheme::Plain) {
            return;
        }
        for (_, sentence, labels) in all {
            if let Some(allowed) = sentence.allowed_labels() {
                if let Err(t) = convert_partial(&allowed, labeling, labeling) {
                    let text =
                        || format!("{}, given the other labels ({scheme})", quoted(labels[t]));
                    findings.add(FindingKind::ImpossibleLabels, sentence.place(t), text);
                }
                continue;
            }
            let mut previous = labeling.outside();
            for (t, &label) in labels.iter().enumerate() {
                if !may_follow(previous, label, labeling) {
                    findings.add(FindingKind::IllegalTransition, sentence.place(t), || match t {
                        0 => format!("{scheme}: {} begins the sentence", quoted(label)),
                        _ => format!("{scheme}: {} after {}", quoted(label), quoted(previous)),
                    });
                }
                previous = label;
            }
            let last = labels.len().saturating_sub(1);
            if !labels.is_empty() && !may_follow(previous, labeling.outside(), labeling) {
                let text = || format!("{scheme}: {} ends the sentence", quoted(previous));
                findings.add(FindingKind::IllegalTransition, sentence.place(last), text);
            }
        }
    }

    /// Looks for labels that look like mistakes.
    fn check_names(
        &self,
        first: &HashMap<&str, &Sentence>,
        has_train: bool,
        partial: bool,
        findings: &mut Findings,
    ) {
        let place = |label: &str| {
            let sentence = first[label];
            let t = (0..sentence.len()).find(|&t| known_labels(sentence, t).any(|l| l == label));
            sentence.place(t.unwrap_or(0))
        };
        let mut by_letters: HashMap<String, &str> = HashMap::new();
        for (i, count) in self.labels.iter().enumerate() {
            let label = &*count.label;
            let [train, dev, test] = Role::ALL.map(|role| count.of(role));
            let mut add = |kind, details: &dyn Fn() -> String| {
                findings.add(kind, place(label), || quoted(label) + &details());
            };
            if i >= MAX_LABELS {
                add(FindingKind::TooManyLabels, &|| {
                    format!("; at most {MAX_LABELS} can be trained")
                });
            }
            let letters = label.chars().filter(|c| c.is_alphanumeric());
            let letters: String = letters.flat_map(char::to_lowercase).collect();
            match by_letters.get(&letters) {
                Some(other) if !letters.is_empty() => {
                    add(FindingKind::SimilarLabels, &|| format!(", more often {}", quoted(other)));
                }
                _ => _ = by_letters.insert(letters, label),
            }
            if has_train && train == 0 {
                add(FindingKind::UnseenLabel, &|| format!(", {} times", dev + test));
            }
            if train == 1 {
                add(FindingKind::RareLabel, &String::new);
            }
            if !partial && self.looks_partial(label) {
                add(FindingKind::PartialLooking, &String::new);
            }
        }
    }

    /// Returns whether a label is `_`, or several labels of the corpus separated by `|`.
    fn looks_partial(&self, label: &str) -> bool {
        let is_label = |name: &str| self.labels.iter().any(|count| count.label == name);
        label == "_" && self.labels.len() > 1
            || label.contains('|') && label.split('|').all(is_label)
    }
}

/// Returns the sentences that have labels, with their roles.
fn labeled(sentences: &Sentences) -> impl Iterator<Item = (&Role, &Sentence)> {
    let all = sentences.iter().flat_map(|(role, all)| content(all).map(move |s| (role, s)));
    all.filter(|(_, sentence)| sentence.schema().label().is_some())
}

/// Returns the labels that a token is known to have: those of a partial label.
fn known_labels(sentence: &Sentence, t: usize) -> impl Iterator<Item = &str> {
    let partial = sentence.partial_label(t);
    let labels = partial.into_iter().flat_map(TokenLabel::labels);
    let label = sentence.label(t).filter(|_| partial.is_none());
    labels.map(String::as_str).chain(label)
}

/// Looks for labels of no scheme among others, and for spans at all.
fn check_detected(detected: &Detected, findings: &mut Findings) {
    let is_without = detected.labeling.scheme.has_spans() && !detected.has_spans;
    if let Some(place) = detected.longest.1.as_ref().filter(|_| is_without) {
        let outside = quoted(detected.labeling.outside());
        let text = || format!("all labels are {outside} (is this the label column?)");
        findings.add(FindingKind::NoSpan, place.clone(), text);
    }
    let strays = detected.strays.iter().chain(&detected.prefixed_outside);
    for (Misfit { label, count, .. }, place) in strays.filter_map(|s| Some((s, s.first.clone()?))) {
        findings.add(FindingKind::StrayLabel, place, || match count {
            1 => quoted(label),
            _ => format!("{}, {count} times", quoted(label)),
        });
    }
}

/// Says why a labeling was detected.
fn reason(detected: &Detected, encodes_spans: bool) -> String {
    if !encodes_spans {
        let stray = detected.strays.first().map(|stray| quoted(&stray.label));
        return match stray {
            Some(stray) => format!("{stray} belongs to no scheme (B-X, I-X, E-X, S-X, O)"),
            None => "the labels encode no spans (B-X, I-X, …)".to_owned(),
        };
    }
    if !detected.has_spans {
        return "no token is in a span".to_owned();
    }
    if detected.labeling.scheme == Scheme::Plain {
        return "the labels have no prefixes, but look like types of spans".to_owned();
    }
    let (own, all) = (detected.labeling.scheme, detected.in_spans);
    let mut fits = detected.fits.clone();
    fits.sort_by_key(|(scheme, _)| *scheme != own); // the scheme that was chosen first
    let fits = fits.iter().enumerate().map(|(i, (scheme, misfits))| {
        let of = if i == 0 { format!(" of {all} labels in spans") } else { String::new() };
        match misfits {
            0 => format!("all{of} fit {}", scheme.title()),
            1 => format!("1{of} does not fit {}", scheme.title()),
            n => format!("{n}{of} do not fit {}", scheme.title()),
        }
    });
    let fits = fits.collect::<Vec<_>>().join(", ").replacen("all of", "all", 1);
    if detected.labeling.strict { fits } else { format!("too many errors for any scheme: {fits}") }
}

/// Counts an occurrence of a label.
fn add<'a>(counts: &mut HashMap<&'a str, LabelCount>, label: &'a str, role: Role) {
    let count = counts.entry(label).or_insert_with(|| LabelCount {
        label: label.to_owned(),
        counts: Role::ALL.map(|role| (role, 0)).into(),
    });
    *count.counts.entry(role).or_default() += 1;
}

/// Sorts by frequency in training data, then in the others, then by label.
fn sorted(counts: HashMap<&str, LabelCount>) -> Vec<LabelCount> {
    let mut counts: Vec<LabelCount> = counts.into_values().collect();
    counts.sort_by(|a, b| (b.counts.cmp(&a.counts)).then_with(|| a.label.cmp(&b.label)));
    counts
}

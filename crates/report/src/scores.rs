//! The section on scores: overall, by type and by the frequency of words, and whether probabilities
//! are right.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use dropchain::eval::Counts;
use dropchain_analysis::{Calibration, FrequencyBand, WordCounts};

use crate::evaluated::{Analysis, Evaluated, System, SystemAnalysis};
use crate::plot::{Axis, Mark, Plot, Point, Scale, Series};
use crate::significance::Significance;
use crate::views::{
    Block, Cell, Figure, Rank, Section, Table, Tile, count, count_of, heads, name_of, or_empty,
    percent, series,
};

/// Maximum number of types or labels in a table.
const MAX_TYPES: usize = 150;

/// Number of gold spans or labels from which on a type may be called the worst.
const MIN_SUPPORT: u64 = 20;

/// The calibration that is explained.
const ALL_TOKENS: &str = "all tokens";

/// What diagrams of calibration show.
const NOTE: &str = "Of the labels predicted with a probability of 80%, about 80% should be \
                    correct: then points are on the diagonal. Below it, probabilities are too \
                    high. The calibration error (ECE) is the mean distance, weighted by the number \
                    of tokens. Hollow points are of fewer than 10 tokens.";

/// Shows the scores of systems; with words of the training data, by their frequency.
pub fn scores(
    all: &Evaluated,
    analysis: &Analysis,
    significance: &Significance,
    words: Option<&WordCounts>,
) -> Section {
    let table = overall(all, analysis, significance);
    let has_ties = table.rows.iter().any(|row| row.rank == Rank::Tied);
    let mut blocks = vec![Block::Table(table)];
    if has_ties {
        let note = "≈: not told apart from ★ (paired bootstrap, p > 0.05).";
        blocks.push(Block::Note(note.to_owned()));
    }
    let (types, left_off) = types(analysis, &all.names());
    blocks.push(Block::Heading(format!("By {}", types.head[0])));
    blocks.push(Block::Table(types));
    if left_off > 0 {
        blocks.push(Block::Note(format!("{left_off} rarer ones are not shown.")));
    }
    let frequency = words.and_then(|words| by_frequency(all, analysis, words));
    let of_tokens = reliability(ALL_TOKENS, &all.systems, |system| &system.tokens);
    let in_spans =
        reliability("tokens in predicted spans", &all.systems, |system| &system.in_spans);
    let figures = [frequency, of_tokens, in_spans.filter(|_| analysis.has_spans)];
    blocks.push(Block::Figures(figures.into_iter().flatten().collect()));
    Section { id: "scores", title: "Scores", blocks }
}

/// Describes how much gold data there are.
pub fn size_of(analysis: &Analysis) -> String {
    let first = &analysis.systems[0].evaluation;
    let mut parts =
        vec![count_of(first.sentences(), "sentence"), count_of(first.tokens(), "token")];
    parts.extend(analysis.has_spans.then(|| count_of(first.spans().gold, "span")));
    parts.join(", ")
}

fn overall(all: &Evaluated, analysis: &Analysis, significance: &Significance) -> Table {
    let mut head = heads(match analysis.has_spans {
        true => "system, F1, 95% interval, precision, recall, accuracy",
        false => "system, accuracy, 95% interval",
    });
    let has_training = all.systems.iter().any(|system| system.training.is_some());
    head.extend(has_training.then(|| format!("{} on training data", analysis.metric())));
    let (mut table, best) = (Table::new("Scores, in percent", head), analysis.best());
    for (i, (system, counts)) in all.systems.iter().zip(&analysis.systems).enumerate() {
        let evaluation = &counts.evaluation;
        let interval = significance.intervals.get(i);
        let interval = or_empty(interval, |ends| ends.map(percent).join(" – "));
        let others = [evaluation.precision(), evaluation.recall(), evaluation.accuracy()];
        let others = others.into_iter().filter(|_| analysis.has_spans).map(percent);
        let training = or_empty(system.training, |training| percent(training.value));
        let cells = [system.name.clone(), percent(analysis.score(i)), interval].into_iter();
        let row = table.row(cells.chain(others).chain(has_training.then_some(training)));
        if all.systems.len() > 1 {
            row.rank = significance.rank(i, best);
        }
    }
    table
}

/// Returns the correct and other counts by type, or by label if these encode no spans.
pub fn counts_of(counts: &SystemAnalysis, has_spans: bool) -> Vec<(&str, Counts)> {
    if has_spans { counts.evaluation.types().collect() } else { counts.evaluation.labels() }
}

/// Formats precision, recall and F1.
fn percentages(counts: &Counts) -> [String; 3] {
    let metrics = counts.metrics();
    [metrics.precision, metrics.recall, metrics.f1].map(percent)
}

/// Returns the type or label of a system with the lowest F1, among several that are not rare.
pub fn worst_type(analysis: &Analysis, system: usize) -> Option<Tile> {
    let has_spans = analysis.has_spans;
    let (thing, things) = if has_spans { ("type", "gold spans") } else { ("label", "gold tokens") };
    let counts = counts_of(&analysis.systems[system], has_spans);
    let frequent = counts.into_iter().filter(|(_, c)| c.gold >= MIN_SUPPORT);
    let mut frequent: Vec<(&str, Counts)> = frequent.collect();
    frequent.sort_by(|(_, a), (_, b)| a.metrics().f1.total_cmp(&b.metrics().f1));
    let [(name, counts), _, ..] = frequent.as_slice() else { return None };
    let [precision, recall, f1] = percentages(counts);
    let gold = count(counts.gold);
    Some(Tile {
        name: format!("Worst {thing} of {MIN_SUPPORT} {things} or more"),
        value: format!("{} {f1}", name_of(name)),
        note: format!("F1; precision {precision}, recall {recall}, {gold} {things}"),
    })
}

/// Returns the scores by type or label, and how many are left off.
fn types(analysis: &Analysis, names: &[&str]) -> (Table, usize) {
    let systems = analysis.systems.len();
    let mut types: BTreeMap<&str, Vec<Counts>> = BTreeMap::new();
    for (i, system) in analysis.systems.iter().enumerate() {
        for (name, counts) in counts_of(system, analysis.has_spans) {
            types.entry(name).or_insert_with(|| vec![Counts::default(); systems])[i] = counts;
        }
    }
    let support = |counts: &[Counts]| counts.iter().map(|c| c.gold).max().unwrap_or(0);
    let mut types: Vec<(&str, Vec<Counts>)> = types.into_iter().collect();
    types.sort_by_key(|(_, counts)| Reverse(support(counts)));
    let left_off = types.len().saturating_sub(MAX_TYPES);
    types.truncate(MAX_TYPES);
    let thing = if analysis.has_spans { "type" } else { "label" };
    let mut head = vec![thing.to_owned(), "support".to_owned()];
    head.extend(names.iter().flat_map(|_| heads("precision, recall, F1")));
    let caption = "Precision, recall and F1 in percent; support is the number in gold";
    let mut table = Table::new(caption, head);
    if names.len() > 1 {
        table.groups.push((String::new(), 2));
        table.groups.extend(names.iter().map(|&name| (name.to_owned(), 3)));
    }
    for (name, counts) in types {
        let row = table.row([name_of(name), count(support(&counts))]);
        for counts in counts {
            let [precision, recall, f1] = percentages(&counts);
            let others = [precision, recall].map(|text| Cell { text, ..Cell::default() });
            row.cells.extend(others);
            row.cells.push(Cell { text: f1.clone(), class: "bar", share: f1, link: None });
        }
    }
    (table, left_off)
}

/// Plots scores by frequency: F1, or the accuracy of labels without spans.
fn by_frequency(all: &Evaluated, analysis: &Analysis, words: &WordCounts) -> Option<Figure> {
    let bands = |i: usize| &analysis.systems[i].by_frequency.bands;
    let name = |band: &FrequencyBand| match (band.low, band.high) {
        (0, _) => "unseen".to_owned(),
        (low, Some(high)) if low == high => low.to_string(),
        (low, Some(high)) => format!("{low}–{high}"),
        (low, None) => format!("≥ {low}"),
    };
    let names: Vec<String> = bands(0).iter().map(name).collect();
    let (title, metric) = match analysis.has_spans {
        true => ("F1 of spans by their rarest word", "F1, in percent"),
        false => ("Accuracy by frequency of the word", "accuracy, in percent"),
    };
    // A score, and the number of things that it is over.
    let score = |band: &FrequencyBand| match analysis.has_spans {
        true => (band.spans.gold, band.spans.metrics().f1),
        false => (band.tokens, band.correct_tokens as f64 / band.tokens.max(1) as f64),
    };
    let curves = all.systems.iter().enumerate().map(|(i, system)| {
        let scores = (0..).zip(bands(i).iter().map(score));
        let points = scores.filter(|(_, (things, _))| *things > 0);
        let points = points.map(|(x, (_, score))| (f64::from(x), 100.0 * score).into());
        series(i, &system.name, points.collect())
    });
    let curves: Vec<Series> = curves.collect();
    let points = curves[0].points.iter();
    let values = points.map(|point| format!("{} {:.2}", names[point.x as usize], point.y));
    let description = values.collect::<Vec<_>>().join(", ");
    let x = Axis { names, ..Axis::new("occurrences in the training data", Scale::Linear) };
    let y = Axis::new(metric, Scale::Linear).range(0.0, 105.0);
    let figure = Figure::draw(title, &description, &Plot::new(x, y, curves))?;
    let tokens = count_of(words.tokens, "token");
    let words = count_of(words.words() as u64, "distinct word");
    let note = format!("By occurrences in the training data, which have {tokens} and {words}.");
    Some(figure.note(note))
}

/// Draws the reliability diagram of systems with known probabilities; `None` without any.
fn reliability(
    name: &str,
    systems: &[System],
    choose: fn(&System) -> &Calibration,
) -> Option<Figure> {
    let known = systems.iter().filter(|one| choose(one).count() > 0);
    let errors = known.map(|one| {
        let calibration = choose(one);
        let (name, tokens) = (&one.name, count(calibration.count()));
        let (ece, brier) = (calibration.expected_error(), calibration.top_label_brier_score());
        format!("{name}: ECE {ece:.4}, top-label Brier score {brier:.4}, {tokens} tokens. ")
    });
    let errors: String = errors.collect();
    let curves = systems.iter().enumerate().map(|(i, one)| {
        let bins = choose(one).bins();
        let bins = bins.iter().filter(|bin| bin.count > 0);
        let points = bins.map(|bin| Point {
            count: Some(bin.count),
            ..Point::from((bin.confidence, bin.accuracy))
        });
        series(i, &one.name, points.collect())
    });
    let diagonal = Series::new(0, Mark::Reference, [(0.0, 0.0), (1.0, 1.0)]);
    let axis = |label| Axis::new(label, Scale::Linear).range(0.0, 1.04);
    let curves = [diagonal].into_iter().chain(curves).collect();
    let plot = Plot::new(axis("mean probability"), axis("accuracy"), curves);
    let figure = Figure::draw(format!("Calibration, {name}"), &errors, &plot)?;
    let note = if name == ALL_TOKENS { NOTE } else { "" };
    (!errors.is_empty()).then(|| figure.note(errors + note))
}

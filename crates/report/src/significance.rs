//! Whether the scores of systems differ significantly: all pairs, by the paired bootstrap.

use dropchain::Result;
use dropchain_analysis::{Difference, PairedBootstrap, holm};

use crate::evaluated::{Analysis, Evaluated};
use crate::views::{Section, Table, count, heads, system};

/// Maximum number of systems of which all pairs are tested; of more, each against the best.
const MAX_ALL: usize = 8;

/// Seed of the samples.
const SEED: u64 = 1;

/// Significance level.
const LEVEL: f64 = 0.05;

/// The differences between systems in the metric that counts.
pub struct Significance {
    pub metric: &'static str,
    pub pairs: Vec<PairDifference>,
}

/// The difference between two systems, by their numbers.
pub struct PairDifference {
    pub a: usize,
    pub b: usize,
    pub difference: Difference,
    /// The p-value, adjusted for the number of pairs.
    pub adjusted: f64,
}

impl PairDifference {
    /// Returns whether the systems differ at the level of 5 %, the number of pairs considered.
    pub fn is_significant(&self) -> bool {
        self.difference.difference != 0.0 && self.adjusted <= LEVEL
    }
}

impl Significance {
    /// Tests all pairs of systems; `None` of one system, or without sentences.
    pub fn new(all: &Evaluated, analysis: &Analysis) -> Result<Option<Self>> {
        let systems = all.systems.len();
        if systems < 2 || all.gold.is_empty() {
            return Ok(None);
        }
        let pairs = (0..systems).flat_map(|a| (a + 1..systems).map(move |b| (a, b)));
        let best = analysis.best();
        let tested = pairs.filter(|&(a, b)| systems <= MAX_ALL || a == best || b == best);
        let mut metric = "accuracy";
        let mut pairs = Vec::new();
        for (a, b) in tested {
            let report = all.bootstrap([a, b])?.run(PairedBootstrap::SAMPLES, SEED)?;
            let (name, difference) = report.score();
            metric = name;
            pairs.push(PairDifference { a, b, difference, adjusted: 1.0 });
        }
        let p_values: Vec<f64> = pairs.iter().map(|p| p.difference.p_value).collect();
        for (pair, adjusted) in pairs.iter_mut().zip(holm(&p_values)) {
            pair.adjusted = adjusted;
        }
        Ok(Some(Self { metric, pairs }))
    }

    /// Says how the differences were tested.
    fn method(&self) -> String {
        let samples = count(PairedBootstrap::SAMPLES.into());
        let method = format!("two-sided, paired bootstrap with {samples} samples");
        match self.pairs.len() {
            1 => method,
            n => format!("{method}; p-values of {n} pairs are adjusted by the method of Holm"),
        }
    }

    /// Returns the section.
    pub fn section(self) -> Section {
        let mut section = Section::new("significance", "Significance");
        section.table(self.table());
        section.text(format!("P-values: {}.", self.method()));
        section
    }

    /// Lists the differences of all pairs.
    fn table(&self) -> Table {
        let head = heads("systems, difference, 95% CI, p, p (Holm), significant");
        let caption = format!("Differences in {}, in points", self.metric);
        let mut table = Table::new(caption, head);
        for pair in &self.pairs {
            let difference = &pair.difference;
            let [low, high] = difference.interval.map(|end| 100.0 * end);
            table.row([
                format!("{} − {}", system(pair.b), system(pair.a)),
                format!("{:+.2}", 100.0 * difference.difference),
                format!("[{low:+.2}, {high:+.2}]"),
                format!("{:.4}", difference.p_value),
                format!("{:.4}", pair.adjusted),
                ["no", "yes"][usize::from(pair.is_significant())].to_owned(),
            ]);
        }
        table
    }

    /// Says which system is best, and which others it is significantly better than.
    pub fn verdict(&self, names: &[&str], best: usize) -> Vec<String> {
        let of_best = self.pairs.iter().filter(|p| p.a == best || p.b == best);
        let other = |pair: &PairDifference| if pair.a == best { pair.b } else { pair.a };
        let (better, same): (Vec<_>, Vec<_>) = of_best.partition(|pair| pair.is_significant());
        let list = |pairs: &[&PairDifference]| {
            let texts = pairs.iter().map(|pair| {
                let points = 100.0 * pair.difference.difference.abs();
                format!("{} ({points:.2} points, p = {:.4})", system(other(pair)), pair.adjusted)
            });
            texts.collect::<Vec<_>>().join(", ")
        };
        let mut verdicts = Vec::new();
        let name = format!("{} ({})", system(best), names[best]);
        if !better.is_empty() {
            verdicts.push(format!(
                "{name} is significantly better in {} than {}.",
                self.metric,
                list(&better)
            ));
        }
        if !same.is_empty() {
            verdicts.push(format!(
                "{name} has the highest {}, but no significant difference to {}.",
                self.metric,
                list(&same)
            ));
        }
        verdicts
    }
}

/// Returns the 95 % interval of the score of a system; `None` without sentences.
pub fn interval(all: &Evaluated, system: usize) -> Result<Option<[f64; 2]>> {
    if all.gold.is_empty() {
        return Ok(None);
    }
    all.bootstrap([system; 2])?.interval(PairedBootstrap::SAMPLES, SEED).map(Some)
}

impl Evaluated {
    /// Returns the test of two systems, by their numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`](dropchain::Error::Parameter): a sentence has fewer or more predictions
    /// than gold labels.
    pub fn bootstrap(&self, pair: [usize; 2]) -> Result<PairedBootstrap> {
        let [a, b] = pair.map(|i| &self.systems[i]);
        let mut bootstrap = PairedBootstrap::new()
            .with_labelings(&self.gold_labeling, [&a.labeling, &b.labeling])
            .with_names([a.name.clone(), b.name.clone()]);
        for (_, number) in self.sentences() {
            match number {
                Some(i) => bootstrap.add(&self.gold[i], [&a.labels[i], &b.labels[i]])?,
                None => bootstrap.add_document_start(),
            }
        }
        Ok(bootstrap)
    }
}

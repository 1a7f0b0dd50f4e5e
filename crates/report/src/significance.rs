//! How certain the scores of systems are, and whether they differ: by the bootstrap, of all pairs.

use dropchain::Result;
use dropchain_analysis::{Difference, PairedBootstrap, holm};

use crate::evaluated::{Analysis, Evaluated};
use crate::views::{Block, Rank, Section, TOLD, Table, count, distinct, heads};

/// Maximum number of systems of which all pairs are tested; of more, each against the best.
const MAX_ALL: usize = 8;

/// Seed of the samples.
const SEED: u64 = 1;

/// Significance level.
const LEVEL: f64 = 0.05;

/// The differences between systems in the metric that counts.
#[derive(Default)]
pub struct Significance {
    /// The 95 % interval of the score of each system; none without sentences.
    pub intervals: Vec<[f64; 2]>,
    metric: &'static str,
    pairs: Vec<PairDifference>,
}

/// The difference between two systems, by their numbers.
struct PairDifference {
    systems: [usize; 2],
    difference: Difference,
    /// The p-value, adjusted for the number of pairs.
    adjusted: f64,
}

impl PairDifference {
    /// Returns whether the systems differ at the level of 5 %, the number of pairs considered.
    fn is_significant(&self) -> bool {
        self.difference.difference != 0.0 && self.adjusted <= LEVEL
    }
}

impl Significance {
    /// Tests all pairs of systems.
    ///
    /// # Errors
    ///
    /// Sentences are too many or too long to be counted.
    pub fn new(all: &Evaluated, analysis: &Analysis) -> Result<Self> {
        let (systems, metric) = (all.systems.len(), analysis.metric());
        if all.gold.is_empty() {
            return Ok(Self { metric, ..Self::default() });
        }
        let pairs = (0..systems).flat_map(|a| (a + 1..systems).map(move |b| [a, b]));
        let best = analysis.best();
        let tested = pairs.filter(|pair| systems <= MAX_ALL || pair.contains(&best));
        let mut pairs = Vec::new();
        for pair in tested {
            let report = all.bootstrap(pair)?.run(PairedBootstrap::SAMPLES, SEED)?;
            let (_, difference) = report.score();
            pairs.push(PairDifference { systems: pair, difference, adjusted: 1.0 });
        }
        let p_values: Vec<f64> = pairs.iter().map(|p| p.difference.p_value).collect();
        for (pair, adjusted) in pairs.iter_mut().zip(holm(&p_values)) {
            pair.adjusted = adjusted;
        }
        let interval =
            |system| all.bootstrap([system; 2])?.interval(PairedBootstrap::SAMPLES, SEED);
        let intervals = (0..systems).map(interval).collect::<Result<_>>()?;
        Ok(Self { intervals, metric, pairs })
    }

    /// Returns the section; `None` of one system.
    pub fn section(&self, names: &[&str]) -> Option<Section> {
        let samples = count(PairedBootstrap::SAMPLES.into());
        let holm = match self.pairs.len() {
            0 => return None,
            1 => String::new(),
            n => format!("; p-values of {n} pairs are adjusted by the method of Holm"),
        };
        let text = format!("P-values: two-sided, paired bootstrap with {samples} samples{holm}.");
        let blocks = vec![Block::Table(self.table(names)), Block::Text(text)];
        Some(Section { id: "significance", title: "Significance", blocks })
    }

    /// Lists the differences of all pairs.
    fn table(&self, names: &[&str]) -> Table {
        let head = heads("systems, difference, 95% interval, p, p (Holm), significant");
        let caption = format!("Differences in {}, in points", self.metric);
        let mut table = Table::new(caption, head);
        for pair in &self.pairs {
            let difference = &pair.difference;
            let [low, high] = difference.interval.map(|end| 100.0 * end);
            table.row([
                format!("{} − {}", names[pair.systems[1]], names[pair.systems[0]]),
                format!("{:+.2}", 100.0 * difference.difference),
                format!("[{low:+.2}, {high:+.2}]"),
                format!("{:.4}", difference.p_value),
                format!("{:.4}", pair.adjusted),
                ["no", "yes"][usize::from(pair.is_significant())].to_owned(),
            ]);
        }
        table
    }

    /// Returns what the score of a system says beside that of the best.
    pub fn rank(&self, system: usize, best: usize) -> Rank {
        let is_of =
            |pair: &&PairDifference| [system, best].iter().all(|i| pair.systems.contains(i));
        match self.pairs.iter().find(is_of) {
            _ if system == best => Rank::Highest,
            Some(pair) if pair.is_significant() => Rank::Lower,
            _ => Rank::Tied,
        }
    }

    /// Says which other systems the best one is significantly better than, and which are not told
    /// apart from it.
    pub fn verdict(&self, names: &[&str], best: usize) -> Vec<String> {
        let of_best = self.pairs.iter().filter(|pair| pair.systems.contains(&best));
        let (better, same): (Vec<_>, Vec<_>) = of_best.partition(|pair| pair.is_significant());
        let list = |pairs: &[&PairDifference]| {
            let texts = pairs.iter().map(|pair| {
                let [a, b] = pair.systems;
                let other = names[if a == best { b } else { a }];
                let points = 100.0 * pair.difference.difference.abs();
                format!("{other} ({points:.2} points, p = {:.4})", pair.adjusted)
            });
            distinct(texts.collect(), TOLD).join(", ")
        };
        let (name, metric) = (names[best], self.metric);
        let better = (!better.is_empty())
            .then(|| format!("{name} is significantly better in {metric} than {}.", list(&better)));
        let same = (!same.is_empty())
            .then(|| format!("Not told apart in {metric} from {name}: {}.", list(&same)));
        better.into_iter().chain(same).collect()
    }
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
        let mut bootstrap = PairedBootstrap::default()
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

//! `--delete`, `--misspell`, `--lowercase` and `--missing` of `eval`: scores on damaged text.

use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use dropchain::Result;
use dropchain::eval::Evaluation;
use dropchain_analysis::{Damage, Deletion};
use serde_json::{Value, json};

use super::gold_tagger::GoldTagger;
use super::rates::{Rates, damage_table};

/// What is damaged, and at which rates.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Damaged text")]
#[group(id = "damage", multiple = false)]
pub struct DamageArguments {
    /// Leave out attributes at random, at these rates: 0..0.9 in steps of 0.1, or 0,0.25,0.5
    #[arg(long, value_name = "RATES", hide_short_help = true)]
    delete: Option<Rates>,
    /// Misspell words at random: a letter is left out, doubled, swapped or replaced
    #[arg(long, value_name = "RATES", hide_short_help = true)]
    misspell: Option<Rates>,
    /// Turn words into lower case at random
    #[arg(long, value_name = "RATES", hide_short_help = true)]
    lowercase: Option<Rates>,
    /// Replace the cells of columns by `_` at random, such as pos=0..1 or pos,chunk=0..1
    #[arg(long, value_name = "COLUMNS=RATES", hide_short_help = true)]
    missing: Option<MissingColumns>,
}

/// Columns, and the rates at which their cells are missing.
#[derive(Clone, Debug)]
struct MissingColumns {
    columns: Vec<String>,
    rates: Rates,
}

impl FromStr for MissingColumns {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let Some((columns, rates)) = text.split_once('=') else {
            return Err(format!(
                "'{text}' has no rates; expected columns and rates, such as pos=0..1"
            ));
        };
        let columns: Vec<String> = columns.split(',').map(|c| c.trim().to_owned()).collect();
        if columns.iter().any(String::is_empty) {
            return Err(format!("'{text}' has a column without a name"));
        }
        let rates = rates.parse()?;
        Ok(Self { columns, rates })
    }
}

impl DamageArguments {
    /// Returns the rates, what they are called, and the damage; `None` of attributes that are left
    /// out. `None` if nothing is damaged.
    fn chosen(&self) -> Option<(&Rates, &'static str, Option<Damage>)> {
        let missing = self.missing.as_ref();
        let missing = missing.map(|m| {
            let damage = Damage::Missing(m.columns.clone());
            (&m.rates, "missing", Some(damage))
        });
        let delete = self.delete.as_ref().map(|r| (r, "left out", None));
        let misspell = self.misspell.as_ref();
        let misspell = misspell.map(|r| (r, "misspelled", Some(Damage::Misspelling)));
        let lowercase = self.lowercase.as_ref();
        let lowercase = lowercase.map(|r| (r, "lower case", Some(Damage::Lowercase)));
        delete.or(misspell).or(lowercase).or(missing)
    }

    /// Evaluates at each rate, if something is to be damaged.
    pub fn evaluate(
        &self,
        gold: GoldTagger,
        seed: u64,
        evaluate: impl Fn(&GoldTagger) -> Result<Evaluation>,
    ) -> Result<Option<DamageReport>> {
        let Some((rates, name, damage)) = self.chosen() else {
            return Ok(None);
        };
        let mut evaluations = Vec::new();
        let mut gold = gold;
        let sentences = gold.sentences().to_vec();
        for &rate in rates.as_slice() {
            gold = match &damage {
                None => gold.with_attribute_filter(Arc::new(Deletion::new(rate, seed)?)),
                Some(damage) => {
                    let damaged = sentences.iter();
                    let damaged = damaged.map(|sentence| damage.apply(sentence, rate, seed));
                    gold.with_sentences(damaged.collect::<Result<_>>()?)
                }
            };
            evaluations.push((rate, evaluate(&gold)?));
        }
        Ok(Some(DamageReport { name, evaluations }))
    }

    /// Returns whether something is to be damaged.
    pub fn is_given(&self) -> bool {
        self.chosen().is_some()
    }
}

/// Scores by the rate of damage.
pub struct DamageReport {
    name: &'static str,
    evaluations: Vec<(f64, Evaluation)>,
}

impl DamageReport {
    /// Returns a table and a plot: of F1 if there are spans, else of accuracy.
    pub fn text(&self) -> String {
        let percent = |fraction: f64| format!("{:.2}", 100.0 * fraction);
        let mut has_spans = self.evaluations.iter();
        let has_spans = has_spans.any(|(_, evaluation)| evaluation.has_spans());
        let heading = match has_spans {
            true => &[self.name, "F1", "precision", "recall", "accuracy"][..],
            false => &[self.name, "accuracy"],
        };
        let rows = self.evaluations.iter().map(|(rate, e)| match has_spans {
            true => {
                let others = [e.precision(), e.recall(), e.accuracy()].map(percent);
                (*rate, e.f1(), others.to_vec())
            }
            false => (*rate, e.accuracy(), Vec::new()),
        });
        damage_table(heading, &rows.collect::<Vec<_>>())
    }

    /// Returns the reports by rate.
    pub fn json(&self) -> Value {
        let reports = self.evaluations.iter().map(|(rate, evaluation)| {
            let mut report = json!(evaluation.report());
            report["rate"] = json!(rate);
            report
        });
        reports.collect()
    }
}

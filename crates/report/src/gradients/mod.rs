//! Measurements of the gradient engines, and the section on them.

mod sweep;

pub use sweep::{ErrorRow, Exponent, Spread, Sweep, SweepRow};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::plot::{Axis, Mark, Plot, Scale, Series};
use crate::training::score;
use crate::views::{Figure, IN_TABLE, Section, Table, count_of, heads, letter, or_empty};

/// Errors below are rounding errors, and drawn as this one.
const ROUNDING: f64 = 1e-16;

/// The results of `bench gradients`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gradients {
    /// Version of dropchain.
    pub version: String,
    /// Training files.
    pub files: Vec<String>,
    /// The template.
    pub template: Option<String>,
    /// Number of sentences.
    pub sentences: u64,
    /// Number of tokens.
    pub tokens: u64,
    /// Number of labels.
    pub labels: usize,
    /// Number of weights.
    pub parameters: usize,
    /// The training parameters.
    pub options: Value,
    /// The weights at which gradients are compared.
    pub weights: String,
    /// Random seed of the sentences.
    pub seed: u64,
    /// Number of timed repeats.
    pub repeat: usize,
    /// Number of threads.
    pub threads: usize,
    /// The engines.
    pub engines: Vec<Measurement>,
    /// The errors of the gradient within a window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorRow>,
    /// Costs by what was varied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sweeps: Vec<Sweep>,
    /// Maximum number of evaluations of each training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<usize>,
    /// Trainings with the engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<Vec<TrainingRun>>,
}

/// The measurements of an engine of the noise term, alone or with attributes collapsed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the engine, or `likelihood`.
    pub engine: String,
    /// Whether the engine collapses attributes.
    pub collapsed: bool,
    /// Seconds per evaluation of value and gradient: the median over all repeats.
    pub seconds: f64,
    /// The quartiles of the seconds.
    #[serde(default)]
    pub seconds_quartiles: Option<(f64, f64)>,
    /// Multiply-adds of an evaluation, by the formulas of the documentation.
    #[serde(default)]
    pub multiply_adds: f64,
    /// `seconds` divided by that of the likelihood.
    pub ratio_to_likelihood: f64,
    /// ‖g − g*‖ / ‖g*‖ of the gradient g of the noise term alone, where g* is the exact one. `None`
    /// for the likelihood, and if g* is lost in rounding errors.
    pub relative_error: Option<f64>,
    /// ‖g − g*‖ / ‖∇J*‖: the error relative to the whole gradient, of likelihood and noise term.
    pub relative_error_whole: Option<f64>,
    /// Cosine of the angle between g and g*, likewise.
    pub cosine: Option<f64>,
    /// Cosine of the angle between the whole gradients, likewise.
    #[serde(default)]
    pub cosine_whole: Option<f64>,
    /// q/T of Wang et al. 2013: distinct attributes of a sentence per token, averaged over tokens;
    /// after collapsing if `collapsed`, otherwise before.
    pub active_per_token: f64,
    /// Peak memory of an evaluation in bytes, if it was measured.
    pub peak_bytes: Option<u64>,
}

/// The outcome of a training run with an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingRun {
    /// Name of the engine, or `likelihood`.
    pub engine: String,
    /// Whether the engine collapses attributes.
    pub collapsed: bool,
    /// Best span F1 on development data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_f1: Option<f64>,
    /// Best accuracy on development data, if labels encode no spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dev_accuracy: Option<f64>,
    /// The value of the objective at the end, with the noise term of eq. 14, which every engine
    /// computes exactly; `None` if the run minimized another objective.
    #[serde(default)]
    pub objective: Option<f64>,
    /// Value of the noise term.
    #[serde(default)]
    pub noise: Option<f64>,
    /// Number of evaluations.
    #[serde(default)]
    pub evaluations: usize,
    /// Number of iterations.
    pub iterations: usize,
    /// Iteration with the best score.
    pub best_iteration: usize,
    /// Why training stopped, as in logs: `patience`, `line_search`, …, or `budget`.
    pub stop_reason: String,
    /// Training time in seconds, excluding the scoring of development data.
    pub seconds: f64,
}

/// Returns the display name of an engine.
pub fn display_name(engine: &str, collapsed: bool) -> String {
    match engine {
        "message" if collapsed => "message, collapsed".to_owned(),
        "message" => "message, plain".to_owned(),
        name => name.to_owned(),
    }
}

impl Gradients {
    /// Adds the measurements to their section.
    pub(crate) fn show(&self, name: &str, section: &mut Section) {
        let name_of = |row: &Measurement| display_name(&row.engine, row.collapsed);
        let names: Vec<String> = self.engines.iter().map(name_of).collect();
        section.heading(name);
        let (sentences, tokens) = (self.sentences, self.tokens);
        let sizes = [count_of(sentences, "sentence"), count_of(tokens, "token")];
        section.text(format!("{}; {}", self.files.join(", "), sizes.join("; ")));
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        section.legend(&all, all.len(), true);
        section.figures([self.error_by_cost()]);
        let head =
            heads("gradient, seconds, × likelihood, multiply-adds, error, of all, cosine, memory");
        let mut table = Table::named("Cost and accuracy", head);
        let error = |error| or_empty(error, |error: f64| format!("{error:.1e}"));
        let megabytes = |bytes| format!("{:.1} MB", bytes as f64 / 1e6);
        for (row, name) in self.engines.iter().zip(names) {
            table.row([
                name,
                format!("{:.4}", row.seconds),
                format!("{:.2}", row.ratio_to_likelihood),
                format!("{:.2e}", row.multiply_adds),
                error(row.relative_error),
                error(row.relative_error_whole),
                or_empty(row.cosine, |cosine| format!("{cosine:.6}")),
                or_empty(row.peak_bytes, megabytes),
            ]);
        }
        section.table(table);
        let head = heads(
            "gradient, objective, noise term, dev score, evaluations, iterations, best at, \
             seconds, stopped by",
        );
        let mut table = Table::new("Training with each", head);
        for run in self.training.iter().flatten() {
            table.row([
                display_name(&run.engine, run.collapsed),
                or_empty(run.objective, |value| format!("{value:.2}")),
                or_empty(run.noise, |value| format!("{value:.2}")),
                score(run.dev_f1.or(run.dev_accuracy)),
                run.evaluations.to_string(),
                run.iterations.to_string(),
                run.best_iteration.to_string(),
                format!("{:.1}", run.seconds),
                run.stop_reason.clone(),
            ]);
        }
        section.table(table);
        self.show_sweeps(section);
    }

    /// Plots the error of each engine by its cost.
    fn error_by_cost(&self) -> Option<Figure> {
        let series = self.engines.iter().enumerate().filter_map(|(i, row)| {
            let point = (row.ratio_to_likelihood, row.relative_error?.max(ROUNDING));
            Some(Series::new(i, Mark::Points, vec![point]).letter(letter(i)))
        });
        let x = Axis::new("time, as a multiple of the likelihood's", Scale::Log);
        let y = Axis::new("relative error", Scale::Log);
        let plot = Plot::new(x, y, series.collect());
        Figure::draw("Error by cost", IN_TABLE, &plot)
    }
}

//! What is measured, and of which objective.

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::kernel::train::Defaults;
use dropchain_options::NoiseLevels;

use super::results::SweepAxis;
use super::variant::Variant;
use super::weights::Weights;
use crate::arguments::Switch;

/// Where the results go.
#[derive(Clone, Debug, Args)]
pub struct ResultArguments {
    /// Write the results to this file as JSON; `-` prints them instead of the tables
    #[arg(long, value_name = "OUT")]
    pub json: Option<PathBuf>,
    /// Write the figure to this file as SVG
    #[arg(long, value_name = "OUT")]
    figure: Option<PathBuf>,
    /// Only print the peak memory of engine N; the program invokes itself with this option
    #[arg(long, value_name = "N", hide = true)]
    pub peak_of: Option<usize>,
}

impl ResultArguments {
    /// Returns the files with their options. The runs that measure memory have none.
    pub fn files(&self) -> [(&'static str, Option<&Path>); 2] {
        let json = self.json.as_deref().filter(|path| *path != Path::new("-"));
        let files = [("--json", json), ("--figure", self.figure.as_deref())];
        files.map(|(flag, path)| (flag, path.filter(|_| self.peak_of.is_none())))
    }
}

/// What to measure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measurement")]
pub struct MeasurementArguments {
    /// Engines: exact, reweighted, message, message=plain, window=R, local
    ///
    /// `message` collapses attributes that fire once, at the same token; message=plain does not.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "exact,message,message=plain,local,window=1,window=2,window=4",
        value_name = "ENGINES"
    )]
    pub engines: Vec<Variant>,
    /// Weights to evaluate at: random[=SCALE] (normal), trained[=ITERATIONS]
    ///
    /// Trained weights start from 0, and have the noise of the options with its exact gradient and
    /// the L2 penalty for as many iterations of L-BFGS, 30 by default.
    #[arg(long, default_value = "trained", value_name = "WEIGHTS")]
    pub weights: Weights,
    /// Number of timed repeats, after one untimed
    #[arg(long, default_value_t = 5, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Use the first N training sentences only
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// Also measure by what varies: labels, length, attributes; all without a value
    ///
    /// Varies the number K of labels, T of tokens, or q of distinct attributes of a sentence. The
    /// sentences are the tokens of the corpus, cut into sentences of 20 tokens unless the length
    /// varies and labeled at random, without edge attributes; the weights are random. On one
    /// thread.
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        num_args = 0..=1,
        default_missing_value = "labels,length,attributes",
        value_name = "WHAT"
    )]
    pub sweep: Option<Vec<SweepAxis>>,
}

/// The objective to evaluate.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Training")]
pub struct BenchTrainingArguments {
    #[command(flatten)]
    pub noise: NoiseLevels,
    /// Strength c2 of the L2 penalty when training (--weights trained)
    #[arg(
        long,
        default_value_t = Defaults::L2_WITH_NOISE,
        value_name = "C2"
    )]
    pub l2: f64,
    /// Treat attributes that always occur together as one, like `train`; `off` follows the paper
    #[arg(long, value_enum, default_value = "off")]
    pub collapse: Switch,
}

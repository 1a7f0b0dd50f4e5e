//! What is measured, and of which objective.

use clap::Args;
use dropchain::train::Defaults;
use dropchain_options::NoiseLevels;

use crate::arguments::Switch;

/// What to measure.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measurement")]
pub struct MeasurementArguments {
    /// Engines: exact, reweighted, message, message=collapsed, message=plain, window=R, local
    ///
    /// `message` stands for both message=collapsed and message=plain.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "exact,message,local,window=1,window=2,window=4",
        value_name = "ENGINES"
    )]
    pub engines: Vec<String>,
    /// Weights to evaluate at: zero, random[=SCALE] (normal), trained[=ITERATIONS]
    ///
    /// Trained weights start from 0, and have the noise of the options with its exact gradient and
    /// the L2 penalty for as many iterations of L-BFGS, 30 by default.
    #[arg(long, default_value = "trained", value_name = "WEIGHTS")]
    pub weights: String,
    /// Random seed of the weights
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Number of timed repeats, after one untimed
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub repeat: usize,
    /// Use the first N training sentences only
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Also measure by what varies: window, labels, length, attributes; all without a value
    ///
    /// window: error and cost by the radius r. labels, length, attributes: cost by the number K of
    /// labels, T of tokens, q of distinct attributes of a sentence, on sentences that are cut from
    /// the corpus and labeled at random, on one thread.
    #[arg(
        long,
        value_delimiter = ',',
        num_args = 0..=1,
        default_missing_value = "window,labels,length,attributes",
        value_name = "WHAT"
    )]
    pub sweep: Option<Vec<String>>,
    /// Only print the peak memory of engine N, or POINT:N of a sweep; the program invokes itself
    /// with this option
    #[arg(long, value_name = "N", hide = true)]
    pub peak_of: Option<String>,
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

//! How labels encode spans, as far as they do not show it.

use clap::Args;
use dropchain::label::{PlainLabels, SchemeDetector};
use dropchain::train::TrainOptions;

use super::values::named;

/// How labels encode spans, as far as they do not show it.
#[derive(Clone, Debug, Default, Args)]
pub struct LabelOptions {
    /// Labels without B- or I-: types of spans (PERSON, O) or tags (parts of speech)
    /// [default: auto, by what they look like]
    ///
    /// They look like types if there is a label O, which at least half of the tokens have, or a
    /// quarter of the others follows a token with the same label. Adjacent tokens with the same
    /// type are one span.
    #[arg(long, value_parser = named::<PlainLabels>(), value_name = "KIND", hide_short_help = true,
          help_heading = "Input")]
    plain_labels: Option<PlainLabels>,
    /// The label of tokens outside of all spans [default: O, or detected, such as 0]
    #[arg(long, value_name = "LABEL", hide_short_help = true, help_heading = "Input")]
    outside: Option<String>,
}

impl LabelOptions {
    /// Sets the corresponding training options.
    pub fn apply(&self, options: &mut TrainOptions) {
        let labels = &mut options.labels;
        labels.plain_labels = self.plain_labels.unwrap_or(labels.plain_labels);
        labels.outside = self.outside.clone().or(labels.outside.take());
    }

    /// Returns a detector that reads labels so.
    pub fn detector(&self) -> SchemeDetector {
        SchemeDetector::new()
            .with_plain_labels(self.plain_labels.unwrap_or_default())
            .with_outside(self.outside.clone())
    }
}

//! How labels encode spans, as far as they do not show it.

use clap::Args;
use dropchain::label::{PlainLabels, SchemeDetector};
use dropchain::train::TrainOptions;
use dropchain::{Model, Result, Tagger};

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

    /// Corrects how a model reads its labels.
    ///
    /// # Errors
    ///
    /// The labels cannot be read so ([`Model::with_labeling`]).
    pub fn apply_to_model(&self, model: &Model) -> Result<Option<Model>> {
        let header = model.header();
        let choice = self.plain_labels.unwrap_or_default();
        let labeling = header.labeling_with(choice, self.outside.as_deref());
        (labeling != header.labeling).then(|| model.with_labeling(labeling)).transpose()
    }

    /// Corrects how the model of a tagger without other settings reads its labels.
    ///
    /// # Errors
    ///
    /// The labels cannot be read so.
    pub fn apply_to_tagger(&self, tagger: Tagger) -> Result<Tagger> {
        Ok(self.apply_to_model(tagger.model())?.map_or(tagger, Tagger::new))
    }

    /// Returns a detector that reads labels so.
    pub fn detector(&self) -> SchemeDetector {
        let mut options = TrainOptions::default();
        self.apply(&mut options);
        options.labels.detector()
    }
}

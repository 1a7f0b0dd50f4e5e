//! The structure of the model, how its labels encode spans, and how it is stored.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dropchain::kernel::chain::Order;
use dropchain::kernel::names::Named;
use dropchain::kernel::score::{Boundary, States};
use dropchain::label::{PlainLabels, Scheme, SchemeDetector};
use dropchain::model::Precision;
use dropchain::train::TrainOptions;
use dropchain::{Model, Result, Tagger};

/// The structure of the model.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Model")]
pub struct ModelOptions {
    /// Label scheme to train with; predictions are converted back to that of the corpus
    ///
    /// raw: labels unchanged. io: I-X inside a span, O outside. iob1: like io, but B-X starts a
    /// span that follows another of the same type. iob2: B-X starts a span, I-X continues it.
    /// bioes: like iob2, but E-X ends a span and S-X is a span of one token; BILOU, BMES and
    /// BMEWO are the same with other letters, and are read as they are. plain: like io without
    /// prefixes.
    #[arg(long, value_parser = named::<Scheme>(), hide_short_help = true)]
    scheme: Option<Scheme>,
    #[command(flatten)]
    labels: LabelOptions,
    /// Markov order: 1 scores pairs of adjacent labels (CRF), 0 scores each label on its own
    #[arg(long, value_parser = named::<Order>(), hide_short_help = true)]
    order: Option<Order>,
    /// Weights for the first and the last label of a sentence
    #[arg(long, value_parser = named::<Boundary>(), hide_short_help = true)]
    boundary: Option<Boundary>,
    /// Attribute-label pairs that get a weight: all, or those observed in the training data
    /// [default: all, of more than 256 labels observed]
    #[arg(long, value_parser = named::<States>(), hide_short_help = true)]
    states: Option<States>,
    /// Label pairs that get a weight: all, or those observed [default: as --states]
    ///
    /// The same applies to the first and the last label of a sentence.
    #[arg(long, value_parser = named::<States>(), hide_long_help = true)]
    transitions: Option<States>,
    /// Ignore attributes that occur at fewer than N tokens
    #[arg(long, value_name = "N", hide_short_help = true)]
    min_count: Option<u32>,
    /// Pairs of attribute and label, or of labels, that are rarer have no weight: feature.minfreq
    /// of CRFsuite [default: no limit]
    #[arg(long, value_name = "FREQUENCY", hide_long_help = true)]
    min_frequency: Option<f64>,
}

impl ModelOptions {
    /// Sets the corresponding training options.
    pub fn apply(&self, options: &mut TrainOptions) {
        options.labels.scheme = self.scheme.unwrap_or(options.labels.scheme);
        self.labels.apply(options);
        let structure = &mut options.structure;
        structure.order = self.order.unwrap_or(structure.order);
        structure.boundary = self.boundary.unwrap_or(structure.boundary);
        structure.states = self.states.or(structure.states);
        structure.transitions = self.transitions.or(structure.transitions);
        structure.min_frequency = self.min_frequency.or(structure.min_frequency);
        let attributes = &mut options.attributes;
        attributes.min_count = self.min_count.unwrap_or(attributes.min_count);
    }
}

/// How the trained model is stored.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Model")]
pub struct StorageOptions {
    /// Drop attribute weights with an absolute value below EPS
    ///
    /// 0.001 typically shrinks a model to a third. With --dev, the score is reported before and
    /// after pruning. `dropchain convert` tries other values on the finished model.
    #[arg(long, value_name = "EPS", hide_short_help = true)]
    prune: Option<f64>,
    /// Precision of the stored weights: f64 as trained, f32, or f16 (3 digits)
    ///
    /// With f16 and --dev, the score is reported before and after rounding.
    #[arg(long, value_parser = named::<Precision>(), hide_short_help = true)]
    precision: Option<Precision>,
    /// Amount subtracted from the score of `O` when tagging spans; positive values favor recall
    /// [default: auto]
    ///
    /// `auto` selects the value with the best F1 on --dev, together with the best iteration.
    /// Without --dev it is 0.
    #[arg(long, value_name = "BIAS", allow_negative_numbers = true, hide_short_help = true,
          value_parser = recall_bias)]
    recall_bias: Option<RecallBias>,
}

/// A recall bias, or `None` for `auto`. As an alias, so that an argument is `Option<RecallBias>`:
/// clap takes a literal `Option<Option<_>>` for an option whose value may be left out.
type RecallBias = Option<f64>;

fn recall_bias(text: &str) -> std::result::Result<RecallBias, &'static str> {
    match text {
        "auto" => Ok(None),
        _ => text.parse().map(Some).map_err(|_| "expected `auto` or a number"),
    }
}

impl StorageOptions {
    /// Sets the corresponding training options.
    pub fn apply(&self, options: &mut TrainOptions) {
        let storage = &mut options.storage;
        storage.prune = self.prune.unwrap_or(storage.prune);
        storage.precision = self.precision.unwrap_or(storage.precision);
        options.recall_bias = self.recall_bias.unwrap_or(options.recall_bias);
    }
}

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

/// Parses the name of a value.
pub fn named<T: Named>() -> impl TypedValueParser<Value = T> {
    let names = T::values().iter().map(|value| value.value_name());
    PossibleValuesParser::new(names.collect::<Vec<_>>()).try_map(|name| {
        let mut values = T::values().iter().copied();
        values.find(|value| value.value_name() == name).ok_or("an unknown name")
    })
}

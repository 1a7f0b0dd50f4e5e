//! The header of a model file: everything but the weights of attributes; and what follows from it,
//! the constraint on decoding and the recall bias in the label weights.

use serde::{Deserialize, Serialize};

use super::columns::CorpusColumns;
use super::format::{MAX_LABELS, Precision, TableInfo};
use super::provenance::{APPLIED_RECALL_BIAS, Provenance};
use crate::chain::{Constraint, LabelWeights, Order};
use crate::corpus::{CONLLU_COLUMNS, Format, ReadOptions};
use crate::error::{Error, Result};
use crate::label::{LabelSet, Labeling, PlainLabels, Scheme, SchemeConstraint};
use crate::template::Template;

/// Maximum length of an encoded header. With [`MAX_LABELS`] labels, transitions take half of it.
const MAX_BYTES: usize = 0x1000_0000;

/// Everything in a model but the weights of its attributes.
///
/// The order of the fields is part of the file format.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    /// The labels that the model predicts.
    pub labels: LabelSet,
    /// How these labels encode spans.
    pub labeling: Labeling,
    /// The labeling of the training corpus, to which predictions are converted back.
    pub corpus_labeling: Labeling,
    /// The columns of the training corpus.
    pub columns: CorpusColumns,
    /// The template; `None` if sentences come with their own attributes.
    pub template: Option<Template>,
    /// Order of the chain.
    pub order: Order,
    /// Transition, start and end weights. Transitions are not stored if all are 0 (order 0).
    pub label_weights: LabelWeights,
    /// How the weights in the tables are stored.
    pub precision: Precision,
    /// How the model was trained.
    pub provenance: Provenance,
    /// Node and edge table; set when the model is built.
    pub tables: [TableInfo; 2],
}

impl Header {
    /// Creates the header of a model without a training corpus: first order, no template, weights
    /// of 0 for label pairs, first and last labels, single precision, and the raw scheme, in which
    /// every label sequence is legal. All of these are public fields.
    pub fn new(labels: LabelSet) -> Self {
        let k = labels.len();
        Self {
            label_weights: LabelWeights {
                transitions: vec![0.0; k * k],
                start: vec![0.0; k],
                end: vec![0.0; k],
            },
            labels,
            labeling: Labeling::default(),
            corpus_labeling: Labeling::default(),
            columns: CorpusColumns::default(),
            template: None,
            order: Order::One,
            precision: Precision::default(),
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                options: "{}".to_owned(),
                ..Provenance::default()
            },
            tables: Default::default(),
        }
    }

    /// Returns whether the training corpus had columns with names of its own, other than those of
    /// CoNLL-U.
    pub fn has_own_columns(&self) -> bool {
        let names = &self.columns.names;
        let are_other = names.iter().map(String::as_str).ne(CONLLU_COLUMNS);
        self.template.is_some() && !names.is_empty() && are_other
    }

    /// Returns the options for reading files of this format like the training corpus, as far as
    /// they leave it open: in its columns if it had names for them, with its labels, and with its
    /// comments and header rows.
    pub fn read_options(&self, format: Format, mut options: ReadOptions) -> ReadOptions {
        let joined = self.columns.joined();
        let label = self.columns.label_name().map(str::to_owned);
        let takes_label = match format {
            Format::Conllu => !self.has_own_columns() && self.template.is_some(),
            Format::Jsonl => joined.is_some(),
            _ => false,
        };
        if format == Format::Conll && self.has_own_columns() {
            let columns = options.columns.get_or_insert_with(|| self.columns.names.clone());
            let label = label.filter(|label| match joined {
                Some(joined) => joined.names().iter().all(|name| columns.contains(name)),
                None => columns.contains(label),
            });
            options.label = options.label.or(label);
        } else if takes_label {
            options.label = options.label.or(label);
        }
        options.lines.comments |= self.columns.lines.comments;
        options.lines.header |= self.columns.lines.header;
        options
    }

    /// Returns whether the labels encode spans.
    pub fn encodes_spans(&self) -> bool {
        self.labeling.scheme.has_spans()
    }

    /// Returns how the labels are read, given what the user has chosen that labels without prefixes
    /// are, and the label outside.
    pub fn labeling_with(&self, choice: PlainLabels, outside: Option<&str>) -> Labeling {
        match (choice, self.labeling.scheme) {
            (PlainLabels::Tags, Scheme::Plain) => Labeling::default(),
            (PlainLabels::Spans, Scheme::Raw) if self.columns.joined().is_none() => {
                let mut labeling = Labeling::from(Scheme::Plain);
                if let Some(outside) = outside {
                    labeling.notation.outside = outside.to_owned().into();
                }
                labeling
            }
            _ => self.labeling.clone(),
        }
    }

    /// Returns the recall bias that is in the label weights ([`add_recall_bias`]); `None` if the
    /// model does not say.
    pub fn recall_bias(&self) -> Option<f64> {
        if let Some(record) = self.provenance.training() {
            return Some(record.recall_bias);
        }
        let options = self.provenance.parsed_options();
        let given = [APPLIED_RECALL_BIAS, "recall_bias"].map(|name| options[name].as_f64());
        given[0].or(given[1])
    }

    /// Encodes the header.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if it would be longer than a header may be.
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        let mut stored = self.clone();
        let transitions = &mut stored.label_weights.transitions;
        if transitions.iter().all(|&weight| weight == 0.0) {
            transitions.clear();
        }
        let bytes = bincode::serde::encode_to_vec(&stored, bincode::config::standard())
            .map_err(|e| Error::parameter(format!("cannot encode the model header: {e}")))?;
        if bytes.len() > MAX_BYTES {
            return Err(Error::parameter(format!(
                "labels, lexica and clusters of the model take {} bytes; at most {MAX_BYTES} can \
                 be stored",
                bytes.len()
            )));
        }
        Ok(bytes)
    }

    /// Decodes and validates a header; the error is a message.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, String> {
        // A damaged length must not make the decoder allocate much more memory than the size of the
        // header. The decoder's limit counts at most 8 bytes for each byte that it reads (an
        // integer of one byte counts as 8), and it must be a constant.
        let decode = match bytes.len() {
            0..0x1_0000 => Self::decode_within::<0x8_0000>,
            0x1_0000..0x10_0000 => Self::decode_within::<0x80_0000>,
            0x10_0000..0x100_0000 => Self::decode_within::<0x800_0000>,
            0x100_0000..=MAX_BYTES => Self::decode_within::<0x8000_0000>,
            length => {
                return Err(format!("the header has {length} bytes; at most {MAX_BYTES}"));
            }
        };
        let (mut header, read) =
            decode(bytes).map_err(|e| format!("the header cannot be read: {e}"))?;
        if read != bytes.len() {
            return Err("there are bytes after the contents of the header".to_owned());
        }
        header.validate()?;
        let k = header.labels.len();
        header.label_weights.transitions.resize(k * k, 0.0);
        Ok(header)
    }

    fn decode_within<const LIMIT: usize>(
        bytes: &[u8],
    ) -> Result<(Self, usize), bincode::error::DecodeError> {
        let config = bincode::config::standard().with_limit::<LIMIT>();
        bincode::serde::decode_from_slice(bytes, config)
    }

    pub(super) fn validate(&self) -> Result<(), String> {
        let k = self.labels.len();
        let weights = &self.label_weights;
        if k == 0 {
            return Err("the model has no labels".to_owned());
        }
        if k > MAX_LABELS {
            return Err(format!("the model has {k} labels; at most {MAX_LABELS} can be trained"));
        }
        let transitions = weights.transitions.len();
        if (transitions != k * k && transitions != 0)
            || (weights.start.len(), weights.end.len()) != (k, k)
        {
            return Err(
                "the number of transition or boundary weights does not match the labels".to_owned()
            );
        }
        let values = [&weights.transitions, &weights.start, &weights.end];
        if values.iter().any(|v| v.iter().any(|w| !w.is_finite())) {
            return Err("a transition or boundary weight is not a number".to_owned());
        }
        if self.columns.joined().is_some()
            && [&self.labeling, &self.corpus_labeling] != [Labeling::RAW; 2]
        {
            return Err("the labels join columns, but encode spans".to_owned());
        }
        self.columns.validate(&self.labels)
    }
}

/// Returns the constraint that restricts decoding to the legal label sequences; `None`
/// if every sequence is legal.
pub fn decoding_constraint(labels: &LabelSet, labeling: &Labeling) -> Option<Constraint> {
    let legal = SchemeConstraint::new(labels, labeling);
    let constraint = || Constraint::new(&legal.allowed, &legal.start, &legal.end);
    (labeling.strict && legal.is_binding()).then(constraint)
}

/// Subtracts the recall bias from the score of the label outside of all spans, at every token
/// (decision 83).
pub fn add_recall_bias(
    bias: f64,
    labels: &LabelSet,
    labeling: &Labeling,
    weights: &mut LabelWeights,
) {
    let Some(outside) = labels.id(labeling.outside()).filter(|_| bias != 0.0) else { return };
    for row in weights.transitions.chunks_exact_mut(labels.len()).chain([&mut weights.start[..]]) {
        row[outside.index()] -= bias;
    }
}

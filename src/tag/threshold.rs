//! The lowest probability of a predicted span, and the spans of a tagging that reach it.

use std::str::FromStr;

use super::condition::Condition;
use super::input::TagInput;
use super::tagger::Tagger;
use super::tagging::Tagging;
use crate::error::{Error, Result};
use crate::label::Labeling;
use crate::model::Header;
use crate::sentence::schema::list_names;

/// The probability below which predicted spans are left out: one for all types, or one for each.
/// The default keeps every span.
///
/// As text, `0.8`, or `PER=0.9,LOC=0.6`; types that are not named have the number without a name,
/// or 0.
///
/// ```
/// use dropchain::tag::Threshold;
///
/// # fn main() -> dropchain::Result<()> {
/// let threshold: Threshold = "0.5,PER=0.9".parse()?;
/// assert!(threshold.keeps("PER", 0.9) && !threshold.keeps("PER", 0.7));
/// assert!(threshold.keeps("LOC", 0.7) && !threshold.keeps("LOC", 0.4));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Threshold {
    others: f64,
    types: Vec<(String, f64)>,
}

impl Threshold {
    /// A threshold for each of some types, and one for all others.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if one is not from 0 to 1, or a type has two.
    pub fn new(others: f64, types: Vec<(String, f64)>) -> Result<Self> {
        for p in types.iter().map(|(_, p)| *p).chain([others]) {
            if !(0.0..=1.0).contains(&p) {
                return Err(Error::parameter(format!(
                    "found the threshold {p}; expected a probability from 0 to 1"
                )));
            }
        }
        for (i, (kind, _)) in types.iter().enumerate() {
            if types[..i].iter().any(|(other, _)| other == kind) {
                return Err(Error::parameter(format!(
                    "the type '{kind}' has two thresholds; expected one"
                )));
            }
        }
        Ok(Self { others, types })
    }

    /// Returns whether a span of this type and probability is kept.
    pub fn keeps(&self, kind: &str, probability: f64) -> bool {
        let own = self.types.iter().find(|(name, _)| name == kind);
        probability >= own.map_or(self.others, |(_, threshold)| *threshold)
    }

    /// Checks that the labels of a model have spans of all types that are named, and one for what
    /// is left out. The default, which leaves out nothing, fits every model.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] names the types of the model.
    pub fn check(&self, header: &Header) -> Result<()> {
        if *self == Self::default() {
            return Ok(());
        }
        if !header.encodes_spans() {
            return Err(Error::parameter(
                "`threshold`: the labels of the model encode no spans (B-X, I-X, …), whose \
                 probabilities it is for; omit it",
            ));
        }
        let outside = header.labeling.outside();
        if header.labels.id(outside).is_none() {
            return Err(Error::parameter(format!(
                "`threshold`: the model has no label '{outside}' for tokens of a span that is left \
                 out; omit it"
            )));
        }
        let mut types: Vec<&str> = Vec::new();
        for label in header.labels.names() {
            let chunk = header.labeling.chunk(label);
            if chunk.is_inside() && !types.contains(&chunk.kind) {
                types.push(chunk.kind);
            }
        }
        match self.types.iter().find(|(kind, _)| !types.contains(&kind.as_str())) {
            None => Ok(()),
            Some((kind, _)) => Err(Error::parameter(format!(
                "`threshold`: the model has no type '{kind}'; its types are {}",
                list_names(&types)
            ))),
        }
    }
}

impl FromStr for Threshold {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (mut others, mut types) = (Vec::new(), Vec::new());
        for item in text.split(',') {
            let (kind, number) = item.rsplit_once('=').unwrap_or(("", item));
            let threshold = number.trim().parse().map_err(|_| {
                Error::parameter(format!(
                    "found {number:?}; expected a probability such as 0.8, or one for each of some \
                     types, such as PER=0.9,LOC=0.6"
                ))
            })?;
            match item.contains('=') {
                true => types.push((kind.trim().to_owned(), threshold)),
                false => others.push(threshold),
            }
        }
        match others[..] {
            [] => Self::new(0.0, types),
            [others] => Self::new(others, types),
            _ => Err(Error::parameter(
                "found several thresholds without a type; expected one, or those of types, such as \
                 PER=0.9,LOC=0.6",
            )),
        }
    }
}

impl Tagger {
    /// Computes the probabilities of the spans of a tagging
    /// ([`Distribution::span_probability`](super::Distribution::span_probability)), and moves those
    /// below a threshold outside; if labels encode no spans, the probability of each label.
    /// [`Threshold::check`] tells whether a threshold fits the model.
    ///
    /// ```no_run
    /// use dropchain::tag::{Condition, Threshold};
    /// use dropchain::{Result, Sentence, Tagger};
    ///
    /// # fn main() -> Result<()> {
    /// let tagger = Tagger::open("ner.model")?;
    /// let threshold: Threshold = "PER=0.9".parse()?;
    /// threshold.check(tagger.model().header())?;
    /// let sentence = Sentence::from_words(["Ada", "Lovelace", "left"]);
    /// let mut tagging = tagger.tag(&sentence)?;
    /// tagger.mark(&sentence, &Condition::new(), &threshold, &mut tagging)?;
    /// println!("{:?}", tagger.label_names(&tagging.labels));
    /// println!("{:?}", tagging.mark_probabilities);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`Tagger::distribution_given`].
    pub fn mark<'s>(
        &self,
        sentence: impl Into<TagInput<'s>>,
        condition: &Condition,
        threshold: &Threshold,
        tagging: &mut Tagging,
    ) -> Result<()> {
        let header = self.model().header();
        let names = self.label_names(&tagging.labels);
        let spans = header.labeling.spans(&names);
        let mut probabilities = Vec::new();
        if !header.encodes_spans() {
            let distribution = self.distribution_given(sentence, condition)?;
            let labels = names.iter().enumerate().map(|(t, label)| distribution.marginal(t, label));
            probabilities = labels.collect::<Result<_>>()?;
        } else if !spans.is_empty() {
            let distribution = self.distribution_given(sentence, condition)?;
            let outside = header.labels.id(header.labeling.outside());
            for span in &spans {
                let probability = distribution.span_probability(span)?;
                match outside.filter(|_| !threshold.keeps(span.kind, probability)) {
                    Some(outside) => tagging.labels[span.start..span.end].fill(outside),
                    None => probabilities.push(probability),
                }
            }
        }
        tagging.mark_probabilities = Some(probabilities);
        Ok(())
    }

    /// Returns the probabilities of a tagging's marks for its labels in another labeling: where
    /// that joins neighboring spans of a type (IO, plain), the product of theirs.
    pub fn mark_probabilities_in(
        &self,
        labeling: &Labeling,
        tagging: &Tagging,
    ) -> Option<Vec<f64>> {
        let (header, own) = (self.model().header(), tagging.mark_probabilities.as_ref()?);
        if !header.encodes_spans() || header.labeling == *labeling {
            return Some(own.clone());
        }
        let names = self.label_names(&tagging.labels);
        let labels = self.label_names_in(labeling, &tagging.labels);
        let mut marks = header.labeling.spans(&names).into_iter().zip(own).peekable();
        let joined = labeling.spans(&labels).into_iter().map(|span| {
            let parts = std::iter::from_fn(|| marks.next_if(|(mark, _)| mark.end <= span.end));
            parts.map(|(_, probability)| probability).product()
        });
        Some(joined.collect())
    }
}

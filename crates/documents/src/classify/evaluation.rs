//! Scores of classifiers on documents.

use dropchain::error::Result;
use dropchain_analysis::PairedBootstrap;

use super::classifier::Classifier;
use crate::{ClassEvaluation, Instance, Tokens};

impl Classifier {
    /// Scores the classifier on documents with classes; with another classifier, also collects the
    /// predictions of both to compare them.
    ///
    /// # Errors
    ///
    /// Those of reading and of [`classify`](Self::classify).
    pub fn evaluate(
        &self,
        documents: impl IntoIterator<Item = Result<Instance>>,
        other: Option<&Self>,
    ) -> Result<(ClassEvaluation, PairedBootstrap)> {
        let mut evaluation = ClassEvaluation::new(self.classes());
        let mut bootstrap = PairedBootstrap::new().without_spans();
        for document in documents {
            let document = document?;
            let best = self.add(&document, &mut evaluation)?;
            if let Some(other) = other {
                let label = document.label.as_deref().unwrap_or_default();
                let against = other.classify(&document)?.best();
                let names = [&self.classes()[best], &other.classes()[against]];
                bootstrap.add(&[label], [&[names[0].as_str()], &[names[1].as_str()]])?;
            }
        }
        Ok((evaluation, bootstrap))
    }

    /// Scores the classifier on documents of which words, or features, are left out at each of
    /// several rates.
    ///
    /// # Errors
    ///
    /// Those of reading and of [`classify`](Self::classify).
    pub fn evaluate_damaged(
        &self,
        documents: impl IntoIterator<Item = Result<Instance>>,
        rates: &[f64],
        seed: u64,
    ) -> Result<Vec<ClassEvaluation>> {
        let tokens = self.features().map_or(Tokens::default(), |f| f.tokens);
        let new = |_: &f64| ClassEvaluation::new(self.classes());
        let mut evaluations: Vec<ClassEvaluation> = rates.iter().map(new).collect();
        for (number, document) in (0..).zip(documents) {
            let document = document?;
            for (rate, evaluation) in rates.iter().zip(&mut evaluations) {
                let damaged = document.clone().damaged(*rate, tokens, seed, number);
                self.add(&damaged, evaluation)?;
            }
        }
        Ok(evaluations)
    }

    /// Classifies a document, adds the result, and returns the predicted class.
    fn add(&self, document: &Instance, evaluation: &mut ClassEvaluation) -> Result<usize> {
        let prediction = self.classify(document)?;
        let label = document.label.as_deref().unwrap_or_default();
        evaluation.add(label, prediction.best(), prediction.probabilities());
        Ok(prediction.best())
    }
}

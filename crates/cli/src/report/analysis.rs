//! Evaluates systems, sentence by sentence.

use std::ops::Range;

use dropchain::eval::{Evaluation, PairedBootstrap};
use dropchain::label::Scheme;
use dropchain::{Result, Sentence};
use dropchain_analysis::{
    ErrorCounts, FrequencyEvaluation, SpanError, WordCounts, compare_spans, label_errors,
};

use super::evaluated::Evaluated;
use super::sentences::SentenceList;

/// What is counted for each system, and the sentences with errors.
pub struct Analysis {
    pub has_spans: bool,
    pub systems: Vec<SystemAnalysis>,
    pub bootstrap: PairedBootstrap,
    pub sentences: SentenceList,
}

/// The counts of a system.
pub struct SystemAnalysis {
    pub evaluation: Evaluation,
    pub errors: ErrorCounts,
    pub by_frequency: FrequencyEvaluation,
}

impl Analysis {
    /// Evaluates all systems. `words` are those of the training data, if these are known.
    pub fn new(
        evaluated: &Evaluated,
        words: Option<&WordCounts>,
        max_errors: usize,
    ) -> Result<Self> {
        let mut analysis = Self {
            has_spans: has_spans(evaluated)?,
            systems: evaluated
                .systems
                .iter()
                .map(|system| SystemAnalysis::new(evaluated.gold_scheme, system.scheme))
                .collect(),
            bootstrap: bootstrap(evaluated),
            sentences: SentenceList::new(max_errors),
        };
        for (sentence, tokens) in evaluated.sentences() {
            if sentence.layout.document_start {
                analysis.bootstrap.add_document_start();
                for system in &mut analysis.systems {
                    system.evaluation.add_document_start();
                }
            } else {
                analysis.add(evaluated, sentence, tokens, words)?;
            }
        }
        Ok(analysis)
    }

    fn add(
        &mut self,
        evaluated: &Evaluated,
        sentence: &Sentence,
        tokens: Range<usize>,
        words: Option<&WordCounts>,
    ) -> Result<()> {
        let gold = evaluated.gold.get(tokens.clone());
        let labels = |system: usize| evaluated.systems[system].labels.get(tokens.clone());
        let predicted: Vec<Vec<&str>> = (0..self.systems.len()).map(labels).collect();
        if let [a, b] = predicted.as_slice() {
            self.bootstrap.add(&gold, [a, b])?;
        }
        let frequencies: Option<Vec<u64>> = words.and_then(|words| {
            let own = super::words_of(sentence)?;
            Some(own.map(|word| words.count(word)).collect())
        });
        let mut errors: Vec<Vec<SpanError<'_>>> = Vec::new();
        let gold_spans = evaluated.gold_scheme.spans(&gold);
        let mut spans = Vec::new();
        for (i, (system, predicted)) in self.systems.iter_mut().zip(&predicted).enumerate() {
            system.evaluation.add(&gold, predicted)?;
            if let Some(frequencies) = &frequencies {
                system.by_frequency.add(frequencies, &gold, predicted)?;
            }
            let own = evaluated.systems[i].scheme.spans(predicted);
            let found = match self.has_spans {
                true => compare_spans(&gold_spans, &own),
                false => label_errors(&gold, predicted),
            };
            found.iter().for_each(|error| system.errors.add(error));
            errors.push(found);
            spans.push(own);
        }
        let spans = (gold_spans.as_slice(), spans.as_slice());
        self.sentences.add(sentence, spans, &errors, self.has_spans);
        Ok(())
    }
}

impl SystemAnalysis {
    fn new(gold: Scheme, predicted: Scheme) -> Self {
        Self {
            evaluation: Evaluation::with_confusions().with_schemes(gold, predicted),
            errors: ErrorCounts::default(),
            by_frequency: FrequencyEvaluation::new().with_schemes(gold, predicted),
        }
    }
}

fn bootstrap(evaluated: &Evaluated) -> PairedBootstrap {
    let mut bootstrap = PairedBootstrap::new();
    if evaluated.are_joined {
        bootstrap = bootstrap.without_spans();
    }
    match evaluated.systems.as_slice() {
        [a, b] => bootstrap.with_schemes(evaluated.gold_scheme, [a.scheme, b.scheme]),
        _ => bootstrap,
    }
}

/// Returns whether the gold labels encode spans.
fn has_spans(evaluated: &Evaluated) -> Result<bool> {
    if evaluated.are_joined {
        return Ok(false);
    }
    let scheme = evaluated.gold_scheme;
    let mut gold = Evaluation::new().with_schemes(scheme, scheme);
    for (_, tokens) in evaluated.sentences() {
        let labels = evaluated.gold.get(tokens);
        gold.add(&labels, &labels)?;
    }
    Ok(gold.has_spans())
}

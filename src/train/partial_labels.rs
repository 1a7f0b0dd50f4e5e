//! The labels that tokens may have, in the scheme of the model.

use super::labeled_sentence::LabeledSentence;
use crate::error::{Error, Result};
use crate::label::{Scheme, convert_partial};

/// Converts the labels that each token of a sentence may have from one scheme to another.
///
/// # Errors
///
/// No sequence that the labels allow is legal in the scheme of the corpus, or it has none.
pub(super) fn converted_labels(
    sentence: &impl LabeledSentence,
    allowed: &[Vec<&str>],
    [from, to]: [Scheme; 2],
) -> Result<Vec<Vec<String>>> {
    if from == Scheme::Raw {
        let t = allowed.iter().position(|set| set.len() != 1).unwrap_or(0);
        return Err(sentence.fault(
            t,
            format!(
                "partial labels cannot be converted with --scheme {to}, since the labels of the \
                 corpus follow no scheme; omit the option"
            ),
        ));
    }
    let converted = convert_partial(allowed, from, to);
    converted.map_err(|t| no_legal_sequence(sentence, t, from))
}

/// Checks that the partial labels of each sentence allow a sequence that is legal in the scheme of
/// the corpus. An unknown label may be any of the scheme, whether the corpus has it or not.
///
/// Sequences without partial labels may be illegal: annotated corpora have errors.
pub(super) fn check_legality<S: LabeledSentence>(sentences: &[S], scheme: Scheme) -> Result<()> {
    if scheme == Scheme::Raw {
        return Ok(());
    }
    for sentence in sentences {
        if let Some(allowed) = sentence.allowed() {
            let converted = convert_partial(&allowed, scheme, scheme);
            converted.map_err(|t| no_legal_sequence(sentence, t, scheme))?;
        }
    }
    Ok(())
}

fn no_legal_sequence(sentence: &impl LabeledSentence, t: usize, scheme: Scheme) -> Error {
    let labels = sentence.labels().unwrap_or_default();
    sentence.fault(
        t,
        format!(
            "the label '{}' has no place in a legal sequence, given the other labels of the \
             sentence (label scheme {scheme}); expected labels that fit together",
            labels.get(t).copied().unwrap_or_default()
        ),
    )
}

//! The labels that tokens may have, in the scheme of the model.

use super::labeled_sentence::LabeledSentence;
use crate::error::{Error, Result};
use crate::label::{LabelSet, Scheme, SchemeConstraint, convert_partial};

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

/// Checks that the partial labels of each sentence allow a sequence that is legal in `scheme`, the
/// scheme of the labels in `set`.
///
/// Sequences without partial labels may be illegal: annotated corpora have errors.
pub(super) fn check_legality<S: LabeledSentence>(
    sentences: &[S],
    set: &LabelSet,
    scheme: Scheme,
) -> Result<()> {
    let constraint = SchemeConstraint::new(set, scheme);
    if !constraint.is_binding() {
        return Ok(());
    }
    for sentence in sentences {
        let Some(allowed) = sentence.allowed() else {
            continue;
        };
        let ids = |names: Vec<&str>| names.iter().filter_map(|name| set.id(name)).collect();
        let allowed: Vec<_> = allowed.into_iter().map(ids).collect();
        if let Some(t) = constraint.first_illegal(&allowed) {
            return Err(no_legal_sequence(sentence, t, scheme));
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

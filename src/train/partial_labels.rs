//! The labels that tokens may have, in the scheme of the model.

use crate::error::{Error, Result};
use crate::label::{LabelSet, Scheme, SchemeConstraint, convert_partial};
use crate::sentence::Sentence;

/// Returns the labels that each token of a labeled sentence may have, as in the corpus; none for
/// any.
pub(super) fn allowed_labels(sentence: &Sentence) -> Vec<Vec<&str>> {
    let allowed = |t| match sentence.partial_label(t) {
        Some(label) => label.labels().iter().map(String::as_str).collect(),
        None => sentence.label(t).into_iter().collect(),
    };
    (0..sentence.len()).map(allowed).collect()
}

/// Converts [`allowed_labels`] from the scheme of the corpus to another.
///
/// # Errors
///
/// No sequence that the labels allow is legal in the scheme of the corpus, or it has none.
pub(super) fn converted_labels(
    sentence: &Sentence,
    from: Scheme,
    to: Scheme,
) -> Result<Vec<Vec<String>>> {
    if from == Scheme::Raw {
        let t = sentence.first_partial_label().unwrap_or(0);
        return Err(Error::input(
            sentence.place(t),
            format!(
                "partial labels cannot be converted with --scheme {to}, since the labels of the \
                 corpus follow no scheme; omit the option"
            ),
        ));
    }
    let converted = convert_partial(&allowed_labels(sentence), from, to);
    converted.map_err(|t| no_legal_sequence(sentence, t, from))
}

/// Checks that the partial labels of each sentence allow a sequence that is legal in `scheme`, the
/// scheme of the labels in `set`.
///
/// Sequences without partial labels may be illegal: annotated corpora have errors.
pub(super) fn check_legality<'a>(
    sentences: impl IntoIterator<Item = &'a Sentence>,
    set: &LabelSet,
    scheme: Scheme,
) -> Result<()> {
    let constraint = SchemeConstraint::new(set, scheme);
    if !constraint.is_binding() {
        return Ok(());
    }
    for sentence in sentences {
        if sentence.first_partial_label().is_none() {
            continue;
        }
        let ids = |names: Vec<&str>| names.iter().filter_map(|name| set.id(name)).collect();
        let allowed: Vec<_> = allowed_labels(sentence).into_iter().map(ids).collect();
        if let Some(t) = constraint.first_illegal(&allowed) {
            return Err(no_legal_sequence(sentence, t, scheme));
        }
    }
    Ok(())
}

fn no_legal_sequence(sentence: &Sentence, t: usize, scheme: Scheme) -> Error {
    Error::input(
        sentence.place(t),
        format!(
            "the label '{}' has no place in a legal sequence, given the other labels of the \
             sentence (label scheme {scheme}); expected labels that fit together",
            sentence.label(t).unwrap_or_default()
        ),
    )
}

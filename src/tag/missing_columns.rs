//! Which columns a model needs that an input lacks.

use std::sync::Arc;

use crate::error::Error;
use crate::extract::AttributeSource;
use crate::model::Header;
use crate::sentence::Sentence;

/// The contents of columns with well-known names.
const CONTENTS: [(&str, &str); 7] = [
    ("pos", "part-of-speech tags"),
    ("upos", "part-of-speech tags"),
    ("xpos", "part-of-speech tags"),
    ("tag", "part-of-speech tags"),
    ("lemma", "lemmas"),
    ("chunk", "chunk tags"),
    ("feats", "morphological features"),
];

/// Explains an error of binding the template of a model to the columns of a sentence, if it is that
/// the sentence lacks columns of the training data.
pub(super) fn explain(error: Error, header: &Header, sentence: &Sentence) -> Error {
    let (schema, names) = (sentence.schema(), &header.columns.names);
    let lacking: Vec<usize> = (0..names.len())
        .filter(|&i| !header.columns.is_label(i) && schema.position(&names[i]).is_none())
        .collect();
    let binds_with = |columns: &[usize]| {
        let columns: Vec<&str> = columns.iter().map(|&i| &*names[i]).collect();
        let schema = schema.with_derived(&columns).map(Arc::new);
        schema.is_ok_and(|schema| AttributeSource::bind(header.template.as_ref(), &schema).is_ok())
    };
    if !binds_with(&lacking) {
        return error;
    }
    let is_needed = |&column: &usize| {
        let others = lacking.iter().copied().filter(|&other| other != column);
        !binds_with(&others.collect::<Vec<_>>())
    };
    let needed = lacking.iter().copied().filter(is_needed);
    let needed: Vec<String> = needed.map(|i| describe(i, &names[i])).collect();
    Error::input(
        sentence.place(0),
        format!(
            "this model needs {}; the input has only {} (the training data had {})",
            needed.join(" and "),
            schema.list(),
            names.join(" ")
        ),
    )
}

/// Describes a column by what it has, its number and its name.
fn describe(index: usize, name: &str) -> String {
    let known = CONTENTS.iter().find(|(known, _)| *known == name);
    match known {
        Some((_, contents)) => format!("{contents} in column {} ('{name}')", index + 1),
        None => format!("column {} ('{name}')", index + 1),
    }
}

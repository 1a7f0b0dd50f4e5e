//! The template of the first of two passes.

use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::sentence::PREDICTIONS;
use crate::template::Template;

/// Returns the template of the first pass, if `template` reads columns of predictions that the
/// corpus itself does not have.
///
/// # Errors
///
/// [`Error::Input`] if all lines do.
pub(super) fn first_template(template: &Template, corpus: &Corpus) -> Result<Option<Template>> {
    let Some(first) = corpus.iter().next().filter(|s| s.attributes.is_none()) else {
        return Ok(None);
    };
    let is_missing = |name: &&str| first.schema().position(name).is_none();
    let missing: Vec<&str> = PREDICTIONS.into_iter().filter(is_missing).collect();
    template.without_columns(&missing)
}

/// Checks that training with a template has one pass.
///
/// # Errors
///
/// [`Error::Input`] with the line of the template that reads predictions if it has two.
pub fn check_one_pass(template: &Template, corpus: &Corpus) -> Result<()> {
    match first_template(template, corpus)? {
        None => Ok(()),
        Some(_) => Err(Error::input(
            template.first_prediction(),
            "this line reads predictions, so training has two passes, which are not tuned \
             together; expected a template without such lines: tune it, then train with its \
             options and all lines",
        )),
    }
}

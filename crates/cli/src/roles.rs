//! What files are, by their contents: models, predictions and gold labels.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use dropchain::corpus::FileKind;
use dropchain::{Error, Result};

use crate::{CommandError, CommandResult, FileName, notice_unless};

/// How many lines of two files are compared.
const LINES: usize = 1000;

/// Returns whether a file is a model: of a tagger, of CRFsuite, or of documents.
pub fn is_model(file: impl AsRef<Path>) -> bool {
    FileKind::of_first_bytes(file).is_some_and(FileKind::is_model)
}

/// Returns whether a file has the columns of another and more, as predictions have those of the
/// file with gold labels.
pub fn extends(file: impl AsRef<Path>, other: impl AsRef<Path>) -> bool {
    let (Some(file), Some(other)) = (open(file.as_ref()), open(other.as_ref())) else {
        return false;
    };
    let mut has_more = false;
    for (line, beginning) in file.lines().zip(other.lines()).take(LINES) {
        let (Ok(line), Ok(beginning)) = (line, beginning) else { return false };
        // Whatever separates the cells.
        let (mut cells, mut own) = (line.split_whitespace(), beginning.split_whitespace());
        let is_blank = beginning.trim().is_empty();
        if own.any(|cell| cells.next() != Some(cell)) || is_blank && !line.trim().is_empty() {
            return false;
        }
        has_more |= cells.next().is_some();
    }
    has_more
}

/// Returns whether the first tokens of two files have equally many cells, as the files of two
/// annotators have.
fn are_alike(a: impl AsRef<Path>, b: impl AsRef<Path>) -> bool {
    let [a, b] = [a.as_ref(), b.as_ref()].map(|file| {
        let lines = open(file)?.lines().take(LINES).map_while(std::result::Result::ok);
        let mut tokens = lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        tokens.find_map(|line| match line.starts_with('{') {
            true => Some(0), // JSON lines
            false => Some(line.split_whitespace().count()).filter(|&cells| cells > 1),
        })
    });
    a.is_some() && a == b
}

/// What is scored, and the gold file.
pub enum Scoring<'a> {
    Model(&'a FileName, &'a FileName),
    Predictions(&'a FileName, &'a FileName),
    /// The labels of two annotators.
    Annotations(&'a FileName, &'a FileName),
}

impl<'a> Scoring<'a> {
    /// Tells what files are, beside the value of `--predictions`: by their order, unless the
    /// contents tell otherwise, which is said.
    pub fn of(
        predictions: Option<&'a FileName>,
        files: &'a [FileName],
        quiet: bool,
    ) -> CommandResult<Self> {
        let swapped = |predictions: &'a FileName, gold: &'a FileName| {
            notice_unless(quiet, &format!("{predictions}: scored as predictions for {gold}"));
            Self::Predictions(predictions, gold)
        };
        Ok(match (predictions, files) {
            (Some(model), [gold]) if is_model(model) => Self::Model(model, gold),
            (Some(a), [b]) if extends(b, a) => swapped(b, a),
            (Some(predictions), [gold]) => Self::Predictions(predictions, gold),
            (None, [gold, model]) if is_model(model) && !is_model(gold) => Self::Model(model, gold),
            (None, [model, gold]) if is_model(model) => Self::Model(model, gold),
            (None, [predictions, gold]) if extends(predictions, gold) => {
                Self::Predictions(predictions, gold)
            }
            (None, [a, b]) if extends(b, a) => swapped(b, a),
            (None, [a, b]) if are_alike(a, b) => {
                let what = "are scored as two annotations";
                notice_unless(quiet, &format!("{a} and {b} {what}, {b} as gold"));
                Self::Annotations(a, b)
            }
            (None, [model, gold]) => Self::Model(model, gold),
            (Some(_), _) => {
                return Err(CommandError::Usage(
                    "expected just a gold file with --predictions, found two files",
                ));
            }
            (None, _) => {
                return Err(CommandError::Usage(
                    "expected a model or predictions, and a gold file: dropchain eval MODEL GOLD",
                ));
            }
        })
    }
}

/// Returns the gold file, and the models or predictions of two taggers, among three files: by their
/// order, unless the contents tell otherwise, which is said.
///
/// # Errors
///
/// All are models.
pub fn compared(files: [&FileName; 3], quiet: bool) -> Result<[&FileName; 3]> {
    let [gold, a, b] = files;
    let mut orders = vec![files, [a, gold, b], [b, gold, a]];
    orders.retain(|order| !is_model(order[0]));
    let Some(&first) = orders.first() else {
        return Err(Error::parameter(
            "three models; expected a file with gold labels: dropchain compare GOLD SYSTEM SYSTEM",
        ));
    };
    let is_of = |system: &FileName, gold: &FileName| is_model(system) || extends(system, gold);
    let order = orders.into_iter().find(|[gold, a, b]| is_of(a, gold) && is_of(b, gold));
    let order = order.unwrap_or(first);
    let [gold, a, b] = order;
    let is_quiet = quiet || order == files;
    notice_unless(is_quiet, &format!("{gold} has the gold labels for {a} and {b}"));
    Ok(order)
}

/// Returns names of files that tell them apart: those in their folders, or else as they were given,
/// and numbered if that is the same.
pub fn distinct_names<'a>(files: impl Iterator<Item = &'a FileName>) -> Vec<String> {
    let files: Vec<&FileName> = files.collect();
    let short = |file: &FileName| {
        let name = AsRef::<Path>::as_ref(file).file_name();
        name.map_or_else(|| file.to_string(), |name| name.to_string_lossy().into_owned())
    };
    let count = |is_same: &dyn Fn(&FileName) -> bool| files.iter().filter(|f| is_same(f)).count();
    let names = files.iter().enumerate().map(|(i, &file)| match short(file) {
        name if count(&|other| short(other) == name) == 1 => name,
        _ if count(&|other| other == file) == 1 => file.to_string(),
        _ => format!("{file} ({})", i + 1),
    });
    names.collect()
}

/// Opens a file that can be read twice.
fn open(path: &Path) -> Option<BufReader<File>> {
    let file = path.is_file().then(|| File::open(path).ok())?;
    file.map(BufReader::new)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn names_tell_files_apart() {
        for (files, names) in [
            (["a/l2.model", "b/drop.model"], ["l2.model", "drop.model"]),
            (["a/ner.model", "b/ner.model"], ["a/ner.model", "b/ner.model"]),
            (["a/ner.model", "a/ner.model"], ["a/ner.model (1)", "a/ner.model (2)"]),
            (["-", ".."], ["-", ".."]),
        ] {
            let files = files.map(|file| FileName::from(OsString::from(file)));
            assert_eq!(distinct_names(files.iter()), names);
        }
    }
}

//! Files with predicted labels, beside the gold file that they are for.

use dropchain::corpus::{CONLLU_COLUMNS, Format, ReadOptions, read_all};
use dropchain::sentence::Sentence;
use dropchain::{Error, Place, Result};

use super::arguments::Input;

/// A file with the right labels.
#[derive(Debug)]
pub struct Gold {
    file: String,
    pub sentences: Vec<Sentence>,
}

impl Gold {
    /// Reads `file`.
    pub fn read(input: &Input, file: &str) -> Result<Self> {
        Ok(Self {
            file: file.to_owned(),
            sentences: read_all(&[file], &input.labeled())?,
        })
    }

    /// Reads the file `predictions`, which must have the same sentences: the predicted labels are the
    /// last column of CoNLL (as `tag` writes it), and where the gold labels are in other formats.
    pub fn predictions(&self, input: &Input, predictions: &str) -> Result<Vec<Sentence>> {
        let format = input
            .format
            .map_or_else(|| Format::guess(predictions), Into::into);
        let options = ReadOptions {
            format: Some(format),
            label: match format {
                Format::Conll => None,
                _ => input.label.clone(),
            },
            columns: None,
            ..input.labeled()
        };
        let predicted = read_all(&[predictions], &options)?;
        for (gold, predicted) in self.sentences.iter().zip(&predicted) {
            check_sentence(gold, predicted)?;
        }
        if self.sentences.len() != predicted.len() {
            return Err(Error::input(
                Place::file(predictions),
                format!(
                    "found {} sentences; expected {}, as in {}",
                    predicted.len(),
                    self.sentences.len(),
                    self.file
                ),
            ));
        }
        Ok(predicted)
    }
}

/// The labels of a sentence.
pub fn labels(sentence: &Sentence) -> Result<Vec<&str>> {
    sentence.labels().ok_or_else(|| {
        Error::input(
            sentence.place(0),
            "found no label column; evaluation needs labels (choose the column with --label)",
        )
    })
}

fn check_sentence(gold: &Sentence, predicted: &Sentence) -> Result<()> {
    let is_boundary = gold.layout.document_start;
    if gold.len() != predicted.len() || is_boundary != predicted.layout.document_start {
        return Err(Error::input(
            predicted.place(0),
            format!(
                "found a sentence of {} tokens; expected {} tokens, as at {}",
                predicted.len(),
                gold.len(),
                gold.place(0)
            ),
        ));
    }
    match is_boundary {
        true => Ok(()),
        false => check_words(gold, predicted),
    }
}

/// Checks that predictions are for the words of the gold sentence, where both files surely have
/// them in the same column: the predictions have the columns of the gold file, or these and one more,
/// as `tag` writes them. (Other programs write what they like.)
fn check_words(gold: &Sentence, predicted: &Sentence) -> Result<()> {
    let [schema, other] = [gold.schema(), predicted.schema()];
    let column = schema
        .position("word")
        .or_else(|| schema.position("form"))
        .filter(|&column| Some(column) != schema.label());
    let tagged = other.width() == schema.width() + 1;
    let same = schema.names() == CONLLU_COLUMNS && schema.names() == other.names();
    let Some(column) = column.filter(|_| tagged || same) else {
        return Ok(());
    };
    for t in 0..gold.len() {
        let [word, found] = [gold, predicted].map(|sentence| sentence.cell(t, column));
        if word != found {
            return Err(Error::input(
                predicted.place(t),
                format!(
                    "found the token '{found}'; expected '{word}', as at {}",
                    gold.place(t)
                ),
            ));
        }
    }
    Ok(())
}

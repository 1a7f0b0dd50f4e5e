//! Text of which each rank reads a part.

use std::collections::HashMap;
use std::path::Path;

use dropchain::corpus::{FilePart, Format, ReadOptions};
use dropchain::{Corpus, Error, Place, Result, Sentence};

use super::{Inputs, Team};
use crate::exit::{CommandError, CommandResult};
use crate::file_name::FileName;

/// Which files must have the same columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameColumns {
    /// All of them.
    OfAllFiles,
    /// Each file has columns of its own, which are those of all of its parts.
    OfEachFile,
}

/// Reads the part of this rank; the parts of all ranks, in order, are the files. Returns `None` if
/// there is one rank, or files cannot be divided ([`FilePart::divide`]): then every rank must read
/// all of them.
///
/// # Errors
///
/// Those of any rank, on all: a file cannot be read, or is another one than on rank 0; a file has
/// no sentence; a part of one has other columns than another.
pub fn read_own_part(
    files: &[(&FileName, Format)],
    options: &ReadOptions,
    same_columns: SameColumns,
    team: &Team,
) -> CommandResult<Option<Corpus>> {
    let Some(ranks) = team.ranks() else {
        return Ok(None);
    };
    let agree = |outcome: Result<()>| team.agree(outcome.map_err(CommandError::from));
    let paths: Vec<_> = files
        .iter()
        .map(|&(file, format)| (file.as_ref(), format))
        .collect();
    let pieces = FilePart::divide(&paths, options, ranks.rank(), ranks.size());
    let pieces = team.agree(pieces.map_err(CommandError::from))?;
    let mut undivided = [f64::from(u8::from(pieces.is_none()))];
    ranks.sum(&mut undivided)?;
    let Some(pieces) = pieces.filter(|_| undivided == [0.0]) else {
        return Ok(None);
    };
    let contents = Inputs::default().files(paths.iter().map(|(file, _)| Path::new(file)));
    team.check_same(&team.agree(contents.map_err(CommandError::from))?)?;

    let formats: HashMap<_, _> = paths.iter().copied().collect();
    let mut corpus = Corpus::new();
    let read = pieces.iter().try_for_each(|piece| {
        let options = ReadOptions {
            format: formats.get(piece.path()).copied(),
            memory: options.memory.beyond(corpus.memory()),
            ..options.clone()
        };
        corpus.extend(Corpus::read_part(piece, &options)?);
        Ok(())
    });
    agree(read)?;

    let mut counts: Vec<f64> = files
        .iter()
        .map(|(file, _)| sentences_of(&corpus, file).count() as f64)
        .collect();
    ranks.sum(&mut counts)?;
    let mut expected: Option<(&str, String)> = None; // the columns of a file
    for ((file, _), count) in files.iter().zip(counts) {
        if count == 0.0 {
            let message = "no sentence found; expected at least one";
            return Err(Error::input(Place::file(&***file), message).into());
        }
        let first = sentences_of(&corpus, file).next();
        let columns = first.map_or_else(String::new, |first| first.schema().list());
        let all = ranks.gather_values(&columns)?;
        if same_columns == SameColumns::OfEachFile {
            expected = None;
        }
        let of_file = all.into_iter().find(|columns| !columns.is_empty());
        let expected = expected.get_or_insert((file, of_file.unwrap_or_default()));
        agree(check_columns(first, expected))?;
    }
    Ok(Some(corpus))
}

fn sentences_of<'a>(corpus: &'a Corpus, file: &'a str) -> impl Iterator<Item = &'a Sentence> {
    corpus.iter().filter(move |s| **s.file() == *file)
}

/// Checks that the first sentence of this rank, if there is one, has the columns of a file.
fn check_columns(first: Option<&Sentence>, (file, expected): &(&str, String)) -> Result<()> {
    let found = first.map(|sentence| (sentence, sentence.schema().list()));
    match found.filter(|(_, found)| found != expected) {
        None => Ok(()),
        Some((sentence, found)) => {
            let message = match **sentence.file() == **file {
                true => "an earlier part".to_owned(),
                false => format!("{file} are"),
            };
            let message = format!("the columns are {found}, but those of {message} {expected}");
            Err(Error::input(sentence.place(0), message))
        }
    }
}

//! Unlabeled text of which each rank reads a part.

use std::collections::HashMap;
use std::path::Path;

use dropchain::corpus::{FilePart, Format, ReadOptions};
use dropchain::{Corpus, Error, Place, Result};

use super::{Inputs, Team};
use crate::cli::exit::{CommandError, CommandResult};
use crate::cli::file_name::FileName;

/// Reads the part of this rank; the parts of all ranks, in order, are the files. Returns `None` if
/// there is one rank, or files cannot be divided ([`FilePart::divide`]): then every rank must read
/// all of them.
///
/// # Errors
///
/// Those of any rank, on all: a file cannot be read, or has another size than on rank 0; a file has
/// no sentence; a part has other columns than another.
pub fn read_own_part(
    files: &[(&FileName, Format)],
    options: &ReadOptions,
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
    let sizes = Inputs::default().sizes(paths.iter().map(|(file, _)| Path::new(file)));
    team.check_same(&team.agree(sizes.map_err(CommandError::from))?)?;

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

    let of_file = |file: &FileName| corpus.iter().filter(|s| **s.file() == **file).count() as f64;
    let mut counts: Vec<f64> = files.iter().map(|(file, _)| of_file(file)).collect();
    ranks.sum(&mut counts)?;
    if let Some(i) = counts.iter().position(|&count| count == 0.0) {
        let message = "no sentence found; expected at least one";
        return Err(Error::input(Place::file(&**files[i].0), message).into());
    }
    agree(check_columns(
        &corpus,
        &ranks.gather(columns(&corpus).as_bytes())?,
    ))?;
    Ok(Some(corpus))
}

/// Lists the columns of the sentences; empty without any.
fn columns(corpus: &Corpus) -> String {
    let first = corpus.iter().next();
    first.map_or_else(String::new, |first| first.schema().list())
}

/// Checks that sentences have the columns of the lowest rank that has any, given those of all.
fn check_columns(corpus: &Corpus, all: &[Vec<u8>]) -> Result<()> {
    let (own, first) = (
        columns(corpus),
        all.iter().find(|columns| !columns.is_empty()),
    );
    match (corpus.iter().next(), first) {
        (Some(sentence), Some(first)) if own.as_bytes() != first => {
            let expected = String::from_utf8_lossy(first);
            let message = format!("the columns are {own}, but those of an earlier part {expected}");
            Err(Error::input(sentence.place(0), message))
        }
        _ => Ok(()),
    }
}

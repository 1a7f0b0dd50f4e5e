//! The models to serve, by name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::{CommandError, CommandResult};

/// A model to serve: its name and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelArgument {
    pub name: String,
    pub path: PathBuf,
}

/// Parses `FILE` or `NAME=FILE`. A file name with `=` is given with its folder: `./a=b.model`.
impl From<OsString> for ModelArgument {
    fn from(argument: OsString) -> Self {
        if let Some((name, path)) = argument.to_str().and_then(|text| text.split_once('='))
            && is_name(name)
        {
            return Self {
                name: name.to_owned(),
                path: path.into(),
            };
        }
        let path = PathBuf::from(argument);
        Self {
            name: name_of(&path),
            path,
        }
    }
}

/// Returns whether a string can name a model: it stands in URLs and in metrics.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && name.chars().all(is_plain)
}

/// The name of a model: that of its file, without `.model`.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    name.strip_suffix(".model")
        .filter(|stem| !stem.is_empty())
        .unwrap_or(&name)
        .to_owned()
}

/// Rejects models with the same name.
pub fn check_names(models: &[ModelArgument]) -> CommandResult {
    let repeated = |i: usize| models[..i].iter().any(|m| m.name == models[i].name);
    match (0..models.len()).any(repeated) {
        true => Err(CommandError::Usage(
            "two models have the same name; expected different ones, as in new=path/ner.model",
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(argument: &str) -> (String, String) {
        let ModelArgument { name, path } = OsString::from(argument).into();
        (name, path.to_str().unwrap().to_owned())
    }

    #[test]
    fn models_are_named_by_their_files_or_by_the_user() {
        for (argument, name, path) in [
            ("ner.model", "ner", "ner.model"),
            ("a/b.c/ner.v2.model", "ner.v2", "a/b.c/ner.v2.model"),
            ("plain", "plain", "plain"),
            (".model", ".model", ".model"),
            ("x=a/ner.model", "x", "a/ner.model"),
            ("./a=b.model", "a=b", "./a=b.model"),
            ("=b", "=b", "=b"),
        ] {
            assert_eq!(parsed(argument), (name.to_owned(), path.to_owned()));
        }
    }
}

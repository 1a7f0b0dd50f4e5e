//! Folders of files with a document each.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::instance::{Instance, InstanceContent, InstanceReadOptions};
use dropchain::corpus::LineReader;
use dropchain::error::{Error, Place, Result};
use dropchain::memory::{MemoryLimit, input_over_limit};

/// An input that has not been opened.
pub(super) struct Input {
    pub path: OsString,
    /// If the input is one document: its class, if it is known.
    pub whole: Option<Option<String>>,
}

/// Returns the files of a folder in order: those of its folders, whose names are the classes, or
/// if it has no folders its own, without classes. Names that begin with a dot are skipped.
pub(super) fn inputs(folder: &Path, options: &InstanceReadOptions) -> Result<Vec<Input>> {
    let (folders, files) = entries(folder)?;
    let place = || Place::file(folder.to_string_lossy());
    if folders.is_empty() && options.needs_labels {
        let message = "the folder has no folders; expected one for each class";
        return Err(Error::input(place(), message));
    }
    if let (Some(file), false) = (files.first(), folders.is_empty()) {
        let message = "found a file beside the folders of the classes; expected folders only";
        return Err(Error::input(Place::file(file.to_string_lossy()), message));
    }
    let whole = |path: PathBuf, label: Option<String>| Input {
        path: path.into_os_string(),
        whole: Some(label),
    };
    let mut inputs: Vec<Input> = files.into_iter().map(|path| whole(path, None)).collect();
    for class in folders {
        let Some(label) = class.file_name().and_then(OsStr::to_str) else {
            let message = "the name of the folder is not UTF-8; expected that of a class";
            return Err(Error::input(Place::file(class.to_string_lossy()), message));
        };
        let (inner, files) = entries(&class)?;
        if let Some(inner) = inner.first() {
            let message = "found a folder; expected the documents of a class";
            return Err(Error::input(Place::file(inner.to_string_lossy()), message));
        }
        inputs.extend(
            files
                .into_iter()
                .map(|path| whole(path, Some(label.into()))),
        );
    }
    if inputs.is_empty() {
        return Err(Error::input(place(), "the folder has no documents"));
    }
    Ok(inputs)
}

/// Returns the folders and the files in a folder, by name.
fn entries(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let failed = |error| Error::io(folder, error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
    }
    paths.sort_unstable();
    Ok(paths.into_iter().partition(|path| path.is_dir()))
}

/// Reads a file that is one document.
pub(super) fn read_whole(
    mut lines: LineReader,
    label: Option<String>,
    memory: MemoryLimit,
) -> Result<Instance> {
    let limit = memory.bytes(0);
    let file = Arc::clone(lines.file());
    let mut text = String::new();
    while let Some(line) = lines.next_line()? {
        if !text.is_empty() {
            text.push('\n');
        }
        if (text.len() + line.text.len()) as u64 > limit {
            let what = "the document up to here needs";
            let place = Place::line(&*file, line.number);
            return Err(input_over_limit(place, what, limit, "shorter documents"));
        }
        text.push_str(line.text);
    }
    Ok(Instance {
        label,
        content: InstanceContent::Text(text),
        file,
        line: 0,
    })
}

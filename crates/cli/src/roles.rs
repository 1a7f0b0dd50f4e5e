//! What files are, by their contents: models, predictions and gold labels.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// How models begin: taggers, classifiers, regressions, and those of CRFsuite.
const MODELS: [&[u8]; 4] = [b"DROPCRF\n", b"DROPCLS\n", b"DROPREG\n", b"lCRF"];

/// How many lines of two files are compared.
const LINES: usize = 1000;

/// Returns whether a file is a model.
pub fn is_model(file: impl AsRef<Path>) -> bool {
    let mut beginning = Vec::new();
    let read = open(file.as_ref()).map(|file| file.take(8).read_to_end(&mut beginning));
    read.is_some() && MODELS.iter().any(|model| beginning.starts_with(model))
}

/// Returns whether a file has the columns of another and more, as predictions have those of the
/// file with gold labels.
pub fn extends(file: impl AsRef<Path>, other: impl AsRef<Path>) -> bool {
    let (Some(file), Some(other)) = (open(file.as_ref()), open(other.as_ref())) else {
        return false;
    };
    let mut has_more = false;
    for (line, beginning) in file.lines().zip(other.lines()).take(LINES) {
        let (Ok(line), Ok(beginning)) = (line, beginning) else {
            return false;
        };
        match line.trim_end().strip_prefix(beginning.trim_end()) {
            Some("") => {}
            Some(more) if !beginning.trim().is_empty() && more.starts_with([' ', '\t']) => {
                has_more = true;
            }
            _ => return false,
        }
    }
    has_more
}

/// Opens a file that can be read twice.
fn open(path: &Path) -> Option<BufReader<File>> {
    let file = path.is_file().then(|| File::open(path).ok())?;
    file.map(BufReader::new)
}

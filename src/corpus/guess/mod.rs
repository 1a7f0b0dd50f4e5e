//! What a file is, from its name, its first bytes and its first lines.
//!
//! [`FileKind`] is the only decision, for all that read corpora: a kind has a format that reads it,
//! or a sentence that says what the file is and what to do with it. It is a function of bytes and
//! lines. How the rows of columns are laid out is decided next ([`Sheet`](super::sheet::Sheet)).

mod decision;
mod file_kind;
mod first_bytes;
pub(super) mod first_lines;
mod json;
mod line_marks;
#[cfg(test)]
mod tests;

pub use file_kind::FileKind;

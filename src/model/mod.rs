//! The model: what tagging needs, in one file.
//!
//! # File format, version 1
//!
//! All integers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 0–7 | magic `DROPCHN\n` |
//! | 8–11 | format version |
//! | 12–15 | zero |
//! | 16–23 | length of the file |
//! | 24–183 | ten sections: offset and length, 8 bytes each |
//! | 184–191 | XXH3-64 of bytes 0–183 and the sections *header* and *sums* |
//! | 192– | the sections |
//!
//! | section | what |
//! |---|---|
//! | header | [`Header`], bincode |
//! | sums | XXH3-64 of each 16 KiB block of all that follows |
//! | slots, weights, ends, names | the [table](table) of node attributes |
//! | slots, weights, ends, names | the table of edge attributes |
//!
//! The file is mapped into memory. Opening it reads and checks the first 192 bytes, the header
//! and the sums; a block of the tables is checked when it is first touched. So opening does not
//! take longer for a larger model, and damage is found wherever it can matter. A file is written
//! under another name, synced and renamed: after a crash there is the old model or the new one.

mod bytes;
mod file;
mod header;
pub mod table;

pub use file::{Kind, Model};
pub use header::{Header, Precision, Provenance};

//! The first lines of a file, of which nothing has been read.

use crate::corpus::lines::{LineReader, is_blank};
use crate::error::Result;

/// Maximum number of lines that are looked at before the first sentence is read, and of their
/// bytes.
const MAX_LINES: usize = 100;
pub(super) const MAX_BYTES: usize = 1 << 20;

/// Returns the first lines up to the first blank line after others, or beyond it if these say so:
/// in a stream, nothing may follow yet. The last one may be cut.
pub(in crate::corpus) fn first_lines(
    lines: &mut LineReader,
    go_on: impl Fn(&[String]) -> bool,
) -> Result<Vec<String>> {
    let (mut first, mut bytes, mut goes_on) = (Vec::new(), 0, false);
    while first.len() < MAX_LINES && bytes <= MAX_BYTES {
        let Some(mut line) = lines.peek(first.len())? else { break };
        let mut ends = (0..=line.len().min(MAX_BYTES)).rev();
        line.truncate(ends.find(|&end| line.is_char_boundary(end)).unwrap_or(0));
        let has_content = || first.iter().any(|line: &String| !is_blank(line));
        if !goes_on && is_blank(&line) && has_content() {
            goes_on = go_on(&first);
            if !goes_on {
                break;
            }
        }
        bytes += line.len();
        first.push(line);
    }
    Ok(first)
}

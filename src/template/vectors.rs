//! Word vectors in the text formats of word2vec and GloVe.

use hashbrown::HashMap;

use super::resources::{Resource, Selection};
use super::text::quote_start;
use crate::error::{Error, Place, Result};

/// Maximum number of dimensions, equal to the maximum number of attributes per template line.
const MAX_DIMENSIONS: usize = 4096;

/// Largest magnitude of a component, so that products of several numbers stay finite.
const MAX_NUMBER: f32 = 1e15;

/// A map from words to vectors of D dimensions.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
    words: HashMap<String, u32>,
    values: Vec<f32>,      // [words][D]
    pub dimensions: usize, // D
    bytes_read: usize,     // of the file
}

impl Resource for Vectors {
    /// Lines with a word and D numbers, separated by blanks or tabs, optionally
    /// after a header line with the number of words and D. The first vector of a word wins. A word
    /// may contain blanks if its last part is not a number.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at a line whose number of components is not D, at a component that is not
    /// finite or exceeds 10¹⁵ in magnitude, if there are no vectors, and if D exceeds 4096.
    fn parse(contents: &str, file: &str, selection: Selection) -> Result<Self> {
        let mut vectors =
            Self { words: HashMap::new(), values: Vec::new(), dimensions: 0, bytes_read: 0 };
        let (mut at_header, mut remaining) = (true, selection.first.unwrap_or(usize::MAX));
        let mut cells: Vec<&str> = Vec::new();
        for (number, line) in (1..).zip(contents.split_inclusive('\n')) {
            if remaining == 0 {
                break;
            }
            vectors.bytes_read += line.len();
            cells.clear();
            let line = line.trim_start_matches('\u{feff}');
            let separated = line.split([' ', '\t', '\r', '\n']);
            cells.extend(separated.filter(|cell| !cell.is_empty()));
            if cells.is_empty() {
                continue;
            }
            let error = |message| Error::input(Place::line(file, number), message);
            if std::mem::take(&mut at_header)
                && let Some(dimensions) = header_dimensions(&cells)
            {
                vectors.set_dimensions(dimensions).map_err(error)?;
                continue;
            }
            vectors.push(&cells, selection).map_err(error)?;
            remaining -= 1;
        }
        if vectors.words.is_empty() {
            return Err(Error::input(Place::file(file), "the file has no vectors"));
        }
        Ok(vectors)
    }

    fn bytes_used(&self, _: &str) -> usize {
        self.bytes_read
    }
}

impl Vectors {
    fn set_dimensions(&mut self, dimensions: usize) -> Result<(), String> {
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(format!("vectors of {dimensions} numbers; expected 1 to {MAX_DIMENSIONS}"));
        }
        self.dimensions = dimensions;
        Ok(())
    }

    /// Adds the vector of a line, given as its cells.
    fn push(&mut self, cells: &[&str], selection: Selection) -> Result<(), String> {
        let line = || quote_start(&cells.join(" "));
        if self.dimensions == 0 {
            if cells.len() < 2 {
                return Err(format!("expected a word and its numbers, found '{}'", line()));
            }
            self.set_dimensions(cells.len() - 1)?;
        }
        let start = cells.len().saturating_sub(self.dimensions);
        let is_number = |cell: &str| cell.parse::<f32>().is_ok();
        if start == 0 || (start > 1 && is_number(cells[start - 1])) {
            let (found, expected) = (cells.len() - 1, self.dimensions);
            return Err(format!(
                "found {found} numbers; expected {expected}, as before ('{}')",
                line()
            ));
        }
        let word = selection.fold(&cells[..start].join(" ")).into_owned();
        let next = u32::try_from(self.words.len()).map_err(|_| "too many words".to_owned())?;
        let is_new = *self.words.entry(word).or_insert(next) == next;
        for cell in &cells[start..] {
            let value: Option<f32> = cell.parse().ok();
            let Some(value) = value.filter(|value| value.abs() <= MAX_NUMBER) else {
                return Err(format!("found '{cell}'; expected a number of at most {MAX_NUMBER:e}"));
            };
            if is_new {
                self.values.push(value);
            }
        }
        Ok(())
    }

    /// Returns the vector of `word`.
    pub(super) fn get(&self, word: &str) -> Option<&[f32]> {
        let row = *self.words.get(word)? as usize * self.dimensions;
        self.values.get(row..row + self.dimensions)
    }
}

/// Returns the number of dimensions if `cells` is a header: two integers.
fn header_dimensions(cells: &[&str]) -> Option<usize> {
    let [words, dimensions] = cells else { return None };
    words.parse::<u64>().ok()?;
    dimensions.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Selection = Selection { lower: false, first: None };

    fn read(text: &str) -> Vectors {
        Vectors::parse(text, "v.txt", ALL).unwrap()
    }

    fn error(text: &str) -> String {
        Vectors::parse(text, "v.txt", ALL).unwrap_err().to_string()
    }

    #[test]
    fn files_with_and_without_a_header_are_equivalent() {
        for text in [
            "in 0.5 -1\nRome 2 3e-1\n",
            "2 2\nin 0.5 -1 \nRome 2 3e-1 \n",
            "\u{feff}in\t0.5\t-1\r\n\nRome 2 3e-1",
        ] {
            let vectors = read(text);
            assert_eq!((vectors.words.len(), vectors.dimensions), (2, 2), "{text}");
            assert_eq!(vectors.get("in"), Some(&[0.5, -1.0][..]));
            assert_eq!(vectors.get("Rome"), Some(&[2.0, 0.3][..]));
            assert_eq!(vectors.get("rome"), None);
            assert_eq!(vectors.bytes_read, text.len());
        }
    }

    #[test]
    fn the_first_vector_of_a_word_wins() {
        assert_eq!(read("a 1\nb 2\na 3\n").get("a"), Some(&[1.0][..]));
        let lower = Selection { lower: true, ..ALL };
        let vectors = Vectors::parse("The 1\nthe 2\nof 3\n", "v.txt", lower).unwrap();
        assert_eq!(vectors.get("the"), Some(&[1.0][..]));
        assert_eq!(vectors.get("of"), Some(&[3.0][..]));
    }

    #[test]
    fn reading_can_stop_after_the_first_words() {
        let first = |n| Selection { first: Some(n), ..ALL };
        let text = "3 1\na 1\nb 2\nc oops\n";
        let vectors = Vectors::parse(text, "v.txt", first(2)).unwrap();
        assert_eq!((vectors.words.len(), vectors.bytes_read), (2, "3 1\na 1\nb 2\n".len()));
        let again = Vectors::parse(&text[..vectors.bytes_read], "v.txt", first(2)).unwrap();
        assert_eq!(again.get("b"), Some(&[2.0][..]));
    }

    #[test]
    fn a_word_may_contain_blanks() {
        assert_eq!(read("a 1 2\n. . . 3 4\n").get(". . ."), Some(&[3.0, 4.0][..]));
    }

    #[test]
    fn a_number_may_be_a_word() {
        assert_eq!(read("7 1.5\n8 2\n").get("8"), Some(&[2.0][..]));
        assert_eq!(read("x 1 2\n1990 3 4\n").get("1990"), Some(&[3.0, 4.0][..]));
    }

    #[test]
    fn errors_name_their_line() {
        for (text, expected) in [
            ("", "v.txt: the file has no vectors"),
            ("9 2\n", "v.txt: the file has no vectors"),
            ("a\n", "v.txt:1: expected a word and its numbers, found 'a'"),
            ("a 1 2\nb 1\n", "v.txt:2: found 1 numbers; expected 2, as before ('b 1')"),
            ("a 1 2\n\nb 1 2 3\n", "v.txt:3: found 3 numbers; expected 2, as before ('b 1 2 3')"),
            ("5 3\na 1 2\n", "v.txt:2: found 2 numbers; expected 3, as before ('a 1 2')"),
            ("a 1\nb NaN\n", "v.txt:2: found 'NaN'; expected a number of at most 1e15"),
            ("a 1\nb 1e16\n", "v.txt:2: found '1e16'; expected a number of at most 1e15"),
            ("a 1\nb x\n", "v.txt:2: found 'x'; expected a number of at most 1e15"),
            ("7 5000\n", "v.txt:1: vectors of 5000 numbers; expected 1 to 4096"),
            ("7 0\n", "v.txt:1: vectors of 0 numbers; expected 1 to 4096"),
        ] {
            assert_eq!(error(text), expected);
        }
    }

    #[test]
    fn long_lines_are_quoted_in_part() {
        let long = format!("a 1\nb{}\n", " 1".repeat(50));
        let quoted = format!("b{} …", " 1".repeat(19));
        assert_eq!(
            error(&long),
            format!("v.txt:2: found 50 numbers; expected 1, as before ('{quoted}')")
        );
    }
}

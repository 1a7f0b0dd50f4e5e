//! Word vectors: files of word2vec and GloVe, as text.

use hashbrown::HashMap;

use super::text::push_lower;
use crate::error::{Error, Place, Result};

/// Most numbers that a vector has; more would not fit a template line.
const MAX_DIMENSIONS: usize = 4096;

/// Largest number: products with others stay finite.
const MAX_NUMBER: f32 = 1e15;

/// Characters of a faulty line that a message quotes.
const QUOTED: usize = 40;

/// A vector of D numbers for each word.
#[derive(Clone, Debug)]
pub(super) struct Vectors {
    words: HashMap<String, u32>,
    values: Vec<f32>, // [words][D]
    dimensions: usize,
    /// Bytes of the file that were needed.
    pub read: usize,
}

/// What is taken of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Words are made lower case.
    pub lower: bool,
    /// As many lines, from the first on; [`None`]: all.
    pub first: Option<usize>,
}

impl Vectors {
    /// Reads `contents`: a word and D numbers a line, separated by blanks or tabs, perhaps after a line
    /// with the number of words and D. Where a word comes twice its first vector counts. A word may have blanks
    /// inside, if what stands before the D last numbers is none.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] at a line that has other than D numbers, or one that is not finite or above
    /// 10¹⁵; when there is no line, or D is above 4096.
    pub(super) fn parse(contents: &str, file: &str, extent: Extent) -> Result<Self> {
        let mut vectors = Self {
            words: HashMap::new(),
            values: Vec::new(),
            dimensions: 0,
            read: 0,
        };
        let (mut header, mut left) = (true, extent.first.unwrap_or(usize::MAX));
        let mut cells: Vec<&str> = Vec::new();
        for (number, line) in (1..).zip(contents.split_inclusive('\n')) {
            if left == 0 {
                break;
            }
            vectors.read += line.len();
            cells.clear();
            let line = line.trim_start_matches('\u{feff}');
            let separated = line.split([' ', '\t', '\r', '\n']);
            cells.extend(separated.filter(|cell| !cell.is_empty()));
            if cells.is_empty() {
                continue;
            }
            let fault = |message| Error::input(Place::line(file, number), message);
            if std::mem::take(&mut header)
                && let Some(dimensions) = of_header(&cells)
            {
                vectors.set_dimensions(dimensions).map_err(fault)?;
                continue;
            }
            vectors.push(&cells, extent.lower).map_err(fault)?;
            left -= 1;
        }
        if vectors.words.is_empty() {
            return Err(Error::input(
                Place::file(file),
                "there are no vectors in it",
            ));
        }
        Ok(vectors)
    }

    fn set_dimensions(&mut self, dimensions: usize) -> Result<(), String> {
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(format!(
                "vectors of {dimensions} numbers; expected 1 to {MAX_DIMENSIONS}"
            ));
        }
        self.dimensions = dimensions;
        Ok(())
    }

    /// Adds the vector of a line.
    fn push(&mut self, cells: &[&str], lower: bool) -> Result<(), String> {
        if self.dimensions == 0 {
            if cells.len() < 2 {
                return Err(format!(
                    "expected a word and its numbers, found '{}'",
                    quoted(cells)
                ));
            }
            self.set_dimensions(cells.len() - 1)?;
        }
        let start = cells.len().saturating_sub(self.dimensions);
        let is_number = |cell: &str| cell.parse::<f32>().is_ok();
        if start == 0 || (start > 1 && is_number(cells[start - 1])) {
            return Err(format!(
                "found {} numbers; expected {}, as before ('{}')",
                cells.len() - 1,
                self.dimensions,
                quoted(cells)
            ));
        }
        let mut word = String::new();
        for (i, cell) in cells[..start].iter().enumerate() {
            if i > 0 {
                word.push(' ');
            }
            match lower {
                true => push_lower(cell, &mut word),
                false => word.push_str(cell),
            }
        }
        let next = u32::try_from(self.words.len()).map_err(|_| "too many words".to_owned())?;
        let is_new = *self.words.entry(word).or_insert(next) == next;
        for cell in &cells[start..] {
            let value: Option<f32> = cell.parse().ok();
            let Some(value) = value.filter(|value| value.abs() <= MAX_NUMBER) else {
                return Err(format!(
                    "found '{cell}'; expected a number of at most {MAX_NUMBER:e}"
                ));
            };
            if is_new {
                self.values.push(value);
            }
        }
        Ok(())
    }

    /// Number of numbers D in a vector.
    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Number of different words.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The vector of `word`.
    pub(super) fn of(&self, word: &str) -> Option<&[f32]> {
        let row = *self.words.get(word)? as usize * self.dimensions;
        self.values.get(row..row + self.dimensions)
    }
}

/// The dimensions that a header states: it has two whole numbers.
fn of_header(cells: &[&str]) -> Option<usize> {
    let [words, dimensions] = cells else {
        return None;
    };
    words.parse::<u64>().ok()?;
    dimensions.parse().ok()
}

/// The beginning of a line.
fn quoted(cells: &[&str]) -> String {
    let line = cells.join(" ");
    match line.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Extent = Extent {
        lower: false,
        first: None,
    };

    fn read(text: &str) -> Vectors {
        Vectors::parse(text, "v.txt", ALL).unwrap()
    }

    fn fault(text: &str) -> String {
        let error = Vectors::parse(text, "v.txt", ALL);
        error.unwrap_err().to_string()
    }

    #[test]
    fn files_with_and_without_a_header_read_alike() {
        for text in [
            "in 0.5 -1\nRome 2 3e-1\n",
            "2 2\nin 0.5 -1 \nRome 2 3e-1 \n",
            "\u{feff}in\t0.5\t-1\r\n\nRome 2 3e-1",
        ] {
            let vectors = read(text);
            assert_eq!((vectors.len(), vectors.dimensions()), (2, 2), "{text}");
            assert_eq!(vectors.of("in"), Some(&[0.5, -1.0][..]));
            assert_eq!(vectors.of("Rome"), Some(&[2.0, 0.3][..]));
            assert_eq!(vectors.of("rome"), None);
            assert_eq!(vectors.read, text.len());
        }
    }

    #[test]
    fn the_first_vector_of_a_word_counts() {
        assert_eq!(read("a 1\nb 2\na 3\n").of("a"), Some(&[1.0][..]));
        let lower = Extent { lower: true, ..ALL };
        let vectors = Vectors::parse("The 1\nthe 2\nof 3\n", "v.txt", lower).unwrap();
        assert_eq!(vectors.of("the"), Some(&[1.0][..]));
        assert_eq!(vectors.of("of"), Some(&[3.0][..]));
    }

    #[test]
    fn the_first_words_can_be_taken_alone() {
        let first = |n| Extent {
            first: Some(n),
            ..ALL
        };
        let text = "3 1\na 1\nb 2\nc oops\n";
        let vectors = Vectors::parse(text, "v.txt", first(2)).unwrap();
        assert_eq!((vectors.len(), vectors.read), (2, "3 1\na 1\nb 2\n".len()));
        let again = Vectors::parse(&text[..vectors.read], "v.txt", first(2)).unwrap();
        assert_eq!(again.of("b"), Some(&[2.0][..]));
    }

    #[test]
    fn a_word_may_have_blanks_inside() {
        let vectors = read("a 1 2\n. . . 3 4\n");
        assert_eq!(vectors.of(". . ."), Some(&[3.0, 4.0][..]));
    }

    #[test]
    fn a_number_may_be_a_word() {
        assert_eq!(read("7 1.5\n8 2\n").of("8"), Some(&[2.0][..]));
        assert_eq!(read("x 1 2\n1990 3 4\n").of("1990"), Some(&[3.0, 4.0][..]));
    }

    #[test]
    fn faults_name_their_line() {
        for (text, expected) in [
            ("", "v.txt: there are no vectors in it"),
            ("9 2\n", "v.txt: there are no vectors in it"),
            ("a\n", "v.txt:1: expected a word and its numbers, found 'a'"),
            (
                "a 1 2\nb 1\n",
                "v.txt:2: found 1 numbers; expected 2, as before ('b 1')",
            ),
            (
                "a 1 2\n\nb 1 2 3\n",
                "v.txt:3: found 3 numbers; expected 2, as before ('b 1 2 3')",
            ),
            (
                "5 3\na 1 2\n",
                "v.txt:2: found 2 numbers; expected 3, as before ('a 1 2')",
            ),
            (
                "a 1\nb NaN\n",
                "v.txt:2: found 'NaN'; expected a number of at most 1e15",
            ),
            (
                "a 1\nb 1e16\n",
                "v.txt:2: found '1e16'; expected a number of at most 1e15",
            ),
            (
                "a 1\nb x\n",
                "v.txt:2: found 'x'; expected a number of at most 1e15",
            ),
            (
                "7 5000\n",
                "v.txt:1: vectors of 5000 numbers; expected 1 to 4096",
            ),
            ("7 0\n", "v.txt:1: vectors of 0 numbers; expected 1 to 4096"),
        ] {
            assert_eq!(fault(text), expected);
        }
    }

    #[test]
    fn long_lines_are_not_quoted_whole() {
        let long = format!("a 1\nb{}\n", " 1".repeat(50));
        let quoted = format!("b{} …", " 1".repeat(19));
        assert_eq!(
            fault(&long),
            format!("v.txt:2: found 50 numbers; expected 1, as before ('{quoted}')")
        );
    }
}

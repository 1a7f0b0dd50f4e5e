//! A sentence: T tokens in C columns, with where it came from.
//!
//! Every input format is brought to this one form. The cells lie in one string, so a sentence
//! costs three allocations however many tokens it has.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Place, Result};

/// The columns of a corpus: their names, in file order, and which of them holds the labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    names: Vec<String>,
    label: Option<usize>,
}

impl Schema {
    /// Columns by name, with the position of the label column if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] when a name is empty or given twice, or `label` is no column.
    pub fn new(names: Vec<String>, label: Option<usize>) -> Result<Self> {
        for (i, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(Error::parameter(format!("column {i} has an empty name")));
            }
            if names[..i].contains(name) {
                return Err(Error::parameter(format!(
                    "two columns have the name '{name}'"
                )));
            }
        }
        if let Some(label) = label
            && label >= names.len()
        {
            return Err(Error::parameter(format!(
                "label column {label} does not exist: there are {} columns",
                names.len()
            )));
        }
        Ok(Self { names, label })
    }

    /// The single column `word`, without labels: the schema of raw text.
    #[must_use]
    pub fn words() -> Self {
        Self {
            names: vec!["word".to_owned()],
            label: None,
        }
    }

    /// Column names in file order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of columns C.
    #[must_use]
    pub fn width(&self) -> usize {
        self.names.len()
    }

    /// Position of the label column.
    #[must_use]
    pub fn label(&self) -> Option<usize> {
        self.label
    }

    /// Position of the column `name`.
    ///
    /// `word` and `form` mean the same column, so that templates serve CoNLL and CoNLL-U alike.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        let find = |name: &str| self.names.iter().position(|n| n == name);
        find(name).or_else(|| match name {
            "word" => find("form"),
            "form" => find("word"),
            _ => None,
        })
    }
}

/// Where a token lies in the text it was cut from; ends are exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// Bytes of the UTF-8 text.
    pub bytes: Range<usize>,
    /// Unicode scalar values (what Python counts).
    pub chars: Range<usize>,
}

/// Attributes that were extracted elsewhere (CRFsuite's format): names with values, per token.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes {
    names: String,
    ends: Vec<u32>,           // end of each name in `names`
    values: Option<Vec<f64>>, // of each name, if some are not 1
    tokens: Vec<usize>,       // [T] end of the token in `ends`
}

impl Attributes {
    /// Adds an attribute to the token that [`Attributes::end_token`] will close.
    pub fn push(&mut self, name: &str, value: f64) {
        if self.values.is_none() && value != 1.0 {
            self.values = Some(vec![1.0; self.ends.len()]);
        }
        self.names.push_str(name);
        self.ends.push(self.names.len() as u32);
        if let Some(values) = &mut self.values {
            values.push(value);
        }
    }

    /// Closes a token.
    pub fn end_token(&mut self) {
        self.tokens.push(self.ends.len());
    }

    /// Number of closed tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether no token was closed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The attributes of token `t` with their values.
    pub fn token(&self, t: usize) -> impl Iterator<Item = (&str, f64)> {
        let first = if t == 0 { 0 } else { self.tokens[t - 1] };
        (first..self.tokens[t]).map(|i| {
            let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
            let value = self.values.as_ref().map_or(1.0, |values| values[i]);
            (&self.names[start..self.ends[i] as usize], value)
        })
    }

    /// Whether there are more names than can be told apart: 4 GiB.
    pub(crate) fn is_full(&self) -> bool {
        u32::try_from(self.names.len()).is_err()
    }

    /// Gives back memory that is kept for more.
    pub(crate) fn shrink(&mut self) {
        self.names.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.tokens.shrink_to_fit();
    }
}

/// What a format says around the tokens and wants back on output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Comment lines that stand before the sentence (`# sent_id = …`), without line ends.
    pub comments: Vec<String>,
    /// Lines kept apart from the words (multiword ranges, empty nodes, comments inside a
    /// sentence), each with the token it stands before; T for those after the last one.
    pub extra_lines: Vec<(usize, String)>,
    /// The text that the sentence was cut from: a line of raw text, or the `text` of a JSON object.
    pub source: Option<Arc<str>>,
    /// The JSON object that the sentence was read from, whose other keys the output carries.
    pub record: Option<Arc<str>>,
    /// A document boundary (`-DOCSTART-`), not a sentence to tag.
    pub document_start: bool,
}

/// A sentence: T tokens in C columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    schema: Arc<Schema>,
    file: Arc<str>,
    text: String,
    ends: Vec<u32>,  // [T][C] end of each cell in `text`
    lines: Vec<u64>, // [T]
    /// Attributes extracted elsewhere; templates are not applied then.
    pub attributes: Option<Attributes>,
    /// Where each token lies in [`Layout::source`]; empty where tokens came ready-made.
    pub offsets: Vec<Offsets>,
    /// What the format wants back on output.
    pub layout: Layout,
}

impl Sentence {
    /// An empty sentence from `file` (`-` is standard input).
    #[must_use]
    pub fn new(schema: Arc<Schema>, file: Arc<str>) -> Self {
        Self {
            schema,
            file,
            text: String::new(),
            ends: Vec::new(),
            lines: Vec::new(),
            attributes: None,
            offsets: Vec::new(),
            layout: Layout::default(),
        }
    }

    /// A sentence of words: the single column `word`, without labels.
    ///
    /// # Panics
    ///
    /// If the words have more than 4 GiB of text.
    #[must_use]
    pub fn from_words<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Self {
        let mut sentence = Self::in_memory(Schema::words());
        for word in words {
            let pushed = sentence.push([word], 1);
            assert!(pushed.is_ok(), "the words have more than 4 GiB of text");
        }
        sentence
    }

    /// A sentence of several named columns, each with one value per token, without labels.
    ///
    /// ```
    /// # use dropchain::{Result, Sentence};
    /// # fn main() -> Result<()> {
    /// let columns = [("word", ["Ada", "left"]), ("pos", ["NNP", "VBD"])];
    /// let sentence = Sentence::from_columns(columns)?.with_labels(["B-PER", "O"])?;
    /// assert_eq!(sentence.cells(0).collect::<Vec<_>>(), ["Ada", "NNP", "B-PER"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if there is no column, a name is empty or given twice, or the columns
    /// differ in length; [`Error::Input`] if there are more than 4 GiB of text.
    pub fn from_columns<N, C, S>(columns: impl IntoIterator<Item = (N, C)>) -> Result<Self>
    where
        N: Into<String>,
        C: IntoIterator<Item = S>,
        S: AsRef<str>,
    {
        let mut names = Vec::new();
        let mut cells: Vec<Vec<S>> = Vec::new(); // [C][T]
        for (name, column) in columns {
            names.push(name.into());
            cells.push(column.into_iter().collect());
        }
        let Some(first) = cells.first() else {
            return Err(Error::parameter("a sentence needs at least one column"));
        };
        let tokens = first.len();
        if let Some(i) = cells.iter().position(|column| column.len() != tokens) {
            return Err(Error::parameter(format!(
                "column '{}' has {} values, but column '{}' has {tokens}; \
                 expected one per token in every column",
                names[i],
                cells[i].len(),
                names[0],
            )));
        }
        let mut sentence = Self::in_memory(Schema::new(names, None)?);
        for t in 0..tokens {
            sentence.push(cells.iter().map(|column| &column[t]), 1)?;
        }
        Ok(sentence)
    }

    /// A sentence of ready-made attributes: for each token its attributes' names and values. It has
    /// no columns and no labels.
    ///
    /// ```
    /// # use dropchain::{Result, Sentence};
    /// # fn main() -> Result<()> {
    /// let tokens = [vec![("word=Ada", 1.0), ("length", 3.0)], vec![("word=left", 1.0)]];
    /// let sentence = Sentence::from_attributes(tokens)?.with_labels(["B-PER", "O"])?;
    /// assert_eq!(sentence.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if a name is empty, a value is not finite, or the names have more than
    /// 4 GiB of text.
    pub fn from_attributes<A, N>(tokens: impl IntoIterator<Item = A>) -> Result<Self>
    where
        A: IntoIterator<Item = (N, f64)>,
        N: AsRef<str>,
    {
        let columns = Schema {
            names: Vec::new(),
            label: None,
        };
        let mut sentence = Self::in_memory(columns);
        let mut attributes = Attributes::default();
        for token in tokens {
            let t = attributes.len() + 1;
            for (name, value) in token {
                let name = name.as_ref();
                if name.is_empty() {
                    return Err(Error::parameter(format!(
                        "token {t} has an attribute without a name"
                    )));
                }
                if !value.is_finite() {
                    return Err(Error::parameter(format!(
                        "attribute '{name}' of token {t} has the value {value}; \
                         expected a finite number"
                    )));
                }
                attributes.push(name, value);
                if attributes.is_full() {
                    return Err(Error::parameter(
                        "the sentence has more than 4 GiB of attributes",
                    ));
                }
            }
            attributes.end_token();
            sentence.lines.push(1);
        }
        attributes.shrink();
        sentence.attributes = Some(attributes);
        Ok(sentence)
    }

    /// Sets the labels: those of the label column if there is one, else of a new last column
    /// `label`.
    ///
    /// # Errors
    ///
    /// [`Error::Parameter`] if the number of labels is not the number of tokens, a label is empty,
    /// or another column is called `label`; [`Error::Input`] if there would be more than 4 GiB of
    /// text.
    pub fn with_labels<S: AsRef<str>>(self, labels: impl IntoIterator<Item = S>) -> Result<Self> {
        let labels: Vec<S> = labels.into_iter().collect();
        if labels.len() != self.len() {
            return Err(Error::parameter(format!(
                "{} labels for a sentence of {} tokens; expected one per token",
                labels.len(),
                self.len()
            )));
        }
        if let Some(t) = labels.iter().position(|label| label.as_ref().is_empty()) {
            return Err(Error::parameter(format!(
                "the label of token {} is empty; expected a label, such as O",
                t + 1
            )));
        }
        let (schema, column) = match self.schema.label {
            Some(column) => (self.schema.clone(), column),
            None => {
                let mut names = self.schema.names.clone();
                let column = names.len();
                names.push("label".to_owned());
                (Arc::new(Schema::new(names, Some(column))?), column)
            }
        };
        let mut labeled = Self::new(schema, self.file.clone());
        for (t, label) in labels.iter().enumerate() {
            let before = (0..column).map(|c| self.cell(t, c));
            let after = (column + 1..self.schema.width()).map(|c| self.cell(t, c));
            let cells = before.chain([label.as_ref()]).chain(after);
            labeled.push(cells, self.lines[t])?;
        }
        Ok(Self {
            attributes: self.attributes,
            offsets: self.offsets,
            layout: self.layout,
            ..labeled
        })
    }

    /// An empty sentence that comes from no file.
    fn in_memory(schema: Schema) -> Self {
        Self::new(Arc::new(schema), Arc::from("-"))
    }

    /// Appends a token that stands on `line` (from 1) of the file.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] when the number of cells is not the schema's, or the sentence would
    /// outgrow 4 GiB of text.
    pub fn push<S: AsRef<str>>(
        &mut self,
        cells: impl IntoIterator<Item = S>,
        line: u64,
    ) -> Result<()> {
        let before = (self.ends.len(), self.text.len());
        for cell in cells {
            self.text.push_str(cell.as_ref());
            self.ends.push(self.text.len() as u32);
        }
        let found = self.ends.len() - before.0;
        let fault = if found != self.schema.width() {
            Some(format!(
                "expected {} columns ({}), found {found}",
                self.schema.width(),
                self.schema.names.join(" ")
            ))
        } else if u32::try_from(self.text.len()).is_err() {
            Some("the sentence has more than 4 GiB of text".to_owned())
        } else {
            None
        };
        if let Some(message) = fault {
            self.ends.truncate(before.0);
            self.text.truncate(before.1);
            return Err(Error::input(Place::line(&*self.file, line), message));
        }
        self.lines.push(line);
        Ok(())
    }

    /// The columns.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Number of tokens T.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether the sentence has no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The cell of token `t` in column `column`.
    #[must_use]
    pub fn cell(&self, t: usize, column: usize) -> &str {
        let i = t * self.schema.width() + column;
        let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
        &self.text[start..self.ends[i] as usize]
    }

    /// All cells of token `t`.
    pub fn cells(&self, t: usize) -> impl Iterator<Item = &str> {
        (0..self.schema.width()).map(move |column| self.cell(t, column))
    }

    /// The label of token `t`, if the corpus has a label column.
    #[must_use]
    pub fn label(&self, t: usize) -> Option<&str> {
        self.schema.label.map(|column| self.cell(t, column))
    }

    /// All labels, if the corpus has a label column.
    #[must_use]
    pub fn labels(&self) -> Option<Vec<&str>> {
        let column = self.schema.label?;
        Some((0..self.len()).map(|t| self.cell(t, column)).collect())
    }

    /// The file that the sentence was read from.
    #[must_use]
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// Where token `t` stands in its file; the first token's place, or the file, if there is none.
    #[must_use]
    pub fn place(&self, t: usize) -> Place {
        let line = self.lines.get(t).or(self.lines.first());
        Place::line(&*self.file, line.copied().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Arc<Schema> {
        Arc::new(Schema::new(vec!["word".into(), "ner".into()], Some(1)).unwrap())
    }

    #[test]
    fn cells_come_back_as_they_went_in() {
        let mut s = Sentence::new(schema(), Arc::from("x.conll"));
        s.push(["Köln", "B-LOC"], 7).unwrap();
        s.push(["", "O"], 8).unwrap();
        assert_eq!(s.cells(0).collect::<Vec<_>>(), ["Köln", "B-LOC"]);
        assert_eq!(s.cells(1).collect::<Vec<_>>(), ["", "O"]);
        assert_eq!(s.labels().unwrap(), ["B-LOC", "O"]);
        assert_eq!(s.place(1).to_string(), "x.conll:8");
    }

    #[test]
    fn a_ragged_row_names_its_line_and_changes_nothing() {
        let mut s = Sentence::new(schema(), Arc::from("x.conll"));
        s.push(["a", "O"], 1).unwrap();
        let error = s.push(["b"], 2).unwrap_err().to_string();
        assert_eq!(error, "x.conll:2: expected 2 columns (word ner), found 1");
        assert_eq!(s.len(), 1);
        s.push(["c", "O"], 3).unwrap();
        assert_eq!(s.cell(1, 0), "c");
    }

    #[test]
    fn attributes_keep_names_and_values_per_token() {
        let mut a = Attributes::default();
        a.push("w=a", 1.0);
        a.push("len", 0.5);
        a.end_token();
        a.end_token();
        a.push("w=b", 2.0);
        a.end_token();
        assert_eq!(a.token(0).collect::<Vec<_>>(), [("w=a", 1.0), ("len", 0.5)]);
        assert_eq!(a.token(1).count(), 0);
        assert_eq!(a.token(2).collect::<Vec<_>>(), [("w=b", 2.0)]);
    }

    #[test]
    fn labels_are_a_new_last_column_or_replace_those_there_are() {
        let s = Sentence::from_words(["Ada", "left"]);
        assert_eq!(s.labels(), None);
        let s = s.with_labels(["B-PER", "O"]).unwrap();
        assert_eq!(s.schema().names(), ["word", "label"]);
        assert_eq!(s.labels().unwrap(), ["B-PER", "O"]);
        let names = vec!["word".into(), "ner".into(), "note".into()];
        let schema = Arc::new(Schema::new(names, Some(1)).unwrap());
        let mut s = Sentence::new(schema, Arc::from("x"));
        s.push(["a", "O", "z"], 7).unwrap();
        let s = s.with_labels(["B-X"]).unwrap();
        assert_eq!(s.cells(0).collect::<Vec<_>>(), ["a", "B-X", "z"]);
        assert_eq!(s.place(0).to_string(), "x:7");
    }

    #[test]
    fn labels_must_be_one_per_token_and_not_empty() {
        let fault = |labels: &[&str]| {
            let labeled = Sentence::from_words(["a", "b"]).with_labels(labels);
            labeled.unwrap_err().to_string()
        };
        assert_eq!(
            fault(&["O"]),
            "1 labels for a sentence of 2 tokens; expected one per token"
        );
        assert_eq!(
            fault(&["O", ""]),
            "the label of token 2 is empty; expected a label, such as O"
        );
        let columns = Sentence::from_columns([("word", ["a"]), ("label", ["x"])]).unwrap();
        assert_eq!(
            columns.with_labels(["O"]).unwrap_err().to_string(),
            "two columns have the name 'label'"
        );
    }

    #[test]
    fn columns_must_be_named_and_equally_long() {
        let fault = |columns: &[(&str, &[&str])]| {
            let columns = columns.iter().map(|(name, cells)| (*name, cells.iter()));
            Sentence::from_columns(columns).unwrap_err().to_string()
        };
        assert_eq!(fault(&[]), "a sentence needs at least one column");
        assert_eq!(
            fault(&[("word", &["a", "b"]), ("pos", &["N"])]),
            "column 'pos' has 1 values, but column 'word' has 2; \
             expected one per token in every column"
        );
        assert_eq!(fault(&[("", &["a"])]), "column 0 has an empty name");
    }

    #[test]
    fn ready_made_attributes_need_names_and_finite_values() {
        let tokens = [vec![("a", 1.0), ("b", 0.5)], vec![]];
        let s = Sentence::from_attributes(tokens).unwrap();
        let attributes = s.attributes.as_ref().unwrap();
        assert_eq!((s.len(), s.schema().width()), (2, 0));
        assert_eq!(
            attributes.token(0).collect::<Vec<_>>(),
            [("a", 1.0), ("b", 0.5)]
        );
        assert_eq!(attributes.token(1).count(), 0);
        let s = s.with_labels(["X", "Y"]).unwrap();
        assert_eq!(s.labels().unwrap(), ["X", "Y"]);
        assert!(s.attributes.is_some());
        let fault = |name, value| {
            let tokens = [vec![("a", 1.0)], vec![(name, value)]];
            Sentence::from_attributes(tokens).unwrap_err().to_string()
        };
        assert_eq!(fault("", 1.0), "token 2 has an attribute without a name");
        assert_eq!(
            fault("b", f64::NAN),
            "attribute 'b' of token 2 has the value NaN; expected a finite number"
        );
    }

    #[test]
    fn word_and_form_name_the_same_column() {
        let s = Schema::new(vec!["id".into(), "form".into()], None).unwrap();
        assert_eq!(s.position("word"), Some(1));
        assert!(Schema::new(vec!["a".into(), "a".into()], None).is_err());
        assert!(Schema::new(vec!["a".into()], Some(1)).is_err());
    }
}

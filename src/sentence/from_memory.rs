//! Building sentences in memory.

use std::sync::Arc;

use super::attributes::{Attributes, check_attribute};
use super::schema::Schema;
use super::sentence::{MAX_TEXT, Sentence};
use super::token_label::TokenLabel;
use crate::error::{Error, Result, ensure};

impl Sentence {
    /// A sentence of words: the single column `word`, without labels.
    ///
    /// Tagging or training on a sentence of more than 4 GiB of text is an error.
    pub fn from_words<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Self {
        Self::from_words_within(MAX_TEXT, words)
    }

    /// Like [`Sentence::from_words`], for at most `max_text` bytes of text.
    fn from_words_within<S: AsRef<str>>(
        max_text: usize,
        words: impl IntoIterator<Item = S>,
    ) -> Self {
        let mut sentence = Self::in_memory(Schema::words());
        for word in words {
            let word = word.as_ref();
            if sentence.cells.bytes() + word.len() > max_text || sentence.push([word], 1).is_err() {
                sentence.overlong = true;
                break;
            }
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
    /// [`Error::Parameter`] if there is no column, a name is empty or occurs twice, or the columns
    /// differ in length; [`Error::Input`] if there are more than 4 GiB of text.
    pub fn from_columns<N, C, S>(columns: impl IntoIterator<Item = (N, C)>) -> Result<Self>
    where
        N: Into<String>,
        C: IntoIterator<Item = S>,
        S: AsRef<str>,
    {
        let columns = columns.into_iter();
        let columns = columns.map(|(name, cells)| (name.into(), cells.into_iter().collect()));
        let (names, cells): (Vec<String>, Vec<Vec<S>>) = columns.unzip(); // [C], [C][T]
        let Some(first) = cells.first() else {
            return Err(Error::parameter("a sentence needs at least one column"));
        };
        let tokens = first.len();
        for (name, column) in names.iter().zip(&cells) {
            ensure(column.len() == tokens, || {
                let found = format!("column '{name}' has {} values", column.len());
                let expected = "expected one per token in every column";
                format!("{found}, but column '{}' has {tokens}; {expected}", names[0])
            })?;
        }
        let mut sentence = Self::in_memory(Schema::new(names, None)?);
        for t in 0..tokens {
            sentence.push(cells.iter().map(|column| &column[t]), 1)?;
        }
        Ok(sentence)
    }

    /// A sentence of pre-extracted attributes: for each token the names and values of its
    /// attributes. It has no columns and no labels.
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
        let mut sentence = Self::in_memory(Schema::default());
        let mut attributes = Attributes::default();
        for token in tokens {
            let t = attributes.len() + 1;
            for (name, value) in token {
                let name = name.as_ref();
                let error = |fault| Error::parameter(format!("token {t}: {fault}"));
                check_attribute(name, value).map_err(error)?;
                attributes.push(name, value);
                ensure(!attributes.is_full(), || {
                    "the sentence has more than 4 GiB of attributes".to_owned()
                })?;
            }
            attributes.end_token();
            sentence.push([""; 0], 1)?;
        }
        attributes.shrink();
        sentence.attributes = Some(Box::new(attributes));
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
        self.check_text()?;
        let labels: Vec<S> = labels.into_iter().collect();
        let (found, tokens) = (labels.len(), self.len());
        ensure(found == tokens, || {
            format!("{found} labels for a sentence of {tokens} tokens; expected one per token")
        })?;
        for (t, label) in (1..).zip(&labels) {
            ensure(!label.as_ref().is_empty(), || {
                format!("the label of token {t} is empty; expected a label, such as O")
            })?;
        }
        let (schema, column) = match self.schema().label() {
            Some(column) => (self.schema().clone(), column),
            None => {
                let column = self.schema().width();
                let names = [self.schema().names(), &["label".to_owned()]].concat();
                (Arc::new(Schema::new(names, Some(column))?), column)
            }
        };
        let mut labeled = Self::new(schema, self.file().clone());
        for (t, label) in labels.iter().enumerate() {
            let after = self.cells(t).skip(column + 1);
            let cells = self.cells(t).take(column).chain([label.as_ref()]).chain(after);
            labeled.push(cells, self.place(t).line)?;
        }
        labeled.attributes = self.attributes;
        labeled.offsets = self.offsets;
        labeled.layout = self.layout;
        labeled.weight = self.weight;
        Ok(labeled)
    }

    /// Sets labels of which some are not fully known, as [`Sentence::with_labels`] does. Their
    /// cells have the text `_`, or `A|B` for one of two labels.
    ///
    /// ```
    /// # use dropchain::{Result, Sentence};
    /// use dropchain::sentence::TokenLabel;
    ///
    /// # fn main() -> Result<()> {
    /// let sentence = Sentence::from_words(["Jordan", "left", "Paris"]).with_partial_labels([
    ///     "B-PER|B-LOC".parse()?, // one of two
    ///     TokenLabel::from("O"),
    ///     TokenLabel::Unknown,
    /// ])?;
    /// assert_eq!(sentence.labels().unwrap(), ["B-PER|B-LOC", "O", "_"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`Sentence::with_labels`]; [`Error::Parameter`] if no label is allowed.
    pub fn with_partial_labels<L: Into<TokenLabel>>(
        self,
        labels: impl IntoIterator<Item = L>,
    ) -> Result<Self> {
        let normalized = (1..).zip(labels).map(|(t, label)| {
            let error = |fault| Error::parameter(format!("token {t}: {fault}; expected a label"));
            label.into().normalized().map_err(error)
        });
        let normalized = normalized.collect::<Result<Vec<TokenLabel>>>()?;
        let mut labeled = self.with_labels(normalized.iter().map(TokenLabel::text))?;
        let partial = (0..).zip(normalized);
        let partial: Vec<(u32, TokenLabel)> =
            partial.filter(|(_, label)| !matches!(label, TokenLabel::Known(_))).collect();
        labeled.partial = (!partial.is_empty()).then(|| Box::new(partial));
        Ok(labeled)
    }

    /// An empty sentence without a file.
    fn in_memory(schema: Schema) -> Self {
        Self::new(Arc::new(schema), Arc::from("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_words_are_an_error_when_the_sentence_is_used() {
        let fits = Sentence::from_words_within(5, ["Ada", "in"]);
        assert_eq!((fits.len(), fits.check_text().is_ok()), (2, true));
        let overlong = Sentence::from_words_within(4, ["Ada", "in"]);
        let error = "-:1: the sentence has more than 4 GiB of text";
        assert_eq!(overlong.check_text().unwrap_err().to_string(), error);
        assert_eq!(overlong.with_labels(["O"]).unwrap_err().to_string(), error);
    }

    #[test]
    fn labels_become_a_new_last_column_or_replace_existing_ones() {
        let s = Sentence::from_words(["Ada", "left"]);
        assert_eq!(s.labels(), None);
        let s = s.with_labels(["B-PER", "O"]).unwrap();
        assert_eq!(s.schema().names(), ["word", "label"]);
        assert_eq!(s.labels().unwrap(), ["B-PER", "O"]);
        let names = vec!["word".into(), "ner".into(), "note".into()];
        let schema = Arc::new(Schema::new(names, Some(1)).unwrap());
        let mut s = Sentence::new(schema, "x");
        s.push(["a", "O", "z"], 7).unwrap();
        let s = s.with_labels(["B-X"]).unwrap();
        assert_eq!(s.cells(0).collect::<Vec<_>>(), ["a", "B-X", "z"]);
        assert_eq!(s.place(0).to_string(), "x:7");
    }

    #[test]
    fn labels_must_be_one_per_token_and_not_empty() {
        let fault = |labels: &[&str]| {
            Sentence::from_words(["a", "b"]).with_labels(labels).unwrap_err().to_string()
        };
        assert_eq!(fault(&["O"]), "1 labels for a sentence of 2 tokens; expected one per token");
        assert_eq!(fault(&["O", ""]), "the label of token 2 is empty; expected a label, such as O");
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
    fn attributes_need_names_and_finite_values() {
        let tokens = [vec![("a", 1.0), ("b", 0.5)], vec![]];
        let s = Sentence::from_attributes(tokens).unwrap();
        let attributes = s.attributes.as_ref().unwrap();
        assert_eq!((s.len(), s.schema().width()), (2, 0));
        assert_eq!(attributes.token(0).collect::<Vec<_>>(), [("a", 1.0), ("b", 0.5)]);
        assert_eq!(attributes.token(1).count(), 0);
        let s = s.with_labels(["X", "Y"]).unwrap();
        assert_eq!(s.labels().unwrap(), ["X", "Y"]);
        assert!(s.attributes.is_some());
        let fault = |name, value| {
            let tokens = [vec![("a", 1.0)], vec![(name, value)]];
            Sentence::from_attributes(tokens).unwrap_err().to_string()
        };
        assert_eq!(fault("", 1.0), "token 2: an attribute without a name");
        assert_eq!(
            fault("b", f64::NAN),
            "token 2: attribute 'b' has the value NaN; expected a finite number"
        );
    }
}

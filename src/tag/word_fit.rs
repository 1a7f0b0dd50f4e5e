//! Whether a model knows the words of raw text: text without blanks between its words, or in
//! another language, is tagged without an error, but badly.

use super::tagger::Tagger;
use crate::model::AttributeKind;

/// Minimum number of words that say something: that words are cut, or that all are others.
const MIN_WORDS: usize = 5;
const MIN_OTHERS: usize = 20;

/// Of so many words, one or fewer are known if text is cut in another way.
const WORDS_OF_KNOWN: usize = 20;

/// Number of words of the training data whose lengths are looked at.
const MEASURED: usize = 10_000;

/// How many words of a text a model knows: the evidence that text is cut into words like the
/// training data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WordFit {
    /// Number of words, without those that have digits.
    pub words: usize,
    /// Number of these that have letters and that the training data had.
    pub known: usize,
    /// Their mean length in characters.
    pub length: f64,
    /// Mean length of the different words of the training data; 0 if there are enough known words.
    pub trained_length: f64,
}

impl WordFit {
    /// Returns whether the model knows hardly any of the words.
    fn is_doubtful(self) -> bool {
        self.words >= MIN_WORDS && self.known * WORDS_OF_KNOWN <= self.words
    }

    /// Warns of a text whose words the model hardly knows.
    pub fn warning(self) -> Option<String> {
        let Self { words, known, length, trained_length } = self;
        let is_cut = 1.5 * length <= trained_length;
        if !self.is_doubtful() || !is_cut && words < MIN_OTHERS {
            return None;
        }
        let what = match is_cut && length < 1.5 {
            true => "this text is cut into single characters: split it into words first".to_owned(),
            false if is_cut => format!("this text is cut into pieces of {length:.1}"),
            false => format!("those of this text have {length:.1}: is it of another kind?"),
        };
        Some(format!(
            "{known} of {words} words are known to the model; the training data have words of \
             {trained_length:.1} characters, {what}"
        ))
    }
}

impl Tagger {
    /// Counts how many words of a text the model knows: the first are enough. `None` if no
    /// line of the template is the word alone.
    pub fn word_fit<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Option<WordFit> {
        let lines = self.model().header().template.as_ref()?.attribute_lines();
        let start = lines.word_attribute("")?;
        let table = self.model().table(AttributeKind::Node);
        let (mut fit, mut characters) = (WordFit::default(), 0);
        for word in words.into_iter().filter(|word| !word.contains(char::is_numeric)) {
            let name = lines.word_attribute(word)?;
            fit.words += 1;
            characters += word.chars().count();
            let found = table.find(self.model().key(name.as_bytes())).ok()?; // damage is said later
            fit.known += usize::from(found.is_some() && word.contains(char::is_alphabetic));
        }
        fit.length = characters as f64 / fit.words.max(1) as f64;
        if fit.is_doubtful() {
            let names =
                (0..table.len()).filter_map(|i| table.name(i).ok()?.strip_prefix(start.as_bytes()));
            let lengths = names.map(|word| String::from_utf8_lossy(word).chars().count());
            let lengths: Vec<usize> = lengths.take(MEASURED).collect();
            fit.trained_length = lengths.iter().sum::<usize>() as f64 / lengths.len().max(1) as f64;
        }
        Some(fit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::LabelSet;
    use crate::model::{EdgeWeights, Header, Model};
    use crate::tokenize::tokens;

    #[test]
    fn few_known_words_are_a_warning_that_says_how_the_text_is_cut() {
        let fit = |words, known, length, trained_length| {
            WordFit { words, known, length, trained_length }.warning()
        };
        let single = "3 of 812 words are known to the model; the training data have words of 5.6 \
                      characters, this text is cut into single characters: split it into words \
                      first";
        for (found, expected) in [
            (fit(812, 3, 1.1, 5.6), Some(single)),
            (fit(6, 0, 1.0, 2.0), Some("cut into single characters")),
            (fit(90, 4, 2.2, 4.4), Some("this text is cut into pieces of 2.2")),
            (fit(90, 0, 4.1, 4.4), Some("those of this text have 4.1: is it of another kind?")),
            // Too few words, enough that are known, and none at all.
            (fit(4, 0, 1.0, 5.0), None),
            (fit(90, 5, 1.0, 5.0), None),
            (fit(0, 0, 0.0, 0.0), None),
        ] {
            assert_eq!(found.is_some(), expected.is_some(), "{expected:?}");
            let found = found.unwrap_or_default();
            assert!(found.contains(expected.unwrap_or_default()), "{found}");
        }
    }

    /// A tagger with this template and the attributes of its words.
    fn tagger(template: &str, attributes: &[&str]) -> Tagger {
        let labels = LabelSet::try_from(["O", "B-X"].map(str::to_owned).to_vec()).unwrap();
        let [o, x] = ["O", "B-X"].map(|name| labels.id(name).unwrap());
        let nodes = attributes.iter().map(|name| (*name, vec![(o, 1.0), (x, 0.5)]));
        let header = Header { template: Some(template.parse().unwrap()), ..Header::new(labels) };
        let edges: [EdgeWeights<&str>; 0] = [];
        Tagger::new(Model::from_weights(header, nodes, edges).unwrap())
    }

    #[test]
    fn words_are_known_by_the_line_of_the_template_that_is_the_word() {
        let words =
            ["word[0]=กานดา", "word[0]=ไป", "word[0]=กรุงเทพ", "word[0]=a|b", "word[0]=.", "bias"];
        let thai = tagger("bias\nword[-1]\nword\n", &words);
        let text = "กานดาไปกรุงเทพ";
        let cut: Vec<&str> = tokens(text).into_iter().map(|token| &text[token.bytes]).collect();
        let fit = thai.word_fit(cut).unwrap();
        assert_eq!((fit.known, fit.trained_length), (0, (5 + 2 + 7 + 3 + 1) as f64 / 5.0));
        assert!(fit.warning().unwrap().contains("single characters"), "{fit:?}");
        let fit = thai.word_fit(["กานดา", "ไป", "กรุงเทพ", "a|b", "7", ".", "ใหม่"]).unwrap();
        assert_eq!((fit.words, fit.known), (6, 4));
        let lower = tagger("lower\nword[-1] & word\n", &["lower[0]=oslo"]);
        assert_eq!(lower.word_fit(["Oslo", "OSLO", "Bergen"]).unwrap().known, 2);
        let crfpp = tagger("U1:%x[0,0]\nB\n", &["U1:Oslo"]);
        assert_eq!(crfpp.word_fit(["Oslo", "Bergen"]).unwrap().known, 1);
        assert_eq!(tagger("shape\nword[+1]\n", &["shape[0]=Xx"]).word_fit(["Oslo"]), None);
    }
}

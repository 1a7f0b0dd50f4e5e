//! What separates documents, and how far a token sees in its own.

use super::layout::Separation;
use super::sentence::Sentence;

/// What separates documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DocumentRule {
    /// The marks of the format, and the end of each input; so an input without marks is one
    /// document.
    #[default]
    Auto,
    /// Every sentence is a document of its own.
    Sentence,
    /// Every input is a document, whatever it marks.
    File,
    /// The marks of the format alone: a document may go on in the next input.
    Marks,
    /// A blank line that the format does not need, and the end of each input.
    BlankLine,
    /// A form feed in raw text, and the end of each input.
    FormFeed,
    /// Every line of raw text and every object of JSON lines is a document; elsewhere, every
    /// sentence.
    Line,
}

crate::named!(DocumentRule, "rule for documents":
    Auto = "auto", Sentence = "sentence", File = "file", Marks = "marks",
    BlankLine = "blank-line", FormFeed = "form-feed", Line = "line",
);

impl DocumentRule {
    /// Returns whether a document begins with a sentence, given what stands before it.
    pub fn separates(self, separation: Separation) -> bool {
        let separators = match self {
            Self::Auto => Separation::INPUT.and(Separation::MARK),
            Self::Sentence => return true,
            Self::File => Separation::INPUT,
            Self::Marks => Separation::MARK,
            Self::BlankLine => Separation::INPUT.and(Separation::BLANK_LINE),
            Self::FormFeed => Separation::INPUT.and(Separation::FORM_FEED),
            Self::Line => Separation::INPUT.and(Separation::LINE),
        };
        separation.intersects(separators.and(Separation::FOLD))
    }

    /// Divides sentences into documents, without the document boundaries
    /// ([`Layout::document_start`](super::Layout::document_start)), which are marks.
    pub fn documents<'a>(
        self,
        sentences: impl IntoIterator<Item = &'a Sentence>,
    ) -> Vec<Vec<&'a Sentence>> {
        let mut documents: Vec<Vec<&Sentence>> = Vec::new();
        let mut marks = Separation::default(); // of the boundaries before the sentence
        for sentence in sentences {
            let separation = sentence.layout.separation.and(marks);
            if sentence.layout.document_start {
                marks = separation.and(Separation::MARK);
                continue;
            }
            marks = Separation::default();
            match documents.last_mut() {
                Some(last) if !self.separates(separation) => last.push(sentence),
                _ => documents.push(vec![sentence]),
            }
        }
        documents
    }
}

/// What separates documents, and how far a token sees in its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DocumentOptions {
    /// What separates documents.
    pub rule: DocumentRule,
    /// Number of tokens before a token, and after it, that the functions of a template see.
    pub window: u32,
}

impl DocumentOptions {
    /// The default of [`DocumentOptions::window`].
    pub const WINDOW: u32 = 1000;

    /// Maximum of [`DocumentOptions::window`].
    pub const MAX_WINDOW: u32 = 1_000_000;
}

impl Default for DocumentOptions {
    fn default() -> Self {
        Self { rule: DocumentRule::default(), window: Self::WINDOW }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sentences of one word; `-` is a document boundary, and a letter before the word says what
    /// separates the sentence from the one before.
    fn sentences(text: &str) -> Vec<Sentence> {
        let parse = |word: &str| {
            let mut sentence = Sentence::from_words([word]);
            sentence.layout.document_start = word == "-";
            for letter in word.chars() {
                sentence.layout.separation.add(match letter {
                    'I' => Separation::INPUT,
                    'M' => Separation::MARK,
                    'B' => Separation::BLANK_LINE,
                    'F' => Separation::FORM_FEED,
                    'L' => Separation::LINE,
                    _ => continue,
                });
            }
            sentence
        };
        text.split(' ').map(parse).collect()
    }

    /// The words of each document.
    fn documents(rule: DocumentRule, text: &str) -> String {
        let sentences = sentences(text);
        let documents = rule.documents(&sentences).into_iter();
        let words = |document: Vec<&Sentence>| -> String {
            let words: Vec<&str> = document.iter().map(|s| s.cell(0, 0)).collect();
            words.join(" ")
        };
        documents.map(words).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn names_round_trip() {
        for rule in DocumentRule::ALL {
            assert_eq!(rule.to_string().parse::<DocumentRule>().unwrap(), rule);
        }
        assert_eq!(
            "page".parse::<DocumentRule>().unwrap_err().to_string(),
            "unknown rule for documents 'page': expected auto, sentence, file, marks, \
             blank-line, form-feed or line"
        );
    }

    #[test]
    fn each_rule_has_its_separators() {
        let text = "Ia b M L BL IL FL";
        for (rule, expected) in [
            (DocumentRule::Auto, "Ia b | M L BL | IL FL"),
            (DocumentRule::Sentence, "Ia | b | M | L | BL | IL | FL"),
            (DocumentRule::File, "Ia b M L BL | IL FL"),
            (DocumentRule::Marks, "Ia b | M L BL IL FL"),
            (DocumentRule::BlankLine, "Ia b M L | BL | IL FL"),
            (DocumentRule::FormFeed, "Ia b M L BL | IL | FL"),
            (DocumentRule::Line, "Ia b M | L | BL | IL | FL"),
        ] {
            assert_eq!(documents(rule, text), expected, "{rule}");
        }
    }

    #[test]
    fn boundaries_belong_to_no_document_wherever_they_are() {
        let text = "- - a b - c - -";
        assert_eq!(documents(DocumentRule::Auto, text), "a b | c");
        assert_eq!(documents(DocumentRule::File, text), "a b c");
        assert_eq!(documents(DocumentRule::Auto, "- -"), "");
        assert!(DocumentRule::Auto.documents(&[]).is_empty());
    }
}

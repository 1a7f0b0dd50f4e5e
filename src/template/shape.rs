//! Orthographic features: word shapes, capitalization, character classes; and context clues for
//! names: personal titles, and names that recur in the sentence.

use std::collections::BTreeSet;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::text::{graphemes, lower, push_lower};

/// A word shape: a string of character classes.
///
/// The class of a character is that of its first code point: `d` for a digit, `x` for a lower-case
/// letter, `X` for an upper-case letter; any other character is its own class. The first two
/// shapes map letters without case (as in Arabic or Chinese) to `o`, since the letters themselves
/// would not generalize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The class of every character: `McDonald` → `XxXxxxxx`.
    Long,
    /// Runs of the same class collapsed: `McDonald` → `XxXx`.
    Collapsed,
    /// Stanford's chris2: `Long` for up to 4 characters; otherwise two classes at either end and
    /// the sorted set of those in between. A spelled-out Greek letter is a single `g`.
    Chris2,
    /// Stanford's dan2: `Collapsed`, then `:n` for words of n ≤ 3 characters.
    Dan2,
}

/// Every shape and its name in templates.
pub(super) const SHAPES: [(&str, Shape); 4] = [
    ("long", Shape::Long),
    ("collapsed", Shape::Collapsed),
    ("chris2", Shape::Chris2),
    ("dan2", Shape::Dan2),
];

/// Spelled-out Greek letters recognized by chris2, which also omits short ones that occur inside
/// common words.
const GREEK: [&str; 16] = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "theta", "iota", "kappa", "lambda",
    "omicron", "rho", "sigma", "tau", "upsilon", "omega",
];

/// Number of classes that chris2 keeps at either end of a long word.
const BOUNDARY: usize = 2;

/// Words seen in lower case in training, which the Stanford shapes mark with `k`.
pub(super) type KnownWords = BTreeSet<Box<str>>;

impl Shape {
    /// Returns whether the shape depends on the words known from training.
    pub(super) fn uses_known_words(self) -> bool {
        matches!(self, Self::Chris2 | Self::Dan2)
    }

    /// Appends the shape of `word`; the empty word has the empty shape.
    pub(super) fn write(self, word: &str, known: &KnownWords, out: &mut String) {
        if word.is_empty() {
            return;
        }
        match self {
            Self::Long => out.extend(graphemes(word).map(class)),
            Self::Collapsed => _ = collapse(graphemes(word).map(class), out),
            Self::Chris2 => chris2(word, out),
            Self::Dan2 => {
                let length = collapse(graphemes(word).map(stanford_class), out);
                if length <= 3 {
                    out.push(':');
                    out.push(char::from(b'0' + length as u8));
                }
            }
        }
        if self.uses_known_words() && !known.is_empty() && all_letters(word) {
            let end = out.len();
            push_lower(word, out);
            let is_known = known.contains(&out[end..]);
            out.truncate(end);
            if is_known {
                out.push('k');
            }
        }
    }
}

/// Returns whether `word` belongs in [`KnownWords`]: it consists of letters, starts in lower case,
/// and equals its lower-cased form, which is what lookups use.
pub(super) fn is_known_word_candidate(word: &str) -> bool {
    word.starts_with(char::is_lowercase) && all_letters(word) && lower(word) == word
}

fn first_char(grapheme: &str) -> char {
    grapheme.chars().next().unwrap_or('\u{fffd}')
}

fn all_letters(word: &str) -> bool {
    graphemes(word).all(|g| first_char(g).is_alphabetic())
}

/// Returns the class of a character in the Stanford shapes.
fn stanford_class(grapheme: &str) -> char {
    match first_char(grapheme) {
        c if c.is_numeric() => 'd',
        c if c.is_lowercase() => 'x',
        c if c.is_uppercase() => 'X',
        c => c,
    }
}

/// Returns the class of a character, with a single class for letters without case.
fn class(grapheme: &str) -> char {
    match stanford_class(grapheme) {
        c @ ('d' | 'x' | 'X') => c,
        c if c.is_alphabetic() => 'o',
        c => c,
    }
}

/// Appends the classes with runs collapsed. Returns their number before collapsing.
fn collapse(classes: impl Iterator<Item = char>, out: &mut String) -> usize {
    let mut last = None;
    let mut length = 0;
    for c in classes {
        if last != Some(c) {
            out.push(c);
        }
        last = Some(c);
        length += 1;
    }
    length
}

fn chris2(word: &str, out: &mut String) {
    let length = graphemes(word).count();
    let inside = BOUNDARY..length.saturating_sub(BOUNDARY);
    let (mut index, mut rest, mut middle) = (0, word, Vec::new());
    while let Some(grapheme) = rest.graphemes(true).next() {
        let greek = GREEK.iter().find(|letter| rest.starts_with(**letter));
        let (class, bytes, count) = match greek {
            Some(letter) => ('g', letter.len(), letter.len()),
            None => (stanford_class(grapheme), grapheme.len(), 1),
        };
        if inside.contains(&index) {
            middle.push(class);
        } else {
            push_sorted(&mut middle, out);
            out.push(class);
        }
        index += count;
        rest = &rest[bytes..];
    }
    push_sorted(&mut middle, out);
}

/// Appends the distinct `classes` in sorted order, and empties the vector.
fn push_sorted(classes: &mut Vec<char>, out: &mut String) {
    classes.sort_unstable();
    classes.dedup();
    out.extend(classes.drain(..));
}

/// Returns the capitalization of a word: `lower`, `upper`, `initial`, `mixed`, or `none` if no
/// letter has case.
///
/// A single upper-case letter is `initial`. The value of the empty word is empty.
pub(super) fn capitalization(word: &str) -> &'static str {
    let (mut upper, mut lower, mut first) = (0_usize, 0_usize, false);
    for c in word.chars() {
        if c.is_uppercase() {
            first |= upper + lower == 0;
            upper += 1;
        } else if c.is_lowercase() {
            lower += 1;
        }
    }
    match (upper, lower) {
        _ if word.is_empty() => "",
        (0, 0) => "none",
        (0, _) => "lower",
        (1, _) if first => "initial",
        (_, 0) => "upper",
        _ => "mixed",
    }
}

/// Appends which of letters, digits and other characters a word contains, such as `letter+other`,
/// to the empty text.
pub(super) fn push_character_classes(word: &str, out: &mut String) {
    let class = |grapheme| match first_char(grapheme) {
        c if c.is_alphabetic() => "letter",
        c if c.is_numeric() => "digit",
        _ => "other",
    };
    for name in ["letter", "digit", "other"] {
        if graphemes(word).any(|grapheme| class(grapheme) == name) {
            *out += if out.is_empty() { "" } else { "+" };
            *out += name;
        }
    }
}

/// Titles that precede a person's name, with or without a period.
const TITLES: [&str; 8] = ["Mr", "Ms", "Mrs", "Dr", "Miss", "Sen", "Judge", "Sir"];

/// Minimum and maximum distance, in tokens, between two occurrences of a name.
const RECURRENCE_DISTANCE: (usize, usize) = (3, 149);

/// Returns whether `word` is a title such as `Mr.` or `Judge`.
pub(super) fn is_title(word: &str) -> bool {
    TITLES.contains(&word.strip_suffix('.').unwrap_or(word))
}

/// Returns the occurrence pattern of token `t` in a sentence of `length` tokens; `word` returns the
/// word of a token.
///
/// A word is taken to be a name if it has at least two characters, of which only the first is upper
/// case, the preceding word contains a letter, and the following word contains a letter but no
/// upper case. The value of a name is `later` if it recurs 3 to 149 tokens later, else `before` if
/// it occurred 3 to 149 tokens before, else `None`. The value of any other word is `none`.
pub(super) fn occurrence<'a>(
    length: usize,
    word: impl Fn(usize) -> &'a str,
    t: usize,
) -> Option<&'static str> {
    let name = word(t);
    let mut characters = name.chars();
    let is_name = characters.next().is_some_and(char::is_uppercase)
        && !characters.any(char::is_uppercase)
        && graphemes(name).nth(1).is_some()
        && t >= 1
        && has_letter(word(t - 1))
        && t + 1 < length
        && has_letter(word(t + 1))
        && !word(t + 1).chars().any(char::is_uppercase);
    if !is_name {
        return Some("none");
    }
    let (near, far) = RECURRENCE_DISTANCE;
    let after = (t + near).min(length)..(t + far + 1).min(length);
    let before = t.saturating_sub(far)..(t + 1).saturating_sub(near);
    let recurs = |mut tokens: Range<usize>| tokens.any(|u| word(u) == name);
    recurs(after).then_some("later").or_else(|| recurs(before).then_some("before"))
}

fn has_letter(word: &str) -> bool {
    word.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape_of(kind: Shape, word: &str, known: &[&str]) -> String {
        let known: KnownWords = known.iter().map(|&word| word.into()).collect();
        let mut out = String::new();
        kind.write(word, &known, &mut out);
        out
    }

    #[test]
    fn the_stanford_shapes_match_the_reference_table() {
        for (word, chris2, dan2) in [
            ("Reuters", "Xxxxxk", "Xxk"),
            ("said", "xxxxk", "xk"),
            ("EU", "XX", "X:2"),
            ("U.N.", "X.X.", "X.X."),
            ("1996-08-22", "dd-ddd", "d-d-d"),
            ("12,345", "dd,ddd", "d,d"),
            ("McDonald", "XxXxxx", "XxXx"),
            ("70", "dd", "d:2"),
        ] {
            let known = ["reuters", "said"];
            assert_eq!(shape_of(Shape::Chris2, word, &known), chris2, "{word}");
            assert_eq!(shape_of(Shape::Dan2, word, &known), dan2, "{word}");
        }
    }

    #[test]
    fn the_known_word_mark_follows_the_length_mark() {
        assert_eq!(shape_of(Shape::Dan2, "To", &["to"]), "Xx:2k");
    }

    #[test]
    fn a_spelled_out_greek_letter_is_one_g() {
        assert_eq!(shape_of(Shape::Chris2, "beta", &[]), "g");
        assert_eq!(shape_of(Shape::Chris2, "TNF-alpha", &[]), "XX-Xg");
        assert_eq!(shape_of(Shape::Chris2, "alphabet", &[]), "gxxx");
    }

    #[test]
    fn long_and_collapsed_shapes_write_o_for_letters_without_case() {
        assert_eq!(shape_of(Shape::Long, "McDonald-7東京", &[]), "XxXxxxxx-doo");
        assert_eq!(shape_of(Shape::Collapsed, "McDonald-7東京", &[]), "XxXx-do");
        assert_eq!(shape_of(Shape::Dan2, "東京", &[]), "東京:2");
    }

    #[test]
    fn a_decomposed_accent_does_not_change_the_shape() {
        for kind in [Shape::Long, Shape::Collapsed, Shape::Chris2, Shape::Dan2] {
            let known = ["école", "e\u{301}cole"];
            assert_eq!(shape_of(kind, "E\u{301}cole", &known), shape_of(kind, "École", &known));
        }
    }

    #[test]
    fn the_empty_word_has_the_empty_shape() {
        for (_, kind) in SHAPES {
            assert_eq!(shape_of(kind, "", &["a"]), "");
        }
    }

    #[test]
    fn only_lower_case_words_are_known_words() {
        assert!(is_known_word_candidate("said"));
        assert!(is_known_word_candidate("œuvre"));
        for word in ["Said", "iPhone", "e-mail", "x2", "", "東京"] {
            assert!(!is_known_word_candidate(word), "{word}");
        }
    }

    #[test]
    fn capitalization_has_five_values() {
        for (word, expected) in [
            ("said", "lower"),
            ("Said", "initial"),
            ("A", "initial"),
            ("'Tis", "initial"),
            ("EU", "upper"),
            ("U.N.", "upper"),
            ("McDonald", "mixed"),
            ("iPhone", "mixed"),
            ("70", "none"),
            ("東京", "none"),
            ("", ""),
        ] {
            assert_eq!(capitalization(word), expected, "{word}");
        }
    }

    #[test]
    fn character_classes_list_what_occurs() {
        for (word, expected) in [
            ("said", "letter"),
            ("1996", "digit"),
            ("--", "other"),
            ("B2", "letter+digit"),
            ("e-mail", "letter+other"),
            ("12,345", "digit+other"),
            ("F-16", "letter+digit+other"),
            ("", ""),
        ] {
            let mut out = String::new();
            push_character_classes(word, &mut out);
            assert_eq!(out, expected, "{word}");
        }
    }

    fn pattern(words: &[&str], t: usize) -> Option<&'static str> {
        occurrence(words.len(), |u| words[u], t)
    }

    #[test]
    fn titles_may_end_in_a_period() {
        for word in ["Mr", "Mr.", "Judge", "Miss", "Sir", "Sen."] {
            assert!(is_title(word), "{word}");
        }
        for word in ["mr", "MR.", "Mr..", "Mister", ".", ""] {
            assert!(!is_title(word), "{word}");
        }
    }

    #[test]
    fn a_later_recurrence_takes_precedence() {
        let words = ["by", "Ford", "and", "x", "Ford", "y", "z", "Ford"];
        assert_eq!(pattern(&words, 1), Some("later"));
        assert_eq!(pattern(&words, 4), Some("later"));
    }

    #[test]
    fn an_occurrence_three_tokens_before_counts() {
        let words = ["Ford", "a", "b", "Ford", "c"];
        assert_eq!(pattern(&words, 3), Some("before"));
    }

    #[test]
    fn a_recurrence_two_tokens_away_does_not_count() {
        let words = ["by", "Ford", "and", "Ford", "says"];
        assert_eq!(pattern(&words, 1), None);
        assert_eq!(pattern(&words, 3), None);
    }

    #[test]
    fn recurrences_count_up_to_149_tokens_away() {
        for (distance, expected) in [(149, Some("later")), (150, None)] {
            let mut words = vec!["a"; distance + 2];
            words[1] = "Ford";
            words[1 + distance] = "Ford";
            assert_eq!(pattern(&words, 1), expected);
        }
        for (distance, expected) in [(149, Some("before")), (150, None)] {
            let mut words = vec!["a"; distance + 2];
            words[0] = "Ford";
            words[distance] = "Ford";
            assert_eq!(pattern(&words, distance), expected);
        }
    }

    #[test]
    fn words_that_are_not_names_have_the_value_none() {
        assert_eq!(pattern(&["Ford", "and"], 0), Some("none"), "nothing before");
        assert_eq!(pattern(&["by", "Ford"], 1), Some("none"), "nothing after");
        assert_eq!(pattern(&["by", "F", "and"], 1), Some("none"), "one letter");
        assert_eq!(pattern(&["by", "FORD", "and"], 1), Some("none"));
        assert_eq!(pattern(&["by", "ford", "and"], 1), Some("none"));
        assert_eq!(pattern(&["by", "Ford", "Motors"], 1), Some("none"));
        assert_eq!(pattern(&["by", "Ford", ","], 1), Some("none"));
        assert_eq!(pattern(&["\"", "Ford", "and"], 1), Some("none"));
    }
}

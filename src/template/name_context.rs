//! Context clues for names: personal titles, and names that recur in the sentence.

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
    let is_name = looks_like_name(name)
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
    if after.into_iter().any(|u| word(u) == name) {
        Some("later")
    } else if before.into_iter().any(|u| word(u) == name) {
        Some("before")
    } else {
        None
    }
}

fn looks_like_name(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(char::is_uppercase)
        && !characters.any(char::is_uppercase)
        && super::text::graphemes(word).nth(1).is_some()
}

fn has_letter(word: &str) -> bool {
    word.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

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

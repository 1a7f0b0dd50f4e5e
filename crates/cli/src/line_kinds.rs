//! Kinds of lines of a text: words, or parts of sentences.

/// Minimum number of words, one per line, or of lines that are broken.
const MIN_LINES: usize = 4;

/// Maximum number of characters of a line that is a word, on average.
const MEAN_WORD: usize = 12;

/// Returns whether lines are words, one on each, with blank lines between sentences: text has
/// blanks. So that lists of words and the lines of scripts without blanks are text, there must be
/// a sentence of several words that ends, or a word that is only punctuation.
pub fn are_words(lines: &[String]) -> bool {
    let words: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let content = || words.iter().filter(|word| !word.is_empty());
    let count = content().count();
    let characters: usize = content().map(|word| word.chars().count()).sum();
    let is_punctuation = |word: &str| word.chars().all(|c| !c.is_alphanumeric() && c != '#');
    let has_punctuation = content().any(|word| is_punctuation(word));
    let sentences = words.split(|word| word.is_empty());
    let sentences = sentences.filter(|sentence| !sentence.is_empty()).count();
    let ends = words.len() > count && count >= 2 * sentences;
    let has_spaced_script = content().all(|word| word.chars().all(|c| c < '\u{e00}'));
    count >= MIN_LINES
        && characters <= MEAN_WORD * count
        && content().all(|word| !word.contains(char::is_whitespace))
        && (has_punctuation || ends && has_spaced_script)
}

/// Returns whether most lines of a text end inside a sentence and the next one goes on.
pub fn are_broken(lines: &[String]) -> bool {
    const LONGEST: usize = 100;
    let ends_inside = |line: &str| line.ends_with(|c: char| c.is_alphanumeric() || c == ',');
    let goes_on = |line: &str| line.starts_with(char::is_lowercase);
    let pairs = lines.windows(2).filter(|pair| pair.iter().all(|line| !line.trim().is_empty()));
    let pairs: Vec<bool> = pairs
        .map(|pair| {
            let is_long = pair[0].chars().count() > LONGEST / 2;
            is_long && ends_inside(pair[0].trim_end()) && goes_on(&pair[1])
        })
        .collect();
    let broken = pairs.iter().filter(|&&broken| broken).count();
    broken >= MIN_LINES - 1
        && 2 * broken > pairs.len()
        && lines.iter().all(|line| line.chars().count() <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn words_have_punctuation_among_them_or_blank_lines_after_sentences_of_several() {
        for (text, expected) in [
            ("Mira\nHolm\nran\n.\n\nKai\nsat\n.\n\n", true),
            ("Mira\nHolm\nran\n\nKai\nsat\nin\nOslo\n\n", true),
            // Lists of words, and scripts without blanks.
            ("Mira\nOslo\nKai\nran\n", false),
            ("Mira\n\nOslo\n\nKai\n\nran\n\n", false),
            ("床前明月光\n疑是地上霜\n\n举头望明月\n低头思故乡\n", false),
            ("Mira ran\n.\nKai\nsat\n", false),
            ("Mira\n.\n", false),
        ] {
            assert_eq!(are_words(&lines(text)), expected, "{text}");
        }
    }

    #[test]
    fn broken_lines_are_long_and_go_on_in_lower_case() {
        let text = "\
When Mira came to Oslo for the first time in the spring of that year the river
was still frozen, and the people who lived along it walked over the ice from one
side to the other, which none of the guests from the south had ever seen before
they came, so that some of them stayed until the ice was gone.

Kai sat.
";
        assert!(are_broken(&lines(text)));
        assert!(!are_broken(&lines(&text.replace('\n', ".\n"))));
        assert!(!are_broken(&lines(&text.replace("\nwas", "\nWas"))));
    }
}

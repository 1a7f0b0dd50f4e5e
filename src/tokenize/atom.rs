//! Atoms: the pieces of a chunk (text without white space) that no rule cuts further.
//!
//! The cuts are those of UAX #29: word boundaries that are grapheme cluster boundaries too, so that
//! a mark never parts from its base, nor a flag or an emoji family. UAX #29 lets some marks
//! (`. , ; : ' ’`) bind the letters around them: too much for a tagger (`end.The`, `it's`, `a:b`),
//! so an atom never has one inside, and the rules in `word`, `web` and `abbreviation` say where
//! they bind. Then the English clitics are set apart.

use unicode_segmentation::UnicodeSegmentation;

/// What an atom is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters or digits.
    Word,
    /// `'s`, `n't` and the like.
    Clitic,
    /// Punctuation, a symbol, an emoji.
    Mark,
}

/// A piece of a chunk.
#[derive(Clone, Copy, Debug)]
struct Atom {
    start: usize,
    end: usize,
    kind: Kind,
}

/// A run of text without white space, cut to atoms, and the text after it.
#[derive(Debug)]
pub(super) struct Chunk<'t> {
    text: &'t str,
    after: &'t str,
    atoms: Vec<Atom>,
    /// Whether there is an `@` in the chunk: most have none and need not be searched for addresses.
    pub(super) has_at: bool,
}

impl<'t> Chunk<'t> {
    /// Cuts `text`, which has no white space and is followed by `after`. Linear time.
    pub(super) fn new(text: &'t str, after: &'t str) -> Self {
        let mut atoms = Vec::new();
        let mut bounds = text.split_word_bound_indices().map(|(i, w)| i + w.len());
        let mut bound = bounds.next();
        let mut open = 0;
        for (start, cluster) in text.grapheme_indices(true) {
            let end = start + cluster.len();
            let alone = stands_alone(cluster);
            if alone && open < start {
                atoms.push(Atom::new(text, open, start));
                open = start;
            }
            while bound.is_some_and(|bound| bound < end) {
                bound = bounds.next();
            }
            if alone || bound == Some(end) {
                atoms.push(Atom::new(text, open, end));
                open = end;
            }
        }
        let mut chunk = Self {
            text,
            after,
            atoms,
            has_at: text.contains('@'),
        };
        if chunk.atoms.len() > 1 {
            chunk.set_clitics_apart();
        }
        chunk
    }

    /// Number of atoms.
    pub(super) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// First byte of atom `i` in the chunk; the chunk's length past the last atom.
    pub(super) fn start(&self, i: usize) -> usize {
        self.atoms.get(i).map_or(self.text.len(), |a| a.start)
    }

    /// The text of atom `i`, empty past the last.
    pub(super) fn text(&self, i: usize) -> &'t str {
        self.atoms.get(i).map_or("", |a| &self.text[a.start..a.end])
    }

    /// The text from atom `i` to the end of the chunk.
    pub(super) fn tail(&self, i: usize) -> &'t str {
        &self.text[self.start(i)..]
    }

    /// The text from atom `i` on, in the chunk or after the white space that follows it.
    pub(super) fn following(&self, i: usize) -> &'t str {
        if i < self.len() {
            self.tail(i)
        } else {
            self.after.trim_start()
        }
    }

    /// The kind of atom `i`, if there is one.
    pub(super) fn kind(&self, i: usize) -> Option<Kind> {
        self.atoms.get(i).map(|a| a.kind)
    }

    /// The text of atom `i` if it is a word.
    pub(super) fn word(&self, i: usize) -> Option<&'t str> {
        (self.kind(i) == Some(Kind::Word)).then(|| self.text(i))
    }

    /// Index of the atom that starts at byte `start` of the chunk, from `i` on; the number of
    /// atoms for the end of the chunk.
    pub(super) fn starting_at(&self, i: usize, start: usize) -> Option<usize> {
        let atoms = self.atoms.get(i..)?;
        if start == self.text.len() {
            return Some(self.len());
        }
        let found = atoms.binary_search_by_key(&start, |a| a.start);
        found.ok().map(|k| i + k)
    }

    /// Makes one atom of each clitic (`'s`, `n't`) and of what an apostrophe shortens (`'90s`).
    fn set_clitics_apart(&mut self) {
        let mut out: Vec<Atom> = Vec::with_capacity(self.atoms.len());
        let mut i = 0;
        while i < self.atoms.len() {
            let mark = self.atoms[i];
            let Some(word) = self.word(i + 1).filter(|_| is_apostrophe(self.text(i))) else {
                out.push(mark);
                i += 1;
                continue;
            };
            let before = out.last().map(|b| (b.kind, &self.text[b.start..b.end]));
            let tie = tie(before, word, is_apostrophe(self.text(i + 2)));
            let end = self.atoms[i + 1].end;
            let (start, kind) = match (tie, out.pop()) {
                (Tie::Not, Some(stem)) => {
                    let n = stem.end - 1;
                    if stem.start < n {
                        out.push(Atom { end: n, ..stem });
                    }
                    (n, Kind::Clitic)
                }
                (Tie::Number, Some(number)) => (number.start, Kind::Word),
                (tie, before) => {
                    out.extend(before);
                    match tie {
                        Tie::Clitic => (mark.start, Kind::Clitic),
                        Tie::Front => (mark.start, Kind::Word),
                        _ => {
                            out.push(mark);
                            (mark.end, Kind::Word)
                        }
                    }
                }
            };
            out.push(Atom { start, end, kind });
            i += 2;
        }
        self.atoms = out;
    }
}

/// How an apostrophe ties the word after it.
enum Tie {
    /// `n't`, with the last letter of the word before.
    Not,
    /// `'s 'm 're 've 'll 'd`.
    Clitic,
    /// `80's`: to the number before.
    Number,
    /// `'90s`, `'em`: what the apostrophe stands for was at the front.
    Front,
    /// No way of these.
    None,
}

/// How an apostrophe between the atom `before` and `word` ties them; `closed` says that another
/// apostrophe follows, so that the two may be quotes.
fn tie(before: Option<(Kind, &str)>, word: &str, closed: bool) -> Tie {
    let any = |list: &[&str]| list.iter().any(|s| word.eq_ignore_ascii_case(s));
    let clitic = any(&["s", "m", "re", "ve", "ll", "d"]);
    match before {
        Some((Kind::Word, stem)) if any(&["t"]) && ends_in_n(stem) => Tie::Not,
        Some((Kind::Word, stem)) if any(&["s"]) && is_number(stem) => Tie::Number,
        Some((Kind::Word | Kind::Clitic, _)) if clitic => Tie::Clitic,
        Some((Kind::Mark, mark)) if clitic && takes_clitic(mark) => Tie::Clitic,
        None if clitic && !closed => Tie::Clitic,
        None | Some((Kind::Mark, _)) if !closed && is_shortened(word) => Tie::Front,
        Some((Kind::Word, stem)) if is_year(word) && !is_number(stem) => Tie::Front,
        _ => Tie::None,
    }
}

impl Atom {
    fn new(text: &str, start: usize, end: usize) -> Self {
        let text = &text[start..end];
        let word = text.contains(char::is_alphanumeric) && !text.ends_with(KEYCAP);
        Self {
            start,
            end,
            kind: if word { Kind::Word } else { Kind::Mark },
        }
    }
}

/// The combining mark that makes an emoji of a digit, `#` or `*`.
const KEYCAP: char = '\u{20E3}';

/// Whether a grapheme cluster is an atom of its own wherever it stands.
fn stands_alone(cluster: &str) -> bool {
    let binding = ['.', ',', ';', ':', '\'', '’', '．', '，', '；', '：', '＇'];
    cluster.starts_with(binding) || cluster.ends_with(KEYCAP)
}

/// Whether a mark is written for an apostrophe.
pub(super) fn is_apostrophe(mark: &str) -> bool {
    matches!(mark, "'" | "’" | "`" | "´")
}

/// Whether a word is made of ASCII digits alone.
pub(super) fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}

fn ends_in_n(stem: &str) -> bool {
    stem.ends_with(['n', 'N']) && stem.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Marks that end a word to which a clitic can be tied: `U.S.'s`, `C++'s`, `“X”'s`.
fn takes_clitic(mark: &str) -> bool {
    matches!(mark, "." | "+" | "#" | "%" | "!" | ")" | "]" | "\"" | "”")
}

/// Whether a word may be what remains after an apostrophe: `'em`, `'90s`.
fn is_shortened(word: &str) -> bool {
    let words = ["em", "til", "cause", "bout", "tis", "twas", "n"];
    is_year(word) || words.iter().any(|w| word.eq_ignore_ascii_case(w))
}

fn is_year(word: &str) -> bool {
    let year = word.strip_suffix('s').unwrap_or(word);
    year.len() == 2 && is_number(year)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atoms(text: &str) -> Vec<&str> {
        let chunk = Chunk::new(text, "");
        (0..chunk.len()).map(|i| chunk.text(i)).collect()
    }

    #[test]
    fn binding_marks_are_atoms_and_clitics_are_whole() {
        assert_eq!(atoms("end.The"), ["end", ".", "The"]);
        assert_eq!(atoms("a:b;c"), ["a", ":", "b", ";", "c"]);
        assert_eq!(atoms("shouldn’t've"), ["should", "n’t", "'ve"]);
        assert_eq!(atoms("n't"), ["n't"]);
        assert_eq!(atoms("the80's"), ["the80", "'s"]);
        assert_eq!(atoms("80's"), ["80's"]);
        assert_eq!(atoms("('90s)"), ["(", "'90s", ")"]);
        assert_eq!(atoms("d'accord"), ["d", "'", "accord"]);
        assert_eq!(atoms("'s'"), ["'", "s", "'"]);
    }

    #[test]
    fn grapheme_clusters_are_never_cut() {
        assert_eq!(atoms("e\u{301}.\u{301}x"), ["e\u{301}", ".\u{301}", "x"]);
        assert_eq!(atoms("1️⃣2️⃣"), ["1️⃣", "2️⃣"]);
        assert_eq!(atoms("\u{600}(x"), ["\u{600}(", "x"]);
        assert_eq!(atoms("👨‍👩‍👧🇩🇪🇫🇷"), ["👨‍👩‍👧", "🇩🇪", "🇫🇷"]);
    }
}

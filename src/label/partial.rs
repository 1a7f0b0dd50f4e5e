//! Converting partial labels between schemes.
//!
//! A token of a span is first or last in it, both or neither, and its span may directly follow one
//! of the same type. Every scheme of spans reads its tag off these flags
//! ([`SpanPosition::tag`]), so a legal sequence of flags is a legal sequence in every scheme, and
//! the sequences of flags that partial labels allow are found by a search forward and one backward:
//! O(T·S²) for S flags and types.

use super::labeling::Labeling;
use super::scheme::Scheme;
use super::span::SpanPosition;

/// The place of a token: outside of all spans, or in one of this type.
type State<'a> = Option<(&'a str, SpanPosition)>;

const OUTSIDE: State<'static> = None;

/// All states with these types. In IO and the plain scheme, a span cannot follow one of the same
/// type.
fn all_states<'a>(kinds: &[&'a str], scheme: Scheme) -> Vec<State<'a>> {
    let mut states = vec![OUTSIDE];
    for &kind in kinds {
        for (first, follows) in [(false, false), (true, false), (true, true)] {
            for last in [false, true] {
                let position = SpanPosition { first, last, follows };
                if !(follows && scheme.merges()) {
                    states.push(Some((kind, position)));
                }
            }
        }
    }
    states
}

/// Whether a state may follow another; outside also stands for the ends of a sentence.
fn may_precede(state: State<'_>, next: State<'_>, scheme: Scheme) -> bool {
    match (state, next) {
        (None, None) => true,
        (None, Some((_, next))) => next.first && !next.follows,
        (Some((_, position)), None) => position.last,
        (Some((kind, position)), Some((next_kind, next))) => {
            let is_same = kind == next_kind;
            // There, adjacent spans of a type are one.
            let is_one = is_same && scheme.merges();
            match position.last {
                true => next.first && next.follows == is_same && !is_one,
                false => is_same && !next.first,
            }
        }
    }
}

/// Converts the labels that each token may have from one scheme to another; an empty set stands for
/// any label, and remains one. Each set has the labels of all legal sequences that the labels
/// allow.
///
/// # Errors
///
/// The first token to which no legal sequence leads.
pub fn convert_partial(
    allowed: &[Vec<&str>],
    from: &Labeling,
    to: &Labeling,
) -> Result<Vec<Vec<String>>, usize> {
    let mut kinds: Vec<&str> = Vec::new();
    for chunk in allowed.iter().flatten().map(|label| from.chunk(label)) {
        if chunk.is_inside() && !kinds.contains(&chunk.kind) {
            kinds.push(chunk.kind);
        }
    }
    let states = all_states(&kinds, from.scheme);
    let name = |state: &State<'_>, labeling: &Labeling| match *state {
        None => labeling.outside().to_owned(),
        Some((kind, position)) => labeling.label(position, kind),
    };
    let names: Vec<[String; 2]> =
        states.iter().map(|state| [from, to].map(|labeling| name(state, labeling))).collect();
    let can_be = |t: usize, s: usize| allowed[t].is_empty() || allowed[t].contains(&&*names[s][0]);
    let of_row = |row: &[usize]| row.iter().map(|&s| states[s]).collect::<Vec<_>>();
    let mut reached: Vec<Vec<usize>> = Vec::with_capacity(allowed.len()); // [T] states
    let mut before = vec![OUTSIDE];
    for t in 0..allowed.len() {
        let follows = |s: usize| before.iter().any(|&a| may_precede(a, states[s], from.scheme));
        let row: Vec<usize> = (0..states.len()).filter(|&s| can_be(t, s) && follows(s)).collect();
        if row.is_empty() {
            return Err(t);
        }
        before = of_row(&row);
        reached.push(row);
    }
    let mut next = vec![OUTSIDE];
    for (t, row) in reached.iter_mut().enumerate().rev() {
        row.retain(|&s| next.iter().any(|&b| may_precede(states[s], b, from.scheme)));
        if row.is_empty() {
            return Err(t);
        }
        next = of_row(row);
    }
    let sets = allowed.iter().zip(&reached).map(|(allowed, row)| {
        let mut set: Vec<String> = Vec::new();
        for &s in row.iter().filter(|_| !allowed.is_empty()) {
            if !set.contains(&names[s][1]) {
                set.push(names[s][1].clone());
            }
        }
        set
    });
    Ok(sets.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::convert;

    /// Converts labels separated by blanks, written as in a corpus.
    fn converted(text: &str, from: Scheme, to: Scheme) -> Result<String, usize> {
        let sets: Vec<Vec<&str>> = (text.split(' '))
            .map(|cell| match cell {
                "_" => Vec::new(),
                _ => cell.split('|').collect(),
            })
            .collect();
        let converted = convert_partial(&sets, &from.into(), &to.into())?;
        let cell = |set: &Vec<String>| if set.is_empty() { "_".to_owned() } else { set.join("|") };
        Ok(converted.iter().map(cell).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn labels_of_bio_become_all_that_bioes_may_have_there() {
        for (bio, bioes) in [
            ("B-X O", "S-X O"),
            ("B-X I-X O", "B-X E-X O"),
            ("B-X _ O", "B-X|S-X _ O"),
            ("B-X _", "B-X|S-X _"),
            ("_ I-X I-X", "_ I-X E-X"),
            ("_ I-X _", "_ I-X|E-X _"),
            ("B-X|B-Y I-Y", "B-Y E-Y"),
            ("O|I-X B-X", "O S-X"),
            ("B-X|O _", "O|B-X|S-X _"),
        ] {
            assert_eq!(converted(bio, Scheme::Iob2, Scheme::Bioes).unwrap(), bioes);
        }
    }

    #[test]
    fn labels_of_other_schemes_are_converted_too() {
        assert_eq!(converted("X|O X _", Scheme::Plain, Scheme::Iob2).unwrap(), "O|B-X I-X|B-X _");
        assert_eq!(converted("B-X _", Scheme::Iob2, Scheme::Plain).unwrap(), "X _");
        let iob1 = |text: &str, to| converted(text, Scheme::Iob1, to).unwrap();
        assert_eq!(iob1("I-X B-X I-X O", Scheme::Iob2), "B-X B-X I-X O");
        assert_eq!(iob1("_ I-X _", Scheme::Iob2), "_ I-X|B-X _");
        assert_eq!(iob1("O I-X _", Scheme::Bioes), "O B-X|S-X _");
        assert_eq!(converted("_ E-X O", Scheme::Bioes, Scheme::Iob2).unwrap(), "_ I-X O");
        assert_eq!(converted("I-X I-X O", Scheme::Io, Scheme::Bioes).unwrap(), "B-X E-X O");
    }

    #[test]
    fn known_labels_are_converted_as_sequences_are() {
        let text = "B-X I-X B-X O B-Y B-X I-X I-X";
        for from in [Scheme::Iob1, Scheme::Iob2, Scheme::Bioes] {
            let labels: Vec<&str> = text.split(' ').collect();
            let written = convert(&labels, from);
            for to in [Scheme::Io, Scheme::Iob1, Scheme::Iob2, Scheme::Bioes] {
                let expected = convert(&labels, to).join(" ");
                assert_eq!(converted(&written.join(" "), from, to).unwrap(), expected);
            }
        }
    }

    #[test]
    fn the_first_token_without_a_legal_sequence_is_reported() {
        assert_eq!(converted("O I-X _", Scheme::Iob2, Scheme::Bioes), Err(1));
        assert_eq!(converted("_ B-X O", Scheme::Bioes, Scheme::Iob2), Err(2));
        assert_eq!(converted("_ B-X", Scheme::Bioes, Scheme::Iob2), Err(1));
        assert_eq!(converted("_ Q", Scheme::Iob2, Scheme::Bioes), Err(1));
    }
}

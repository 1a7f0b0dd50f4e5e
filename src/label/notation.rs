//! How labels are written: `B-PER`, `PER_B`, `L-PER`, `b-per`, `<title>`.
//!
//! The labels of a model are canonical: a tag of B, I, E and S, a hyphen and a type; `O` outside.
//! The labels of corpora are not always. A notation reads them, and writes them back as they came.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::span::ChunkLabel;

/// The letters of a scheme for the first token of a span, one inside, the last, and the only one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Letters {
    /// B, I, E, S: IOB too, which has only B and I.
    #[default]
    Bioes,
    /// B, I, L (last), U (unit).
    Bilou,
    /// B, M (middle), E, S, as in Chinese word segmentation.
    Bmes,
    /// B, M, E, W (whole).
    Bmewo,
}

crate::named!(Letters, "letters of labels":
    Bioes = "bioes",
    Bilou = "bilou",
    Bmes = "bmes",
    Bmewo = "bmewo",
);

/// The canonical letters.
const TAGS: [&str; 4] = ["B", "I", "E", "S"];

impl Letters {
    /// The letters, upper and lower case.
    const fn written(self) -> [[&'static str; 2]; 4] {
        match self {
            Self::Bioes => [["B", "b"], ["I", "i"], ["E", "e"], ["S", "s"]],
            Self::Bilou => [["B", "b"], ["I", "i"], ["L", "l"], ["U", "u"]],
            Self::Bmes => [["B", "b"], ["M", "m"], ["E", "e"], ["S", "s"]],
            Self::Bmewo => [["B", "b"], ["M", "m"], ["E", "e"], ["W", "w"]],
        }
    }
}

/// Where a label has its tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TagPlace {
    /// Before the type: `B-PER`.
    #[default]
    Prefix,
    /// After it: `PER-B`.
    Suffix,
    /// Only the first token of a span has one, `I`: `I-<title>`, then `<title>` (GROBID).
    First,
}

/// How labels are written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Notation {
    /// The letters of tags.
    pub letters: Letters,
    /// Where the tag stands.
    pub place: TagPlace,
    /// Between tag and type.
    pub separator: char,
    /// Whether tags are lower-case.
    pub lowercase: bool,
    /// The label outside of all spans.
    pub outside: Cow<'static, str>,
}

impl Default for Notation {
    fn default() -> Self {
        Self::CANONICAL
    }
}

impl Notation {
    /// The notation of models: `B-PER` and `O`.
    pub const CANONICAL: Self = Self {
        letters: Letters::Bioes,
        place: TagPlace::Prefix,
        separator: '-',
        lowercase: false,
        outside: Cow::Borrowed("O"),
    };

    /// Splits a label; `None` if it is neither outside nor has a tag of this notation. The label
    /// outside with a tag, such as `B-O`, is outside.
    pub fn read<'a>(&self, label: &'a str) -> Option<ChunkLabel<'a>> {
        if label == self.outside {
            return Some(ChunkLabel::OUTSIDE);
        }
        let (tag, kind) = match self.place {
            TagPlace::Prefix => label.split_once(self.separator).unwrap_or((label, "")),
            TagPlace::Suffix => {
                let (kind, tag) = label.rsplit_once(self.separator).unwrap_or(("", label));
                (tag, kind)
            }
            TagPlace::First => match label.split_once(self.separator) {
                Some(("I", kind)) => ("B", kind),
                _ => ("I", label),
            },
        };
        let case = usize::from(self.lowercase);
        let letters = self.letters.written();
        let i = match self.place {
            TagPlace::First => usize::from(tag == "I"),
            _ => letters.iter().position(|letter| letter[case] == tag)?,
        };
        Some(match kind == self.outside {
            true => ChunkLabel::OUTSIDE,
            false => ChunkLabel { tag: TAGS[i], kind },
        })
    }

    /// Writes a label with a canonical tag; `O` is the label outside.
    pub fn write(&self, tag: &str, kind: &str) -> String {
        let Some(i) = TAGS.iter().position(|own| *own == tag) else {
            return self.outside.clone().into_owned();
        };
        let tag = self.letters.written()[i][usize::from(self.lowercase)];
        match self.place {
            TagPlace::First if i == 0 => format!("I{}{kind}", self.separator),
            TagPlace::First => kind.to_owned(),
            _ if kind.is_empty() => tag.to_owned(),
            TagPlace::Prefix => format!("{tag}{}{kind}", self.separator),
            TagPlace::Suffix => format!("{kind}{}{tag}", self.separator),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notation(place: TagPlace, separator: char) -> Notation {
        Notation { place, separator, ..Notation::CANONICAL }
    }

    #[test]
    fn what_is_read_is_written_back() {
        let bilou = Notation {
            letters: Letters::Bilou,
            lowercase: true,
            outside: "out".into(),
            ..Notation::CANONICAL
        };
        let [prefix, suffix, first] =
            [(TagPlace::Prefix, '_'), (TagPlace::Suffix, '-'), (TagPlace::First, '-')]
                .map(|(place, separator)| notation(place, separator));
        for (notation, label, tag, kind) in [
            (&Notation::CANONICAL, "B-NP-SBJ", "B", "NP-SBJ"),
            (&prefix, "I_PER_X", "I", "PER_X"),
            (&suffix, "NP-SBJ-B", "B", "NP-SBJ"),
            (&suffix, "B", "B", ""),
            (&bilou, "l-per", "E", "per"),
            (&bilou, "u-per", "S", "per"),
            (&bilou, "out", "O", ""),
            (&first, "I-<title>", "B", "<title>"),
            (&first, "<title>", "I", "<title>"),
        ] {
            assert_eq!(notation.read(label), Some(ChunkLabel { tag, kind }), "{label}");
            assert_eq!(notation.write(tag, kind), label);
        }
    }

    #[test]
    fn labels_of_another_notation_are_not_read() {
        for label in ["B_PER", "PER-B", "b-per", "L-PER", "o", "0", "NN", ""] {
            assert_eq!(Notation::CANONICAL.read(label), None, "{label}");
        }
    }
}

//! The scheme of labels with their notation: decoding spans, encoding them, and converting labels.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::notation::{Letters, Notation, TagPlace};
use super::scheme::Scheme;
use super::span::{ChunkLabel, Span, SpanPosition, decode};

/// How the labels of a corpus encode spans, and how they are written.
///
/// ```
/// use dropchain::label::{Labeling, Notation, Scheme};
///
/// let notation = Notation { separator: '_', ..Notation::CANONICAL };
/// let corpus = Labeling { notation, ..Labeling::from(Scheme::Iob2) };
/// let canonical = corpus.convert(&["B_PER", "I_PER", "O"], &Scheme::Bioes.into());
/// assert_eq!(canonical, ["B-PER", "E-PER", "O"]);
/// assert_eq!(Labeling::from(Scheme::Bioes).convert(&canonical, &corpus), ["B_PER", "I_PER", "O"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Labeling {
    /// The scheme by which the labels encode spans.
    pub scheme: Scheme,
    /// Whether label sequences keep the rules of the scheme. If so, tagging keeps them too, and
    /// spans of BIOES count only if they are whole.
    pub strict: bool,
    /// How the labels are written.
    pub notation: Notation,
}

impl Default for Labeling {
    fn default() -> Self {
        Self::RAW.clone()
    }
}

impl From<Scheme> for Labeling {
    fn from(scheme: Scheme) -> Self {
        Self { scheme, strict: true, notation: Notation::CANONICAL }
    }
}

/// The labeling of canonical labels is their scheme.
impl PartialEq<Scheme> for Labeling {
    fn eq(&self, scheme: &Scheme) -> bool {
        self.scheme == *scheme && self.strict && self.notation == Notation::CANONICAL
    }
}

impl Labeling {
    /// Labels without spans, or of spans by conlleval's rules alone.
    pub const RAW: &'static Self =
        &Self { scheme: Scheme::Raw, strict: true, notation: Notation::CANONICAL };

    /// The label outside of all spans.
    pub fn outside(&self) -> &str {
        &self.notation.outside
    }

    /// Whether a label belongs to the scheme.
    pub fn has(&self, label: &str) -> bool {
        let tags: &[&str] = match self.scheme {
            Scheme::Raw | Scheme::Plain => return true,
            Scheme::Io => &["I", "O"],
            Scheme::Iob1 | Scheme::Iob2 => &["B", "I", "O"],
            Scheme::Bioes => &["B", "I", "E", "S", "O"],
        };
        (self.notation.read(label)).is_some_and(|chunk| tags.contains(&chunk.tag))
    }

    /// Whether a label is the one outside with a prefix, such as `B-O`. Where only the first token
    /// of a span has one, that of tokens outside does, too.
    pub fn is_prefixed_outside(&self, label: &str) -> bool {
        let has_prefixes = !matches!(self.scheme, Scheme::Raw | Scheme::Plain);
        has_prefixes
            && self.notation.place != TagPlace::First
            && label != self.outside()
            && self.notation.read(label) == Some(ChunkLabel::OUTSIDE)
    }

    /// Splits a label. One that does not belong to the scheme is outside; without a scheme, it is
    /// split as conlleval does.
    pub fn chunk<'a>(&self, label: &'a str) -> ChunkLabel<'a> {
        match self.scheme {
            Scheme::Raw => ChunkLabel::parse(label),
            Scheme::Plain if label == self.outside() => ChunkLabel::OUTSIDE,
            Scheme::Plain => ChunkLabel { tag: "I", kind: label },
            _ => self.notation.read(label).unwrap_or(ChunkLabel::OUTSIDE),
        }
    }

    /// Splits the labels of a sentence for scoring: in BIOES, what is not part of a whole span
    /// (`S`, or `B`, any number of `I`, and `E`, all of one type) is outside, as in seqeval's
    /// strict mode. Those of other schemes are read by conlleval's rules, which interpret every
    /// sequence.
    pub fn chunks<'a>(&self, labels: impl Iterator<Item = &'a str>) -> Vec<ChunkLabel<'a>> {
        let mut chunks: Vec<ChunkLabel<'a>> = labels.map(|label| self.chunk(label)).collect();
        if self.scheme == Scheme::Bioes && self.strict {
            drop_incomplete(&mut chunks);
        }
        chunks
    }

    /// Decodes the spans of a sentence.
    pub fn spans<'a, S: AsRef<str>>(&self, labels: &'a [S]) -> Vec<Span<'a>> {
        self.spans_of(labels.iter().map(AsRef::as_ref))
    }

    /// Like [`spans`](Self::spans), for labels from elsewhere, from which the spans borrow.
    pub(crate) fn spans_of<'a>(&self, labels: impl Iterator<Item = &'a str>) -> Vec<Span<'a>> {
        decode(self.chunks(labels).into_iter())
    }

    /// The label of a token at this position in a span of type `kind`: the empty type has no
    /// separator. In the plain scheme it is the type alone.
    pub fn label(&self, position: SpanPosition, kind: &str) -> String {
        match self.scheme {
            Scheme::Plain if !kind.is_empty() => kind.to_owned(),
            scheme => self.notation.write(position.tag(scheme), kind),
        }
    }

    /// Converts labels of this labeling; [`Scheme::Raw`] leaves them unchanged.
    ///
    /// Labels outside all spans, also the label outside with a tag, become the label outside. IO
    /// and the plain scheme merge adjacent spans of the same type. Malformed sequences are
    /// interpreted by conlleval's rules; within one scheme, only the notation changes, and labels
    /// that do not belong to it stay as they are.
    pub fn convert<S: AsRef<str>>(&self, labels: &[S], to: &Self) -> Vec<String> {
        if to.scheme == Scheme::Raw {
            return labels.iter().map(|label| label.as_ref().to_owned()).collect();
        }
        if self.scheme == to.scheme {
            return (labels.iter()).map(|label| self.rename(label.as_ref(), to)).collect();
        }
        let chunks = labels.iter().map(|label| self.chunk(label.as_ref()));
        encode(&decode(chunks), labels.len(), to)
    }

    /// Writes a label in another notation of the same scheme.
    fn rename(&self, label: &str, to: &Self) -> String {
        let chunk = match self.scheme {
            Scheme::Plain => Some(self.chunk(label)),
            _ => self.notation.read(label),
        };
        match chunk {
            Some(chunk) if chunk.tag == "O" => to.outside().to_owned(),
            Some(chunk) if self.scheme != Scheme::Plain && self.notation != to.notation => {
                to.notation.write(chunk.tag, chunk.kind)
            }
            _ => label.to_owned(),
        }
    }
}

/// Encodes the spans of a sequence of `len` tokens as labels; outside elsewhere.
///
/// [`Labeling::spans`] decodes them again, with one exception: IO and the plain scheme merge
/// adjacent spans of the same type. The empty type has no hyphen, as in `B`. [`Scheme::Raw`] cannot
/// encode spans; it is treated like IO.
///
/// The spans should be in order and disjoint. If they overlap, the later one wins; anything at
/// `len` or beyond is ignored.
pub fn encode(spans: &[Span<'_>], len: usize, labeling: &Labeling) -> Vec<String> {
    let mut labels = vec![labeling.outside().to_owned(); len];
    let mut before: Option<&Span<'_>> = None;
    for span in spans {
        let follows = before.is_some_and(|b| b.end == span.start && b.kind == span.kind);
        for (t, label) in labels.iter_mut().enumerate().take(span.end).skip(span.start) {
            let (first, last) = (t == span.start, t + 1 == span.end);
            *label = labeling.label(SpanPosition { first, last, follows }, span.kind);
        }
        before = Some(span);
    }
    labels
}

/// Converts canonical labels of any scheme but the plain one ([`Labeling::convert`]).
pub fn convert<S: AsRef<str>>(labels: &[S], to: Scheme) -> Vec<String> {
    Labeling::RAW.convert(labels, &to.into())
}

/// Decodes the spans of a label sequence, exactly like conlleval.
///
/// Spans are in order, disjoint and never empty. There is one for every start that conlleval
/// counts: if a tag of no scheme (such as `[` after `B`) starts a span inside another, the earlier
/// span ends there.
pub fn spans<S: AsRef<str>>(labels: &[S]) -> Vec<Span<'_>> {
    Labeling::RAW.spans(labels)
}

/// Says the scheme and how the labels are written, if it is not as in `B-PER` and `O`.
impl fmt::Display for Labeling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Notation { letters, place, separator, lowercase, outside } = &self.notation;
        match (letters, self.scheme) {
            (Letters::Bioes, scheme) => write!(f, "{}", scheme.title())?,
            (letters, _) => write!(f, "{}", letters.name().to_uppercase())?,
        }
        let spelling = place != &TagPlace::Prefix || *separator != '-' || *lowercase;
        if spelling && self.scheme != Scheme::Plain {
            let example = if self.scheme == Scheme::Io { "I" } else { "B" };
            let [first, inside] = [example, "I"].map(|tag| self.notation.write(tag, "X"));
            match place {
                TagPlace::First => write!(f, " written {first} {inside}")?,
                _ => write!(f, " written {first}")?,
            }
        }
        if !self.strict {
            write!(f, ", not strictly")?;
        }
        match outside.as_ref() {
            "O" => Ok(()),
            outside => write!(f, ", outside '{}'", outside.escape_debug()),
        }
    }
}

/// Puts what is not part of a whole span of BIOES outside.
fn drop_incomplete(chunks: &mut [ChunkLabel<'_>]) {
    let mut start = 0; // of what may be a span
    for t in 0..chunks.len() {
        let chunk = chunks[t];
        let is_open = t > start && chunks[start].tag == "B" && chunks[start].kind == chunk.kind;
        match chunk.tag {
            "I" if is_open => {}
            "E" if is_open => start = t + 1,
            _ => {
                chunks[start..t].fill(ChunkLabel::OUTSIDE);
                start = if chunk.tag == "B" { t } else { t + 1 };
                if !matches!(chunk.tag, "B" | "S") {
                    chunks[t] = ChunkLabel::OUTSIDE;
                }
            }
        }
    }
    chunks[start..].fill(ChunkLabel::OUTSIDE);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(labeling: &Labeling, labels: &str) -> String {
        let labels: Vec<&str> = labels.split(' ').collect();
        let spans = labeling.spans(&labels);
        let names = spans.iter().map(|s| format!("{}:{}-{}", s.kind, s.start, s.end));
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_whole_spans_of_bioes_count() {
        let bioes = Labeling::from(Scheme::Bioes);
        for (labels, spans) in [
            ("B-X I-X E-X S-Y", "X:0-3 Y:3-4"),
            ("B-X E-X E-X", "X:0-2"),
            ("B-X I-X O E-X", ""),
            ("B-X B-X E-X", "X:1-3"),
            ("B-X E-Y S-X", "X:2-3"),
            ("I-X E-X", ""),
            ("B-X I-X", ""),
            ("B-X I-Y E-Y", ""),
            ("B E S", ":0-2 :2-3"),
        ] {
            assert_eq!(names(&bioes, labels), spans, "{labels}");
        }
        assert_eq!(names(&Scheme::Iob2.into(), "I-X E-X B-Y"), "X:0-2 Y:2-3");
    }

    #[test]
    fn a_label_of_no_scheme_is_outside_and_stays_as_it_is() {
        let iob2 = Labeling::from(Scheme::Iob2);
        assert_eq!(names(&iob2, "B-X Q I-X O"), "X:0-1 X:2-3");
        let notation = Notation { separator: '_', outside: "0".into(), ..Notation::CANONICAL };
        let other = Labeling { notation, ..iob2.clone() };
        let labels = ["B-X", "Q", "I-X", "O"];
        let written = iob2.convert(&labels, &other);
        assert_eq!(written, ["B_X", "Q", "I_X", "0"]);
        assert_eq!(other.convert(&written, &iob2), labels);
        assert_eq!(other.to_string(), "IOB2 written B_X, outside '0'");
    }

    const SPANS: [Span<'static>; 4] =
        [span(0, 1, "X"), span(1, 4, "X"), span(4, 6, "Y"), span(7, 8, "")];

    const fn span(start: usize, end: usize, kind: &str) -> Span<'_> {
        Span { start, end, kind }
    }

    #[test]
    fn every_scheme_writes_its_own_tags() {
        let write = |scheme| encode(&SPANS, 8, &Labeling::from(scheme)).join(" ");
        assert_eq!(write(Scheme::Io), "I-X I-X I-X I-X I-Y I-Y O I");
        assert_eq!(write(Scheme::Iob1), "I-X B-X I-X I-X I-Y I-Y O I");
        assert_eq!(write(Scheme::Iob2), "B-X B-X I-X I-X B-Y I-Y O B");
        assert_eq!(write(Scheme::Bioes), "S-X B-X I-X E-X B-Y E-Y O S");
        assert_eq!(write(Scheme::Raw), write(Scheme::Io));
        assert_eq!(write(Scheme::Plain), "X X X X Y Y O I");
    }

    #[test]
    fn spans_beyond_the_end_are_cut_off() {
        let beyond = [span(1, usize::MAX, "X"), span(7, 9, "Y")];
        assert_eq!(encode(&beyond, 3, &Scheme::Iob2.into()), ["O", "B-X", "I-X"]);
        assert!(encode(&SPANS, 0, &Scheme::Iob2.into()).is_empty());
    }

    #[test]
    fn the_later_of_overlapping_spans_wins() {
        let overlapping = [span(0, 3, "X"), span(1, 2, "Y")];
        assert_eq!(encode(&overlapping, 3, &Scheme::Iob2.into()), ["B-X", "B-Y", "I-X"]);
    }

    #[test]
    fn conversion_decodes_malformed_sequences_like_conlleval() {
        let malformed = ["I-X", "I-Y", "E-Y", "O", "Q", "B-X"];
        assert_eq!(convert(&malformed, Scheme::Iob2), ["B-X", "B-Y", "I-Y", "O", "O", "B-X"]);
    }

    #[test]
    fn plain_labels_are_converted_by_their_types() {
        let plain = ["X", "X", "O", "B-Y", "X"];
        let iob2 = Labeling::from(Scheme::Plain).convert(&plain, &Scheme::Iob2.into());
        assert_eq!(iob2, ["B-X", "I-X", "O", "B-B-Y", "B-X"]);
        assert_eq!(convert(&iob2, Scheme::Plain), plain);
    }

    #[test]
    fn conversion_to_raw_changes_nothing() {
        assert_eq!(convert(&["NN", "I-X"], Scheme::Raw), ["NN", "I-X"]);
    }
}

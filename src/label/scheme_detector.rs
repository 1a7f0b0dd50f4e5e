//! Detecting how the labels of a corpus encode spans, and how they are written.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::chunk_label::ChunkLabel;
use super::detected::{Detected, Misfit};
use super::labeling::Labeling;
use super::notation::{Letters, Notation, TagPlace};
use super::plain_labels::PlainLabels;
use super::scheme::Scheme;
use super::scheme_constraint::may_follow;
use crate::error::Place;

/// One label in this many may break the rules of the scheme, or belong to none.
const ONE_IN: u64 = 100;

/// Labels outside of all spans, other than `O`.
const OUTSIDE: [&str; 6] = ["o", "0", "OUT", "OTHER", "_", "<other>"];

/// What may stand between tag and type.
const SEPARATORS: [char; 5] = ['-', '_', '/', '.', '|'];

/// One label in this many with a tag makes the others suspicious.
const SUSPICIOUS: u64 = 5;

/// The end of a sentence, among the labels that a detector has seen.
const END: usize = 0;

/// Detects the labeling of a corpus, one label sequence at a time, in space that depends on the
/// pairs of adjacent labels.
///
/// Labels have prefixes if all but 1 % of those in spans can be read in one [notation](Notation).
/// Then the scheme is the one of IO, IOB1, IOB2 and BIOES in which the fewest labels are illegal:
/// may not follow the one before them ([`SchemeConstraint`](super::SchemeConstraint)). If more than
/// 1 % of the labels are, the labeling is not strict. A corpus without any `B-` is legal in IO
/// and IOB1, and one without spans in all: both are IO, the smallest. Labels without prefixes are
/// of the plain scheme if they look like types of spans ([`PlainLabels::Auto`]), and else raw.
///
/// Annotated corpora have errors: each file of the Spanish CoNLL-2002 data has an illegal label,
/// but is IOB2.
#[derive(Clone, Debug)]
pub struct SchemeDetector {
    ids: HashMap<String, usize>,
    labels: Vec<(String, Seen)>, // the first stands for the ends of sentences
    pairs: HashMap<(usize, usize), Seen>,
    longest: (usize, Option<Place>), // sentence
    has_partial: bool,
    choice: PlainLabels,
    outside: Option<String>,
}

/// How often a label, or a pair of adjacent ones, was seen, and where the (second) label was first.
#[derive(Clone, Debug, Default)]
struct Seen {
    count: u64,
    first: Option<Place>,
}

impl Default for SchemeDetector {
    fn default() -> Self {
        Self::new()
    }
}

impl SchemeDetector {
    /// A detector without observations.
    pub fn new() -> Self {
        Self {
            ids: HashMap::new(),
            labels: vec![Default::default()],
            pairs: HashMap::new(),
            longest: (0, None),
            has_partial: false,
            choice: PlainLabels::Auto,
            outside: None,
        }
    }

    /// Sets what labels without a prefix are.
    #[must_use]
    pub fn with_plain_labels(self, choice: PlainLabels) -> Self {
        Self { choice, ..self }
    }

    /// Sets the label outside of all spans. By default it is `O`, or else one of `o`, `0`, `OUT`,
    /// `OTHER`, `_` and `<other>`, or else the label without a prefix of most tokens, if the others
    /// have prefixes.
    #[must_use]
    pub fn with_outside(self, outside: Option<String>) -> Self {
        Self { outside, ..self }
    }

    /// What labels without a prefix are.
    pub fn plain_labels(&self) -> PlainLabels {
        self.choice
    }

    /// A detector that has also seen the labels of these sentences.
    pub fn after<L, S>(&self, sentences: impl IntoIterator<Item = L>) -> Self
    where
        L: AsRef<[S]>,
        S: AsRef<str>,
    {
        let mut detector = self.clone();
        for labels in sentences {
            detector.observe(labels.as_ref());
        }
        detector
    }

    /// Observes the labels of a sentence.
    pub fn observe<S: AsRef<str>>(&mut self, labels: &[S]) {
        self.observe_at(labels, |_| None);
    }

    /// Observes the labels of a sentence; `place` tells where token t is.
    pub fn observe_at<S: AsRef<str>>(
        &mut self,
        labels: &[S],
        place: impl Fn(usize) -> Option<Place>,
    ) {
        if labels.len() > self.longest.0 {
            self.longest = (labels.len(), place(0));
        }
        self.observe_sets(labels.iter().map(std::slice::from_ref), place);
    }

    /// Observes the labels that each token of a sentence may have, none for any.
    pub fn observe_partial<S: AsRef<str>>(
        &mut self,
        allowed: &[Vec<S>],
        place: impl Fn(usize) -> Option<Place>,
    ) {
        self.has_partial = true;
        self.observe_sets(allowed.iter().map(Vec::as_slice), place);
    }

    fn observe_sets<'a, S: AsRef<str> + 'a>(
        &mut self,
        sets: impl Iterator<Item = &'a [S]>,
        place: impl Fn(usize) -> Option<Place>,
    ) {
        let (mut previous, mut last) = (Some(END), 0);
        for (t, set) in sets.enumerate() {
            let ids = set.iter().map(|label| self.add(label.as_ref(), || place(t)));
            // What is not known says only which labels there are.
            let known = ids.last().filter(|_| set.len() == 1);
            self.add_pair(previous.zip(known), || place(t));
            (previous, last) = (known, t);
        }
        self.add_pair(previous.map(|previous| (previous, END)), || place(last));
    }

    fn add(&mut self, label: &str, place: impl Fn() -> Option<Place>) -> usize {
        let next = self.labels.len();
        let id = *self.ids.entry_ref(label).or_insert(next);
        if id == next {
            self.labels.push((label.to_owned(), Seen { count: 0, first: place() }));
        }
        self.labels[id].1.count += 1;
        id
    }

    fn add_pair(&mut self, pair: Option<(usize, usize)>, place: impl Fn() -> Option<Place>) {
        if let Some(pair) = pair {
            let new = || Seen { count: 0, first: place() };
            self.pairs.entry(pair).or_insert_with(new).count += 1;
        }
    }

    /// How the labels that were observed are read.
    pub fn detected(&self) -> Detected {
        let outside = self.known_outside();
        let notation = self.notation(&outside);
        if let Some(notation) = notation.as_ref().filter(|notation| self.fits(notation)) {
            return self.with_tags(notation.clone());
        }
        let by_majority = self.majority().and_then(|most| self.notation(&most));
        let is_typed = |notation: &Notation| self.fits(notation) && self.typed(notation) > 0;
        match by_majority.filter(is_typed) {
            Some(notation) => self.with_tags(notation),
            None => self.without_tags(outside, notation),
        }
    }

    /// How the labels of predictions are read, given the labeling of the gold labels. Predictions
    /// may be few and malformed, so they are read like the gold labels unless they clearly have
    /// another scheme.
    pub fn detected_for(&self, gold: &Labeling) -> Detected {
        let own = self.detected();
        let is_like_gold = self.count(|label| !gold.has(label)) == 0;
        let is_clear = own.has_spans && own.illegal.is_empty() && own.strays.is_empty();
        let has_tags = !matches!(gold.scheme, Scheme::Raw | Scheme::Plain);
        match has_tags && (is_clear || !is_like_gold) {
            true => own,
            false => Detected { labeling: gold.clone(), ..own },
        }
    }

    /// Whether all labels but few can be read in a notation.
    fn fits(&self, notation: &Notation) -> bool {
        let total = self.in_spans(&notation.outside);
        let count = self.count(|label| notation.read(label).is_none());
        let is_one = count == 1 && total >= 3;
        total == 0 || count <= total / ONE_IN || is_one
    }

    fn with_tags(&self, notation: Notation) -> Detected {
        let total = self.in_spans(&notation.outside);
        let fits: Vec<(Scheme, u64)> = (self.schemes(&notation).iter())
            .map(|&scheme| (scheme, self.illegal(scheme, &notation).map(|pair| pair.1).sum()))
            .collect();
        let best = (fits.iter().copied())
            .min_by_key(|&(scheme, illegal)| (illegal, self.rank(scheme))) // ties: the first
            .unwrap_or((Scheme::Iob2, 0));
        let illegal = self.illegal(best.0, &notation).map(|((a, b), count, first)| Misfit {
            label: self.labels[if b == END { a } else { b }].0.clone(),
            why: match (a, b) {
                (END, _) => "at the beginning of a sentence".to_owned(),
                (_, END) => "at the end of a sentence".to_owned(),
                _ => format!("after '{}'", self.labels[a].0.escape_debug()),
            },
            count,
            first: first.cloned(),
        });
        let illegal = by_count(illegal.collect());
        let strays = self.misfits(&notation);
        let stray: u64 = strays.iter().map(|stray| stray.count).sum();
        Detected {
            labeling: Labeling { scheme: best.0, strict: best.1 <= total / ONE_IN, notation },
            has_spans: total > stray,
            labels: self.labels.len() - 1,
            strays,
            illegal,
            fits,
            in_spans: total - stray,
            longest: self.longest.clone(),
        }
    }

    /// The number of tokens with a label that fulfills a condition.
    fn count(&self, is_counted: impl Fn(&str) -> bool) -> u64 {
        let counted = self.labels[1..].iter().filter(|(name, _)| is_counted(name));
        counted.map(|(_, seen)| seen.count).sum()
    }

    /// The number of tokens in spans.
    fn in_spans(&self, outside: &str) -> u64 {
        self.count(|label| label != outside)
    }

    /// The number of labels with a tag and a type.
    fn typed(&self, notation: &Notation) -> u64 {
        self.count(|label| notation.read(label).is_some_and(|chunk| !chunk.kind.is_empty()))
    }

    /// The labels, as far as they have a tag.
    fn chunks<'a>(
        &'a self,
        notation: &'a Notation,
    ) -> impl Iterator<Item = ChunkLabel<'a>> + Clone {
        self.labels[1..].iter().filter_map(|(name, _)| notation.read(name))
    }

    /// The label outside of all spans: the choice, or the first one known that occurs.
    fn known_outside(&self) -> Cow<'static, str> {
        if let Some(outside) = &self.outside {
            return outside.clone().into();
        }
        let count = |name: &str| self.count(|label| label == name);
        let known = OUTSIDE.into_iter().filter(|name| count(name) > 0);
        let most = known.max_by_key(|name| count(name));
        most.filter(|_| count("O") == 0).unwrap_or("O").into()
    }

    /// The label without a separator that most tokens have, unless the one outside is known.
    fn majority(&self) -> Option<Cow<'static, str>> {
        let (name, most) = self.labels[1..].iter().max_by_key(|(_, seen)| seen.count)?;
        let tokens = self.count(|_| true);
        let is_candidate = 2 * most.count > tokens && most.count < tokens;
        let is_known = self.outside.is_some() || self.ids.contains_key("O");
        (is_candidate && !is_known && !name.contains(SEPARATORS)).then(|| name.clone().into())
    }

    /// The notation in which the most labels can be read, if some can.
    fn notation(&self, outside: &str) -> Option<Notation> {
        let notation = |letters, place, separator, lowercase| Notation {
            letters,
            place,
            separator,
            lowercase,
            outside: match outside {
                "O" => Cow::Borrowed("O"),
                other => Cow::Owned(other.to_owned()),
            },
        };
        let places = [TagPlace::Prefix, TagPlace::Suffix];
        let cases = places.into_iter().flat_map(|place| [(place, false), (place, true)]);
        let spellings = SEPARATORS.into_iter().flat_map(|separator| {
            cases.clone().map(move |(place, lowercase)| (place, separator, lowercase))
        });
        let mut best = (0, None);
        for (place, separator, lowercase) in spellings {
            for candidate in
                Letters::ALL.map(|letters| notation(letters, place, separator, lowercase))
            {
                let is_read = |label: &str| label != outside && candidate.read(label).is_some();
                let fit = self.count(is_read);
                // Ties: the first, which is the most common.
                if fit > best.0 && self.has_evidence(&candidate) {
                    best = (fit, Some(candidate));
                }
            }
        }
        let all = self.in_spans(outside);
        let first = notation(Letters::Bioes, TagPlace::First, '-', false);
        match best {
            _ if all == 0 => Some(notation(Letters::Bioes, TagPlace::Prefix, '-', false)),
            (fit, _) if fit + all / ONE_IN < all && self.marks_first(&first) => Some(first),
            (_, best) => best,
        }
    }

    /// Whether labels that have tags in a notation are likely to be meant so. Those like `B-PER`
    /// are; of others, one type has two tags, or there is a label outside.
    fn has_evidence(&self, notation: &Notation) -> bool {
        let is_usual =
            notation.separator == '-' && notation.place == TagPlace::Prefix && !notation.lowercase;
        if is_usual || self.ids.contains_key(notation.outside.as_ref()) {
            return true;
        }
        let mut tags: HashMap<&str, &str> = HashMap::new();
        self.chunks(notation).any(|chunk| *tags.entry(chunk.kind).or_insert(chunk.tag) != chunk.tag)
    }

    /// Whether the first tokens of spans alone have tags: each label without one follows one of its
    /// type, with few exceptions, and some do.
    fn marks_first(&self, notation: &Notation) -> bool {
        let (mut legal, mut illegal) = (0, 0);
        for (&(a, b), pair) in self.pairs.iter().filter(|((_, b), _)| *b != END) {
            let read = |i: usize| notation.read(&self.labels[i].0);
            let Some(chunk) = read(b).filter(|chunk| chunk.tag == "I") else {
                continue;
            };
            let continues = read(a).is_some_and(|before| a != END && before.kind == chunk.kind);
            match continues {
                true => legal += pair.count,
                false => illegal += pair.count,
            }
        }
        let has_first = self.chunks(notation).any(|chunk| chunk.tag == "B");
        legal > 0 && illegal <= (legal + illegal) / ONE_IN && has_first
    }

    /// The labels without a tag.
    fn misfits(&self, notation: &Notation) -> Vec<Misfit> {
        let labels = self.labels[1..].iter().filter(|(name, _)| notation.read(name).is_none());
        let strays = labels.map(|(name, seen)| Misfit {
            label: name.clone(),
            why: "not of the scheme".to_owned(),
            count: seen.count,
            first: seen.first.clone(),
        });
        by_count(strays.collect())
    }

    /// The schemes that have the tags of all labels.
    fn schemes(&self, notation: &Notation) -> &'static [Scheme] {
        let mut tags = self.chunks(notation).map(|chunk| chunk.tag);
        let has = |wanted: &[&str]| tags.clone().any(|tag| wanted.contains(&tag));
        match (has(&["E", "S"]), has(&["B"])) {
            _ if notation.place == TagPlace::First => &[Scheme::Iob2],
            (true, _) => &[Scheme::Bioes],
            (false, true) => &[Scheme::Iob1, Scheme::Iob2, Scheme::Bioes],
            (false, false) if notation.letters != Letters::Bioes && tags.next().is_some() => {
                &[Scheme::Bioes]
            }
            (false, false) => &[Scheme::Io, Scheme::Iob1, Scheme::Iob2, Scheme::Bioes],
        }
    }

    /// The pairs of labels that are illegal in a scheme.
    fn illegal(
        &self,
        scheme: Scheme,
        notation: &Notation,
    ) -> impl Iterator<Item = ((usize, usize), u64, Option<&Place>)> {
        let labeling = Labeling { notation: notation.clone(), ..Labeling::from(scheme) };
        let pairs = self.pairs.iter();
        let pairs = pairs.map(|(&pair, seen)| (pair, seen.count, seen.first.as_ref()));
        pairs.filter(move |((a, b), ..)| {
            let name = |i: usize| match i {
                END => labeling.outside(),
                _ => &*self.labels[i].0,
            };
            !may_follow(name(*a), name(*b), &labeling)
        })
    }

    /// What labels without prefixes are; `with_tags` is how the most of them could be read with
    /// some.
    fn without_tags(&self, outside: Cow<'static, str>, with_tags: Option<Notation>) -> Detected {
        let total = self.in_spans(&outside);
        let is_continued =
            |&(a, b): &(usize, usize)| a == b && b != END && self.labels[b].0 != outside;
        let continued = self.pairs.iter().filter(|(pair, _)| is_continued(pair));
        let continued: u64 = continued.map(|(_, seen)| seen.count).sum();
        let outsides = self.count(|label| label == outside);
        let is_tag = |label: &str| label != outside && Notation::CANONICAL.read(label).is_some();
        let has_tag = self.count(is_tag) > 0;
        let is_certain = outside == "O" || self.outside.is_some();
        let are_types = match self.choice {
            _ if has_tag => false,
            PlainLabels::Spans => total > 0,
            PlainLabels::Tags => false,
            PlainLabels::Auto => {
                total > 0
                    && outsides > 0
                    && (outsides >= total || is_certain && 4 * continued >= total)
            }
        };
        let labeling = match are_types {
            true => Labeling {
                notation: Notation { outside, ..Notation::CANONICAL },
                ..Labeling::from(Scheme::Plain)
            },
            false => Labeling::default(),
        };
        let suspicious = with_tags.filter(|notation| {
            let typed = self.typed(notation);
            self.choice == PlainLabels::Auto && typed > 0 && SUSPICIOUS * typed >= total
        });
        Detected {
            labeling,
            has_spans: are_types,
            labels: self.labels.len() - 1,
            strays: suspicious.map_or_else(Vec::new, |notation| self.misfits(&notation)),
            illegal: Vec::new(),
            fits: Vec::new(),
            in_spans: if are_types { total } else { 0 },
            longest: self.longest.clone(),
        }
    }

    /// The rank of a scheme among those that fit equally well. Few known labels may fit several
    /// schemes, of which IOB2 is the most common.
    fn rank(&self, scheme: Scheme) -> u8 {
        match scheme {
            _ if !self.has_partial => 0,
            Scheme::Io => 0,
            Scheme::Iob2 => 1,
            Scheme::Iob1 => 2,
            _ => 3,
        }
    }
}

/// Sorts misfits, the most frequent first; pairs come in the order of a hash map.
fn by_count(mut misfits: Vec<Misfit>) -> Vec<Misfit> {
    misfits.sort_by(|a, b| {
        let names = |misfit: &Misfit| (misfit.label.clone(), misfit.why.clone());
        b.count.cmp(&a.count).then_with(|| names(a).cmp(&names(b)))
    });
    misfits
}

/// Detects the labeling of a corpus from the labels of each sentence.
pub fn detect<L, S>(sentences: impl IntoIterator<Item = L>) -> Labeling
where
    L: AsRef<[S]>,
    S: AsRef<str>,
{
    SchemeDetector::new().after(sentences).detected().labeling
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(sentences: &[&str]) -> Detected {
        let mut detector = SchemeDetector::new();
        for sentence in sentences {
            detector.observe(&sentence.split_whitespace().collect::<Vec<_>>());
        }
        detector.detected()
    }

    fn scheme(sentences: &[&str]) -> Scheme {
        detected(sentences).labeling.scheme
    }

    #[test]
    fn the_scheme_of_a_legal_corpus_is_detected() {
        for (sentences, expected) in [
            (&["O I-X I-X I-Y", "I-X"][..], Scheme::Io),
            (&["O I-X I-X I-Y", "I-X B-X"], Scheme::Iob1),
            (&["O B-X I-X B-Y", "B-X"], Scheme::Iob2),
            (&["B-X"], Scheme::Iob2),
            (&["O B-X E-X S-Y"], Scheme::Bioes),
            (&["S-X"], Scheme::Bioes),
            (&["B I O B"], Scheme::Iob2),
            (&["O O", ""], Scheme::Io),
            (&[], Scheme::Io),
        ] {
            assert_eq!(detected(sentences).labeling, expected, "{sentences:?}");
        }
    }

    #[test]
    fn notations_are_detected() {
        for (sentences, expected) in [
            ("O B_PER I_PER O", "IOB2 written B_X"),
            ("O PER-B PER-I", "IOB2 written X-B"),
            ("o b-per i-per", "IOB2 written b-X, outside 'o'"),
            ("O B-X L-X U-Y", "BILOU"),
            ("O B/X I/X L/X", "BILOU written B/X"),
            ("B M E S S B E", "BMES"),
            ("O B-X M-X E-X W-X", "BMEWO"),
            ("O PER.B PER.I", "IOB2 written X.B"),
            ("O B-X I-X E-X S-Y", "BIOES"),
            ("0 0 B-PER I-PER", "IOB2, outside '0'"),
            ("OUT OUT B-PER I-PER", "IOB2, outside 'OUT'"),
            ("OTHER OTHER B-PER I-PER", "IOB2, outside 'OTHER'"),
            ("_ _ B-PER I-PER", "IOB2, outside '_'"),
            ("<other> <other> B-PER I-PER", "IOB2, outside '<other>'"),
            ("OTHER PER OTHER", "types without prefixes, outside 'OTHER'"),
            ("none none none none B-X I-X", "IOB2, outside 'none'"),
            (
                "<other> I-<title> <title> I-<title> <title> I-<author> <other>",
                "IOB2 written I-X X, outside '<other>'",
            ),
            ("I_A I_A O I_B", "IO written I_X"),
            ("B-NP-SBJ I-NP-SBJ O", "IOB2"),
        ] {
            assert_eq!(detected(&[sentences]).labeling.to_string(), expected, "{sentences}");
        }
    }

    #[test]
    fn where_only_the_first_token_is_marked_it_begins_a_span() {
        let labels = "I-<x> <x> I-<x> <other> I-<y> <y>";
        let labeling = detected(&[labels]).labeling;
        assert_eq!(labeling.spans(&labels.split(' ').collect::<Vec<_>>()).len(), 3);
    }

    #[test]
    fn tags_are_not_spans() {
        for sentence in [
            "DT NN VBZ .",
            "-LRB- NN -RRB-",
            "NN NN NN",
            "S V B E N A P RD",
            "N-S V-B A-E",
            "DET NOUN NOUN NOUN VERB",
            "_ NOUN VERB DET",
            "NN-S VB-S DT JJ-B",
            "B-X NN DT NN",
            "B-X O-X",
            "A A A A B B",
        ] {
            assert_eq!(scheme(&[sentence]), Scheme::Raw, "{sentence}");
        }
        for labels in ["B-X NN I-X VB", "B_X O NN I_X XY"] {
            let warning = &detected(&[labels]).warnings()[0];
            assert!(warning.contains("has no tag such as B-, unlike others"), "{warning}");
        }
        // `O` is the pronoun of the tag set for tweets.
        assert_eq!(scheme(&["O V D N", "N V O", "N N P O"]), Scheme::Raw);
    }

    #[test]
    fn one_stray_label_does_not_hide_the_scheme() {
        for stray in ["\"", "NE-COARSE", "NNP O B-PER"] {
            let mut detector = SchemeDetector::new();
            detector.observe_at(&["O", "B-PER", "I-PER", "O", stray, "O", "B-LOC"], |t| {
                Some(Place::line("x", t as u64 + 1))
            });
            let detected = detector.detected();
            assert_eq!(detected.labeling, Scheme::Iob2);
            let [misfit] = &detected.strays[..] else {
                panic!("{stray}: {:?}", detected.strays);
            };
            assert_eq!((misfit.label.as_str(), misfit.count), (stray, 1));
            assert_eq!(misfit.first, Some(Place::line("x", 5)));
        }
    }

    #[test]
    fn one_illegal_label_in_a_hundred_does_not_hide_the_scheme() {
        let mut detector = SchemeDetector::new();
        for _ in 0..99 {
            detector.observe(&["B-X", "I-X"]);
        }
        detector.observe(&["B-X", "I-Y"]);
        let detected = detector.detected();
        assert_eq!(detected.labeling, Scheme::Iob2);
        assert_eq!(detected.illegal.len(), 1);
        assert_eq!(detected.illegal[0].why, "after 'B-X'");
        for _ in 0..2 {
            detector.observe(&["O", "I-Y"]);
        }
        let detected = detector.detected();
        assert_eq!(detected.labeling.to_string(), "IOB2, not strictly");
        assert!(detected.has_spans);
    }

    #[test]
    fn what_is_illegal_is_always_said_in_the_same_order() {
        let mut corpus = vec!["B-X I-X"; 200];
        corpus.extend(["O I-X", "I-X"]);
        for _ in 0..20 {
            let illegal = detected(&corpus).illegal;
            let whys: Vec<&str> = illegal.iter().map(|misfit| &*misfit.why).collect();
            assert_eq!(whys, ["after 'O'", "at the beginning of a sentence"]);
        }
    }

    #[test]
    fn a_long_sentence_with_one_error_does_not_make_all_schemes_alike() {
        let long = ["B-X I-X O"; 200].join(" ") + " I-X";
        assert_eq!(scheme(&[&long]), Scheme::Iob2);
    }

    #[test]
    fn partial_labels_reveal_the_scheme_too() {
        let scheme = |sentences: &[&str]| {
            let mut detector = SchemeDetector::new();
            for sentence in sentences {
                let set = |cell: &str| -> Vec<String> {
                    let labels = cell.split('|').filter(|&label| label != "_");
                    labels.map(str::to_owned).collect()
                };
                let sets: Vec<Vec<String>> = sentence.split(' ').map(set).collect();
                detector.observe_partial(&sets, |_| None);
            }
            detector.detected().labeling.scheme
        };
        assert_eq!(scheme(&["_ I-X _", "B-X _ _"]), Scheme::Iob2);
        assert_eq!(scheme(&["O B-X _ O"]), Scheme::Iob2);
        assert_eq!(scheme(&["O I-X _ B-Y|B-X"]), Scheme::Iob1);
        assert_eq!(scheme(&["_ E-X _", "B-X _ _"]), Scheme::Bioes);
        assert_eq!(scheme(&["_ I-X _", "_ O"]), Scheme::Io);
        assert_eq!(scheme(&["_ NN _", "B-X O"]), Scheme::Raw);
        assert_eq!(scheme(&["O PERSON O", "_ PERSON|O O"]), Scheme::Plain);
    }

    #[test]
    fn types_without_prefixes_have_much_outside_or_long_spans() {
        assert_eq!(scheme(&["O PERSON O", "LOCATION O"]), Scheme::Plain);
        assert_eq!(scheme(&["NP NP VP NP NP O"]), Scheme::Plain);
    }

    #[test]
    fn a_choice_is_kept() {
        let with = |choice, labels: &str| {
            let mut detector = SchemeDetector::new().with_plain_labels(choice);
            detector.observe(&labels.split(' ').collect::<Vec<_>>());
            detector.detected().labeling.scheme
        };
        assert_eq!(with(PlainLabels::Spans, "NP VP"), Scheme::Plain);
        assert_eq!(with(PlainLabels::Tags, "O PERSON O"), Scheme::Raw);
        let outside = Some("NIL".to_owned());
        let mut detector = SchemeDetector::new().with_outside(outside);
        detector.observe(&["B-X", "NIL", "I-X"]);
        assert_eq!(detector.detected().labeling.outside(), "NIL");
        let types = SchemeDetector::new().with_plain_labels(PlainLabels::Spans);
        let types = types.with_outside(Some("NIL".to_owned())).after([["X", "X", "Y", "NIL"]]);
        assert_eq!(types.detected().labeling.spans(&["X", "X", "Y", "NIL"]).len(), 2);
    }

    #[test]
    fn predictions_are_read_like_gold_labels_unless_they_clearly_have_another_scheme() {
        let of = |labels: &str, gold: Scheme| {
            let mut detector = SchemeDetector::new();
            detector.observe(&labels.split(' ').collect::<Vec<_>>());
            detector.detected_for(&gold.into()).labeling.scheme
        };
        assert_eq!(of("B-X B-X E-X I-X", Scheme::Bioes), Scheme::Bioes);
        assert_eq!(of("B-X I-X O", Scheme::Bioes), Scheme::Iob2);
        assert_eq!(of("S-X O", Scheme::Iob2), Scheme::Bioes);
        assert_eq!(of("PER PER", Scheme::Plain), Scheme::Plain);
        assert_eq!(of("O O PER", Scheme::Raw), Scheme::Raw);
    }
}

//! Bundles: what they contain, and that their keys determine their attributes.

use std::collections::HashMap;

use super::*;
use crate::template::{BundleKey, BundleSink};

/// The lines that CRFsuite's example for chunking has, and lines that cannot be bundled.
const TEMPLATE: &str = "\
bias
word[-1]
word[0]
suffix(1)
word[0] & word[+1]
pos[-2]
pos[-1]
pos[0]
pos[+1]
pos[-2] & pos[-1]
pos[0] & pos[+1]
pos[+1] & pos[+3]
pos[-1] & pos[0] & pos[+1]
pos[0] & word[0]
pos[0] & pos[+3]
pos[0] if word == \"new\"
edge: pos[0]
";

const ROWS: [&str; 5] = [
    "a D\nnew J\ncar N",
    "a D\nold J\ncar N",
    "a D\ncar N",
    "old J\nnew J\ncars N\nsell V\na D\nnew J\ncar N",
    "New J",
];

/// Memoizes the attributes of bundles by key, as a tagger does with their sums.
#[derive(Default)]
struct Bundles {
    generation: u64,
    keys: Vec<BundleKey>,
    started: usize,
    known: HashMap<[u32; 4], Vec<String>>,
    current: Option<BundleKey>,
    /// The attributes of the bundle that is asked for.
    bundle: Vec<String>,
    /// Those of the token.
    token: Collected,
}

impl AttributeSink for Bundles {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        match self.current {
            Some(_) => self.bundle.push(format_attribute(attribute, value)),
            None => self.token.node(attribute, value),
        }
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        assert_eq!(self.current, None);
        self.token.edge(attribute, value);
    }
}

impl BundleSink for Bundles {
    fn start_sentence(&mut self, generation: u64, keys: &[BundleKey]) {
        if self.generation != generation {
            self.known.clear();
            self.generation = generation;
        }
        self.keys = keys.to_vec();
        self.started = 0;
    }

    fn start_bundle(&mut self, index: usize, key: BundleKey) -> bool {
        assert_eq!(index, self.started);
        assert_eq!(self.keys[index], key);
        self.started += 1;
        if let Some(attributes) = self.known.get(&key.0) {
            self.token.node.extend_from_slice(attributes);
            return false;
        }
        self.current = Some(key);
        true
    }

    fn end_bundle(&mut self) {
        let key = self.current.take().expect("a bundle that has started");
        let attributes = std::mem::take(&mut self.bundle);
        self.token.node.extend_from_slice(&attributes);
        self.known.insert(key.0, attributes);
    }
}

#[test]
fn bundles_give_the_attributes_of_each_token() {
    let template = parse(TEMPLATE).unwrap();
    let sentences = ROWS.map(|rows| table("word pos", None, rows));
    let extractor = template.bind(sentences[0].schema()).unwrap();
    let (mut ws, mut sink) = (Workspace::default(), Bundles::default());
    let mut bundles = 0;
    for round in 0..3 {
        // In another order, so that cells have other numbers after they were dropped.
        for sentence in sentences.iter().cycle().skip(round).take(sentences.len()) {
            extractor.prepare(sentence, &mut ws).unwrap();
            extractor.start_bundles(&mut ws, &mut sink);
            for t in 0..sentence.len() {
                sink.token = Collected::default();
                extractor.extract_bundles(t, &mut ws, &mut sink);
                let mut found = std::mem::take(&mut sink.token);
                let mut expected = collect(&template, sentence, t);
                found.node.sort();
                expected.node.sort();
                assert_eq!(found.node, expected.node);
                assert_eq!(found.edge, expected.edge);
            }
            assert_eq!(sink.started, sink.keys.len());
            bundles += sink.started;
        }
        // Another generation.
        ws.clear();
    }
    // Three at each of 16 tokens: the word, the parts of speech from -1 to +1, and from -2 to -1.
    assert_eq!(bundles, 3 * 16 * 3);
}

#[test]
fn lines_that_read_the_same_cells_are_bundled() {
    let bundles = |template: &str| {
        let extractor = parse(template).unwrap();
        let sentence = table("word pos", None, ROWS[3]);
        let extractor = extractor.bind(sentence.schema()).unwrap();
        let (mut ws, mut sink) = (Workspace::default(), Bundles::default());
        extractor.prepare(&sentence, &mut ws).unwrap();
        extractor.start_bundles(&mut ws, &mut sink);
        for t in 0..sentence.len() {
            extractor.extract_bundles(t, &mut ws, &mut sink);
        }
        let mut bundles: Vec<[u32; 4]> = sink.known.keys().copied().collect();
        bundles.sort_unstable();
        let per_token = sink.keys.len() / sentence.len();
        (per_token, bundles.len())
    };
    // `new` and its neighbors recur, but not with the same cells further away.
    assert_eq!(bundles("word\nlower\nshape(collapsed)"), (1, 6));
    assert_eq!(bundles("pos[-1]\npos[0]\npos[-1] & pos[0]"), (1, 6));
    assert_eq!(bundles("pos[-2]\npos[0]\npos[-2] & pos[0]"), (1, 7));
    assert_eq!(bundles("pos[0]\npos[0] & pos[+2]"), (1, 7));
    // Single lines, windows of words, and what depends on more than a window.
    assert_eq!(bundles("word\nword[-1]\nword & word[-1]"), (0, 0));
    assert_eq!(bundles("pos[0] & pos[+3]\npos[0] & pos[+3] & pos[+1]"), (0, 0));
    assert_eq!(bundles("pos[0] & word\npos[0] & lower"), (0, 0));
    assert_eq!(bundles("u1:%x[@0,1]\nu2:%x[@0,1]"), (0, 0));
    assert_eq!(bundles("edge: pos[0]\nedge: pos[-1] & pos[0]"), (0, 0));
    let conditional = "pos[0] if word == \"new\"\npos[-1] & pos[0] if word == \"new\"";
    assert_eq!(bundles(conditional), (0, 0));
}

//! Sums over bundles of attributes against plain sums, and against themselves in any order of
//! sentences.

use super::*;
use crate::model::CorpusColumns;
use crate::model::columns::LabelSource;

const TEMPLATE: &str = "word\nlower\nword[-1]\npos[-1]\npos[0]\npos[+1]\npos[-1] & pos[0]\n\
                        pos[0] & pos[+1]\npos[-1] & pos[0] & pos[+1]\npos[0] & word[0]";

const COLUMNS: [&str; 2] = ["word", "pos"];

const TAGGED: [&[[&str; 2]]; 4] = [
    &[["a", "D"], ["C", "N"], ["b", "V"], ["a", "D"], ["C", "N"]],
    &[["C", "N"]],
    &[["A", "D"], ["b", "J"], ["C", "N"], ["b", "V"]],
    &[["b", "V"], ["b", "J"], ["c", "N"], ["?", "?"]],
];

fn weights() -> NamedWeights {
    let names = "\
        word[0]=a word[0]=b word[0]=C lower[0]=a lower[0]=c word[-1]=a pos[-1]=D pos[0]=N \
        pos[0]=V pos[+1]=V pos[-1]|pos[0]=D|N pos[0]|pos[+1]=J|N pos[-1]|pos[0]|pos[+1]=D|N|V \
        pos[-1]|pos[0]|pos[+1]=D|J|N pos[0]|word[0]=D|a";
    let weight = |i: usize, b: u32| (i as f64 + 3.7 * f64::from(b)).sin() / 3.0;
    let row = |i: usize| (0..3).map(|b| (b, weight(i, b))).collect();
    names.split(' ').enumerate().map(|(i, name)| (name, row(i))).collect()
}

fn bundled() -> Tagger {
    let header = Header {
        columns: CorpusColumns {
            names: vec!["word".to_owned(), "pos".to_owned(), "ner".to_owned()],
            label: LabelSource::Column(2),
            ..CorpusColumns::default()
        },
        ..double(TEMPLATE)
    };
    Tagger::new(model(header, &weights(), &NamedWeights::new()))
}

fn sentence(cells: &[[&str; 2]]) -> Sentence {
    let schema = Schema::new(COLUMNS.map(str::to_owned).to_vec(), None).unwrap();
    let mut sentence = Sentence::new(Arc::new(schema), "x");
    for (line, cells) in (1..).zip(cells) {
        sentence.push(cells.iter().copied(), line).unwrap();
    }
    sentence
}

/// The node scores of token `t`, from the definition.
fn scores(cells: &[[&str; 2]], t: usize) -> [f64; 3] {
    let cell = |column: usize, offset: i64| {
        let position = usize::try_from(t as i64 + offset).ok();
        position.and_then(|i| cells.get(i)).map(|cells| cells[column])
    };
    let sequence = |offsets: &[i64]| {
        let name = |offset: &i64| match offset {
            0 => "pos[0]".to_owned(),
            offset => format!("pos[{offset:+}]"),
        };
        let names: Vec<String> = offsets.iter().map(name).collect();
        let values: Option<Vec<&str>> = offsets.iter().map(|&o| cell(1, o)).collect();
        values.map(|values| format!("{}={}", names.join("|"), values.join("|")))
    };
    let [word, pos] = cells[t];
    let mut names = vec![
        format!("word[0]={word}"),
        format!("lower[0]={}", word.to_lowercase()),
        format!("pos[0]|word[0]={pos}|{word}"),
    ];
    names.extend(cell(0, -1).map(|word| format!("word[-1]={word}")));
    for offsets in [&[-1][..], &[0], &[1], &[-1, 0], &[0, 1], &[-1, 0, 1]] {
        names.extend(sequence(offsets));
    }
    let mut scores = [0.0; 3];
    for (name, row) in weights() {
        if names.iter().any(|other| other == name) {
            for (b, weight) in row {
                scores[b as usize] += weight;
            }
        }
    }
    scores
}

/// Compares the node scores of a sentence with those from the definition.
fn check_scores(tagger: &Tagger, cells: &[[&str; 2]]) {
    let sentence = sentence(cells);
    let workspace = &mut Workspace::default();
    let options = TagOptions::default();
    let computed = tagger.scores_given(&sentence, &Condition::new(), options, workspace);
    for (t, found) in computed.unwrap().nodes.chunks_exact(crate::chain::padded(3)).enumerate() {
        for (found, expected) in found.iter().zip(scores(cells, t)) {
            assert_close(*found, expected);
        }
    }
}

#[test]
fn scores_are_the_sums_of_the_weights() {
    let tagger = bundled();
    for cells in TAGGED {
        check_scores(&tagger, cells);
    }
}

#[test]
fn bits_do_not_depend_on_earlier_sentences() {
    let tagger = bundled();
    let fresh = TAGGED.map(|cells| {
        let mut workspace = Workspace::default();
        tagger.tag_with(&sentence(cells), EVERYTHING, &mut workspace).unwrap()
    });
    let mut workspace = Workspace::default();
    for i in [0, 1, 2, 3, 2, 0, 3, 1, 0, 2] {
        let again = tagger.tag_with(&sentence(TAGGED[i]), EVERYTHING, &mut workspace);
        assert_eq!(again.unwrap(), fresh[i]);
    }
}

#[test]
fn long_sentences_are_summed_without_bundles() {
    let cells: Vec<[&str; 2]> = TAGGED.concat().into_iter().cycle().take(1001).collect();
    check_scores(&bundled(), &cells);
}

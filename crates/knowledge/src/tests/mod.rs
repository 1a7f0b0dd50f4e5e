//! Tests on files in a temporary directory.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use super::*;
use crate::cluster::{Clusters, InternedText};
use dropchain::sentence::Sentence;
use dropchain::template::{Attribute, AttributeSink, Workspace};

const TEXT: &str = "the cat sat . the dog sat . a cat ran . a dog ran . the dog ran .\n";

struct Names(Vec<String>);

impl AttributeSink for Names {
    fn node(&mut self, attribute: &Attribute<'_>, value: f64) {
        let mut name = Vec::new();
        attribute.write(&mut name);
        let name = String::from_utf8(name).unwrap();
        self.0.push(format!("{name}:{value}"));
    }

    fn edge(&mut self, _: &Attribute<'_>, _: f64) {}
}

/// Returns the attributes of token `t` of a sentence.
fn attributes(template: &Template, sentence: &str, t: usize) -> Vec<String> {
    let sentence = Sentence::from_words(sentence.split(' '));
    let extractor = template.bind(sentence.schema()).unwrap();
    let (mut workspace, mut names) = (Workspace::default(), Names(Vec::new()));
    extractor.prepare(&sentence, &mut workspace).unwrap();
    extractor.extract(&sentence, t, &mut workspace, &mut names);
    names.0
}

/// Files in a temporary directory.
struct Files(tempfile::TempDir);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(directory)
    }

    fn paths(&self, names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(|name| self.0.path().join(name)).collect()
    }
}

fn read(files: &KnowledgeFiles) -> Result<Knowledge> {
    let options = KnowledgeOptions { clusters: 3, ..KnowledgeOptions::default() };
    Knowledge::read(files, &options, &mut |_| ())
}

fn base() -> Template {
    "word\n".parse().unwrap()
}

#[test]
fn clusters_of_text_are_those_that_the_command_learns() {
    let files = Files::new(&[("a.txt", TEXT), ("b.conll", "the O\ncat O\n\nran O\n")]);
    let knowledge = read(&KnowledgeFiles {
        clusters: files.paths(&["a.txt", "b.conll"]),
        ..KnowledgeFiles::default()
    });
    let knowledge = knowledge.unwrap();
    let mut text = InternedText::default();
    for sentence in TEXT.trim().split_inclusive(" . ").map(str::trim) {
        text.add(sentence.split(' ')).unwrap();
    }
    text.add(["the", "cat"]).unwrap();
    text.add(["ran"]).unwrap();
    let expected = Clusters::learn(text, 3, 1, &mut |_, _| ()).unwrap();
    let [part] = &knowledge.parts[..] else {
        panic!("one clustering");
    };
    assert_eq!(part.text, cluster_lines(&expected.text(), "c").unwrap());
    assert_eq!(part.name, "a.txt");
    assert_eq!((part.clusters, part.words, part.tokens), (Some(3), Some(7), Some(23)));
    assert_eq!(part.files.len(), 2);
}

#[test]
fn files_of_all_kinds_add_lines_that_say_where_they_come_from() {
    let files = Files::new(&[
        ("paths", "011010110101\tRome\t3\n1\tin\t9\n"),
        ("v.txt", "2 2\nRome 3 4\nin 0 0\n"),
        ("g.txt", "New York\nRome\n"),
    ]);
    let knowledge = read(&KnowledgeFiles {
        clusters: files.paths(&["paths"]),
        vectors: files.paths(&["v.txt"]),
        gazetteers: files.paths(&["g.txt"]),
    })
    .unwrap();
    let template = knowledge.attach(&base()).unwrap();
    // The root mean square of the components is 2.5.
    assert_eq!(
        attributes(&template, "Rome", 0),
        [
            "word[0]=Rome:1",
            "cluster(\"paths\", 4, 6, 10, 20)[0]=0110:1",
            "cluster(\"paths\", 4, 6, 10, 20)[0]=011010:1",
            "cluster(\"paths\", 4, 6, 10, 20)[0]=0110101101:1",
            "cluster(\"paths\", 4, 6, 10, 20)[0]=011010110101:1",
            "vector(\"v.txt\", first(50000), scale(0.2))[0]=0:0.6000000000000001",
            "vector(\"v.txt\", first(50000), scale(0.2))[0]=1:0.8",
            "lexicon(\"g.txt\")[0]=S:1",
            "lexicon(\"g.txt\", lower)[0]=S:1",
        ]
    );
    let neighbors = attributes(&template, "Rome x Rome", 1);
    assert!(neighbors.contains(&"cluster(\"paths\", 4, 6, 10, 20)[-1]=0110:1".to_owned()));
    assert!(neighbors.contains(&"lexicon(\"g.txt\")[+1]=S:1".to_owned()));
    for part in &knowledge.parts {
        assert!(template.source().contains(&part.description()), "{part:?}");
    }
    let stored = serde_json::to_string(&template).unwrap();
    let restored: Template = serde_json::from_str(&stored).unwrap();
    assert_eq!(attributes(&restored, "Rome", 0), attributes(&template, "Rome", 0));
}

#[test]
fn files_of_other_programs_are_recognized_and_may_be_compressed() {
    let json = r#"{"1": {"id": 1, "name": "New York"}, "2": {"id": 2, "name": "Rome"}}"#;
    let files = Files::new(&[
        ("en.json", "{\n  \"Rome\": 5,\n  \"of\": 0\n}"),
        ("cities.json", json),
        ("names", "SMITH 1.006 1.006 1\n"),
    ]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&fs::read(files.0.path().join("en.json")).unwrap()).unwrap();
    fs::write(files.0.path().join("en.json.gz"), encoder.finish().unwrap()).unwrap();
    let given = KnowledgeFiles {
        clusters: files.paths(&["en.json.gz"]),
        gazetteers: files.paths(&["cities.json", "names"]),
        ..KnowledgeFiles::default()
    };
    let template = read(&given).unwrap().attach(&base()).unwrap();
    assert_eq!(
        attributes(&template, "Rome", 0)[1..3],
        ["cluster(\"en.json.gz\", 4, 6, 10, 20)[0]=101:1", "lexicon(\"cities.json\")[0]=S:1"]
    );
    let found = attributes(&template, "Smith", 0);
    assert!(found.contains(&"lexicon(\"names\")[0]=S:1".to_owned()), "{found:?}");
    let sizes: Vec<_> = template.files().map(|(_, bytes)| bytes).collect();
    assert_eq!(sizes, ["101\tRome\n".len(), "New York\nRome\n".len(), "SMITH\nSmith\n".len()]);
    let stored = serde_json::to_string(&template).unwrap();
    let restored: Template = serde_json::from_str(&stored).unwrap();
    assert_eq!(attributes(&restored, "Smith", 0), found);

    let mut options = KnowledgeOptions::default();
    options.read.limits.memory = dropchain::MemoryLimit::Bytes(100);
    let over = Knowledge::read(&given, &options, &mut |_| ()).unwrap_err().to_string();
    assert!(over.contains("cities.json: about") && over.contains("fewer words"), "{over}");
}

#[test]
fn files_of_the_same_name_have_attributes_of_their_own() {
    let files = Files::new(&[
        ("a/c", "0\tRome\t3\n1\tin\t9\n"),
        ("b/c", "1\tRome\t3\n0\tin\t9\n"),
        ("c", "Rome\n"),
    ]);
    let knowledge = read(&KnowledgeFiles {
        clusters: files.paths(&["a/c", "b/c"]),
        gazetteers: files.paths(&["c"]),
        ..KnowledgeFiles::default()
    })
    .unwrap();
    let template = knowledge.attach(&base()).unwrap();
    let found = attributes(&template, "Rome", 0);
    for expected in [
        "cluster(\"c\", 4, 6, 10, 20)[0]=0:1",
        "cluster(\"c#2\", 4, 6, 10, 20)[0]=1:1",
        "lexicon(\"c#3\")[0]=S:1",
    ] {
        assert!(found.contains(&expected.to_owned()), "{expected}: {found:?}");
    }
}

#[test]
fn errors_name_what_was_found() {
    let files = Files::new(&[
        ("text.txt", TEXT),
        ("bad", "0110\tthe\t1\n011\ta\t1\n"),
        ("v.txt", "a 1 2\nb 1\n"),
    ]);
    let error = |result: Result<Knowledge>| {
        result.and_then(|knowledge| knowledge.attach(&base())).unwrap_err().to_string()
    };
    let clusters = |names: &[&str]| KnowledgeFiles {
        clusters: files.paths(names),
        ..KnowledgeFiles::default()
    };
    assert!(error(read(&clusters(&["none.txt"]))).contains("none.txt"));
    assert!(error(read(&clusters(&[]).with_vectors(files.paths(&["v.txt"])))).contains("v.txt:2"));
    let mut options = KnowledgeOptions { clusters: 1, ..KnowledgeOptions::default() };
    let text = clusters(&["text.txt"]);
    let few = Knowledge::read(&text, &options, &mut |_| ());
    assert_eq!(error(few), "1 clusters; expected 2 to 10000");
    options.clusters = 3;
    options.read.limits.memory = dropchain::MemoryLimit::Bytes(1);
    let over = error(Knowledge::read(&text, &options, &mut |_| ()));
    assert!(over.contains("text.txt:1") && over.contains("memory"), "{over}");
    let stdin = KnowledgeFiles { clusters: vec!["-".into()], ..KnowledgeFiles::default() };
    assert!(error(read(&stdin)).contains("expected a file"));

    let knowledge = read(&clusters(&["bad"])).unwrap();
    let attached = knowledge.attach(&base()).unwrap();
    let twice = knowledge.attach(&attached).unwrap_err().to_string();
    assert_eq!(
        twice,
        "the template reads a file 'bad' already; expected clusters of another name, or none"
    );
    let patterns = "U00:%x[0,0]\n".parse().unwrap();
    let patterns = knowledge.attach(&patterns).unwrap_err().to_string();
    assert!(patterns.contains("dropchain's own language"), "{patterns}");
}

impl KnowledgeFiles {
    fn with_vectors(self, vectors: Vec<PathBuf>) -> Self {
        Self { vectors, ..self }
    }
}

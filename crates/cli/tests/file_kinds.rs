//! The same file is the same to every command: read alike, or refused with the same words.

use crate::support::TestDir;

const TRAIN: &str = "--template minimal --l2 0.01 --dropout 0 --max-iterations 1";

/// Two sentences of three tokens.
const COLUMNS: &str = "Mira PROPN\nran VERB\n. PUNCT\n\nKai PROPN\nsat VERB\n. PUNCT\n";

fn dir() -> TestDir {
    TestDir::trained(&[("train.conll", COLUMNS)], &format!("train train.conll --model m {TRAIN}"))
}

/// CoNLL-U of the same sentences, with a range and an empty node.
fn conllu() -> String {
    let row = |(i, line): (usize, &str)| match line.split_once(' ') {
        Some((word, tag)) => format!("{}\t{word}\t_\t{tag}\t_\t_\t0\troot\t_\t_", i % 4 + 1),
        None => String::new(),
    };
    let rows: Vec<String> = COLUMNS.lines().enumerate().map(row).collect();
    let range = format!("1-2\tMiran{}", "\t_".repeat(8));
    let node = format!("3.1\tx{}", "\t_".repeat(8));
    format!(
        "# text = Mira ran.\n{range}\n{}\n{node}\n{}\n",
        rows[..3].join("\n"),
        rows[3..].join("\n")
    )
}

#[test]
fn a_file_is_read_alike_by_every_command() {
    let dir = dir();
    let csv = "sentence,word,upos\n1,Mira,PROPN\n1,ran,VERB\n1,.,PUNCT\n2,Kai,PROPN\n2,sat,VERB\n\
               2,.,PUNCT\n";
    let jsonl = "{\"tokens\": [\"Mira\", \"ran\", \".\"], \"labels\": [\"PROPN\", \"VERB\", \
                 \"PUNCT\"]}\n{\"tokens\": [\"Kai\", \"sat\", \".\"], \"labels\": [\"PROPN\", \
                 \"VERB\", \"PUNCT\"]}\n";
    for (name, text) in [
        ("columns.data", COLUMNS),
        ("tree.data", &conllu()),
        ("tree.conll", &conllu()),
        ("lines.data", jsonl),
        ("sheet.data", csv),
        ("sheet.tsv", &csv.replace(',', "\t")),
        ("sheet.csv", &csv.replace(',', ";")),
    ] {
        dir.write(name, text);
        let train = dir.run(&format!("train {name} --model new-{name} {TRAIN}"));
        assert!(train.stderr.contains("\n2 sentences, 6 tokens"), "{name}: {}", train.stderr);
        train.success();
        dir.run(&format!("train {name} --dev {name} --model dev-{name} {TRAIN}")).success();
        let tune = format!("tune {name} --dev {name} --l2 1 --dropout 0 --max-iterations 1");
        dir.run(&format!("{tune} --template minimal --model tuned-{name}")).success();
        let checked = dir.run(&format!("check {name} --json")).json();
        let sizes = &checked["sizes"][0];
        assert_eq!(
            (sizes["sentences"].as_u64(), sizes["tokens"].as_u64()),
            (Some(2), Some(6)),
            "{name}"
        );
        for scored in [
            dir.run(&format!("eval new-{name} {name} --json")),
            dir.run_with_stdin(&format!("eval new-{name} - --json"), text),
        ] {
            let scores = scored.json();
            let counts = (scores["sentences"].as_u64(), scores["tokens"].as_u64());
            assert_eq!(counts, (Some(2), Some(6)), "{name}");
        }
        let tagged = dir.run(&format!("tag new-{name} {name} --output jsonl --quiet")).json_lines();
        let words = |i: usize| tagged[i]["tokens"].as_array().unwrap().clone();
        assert_eq!(
            (tagged.len(), words(0).len(), words(1)[0].as_str()),
            (2, 3, Some("Kai")),
            "{name}"
        );
    }
}

#[test]
fn a_file_of_another_kind_is_refused_with_the_same_words() {
    let dir = dir();
    for (name, text, expected) in [
        ("marks.data", "<START:person> Mira <END> ran .\n", "looks like OpenNLP's text"),
        ("brackets.data", "[PER Mira] ran .\n[PER Kai] sat .\n", "which `tag` writes for people"),
        ("array.data", "[{\"text\": \"a\", \"spans\": []}]\n", "--format spans reads it"),
        ("table.data", "PAR1\u{15}\u{4}\u{15}\n", "no text, but a Parquet table"),
        ("text.data", "Mira ran.\nKai sat down in Oslo.\n", "looks like running text"),
    ] {
        dir.write(name, text);
        for line in [
            format!("train {name} --model new {TRAIN} --quiet"),
            format!("train train.conll --dev {name} --model new {TRAIN} --quiet"),
            format!(
                "tune {name} --folds 2 --l2 1 --dropout 0 --template minimal --model new --quiet"
            ),
            format!("eval m {name}"),
        ] {
            let said = dir.run(&line).failure();
            assert!(said.contains(expected), "{line}: {said}");
        }
        let checked = dir.run(&format!("check {name}"));
        let said = format!("{}{}", checked.stdout, checked.stderr);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" "); // lines are wrapped
        assert!(said.contains(expected), "{said}");
        let tagged = dir.run(&format!("tag m {name}"));
        match name {
            "text.data" => assert_eq!(tagged.success().lines().filter(|l| l.is_empty()).count(), 2),
            _ => assert!(tagged.stderr.contains(expected), "{name}: {}", tagged.stderr),
        }
    }
    std::fs::create_dir(dir.path("folder")).unwrap();
    let said = dir.run(&format!("train folder --model new {TRAIN} --quiet")).failure();
    let expected = "folder: is a folder; expected files, such as folder/*.txt (--format brat";
    assert!(said.contains(expected), "{said}");
    let said = dir.run("tag m folder").failure();
    assert!(said.contains("folder: this folder has no files"), "{said}");
}

//! The same file is the same to every command. Those that all refuse are in `golden/formats.txt`.

use crate::support::TestDir;

const TRAIN: &str = "--template minimal --l2 0.01 --dropout 0 --max-iterations 1";

/// Two sentences of three tokens.
const COLUMNS: &str = "Mira PROPN\nran VERB\n. PUNCT\n\nKai PROPN\nsat VERB\n. PUNCT\n";

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
    let dir = TestDir::new(&[]);
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
        let train = dir.run(&format!("train {name} --dev {name} --model m {TRAIN}"));
        assert!(train.stderr.contains("\n2 sentences, 6 tokens"), "{name}: {}", train.stderr);
        train.success();
        let checked = dir.run(&format!("check {name} --json")).json();
        let sizes = &checked["sizes"][0];
        assert_eq!(
            (sizes["sentences"].as_u64(), sizes["tokens"].as_u64()),
            (Some(2), Some(6)),
            "{name}"
        );
        for scored in
            [dir.run(&format!("eval m {name} --json")), dir.run_with_stdin("eval m - --json", text)]
        {
            let scores = scored.json();
            let counts = (scores["sentences"].as_u64(), scores["tokens"].as_u64());
            assert_eq!(counts, (Some(2), Some(6)), "{name}");
        }
        let tagged = dir.run(&format!("tag m {name} --output jsonl --quiet")).json_lines();
        let words = |i: usize| tagged[i]["tokens"].as_array().unwrap().clone();
        assert_eq!(
            (tagged.len(), words(0).len(), words(1)[0].as_str()),
            (2, 3, Some("Kai")),
            "{name}"
        );
    }
}

//! Stored templates, with their files and known words.

use super::*;

fn restored(template: &Template) -> Template {
    let text = serde_json::to_string(template).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_restored_template_has_its_files_and_known_words() {
    let mut template = parse("lexicon(\"names.txt\")\nshape(dan2)").unwrap();
    let sentence = words("New York is known");
    template.learn(std::iter::once(&words("is it new")));
    let before = collect(&template, &sentence, 0).node;
    assert_eq!(before, ["lexicon(\"names.txt\")[0]=B", "shape(dan2)[0]=Xx:3k"]);
    let template = restored(&template);
    assert_eq!(collect(&template, &sentence, 0).node, before);
    assert_eq!(template.source(), "lexicon(\"names.txt\")\nshape(dan2)");
}

#[test]
fn only_the_vectors_that_are_read_are_stored() {
    let template =
        parse("vector(\"vectors.txt\", first(1))\nvector(\"vectors.txt\", first(2))").unwrap();
    assert_eq!(&*template.stored.files[0].1, "3 2\nin 0.5 -1\nRome 2 0\n");
    let before = collect(&template, &words("Rome"), 0).node;
    assert_eq!(before, ["vector(\"vectors.txt\", first(2))[0]=0:2"]);
    assert_eq!(collect(&restored(&template), &words("Rome"), 0).node, before);
}

#[test]
fn storing_is_deterministic() {
    let mut template = parse("shape(chris2)").unwrap();
    template.learn(std::iter::once(&words("d c b a")));
    let text = serde_json::to_string(&template).unwrap();
    assert!(text.contains("[\"a\",\"b\",\"c\",\"d\"]"), "{text}");
}

#[test]
fn bincode_round_trips_a_template() {
    let template = parse("word\nlexicon(\"names.txt\")").unwrap();
    let config = bincode::config::standard();
    let bytes = bincode::serde::encode_to_vec(&template, config).unwrap();
    let (back, _): (Template, usize) = bincode::serde::decode_from_slice(&bytes, config).unwrap();
    assert_eq!(back.source(), template.source());
}

#[test]
fn a_damaged_template_is_an_error() {
    let text = serde_json::to_string(&parse("word\nlexicon(\"names.txt\")").unwrap()).unwrap();
    for (good, bad, expected) in [
        ("word", "wor(1)", "t.tpl:1:1: there is no function 'wor'"),
        (
            "[\"names.txt\"",
            "[\"other.txt\"",
            "t.tpl:2:9: cannot read 'names.txt': the file is not stored with the template",
        ),
        ("New York\\nParis", "\\n", "names.txt: the lexicon is empty"),
    ] {
        let damaged = text.replacen(good, bad, 1);
        let error = serde_json::from_str::<Template>(&damaged).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

#[test]
fn learning_replaces_what_was_learned() {
    let mut template = parse("shape(dan2)").unwrap();
    template.learn(std::iter::once(&words("the end")));
    template.learn(std::iter::once(&words("an end")));
    assert_eq!(collect(&template, &words("The"), 0).node, ["shape(dan2)[0]=Xx:3"]);
    assert_eq!(collect(&template, &words("An"), 0).node, ["shape(dan2)[0]=Xx:2k"]);
}

#[test]
fn templates_without_stanford_shapes_learn_nothing() {
    let mut template = parse("shape(collapsed)").unwrap();
    template.learn(std::iter::once(&words("the end")));
    assert!(template.stored.known_words.is_empty());
}

#[test]
fn file_names_are_relative_to_the_template() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.tpl");
    std::fs::write(&path, "lexicon(\"lists/names.txt\")").unwrap();
    let place = path.display();
    let list = folder.path().join("lists/names.txt");
    let error = Template::read(&path).unwrap_err().to_string();
    let expected = format!("{place}:1:9: cannot read '{}': No such file", list.display());
    assert!(error.starts_with(&expected), "{error}");
    std::fs::create_dir(folder.path().join("lists")).unwrap();
    std::fs::write(&list, "Paris\n").unwrap();
    let template = Template::read(&path).unwrap();
    assert_eq!(collect(&template, &words("Paris"), 0).node, ["lexicon(\"lists/names.txt\")[0]=S"]);
}

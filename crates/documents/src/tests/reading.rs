//! Documents of files.

use dropchain_numerics::testing::escaped_rows;

use super::*;

/// The classes and texts of a file, or the error; and what is said of it.
fn read(name: &str, contents: &str, options: &InstanceReadOptions) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, contents).unwrap();
    let report = options.read.report.clone();
    let reader = InstanceReader::open(&[path.as_os_str()], options).unwrap();
    let documents: Result<Vec<Instance>> = reader.collect();
    let directory = format!("{}/", folder.path().display());
    let notices = report.notices().into_iter().map(|notice| notice.replace(&directory, ""));
    let shown = documents.map(|documents| {
        let shown = documents.iter().map(|document| {
            let label = document.label.as_deref().unwrap_or("?");
            match &document.content {
                InstanceContent::Text(text) => format!("{label}={text}"),
                InstanceContent::Features(features) => format!("{label}={features:?}"),
            }
        });
        shown.collect::<Vec<_>>().join("; ")
    });
    let shown = shown.unwrap_or_else(|error| error.to_string().replace(&directory, ""));
    (shown, notices.collect())
}

#[test]
fn documents_are_found_in_the_files_of_other_programs() {
    let table = r#"
        // Tables with names of columns as in public data sets.
        a.tsv: sentence\tlabel\nfine day \t1\nrain\t0\n → 1=fine day ; 0=rain
        a.tsv: label\tsentence\n1\tfine\n0\train\n → 1=fine; 0=rain
        a.txt: idx\tReview\tSentiment\n7\tfine\tup\n → up=fine
        a.csv: id;title;topic\n7;"rain; wind";sky\n → sky=rain; wind
        a.csv: text\tlabel\nfine\tup\n → up=fine
        a.tsv: id\tlabel\n7\t1\n → a.tsv:1: there is no column 'text'; found id, label
        a.csv: body,title,label\nx,y,z\n → a.csv:1: there is no column 'text'; found body, title,
            label
        a.tsv: c4\t1\t\tIt rains.\nc4\t0\t*\tRains it.\n → a.tsv:1: each line has 4 cells; expected
            a class, a tab and the text, or names of columns on the first line, such as text and
            label
        a.tsv: up\tfine\tday\nup\tsun\n → up=fine\tday; up=sun
        // Answers and classes of annotation tools.
        a.jsonl: {"text":"a","accept":["X"],"answer":"accept"}\n → X=a
        a.jsonl: {"text":"a","label":["X"]}\n{"text":"b","label":[1]} → X=a; 1=b
        a.jsonl: {"text":"a","label":["X","Y"]}\n → a.jsonl:1: the key "label" holds 2 labels;
            expected only one
        a.jsonl: {"text":"a","label":[]}\n → a.jsonl:1: key "label": found no label; expected a
            class
        a.json: [{"text":"a","label":"X"},{"text":"b","label":2}] → X=a; 2=b
        a.json: [\n  {"text": "a",\n   "label": true}\n]\n → true=a
        a.json: [\n  {"text": "a",\n   "label": true}\n → a.json:1: the array that begins here does
            not end
        // Classes that are numbers.
        a.svm: +1 1:1\n1.0 2:1 # a\n1e0 3:1\n-1 4:1\n-0 5:1\nup 6:1\n → 1=[("1", 1.0)]; 1=[("2",
            1.0)]; 1=[("3", 1.0)]; -1=[("4", 1.0)]; 0=[("5", 1.0)]; up=[("6", 1.0)]
    "#;
    for (text, expected) in escaped_rows(table) {
        let (name, contents) = text.split_once(": ").unwrap();
        assert_eq!(read(name, contents, &InstanceReadOptions::default()).0, expected, "{text}");
    }
    let answers = "{\"text\":\"a\",\"label\":\"X\",\"answer\":\"accept\"}\n\
                   {\"text\":\"b\",\"label\":\"X\",\"answer\":\"reject\"}\n\
                   {\"text\":\"c\",\"label\":\"Y\",\"answer\":\"ignore\"}\n";
    assert_eq!(read("a.jsonl", answers, &InstanceReadOptions::default()).0, "X=a");
}

#[test]
fn faults_are_told_with_their_line() {
    for (name, contents, expected) in [
        ("a.txt", "pos\tx\nneg y\n", "2: found no tab; expected a class, a tab"),
        ("a.txt", "pos\tx\n\ty\n", "2: the label is empty; expected a class"),
        ("a.csv", "text,kind\nx,pos\n", "1: there is no column 'label'; found text, kind"),
        ("a.csv", "text,label\nx,pos\ny\n", "3: found 1 cells; expected 2"),
        ("a.jsonl", "{\"text\": \"x\"}\n", "1: key \"label\": found no label"),
        ("a.jsonl", "{\"text\": 1, \"label\": \"a\"}", "1: the key \"text\" holds no string"),
        ("a.jsonl", "[1]", "1:2: expected a JSON object with a text, such as"),
        ("a.svm", "1 1:0.5 3:1 2:1\n", "1: the index 2 follows 3; expected ascending"),
        ("a.svm", "# c\n1 1:nan\n", "2: the feature 1 has the value 'nan'; expected a finite"),
        ("a.svm", "1 0:1\n", "1: found the index '0'; expected 1 or more"),
        ("a.svm", "1:1\n", "1: found '1:1' first; expected the class"),
        ("a.svm", "1 x\n", "1: found 'x'; expected index:value"),
    ] {
        let found = read(name, contents, &InstanceReadOptions::default()).0;
        assert!(found.starts_with(&format!("{name}:{expected}")), "{found}");
    }
}

#[test]
fn all_formats_of_the_same_documents_are_read_alike() {
    let plain = InstanceReadOptions::default;
    let named = || InstanceReadOptions {
        text: "body".to_owned(),
        label: Some("topic".to_owned()),
        ..plain()
    };
    let lines = "pos\ta \"great\" film\nneg\tdull\n";
    let rows = "text\tlabel\na \"great\" film\tpos\ndull\tneg\n";
    let quoted = "id,body,topic\n1,\"a \"\"great\"\" film\",pos\n1,dull,neg\n";
    let json = "{\"text\":\"a \\\"great\\\" film\",\"label\":\"pos\",\"id\":1}\n\
                {\"label\":\"neg\",\"text\":\"dull\"}\n";
    for (name, contents, options) in [
        ("a.txt", lines, plain()),
        ("a", lines, InstanceReadOptions { format: Some(InstanceFormat::Labeled), ..plain() }),
        ("a.tsv", rows, plain()),
        ("a", rows, InstanceReadOptions { format: Some(InstanceFormat::Tsv), ..plain() }),
        ("a.csv", quoted, named()),
        ("a.jsonl", json, plain()),
    ] {
        let (found, _) = read(name, contents, &options);
        assert_eq!(found, "pos=a \"great\" film; neg=dull", "{contents}");
    }
    let (_, notices) = read("a.txt", lines, &named());
    assert!(notices[0].starts_with("warning: a.txt:1: read as lines, which have"), "{notices:?}");
    // A folder, class by class.
    let folder = tempfile::tempdir().unwrap();
    for (class, file, text) in [("b", "1", "x\n"), ("a", "2", "y z"), ("a", ".hidden", "no")] {
        std::fs::create_dir_all(folder.path().join(class)).unwrap();
        std::fs::write(folder.path().join(class).join(file), text).unwrap();
    }
    let documents = InstanceReader::open(&[folder.path()], &plain()).unwrap();
    let shown = documents.map(|document| {
        let Instance { label, content, .. } = document.unwrap();
        (label.unwrap(), content)
    });
    let text = |text: &str| InstanceContent::Text(text.to_owned());
    let expected = [("a".to_owned(), text("y z")), ("b".to_owned(), text("x"))];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_decided_and_left_out_is_said() {
    let table = r#"
        a.tsv: sentence\tlabel\nx\ty\n → a.tsv:1: 1 first line names columns: read as a table
        a.jsonl: {"text":"b","label":"X","answer":"reject"}\n → 1 document was rejected or ignored
            by its annotator: left out
    "#;
    for (text, expected) in escaped_rows(table) {
        let (name, contents) = text.split_once(": ").unwrap();
        assert_eq!(read(name, contents, &InstanceReadOptions::default()).1, [expected]);
    }
    // Without labels, an answer says nothing of the text, and each line of text is a document.
    let options = InstanceReadOptions {
        needs_labels: false,
        default_format: InstanceFormat::Text,
        ..InstanceReadOptions::default()
    };
    let record = "{\"text\":\"b\",\"label\":\"X\",\"answer\":\"reject\"}\n";
    assert_eq!(read("a.jsonl", record, &options).0, "X=b");
    assert_eq!(read("a.txt", "text\tlabel\n", &options).0, "?=text\tlabel");
    assert_eq!(read("a.tsv", "id\tsentence\n7\tfine\n", &options).0, "?=fine");
}

#[test]
fn classes_that_are_all_different_are_most_likely_texts() {
    let documents = |classes: &[&str]| -> Vec<Instance> {
        let documents = classes.iter().enumerate();
        documents
            .map(|(i, class)| Instance::from_text(format!("x{i}")).with_label(*class))
            .collect()
    };
    for (classes, expected) in [
        (&["up", "down"][..], ""),
        (&["up", "down", "up"], ""),
        (
            &["a day", "a night", "dusk"],
            "all 3 documents are of different classes, such as 'a day'",
        ),
        (&["up", "up"], "all documents are of the class 'up'"),
    ] {
        let trained = train(documents(classes), &DocumentOptions::texts());
        let found = trained.map_or_else(|error| error.to_string(), |_| String::new());
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{found}");
    }
}

//! Training on all kinds of corpora.

use super::*;
use crate::chain::{LabelWeights, Order};
use crate::corpus::{Corpus, ReadOptions};
use crate::eval::Evaluation;
use crate::ids::AttributeId;
use crate::label::Scheme;
use crate::model::{FileRole, add_recall_bias};
use crate::score::States;
use crate::tag::{TagOptions, Tagger, Workspace};
use crate::testing::Lcg;

fn error(result: Result<Trained>) -> String {
    result.expect_err("an error").to_string()
}

fn with_dev(dev: &str) -> Result<Trained> {
    let trainer = Trainer::new(options())?;
    trainer.train(TrainingCorpora::new(corpus(NAMES)).dev(corpus(dev)), template("word"), &mut ())
}

#[test]
fn a_corpus_without_sentences_is_an_error() {
    for text in ["", "\n\n"] {
        assert_eq!(
            error(train(&options(), corpus(text), "word")),
            "there are no sentences to train on"
        );
        assert_eq!(error(with_dev(text)), "there are no development sentences");
    }
}

#[test]
fn document_boundaries_are_not_sentences() {
    let mut sentences = corpus("-DOCSTART-/O\na/B-X b/O");
    sentences[0].layout.document_start = true;
    let model = trained(&options(), sentences.clone(), "word");
    assert!(!knows(&model, "word[0]=-DOCSTART-"));
    assert_eq!(model.header().provenance.sentences, 1);
    assert_eq!(model.header().provenance.tokens, 2);
    sentences.truncate(1);
    assert_eq!(error(train(&options(), sentences, "word")), "there are no sentences to train on");
}

#[test]
fn document_boundaries_are_not_unlabeled_sentences() {
    let options = changed(options(), |o| o.method.noise.dropout = 0.5);
    let with = |text: &str| {
        let mut unlabeled = corpus(text);
        for sentence in &mut unlabeled {
            sentence.layout.document_start = sentence.cell(0, 0) == "-DOCSTART-";
        }
        unlabeled.push(Sentence::from_words([""; 0]));
        let trainer = Trainer::new(options.clone()).unwrap();
        let corpora = TrainingCorpora::new(corpus(NAMES)).unlabeled(unlabeled);
        let trained = trainer.train(corpora, template("word"), &mut ());
        trained.unwrap().model
    };
    let [without, with] = ["Ada/O left/O", "-DOCSTART-/O\nAda/O left/O"].map(with);
    assert_eq!(without.as_bytes(), with.as_bytes());
}

#[test]
fn sentences_without_labels_are_an_error() {
    let bare = || vec![Sentence::from_words(["a", "b"])];
    assert_eq!(
        error(train(&options(), bare(), "word")),
        "-:1: found no label column; training needs labels (choose the column with `label`)"
    );
    let trainer = Trainer::new(options()).unwrap();
    let corpora = TrainingCorpora::new(corpus(NAMES)).dev(bare());
    let result = trainer.train(corpora, template("word"), &mut ());
    assert!(error(result).starts_with("-:1: found no label column;"));
}

#[test]
fn too_many_labels_are_an_error_at_the_first_one_in_excess() {
    let tokens: Vec<String> = (0..5000).map(|i| format!("w/label{i}\n")).collect();
    assert_eq!(
        error(train(&options(), corpus(&tokens.concat()), "word")),
        "x.conll:4097: 'label4096' is one label too many: at most 4096 can be trained (is this the \
         label column?)"
    );
}

#[test]
fn a_template_that_reads_a_missing_column_is_an_error() {
    let message = error(train(&options(), corpus(NAMES), "column(\"pos\")"));
    assert!(message.starts_with("t.tpl:1:"), "{message}");
}

#[test]
fn a_trained_model_tags_new_sentences() {
    let model = trained(&options(), corpus(NAMES), "word\nword[-1]");
    let tagger = Tagger::new(model);
    let tag = |words: &str| tagger.tag_words(words.split(' ')).unwrap().join(" ");
    assert_eq!(tag("Mary Lovelace left London"), "B-PER I-PER O B-LOC");
    assert_eq!(tag("she left New York"), "O O B-LOC I-LOC");
}

#[test]
fn every_shipped_template_memorizes_its_training_data() {
    let sentence = |line: &str| -> String {
        let tokens = line.split(' ').map(|token| token.replace('/', " X ") + "\n");
        tokens.collect::<String>() + "\n"
    };
    let text: String = NAMES.lines().map(sentence).collect();
    let corpus = Corpus::parse(text, "x.conll", &ReadOptions::default()).unwrap();
    // A second pass learns from predictions for text that the first has not seen.
    for name in Template::shipped_names().filter(|name| !name.ends_with("two-passes")) {
        let template = Template::shipped(name).unwrap().unwrap();
        let trained = Trainer::new(options()).unwrap().train(corpus.clone(), template, &mut ());
        let tagger = Tagger::new(trained.unwrap().model);
        for sentence in &corpus {
            let labels = tagger.tag(sentence).unwrap().labels;
            assert_eq!(tagger.label_names(&labels), sentence.labels().unwrap(), "{name}");
        }
    }
}

#[test]
fn the_header_describes_the_training_data() {
    let mut sentences = corpus(NAMES);
    let schema = Arc::clone(sentences[0].schema());
    let mut other = Sentence::new(schema, "y.conll");
    other.push(["a", "O"], 1).unwrap();
    sentences.push(other);
    let model = trained(&options(), sentences, "word");
    let header = model.header();
    assert_eq!(header.columns.names, ["word", "label"]);
    assert_eq!(header.columns.label_name(), Some("label"));
    assert_eq!(header.labels.names(), ["B-PER", "I-PER", "O", "B-LOC", "I-LOC"]);
    assert_eq!(header.template.as_ref().unwrap().source(), "word");
    let provenance = &header.provenance;
    let files = provenance.files.iter();
    let files: Vec<_> = files.map(|file| (&*file.name, file.bytes, file.sentences)).collect();
    assert_eq!(files, [("x.conll", None, Some(8)), ("y.conll", None, Some(1))]);
    assert_eq!((provenance.sentences, provenance.tokens), (9, 39));
    let settings = TrainSettings::new(options()).unwrap();
    let stored = provenance.training_options();
    assert_eq!(stored, serde_json::to_value(&settings).unwrap());
}

#[test]
fn files_and_sentences_in_memory_are_recorded_by_their_contents() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let files = [("a.conll", "a X\n\nb Y\n"), ("dev.conll", "b X\n"), ("names", "Ann Lee\n")];
    let files = files.into_iter().chain([("t.tpl", "word\nlexicon(\"names\")\n")]);
    for (name, text) in files.clone() {
        std::fs::write(path(name), text).unwrap();
    }
    let read = |name| Corpus::read([path(name)], &ReadOptions::default()).unwrap();
    let corpora = TrainingCorpora::new(read("a.conll")).dev(read("dev.conll"));
    let template = Template::read(&path("t.tpl")).unwrap();
    let records = corpora.files(Some(&template));
    let found = records.iter().map(|file| (file.role, &*file.name, file.bytes, file.sentences));
    for (found, (role, name, sentences)) in found.zip([
        (FileRole::Train, "a.conll", Some(2)),
        (FileRole::Dev, "dev.conll", Some(1)),
        (FileRole::Template, "t.tpl", None),
        (FileRole::Resource, "names", None),
    ]) {
        let bytes = std::fs::metadata(path(name)).unwrap().len();
        assert_eq!(found, (role, path(name).to_str().unwrap(), Some(bytes), sentences));
    }
    let sums: Vec<&str> = records.iter().map(|file| &*file.xxh3).collect();
    let expected = [0, 1, 3, 2].map(|i| {
        let (_, text) = files.clone().nth(i).unwrap();
        format!("{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
    });
    assert_eq!(sums, expected);

    let in_memory = |labels: &[&str]| {
        let sentence = Sentence::from_words(["a"]).with_labels(labels).unwrap();
        TrainingCorpora::new(vec![sentence]).files(None).remove(0)
    };
    let record = in_memory(&["X"]);
    assert_eq!((&*record.name, record.bytes, record.sentences), ("in memory", None, Some(1)));
    assert_eq!(in_memory(&["X"]), record);
    assert_ne!(in_memory(&["Y"]).xxh3, record.xxh3);
}

#[test]
fn labels_can_be_converted_to_another_scheme() {
    let options = changed(options(), |o| o.labels.scheme = Scheme::Bioes);
    let trainer = Trainer::new(options).unwrap();
    let mut recorder = Recorder::default();
    let source = "word\nword[-1]\nword[+1]";
    let corpora = TrainingCorpora::new(corpus(NAMES)).dev(corpus(NAMES));
    let model = trainer.train(corpora, template(source), &mut recorder).unwrap().model;
    let header = model.header();
    assert_eq!(header.labeling, Scheme::Bioes);
    assert_eq!(header.corpus_labeling, Scheme::Iob2);
    let labels = ["B-PER", "E-PER", "O", "S-LOC", "S-PER", "B-LOC", "E-LOC"];
    assert_eq!(header.labels.names(), labels);
    // Development data are scored in the scheme of the corpus.
    let best = recorder.dev_scores().into_iter().fold(0.0, f64::max);
    assert_eq!(best, 1.0);
    let tagger = Tagger::new(model);
    let found = tagger.tag_words(["Ada", "Lovelace", "left", "London"]).unwrap();
    assert_eq!(found, ["B-PER", "E-PER", "O", "S-LOC"]);
}

#[test]
fn labels_without_spans_cannot_be_converted_to_a_scheme() {
    let options = changed(options(), |o| o.labels.scheme = Scheme::Bioes);
    assert_eq!(
        error(train(&options, corpus("the/DT dog/NN barks/VBZ"), "word")),
        "`scheme` bioes: the labels encode no spans (B-X, I-X, …); omit the option"
    );
}

#[test]
fn one_illegal_sequence_in_a_hundred_does_not_lift_the_constraint() {
    let legal = "a/B-X b/I-X c/O\n".repeat(100);
    let model = trained(&options(), corpus(&format!("{legal}b/I-X c/O")), "word");
    assert_eq!(model.header().labeling, Scheme::Iob2);
    let tagger = Tagger::new(model);
    let tag = |constrain: bool| {
        let options = TagOptions { constrain, ..TagOptions::default() };
        let sentence = Sentence::from_words(["b", "c"]);
        let tagging = tagger.tag_with(&sentence, options, &mut Workspace::default());
        tagger.label(tagging.unwrap().labels[0]).to_owned()
    };
    assert_eq!(tag(false), "I-X");
    assert_ne!(tag(true), "I-X");
}

#[test]
fn at_order_zero_a_label_depends_on_its_own_token_alone() {
    let options = changed(options(), |o| o.structure.order = Order::Zero);
    let model = trained(&options, corpus(NAMES), "word\nedge: word");
    assert_eq!(model.attributes(AttributeKind::Edge), 0);
    let transitions = &model.header().label_weights.transitions;
    assert!(transitions.iter().all(|&w| w == 0.0));
    let tagger = Tagger::new(model);
    let everything = TagOptions { marginals: true, ..TagOptions::default() };
    let marginals = |words: [&str; 3]| {
        let sentence = Sentence::from_words(words);
        let tagging = tagger.tag_with(&sentence, everything, &mut Workspace::default());
        tagging.unwrap().marginals.unwrap()
    };
    let (one, other) = (marginals(["in", "London", "far"]), marginals(["Ada", "London", "May"]));
    assert_eq!(one.row(1), other.row(1));
}

#[test]
fn sentences_can_bring_their_own_attributes() {
    let sentences = given("A a,size:0.5;B b\nB b,size:2;A a\nA a;A a");
    let trainer = Trainer::new(options()).unwrap();
    let corpora = TrainingCorpora::new(sentences).dev(given("A a;B b,new"));
    let trained = trainer.train(corpora, None, &mut ()).unwrap();
    assert_eq!(trained.end.dev, Some(DevScore::Accuracy(1.0)));
    let model = trained.model;
    assert!(model.header().template.is_none());
    assert_eq!(names(&model, AttributeKind::Node), [&b"a"[..], b"size", b"b"]);
    let tagger = Tagger::new(model);
    let tag = |sentence: &Sentence| tagger.tag(sentence);
    let labels = tag(&given("A b,size:1;A a")[0]).unwrap().labels;
    let names = tagger.label_names(&labels);
    assert_eq!(names, ["B", "A"]);
    assert!(tag(&Sentence::from_words(["a"])).is_err());
}

#[test]
fn every_number_of_threads_gives_the_same_model() {
    let model = |threads: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let source = "word\nshape\nedge: word";
            trained(&options(), corpus(NAMES), source).as_bytes().to_vec()
        })
    };
    let one = model(1);
    assert!(model(2) == one && model(8) == one);
}

#[test]
fn a_recall_bias_is_subtracted_from_all_weights_into_the_outside_label() {
    let [mut plain, biased] = [0.0, 1.5].map(|bias| {
        let options = TrainOptions { recall_bias: Some(bias), ..options() };
        trained(&options, corpus(NAMES), "word").header().clone()
    });
    let outside = plain.labels.id("O").unwrap().index();
    let weights = &mut plain.label_weights;
    weights.start[outside] -= 1.5;
    for row in weights.transitions.chunks_exact_mut(weights.start.len()) {
        row[outside] -= 1.5;
    }
    assert_eq!(biased.label_weights, plain.label_weights);
}

#[test]
fn a_model_has_the_score_on_development_data_that_training_reported() {
    // Names are unlikely at first.
    let options = changed(options(), |o| o.method.l2 = Some(1.0));
    let dev = corpus("Ada/B-PER left/O Marylebone/B-LOC\nin/O May/O Charles/B-PER died/O");
    let trainer = Trainer::new(options).unwrap();
    let trained = trainer
        .train(TrainingCorpora::new(corpus(NAMES)).dev(dev.clone()), template("word"), &mut ())
        .unwrap();
    assert!(trained.end.recall_bias > 0.0, "{:?}", trained.end);
    let tagger = Tagger::new(trained.model);
    let labeling = &tagger.model().header().labeling;
    let mut evaluation = Evaluation::new().with_labelings(labeling, labeling);
    for sentence in &dev {
        let tagging = tagger.tag(sentence).unwrap();
        let labels = tagger.label_names(&tagging.labels);
        evaluation.add(&sentence.labels().unwrap(), &labels).unwrap();
    }
    assert_eq!(trained.end.dev, Some(DevScore::F1(evaluation.f1())));
}

#[test]
fn a_recall_bias_counts_for_label_pairs_without_weights() {
    // Of 81 labels few pairs occur, and not all of them before O.
    let line = |i: usize| format!("say/O Name{i}/B-T{i} Name{0}/B-T{0} off/O\n", i / 2);
    let names = corpus(&(0..80).map(line).collect::<String>());
    let settings =
        TrainSettings::new(changed(options(), |o| o.structure.states = Some(States::Observed)))
            .unwrap();
    let corpora = TrainingCorpora::new(names.clone()).dev(names);
    let set = TrainingSet::new(corpora, template("word"), &settings).unwrap();
    let (space, development) = (set.space(), set.extracted.development.as_ref().unwrap());
    let theta = Lcg(5).vector(space.dimension());
    for bias in [0.0, 1.5] {
        let mut weights = LabelWeights::default();
        space.label_weights(&theta, &mut weights);
        add_recall_bias(
            bias,
            &set.extracted.labels.set,
            &set.extracted.labels.labeling,
            &mut weights,
        );
        let transitions = development.transitions(space, &theta, bias);
        assert!(transitions.pairs().is_some());
        let k = space.labels();
        for (i, &weight) in weights.transitions.iter().enumerate() {
            assert_eq!(transitions.score(i / k, i % k), weight);
        }
        assert_eq!(transitions.start()[..k], weights.start);
    }
}

#[test]
fn a_recall_bias_needs_a_label_outside_spans() {
    let options = TrainOptions { recall_bias: Some(1.0), ..options() };
    let error = train(&options, corpus("a/NOUN b/VERB"), "word").unwrap_err();
    assert_eq!(
        error.to_string(),
        "recall bias 1; expected 0, since the labels do not encode spans separated by O"
    );
    let options = changed(options, |o| o.structure.order = Order::Zero);
    let error = train(&options, corpus(NAMES), "word").unwrap_err();
    assert_eq!(error.to_string(), "recall bias 1; expected 0, since the order is 0");
}

#[test]
fn text_that_copies_of_a_sentence_share_is_not_counted_below_zero() {
    let object =
        "{\"tokens\":[\"a\",\"b\"],\"labels\":[\"X\",\"O\"],\"note\":\"some other text\"}\n";
    let corpus = Corpus::parse(object.repeat(100), "x.jsonl", &ReadOptions::default()).unwrap();
    // The first copy of a sentence shares its text with the second, which then has it alone.
    let twice: Corpus = corpus.iter().chain(&corpus).cloned().collect();
    drop(corpus);
    let trainer = Trainer::new(short_options(0.0)).unwrap();
    assert!(trainer.train(twice, template("word"), &mut ()).is_ok());
}

#[test]
fn rare_attributes_are_dropped_with_their_names() {
    let sentences = || given("X once,twice; Y always,twice; X always:2\nY always");
    let names = |min_count| {
        let settings =
            TrainSettings::new(changed(options(), |o| o.attributes.min_count = min_count));
        let (settings, models) = (settings.unwrap(), BaseModels::default());
        let source = Source::Text(sentences().into(), None);
        let extracted = source.extract(&settings, &models, MemoryLimit::default()).unwrap();
        let nodes = &extracted.alphabets.nodes;
        let names = (0..nodes.len() as u32).map(|id| nodes.name(AttributeId(id)).to_vec());
        let rows = (0..4).map(|row| extracted.data.nodes.entries(row).collect::<Vec<_>>());
        (names.collect::<Vec<_>>(), rows.collect::<Vec<_>>())
    };
    let (all, _) = names(1);
    assert_eq!(all.len(), 3);
    let (frequent, rows) = names(2);
    assert_eq!(frequent, [&b"twice"[..], b"always"]);
    assert_eq!(rows, [vec![(0, 1.0)], vec![(0, 1.0), (1, 1.0)], vec![(1, 2.0)], vec![(1, 1.0)]]);
    assert_eq!(names(3).0, [b"always"]);
}

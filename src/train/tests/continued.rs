//! Training that continues from models.

use std::collections::BTreeMap;

use super::*;
use crate::label::{LabelSet, Scheme};
use crate::math::assert_close;
use crate::model::{Header, Order};
use crate::optim::Objective;
use crate::testing::Lcg;
use crate::train::development::DevScorer;

/// Names, places and companies: other words than [`NAMES`], and another label.
const MORE: &str = "\
Ada/B-PER saw/O Acme/B-ORG in/O London/B-LOC
Charles/B-PER Babbage/I-PER of/O Acme/B-ORG left/O";

/// Node and edge templates, several of which often occur together.
const TEMPLATE: &str = "word\nlower\nword[-1]\nsuffix(2)\nedge: word\nedge: lower\n";

/// The weights of a model by name: of attributes, label pairs, first and last labels.
fn all_weights(model: &Model) -> BTreeMap<String, f64> {
    let header = model.header();
    let name = |label: crate::ids::LabelId| header.labels.name(label);
    let mut all = BTreeMap::new();
    for attribute in model.node_weights() {
        let (attribute, weights) = attribute.unwrap();
        let attribute = String::from_utf8_lossy(attribute);
        for (b, weight) in weights {
            all.insert(format!("{attribute} {}", name(b)), weight);
        }
    }
    for attribute in model.edge_weights() {
        let (attribute, weights) = attribute.unwrap();
        let attribute = String::from_utf8_lossy(attribute);
        for ([a, b], weight) in weights {
            all.insert(format!("{attribute} {}>{}", name(a), name(b)), weight);
        }
    }
    let own = &header.label_weights;
    let names = header.labels.names();
    for (i, label) in names.iter().enumerate() {
        all.insert(format!("start {label}"), own.start[i]);
        all.insert(format!("end {label}"), own.end[i]);
        for (j, next) in names.iter().enumerate() {
            let weight = own.transitions[i * names.len() + j];
            all.insert(format!("{label}>{next}"), weight);
        }
    }
    all.retain(|_, weight| *weight != 0.0);
    all
}

/// Options without noise and with few iterations.
fn quick() -> TrainOptions {
    changed(options(), |o| {
        o.max_iterations = Some(8);
        o.method.l2 = Some(0.2);
    })
}

fn original(options: &TrainOptions) -> Model {
    trained(options, corpus(NAMES), TEMPLATE)
}

/// Continues a model with its own template.
fn continued(options: &TrainOptions, model: &Model, text: &str) -> Model {
    let trainer = Trainer::new(options.clone()).unwrap().init(model);
    trainer.train(corpus(text), None, &mut ()).unwrap().model
}

#[test]
fn without_iterations_a_model_keeps_its_bits() {
    let structures = [
        (true, Order::One, Boundary::On),
        (false, Order::One, Boundary::Off),
        (true, Order::Zero, Boundary::On),
    ];
    for precision in [Precision::F32, Precision::F64] {
        for states in [States::All, States::Observed] {
            for (collapse, order, boundary) in structures {
                let options = changed(quick(), |o| {
                    o.storage.precision = precision;
                    o.structure.states = Some(states);
                    o.attributes.collapse = collapse;
                    o.structure.order = order;
                    o.structure.boundary = boundary;
                });
                let model = original(&options);
                let options = TrainOptions { max_iterations: Some(0), ..options };
                let same = continued(&options, &model, NAMES);
                assert_eq!(same.fingerprint().unwrap(), model.fingerprint().unwrap());
                let more = continued(&options, &model, MORE);
                assert_eq!(all_weights(&more), all_weights(&model));
                assert_eq!(more.header().labels.len(), model.header().labels.len() + 1);
            }
        }
    }
}

#[test]
fn attributes_that_the_data_do_not_have_keep_their_weights_exactly() {
    let kinds =
        [NoiseKind::Dropout, NoiseKind::Gaussian, NoiseKind::Additive, NoiseKind::Reweighted(3)];
    for i in 0..16 {
        let bit = |n: usize| i >> n & 1 == 1;
        let options = changed(quick(), |o| {
            o.structure.states = Some([States::All, States::Observed][i % 2]);
            o.method.l1 = if bit(1) { 0.02 } else { 0.0 };
        });
        let model = original(&options);
        let options = changed(options, |o| {
            o.method.noise.kind = kinds[i / 4];
            o.method.noise.dropout = 0.3;
            o.attributes.min_count = 2;
        });
        let trainer = Trainer::new(options.clone()).unwrap();
        let trainer = if bit(0) { trainer.towards(&model) } else { trainer.init(&model) };
        let corpora = TrainingCorpora::new(corpus(MORE)).unlabeled(corpus("Ada/O went/O"));
        let new = trainer.train(corpora, None, &mut ()).unwrap().model;
        let (old, new) = (all_weights(&model), all_weights(&new));
        for attribute in ["word[0]=Lovelace ", "edge:word[0]=Lovelace "] {
            let absent = old.iter().filter(|(name, _)| name.starts_with(attribute));
            assert!(absent.clone().count() > 0, "{attribute}");
            for (name, weight) in absent {
                assert_eq!(new.get(name), Some(weight), "{name} {options:?}");
            }
        }
        let name = "word[0]=London B-LOC";
        assert_ne!(new.get(name), old.get(name), "{options:?}");
        // `Acme` occurs twice, `saw` once: only old attributes are kept however rare they are.
        assert!(new.contains_key("word[0]=Acme B-ORG") || options.method.l1 > 0.0);
        assert!(!new.contains_key("word[0]=saw O"));
    }
}

/// Evaluates the likelihood, the penalty and their gradient at θ, without noise.
fn evaluate(set: &TrainingSet, l2: f64, theta: &[f64]) -> (f64, f64, Vec<f64>) {
    let mut gradient = vec![0.0; theta.len()];
    let (_, terms) = set.likelihood(l2).evaluate(theta, &mut gradient);
    (terms.log_likelihood, terms.l2, gradient)
}

#[test]
fn the_penalty_pulls_towards_the_weights_of_the_model() {
    for (collapse, states) in [(true, States::All), (false, States::Observed)] {
        let options = changed(quick(), |o| {
            o.attributes.collapse = collapse;
            o.structure.states = Some(states);
        });
        let model = original(&options);
        let settings = TrainSettings::new(options).unwrap();
        let models = BaseModels { towards: Some(&model), ..BaseModels::default() };
        let set = training_set(corpus(MORE), None, &settings, &models);
        let start = set.start();
        assert!(start.iter().any(|&w| w != 0.0));
        assert_eq!(evaluate(&set, 0.7, &start).1, 0.0);
        let theta = Lcg(3).vector(start.len());
        let (likelihood, penalty, gradient) = evaluate(&set, 0.7, &theta);
        let (alone, _, without) = evaluate(&set, 0.0, &theta);
        assert_eq!(likelihood, alone);
        let mut expected = 0.0;
        for i in 0..theta.len() {
            expected += 0.7 * (theta[i] - start[i]).powi(2);
            assert_close(gradient[i], without[i] + 1.4 * (theta[i] - start[i]), 1e-12);
        }
        assert_close(penalty, expected, 1e-12);
    }
}

#[test]
fn the_strength_decides_between_the_model_and_the_data() {
    let options = TrainOptions { max_iterations: Some(200), ..quick() };
    let model = original(&options);
    let adapted = |l2: f64| {
        let options = changed(options.clone(), |o| o.method.l2 = Some(l2));
        let trainer = Trainer::new(options).unwrap().towards(&model);
        let trained = trainer.train(corpus(MORE), None, &mut ()).unwrap();
        all_weights(&trained.model)
    };
    let old = all_weights(&model);
    let distance = |new: &BTreeMap<String, f64>| -> f64 {
        let names: std::collections::BTreeSet<&String> = new.keys().chain(old.keys()).collect();
        let weight =
            |of: &BTreeMap<String, f64>, name: &String| of.get(name).copied().unwrap_or(0.0);
        let square = |name| (weight(new, name) - weight(&old, name)).powi(2);
        names.into_iter().map(square).sum::<f64>().sqrt()
    };
    let distances = [1e6, 10.0, 0.1, 0.001].map(|l2| distance(&adapted(l2)));
    assert!(distances[0] < 1e-4, "{distances:?}");
    assert!(distances.is_sorted(), "{distances:?}");
    assert!(distances[3] > 1.0, "{distances:?}");
}

#[test]
fn a_model_of_the_same_data_is_a_head_start_to_the_same_minimum() {
    let whole = TrainOptions { max_iterations: None, ..quick() };
    let mut recorders = [(); 2].map(|()| Recorder::default());
    let sentences = || corpus(&format!("{NAMES}\n{MORE}"));
    let trainer = Trainer::new(whole.clone()).unwrap();
    let scratch = trainer.train(sentences(), template(TEMPLATE), &mut recorders[0]);
    let model = original(&quick());
    let trainer = Trainer::new(whole).unwrap().init(&model);
    let continued = trainer.train(sentences(), None, &mut recorders[1]);
    let [scratch, continued] = [scratch, continued].map(|trained| trained.unwrap().model);
    let objectives = |i: usize| {
        let iterations = &recorders[i].iterations;
        [iterations[0].objective, iterations[iterations.len() - 1].objective]
    };
    let ([first, last], [head_start, end]) = (objectives(0), objectives(1));
    assert!(head_start < 0.5 * first, "{head_start} {first}");
    assert_close(end, last, 1e-5);
    let (scratch, continued) = (all_weights(&scratch), all_weights(&continued));
    for (name, weight) in &scratch {
        assert!((continued[name] - weight).abs() < 0.02, "{name}");
    }
}

#[test]
fn a_recall_bias_is_applied_once() {
    for boundary in [Boundary::On, Boundary::Off] {
        let options = changed(quick(), |o| {
            o.recall_bias = Some(0.5);
            o.structure.boundary = boundary;
        });
        let model = original(&options);
        let none = TrainOptions { max_iterations: Some(0), ..options };
        // The bias is known, so it is kept whether it is set again or not.
        for recall_bias in [Some(0.5), None] {
            let options = TrainOptions { recall_bias, ..none.clone() };
            let same = all_weights(&continued(&options, &model, NAMES));
            for (name, weight) in all_weights(&model) {
                assert_close(same[&name], weight, 1e-15);
            }
            let again =
                all_weights(&continued(&options, &continued(&options, &model, NAMES), NAMES));
            assert_close(again["O>O"], all_weights(&model)["O>O"], 1e-14);
        }
        let without = TrainOptions { recall_bias: Some(0.0), ..none };
        let without = all_weights(&continued(&without, &model, NAMES));
        assert_close(without["O>O"], all_weights(&model)["O>O"] + 0.5, 1e-15);
    }
}

/// A model with these labels in a scheme, of weights made by hand.
fn made(labels: &[&str], scheme: Scheme, nodes: &[(&str, &str, f64)]) -> Model {
    let labels = labels.iter().map(|label| (*label).to_owned());
    let labels = LabelSet::try_from(labels.collect::<Vec<_>>()).unwrap();
    let nodes: Vec<_> = nodes
        .iter()
        .map(|(name, label, weight)| (*name, vec![(labels.id(label).unwrap(), *weight)]))
        .collect();
    let k = labels.len();
    let mut header = Header {
        labeling: scheme.into(),
        corpus_labeling: scheme.into(),
        precision: Precision::F64,
        ..Header::new(labels)
    };
    header.label_weights.start = (1..=k).map(|i| i as f64).collect();
    let edges: [(&str, Vec<_>); 0] = [];
    Model::from_weights(header, nodes, edges).unwrap()
}

#[test]
fn with_two_models_each_weight_starts_at_the_first_that_knows_it() {
    let init = made(&["O", "B-PER"], Scheme::Iob2, &[("word[0]=Ada", "B-PER", 5.0)]);
    let labels = ["B-LOC", "B-PER", "O"];
    let weights = [
        ("word[0]=Ada", "O", 7.0),
        ("word[0]=Oslo", "B-LOC", 8.0),
        ("word[0]=London", "B-LOC", 9.0),
    ];
    let towards = made(&labels, Scheme::Iob2, &weights);
    let settings =
        TrainSettings::new(changed(quick(), |o| o.structure.states = Some(States::Observed)));
    let settings = settings.unwrap();
    let models = BaseModels { init: Some(&init), towards: Some(&towards) };
    let set = training_set(corpus(MORE), Some(template("word\n")), &settings, &models);
    let matches = &set.matches;
    let start = set.start();
    let penalty = set.penalty(1.0);
    let space = set.space();
    let id = |name: &str| set.extracted.labels.set.id(name).unwrap().index();
    assert_eq!(set.extracted.labels.set.names()[..3], ["O", "B-PER", "B-LOC"]);
    let mut found = BTreeMap::new();
    for (column, name) in ["Ada", "Oslo", "London"].into_iter().enumerate() {
        let class = set.classes[0].class(column as u32) as usize;
        space.nodes.targets.for_each(class, |label, i| {
            found.insert((name, label), (start[i], penalty.center(i)));
        });
    }
    assert_eq!(found[&("Ada", id("B-PER"))], (5.0, 0.0));
    assert_eq!(found[&("Ada", id("O"))], (0.0, 7.0)); // known to be 0
    assert_eq!(found[&("Oslo", id("B-LOC"))], (8.0, 8.0));
    assert_eq!(found[&("London", id("B-LOC"))], (9.0, 9.0));
    let mut label_weights = crate::chain::LabelWeights::default();
    space.label_weights(&start, &mut label_weights);
    assert_eq!(label_weights.start[..3], [1.0, 2.0, 1.0]);
    let counts = |matched, new, only_in_model| MatchCounts { matched, new, only_in_model };
    assert_eq!(matches.len(), 2);
    assert_eq!((matches[0].role, matches[1].role), (BaseRole::Init, BaseRole::Towards));
    assert_eq!(matches[0].labels, counts(2, 3, 0));
    assert_eq!(matches[1].labels, counts(3, 2, 0));
    assert_eq!(matches[0].node_attributes, counts(1, 8, 0));
    assert_eq!(matches[1].node_attributes, counts(2, 7, 1));
    assert_eq!(matches[0].transitions, counts(0, 6, 0));
}

#[test]
fn labels_take_the_scheme_of_the_model() {
    let options = changed(quick(), |o| o.labels.scheme = Scheme::Bioes);
    let model = original(&options);
    let more = continued(&quick(), &model, MORE);
    assert_eq!(more.header().labeling, Scheme::Bioes);
    assert_eq!(more.header().corpus_labeling, Scheme::Iob2);
    let labels = more.header().labels.names();
    assert!(labels.contains(&"S-ORG".to_owned()), "{labels:?}");
    assert!(!labels.contains(&"B-ORG".to_owned()), "{labels:?}");
}

#[test]
fn models_of_another_structure_or_with_other_labels_are_rejected() {
    let error = |options: TrainOptions, model: &Model, text: &str| {
        let trainer = Trainer::new(options).unwrap().init(model);
        trainer.train(corpus(text), template("word\n"), &mut ()).unwrap_err().to_string()
    };
    let model = made(&["O", "B-PER"], Scheme::Iob2, &[]);
    let order = changed(quick(), |o| o.structure.order = Order::Zero);
    assert_eq!(
        error(order, &model, NAMES),
        "`order` 0, but `init` model in memory has order 1; expected `order` 1, since a model is \
         continued with its own structure"
    );
    let scheme = changed(quick(), |o| o.labels.scheme = Scheme::Bioes);
    assert!(error(scheme, &model, NAMES).starts_with("`scheme` bioes, but `init`"));
    assert!(
        error(quick(), &model, "a/O\nAda/NN").starts_with("x.conll:2: the label 'NN': the labels"),
    );
    let tags = made(&["NN", "VB"], Scheme::Raw, &[]);
    assert!(error(quick(), &tags, NAMES).starts_with("x.conll:1: the label 'B-PER': the labels"));
}

#[test]
fn known_words_of_both_trainings_are_known() {
    let shapes = "shape(dan2)\n";
    let model = trained(&quick(), corpus("in/O May/B-LOC\nmay/O be/O"), shapes);
    let more = continued(&quick(), &model, "He/O saw/O May/B-LOC\nhe/O saw/O");
    let (old, new) = (all_weights(&model), all_weights(&more));
    // `may` is known from the first corpus, so `May` has the same shape in the second and its
    // weight is trained; `he` is known from the second.
    assert_ne!(new["shape(dan2)[0]=Xx:3k B-LOC"], old["shape(dan2)[0]=Xx:3k B-LOC"]);
    assert!(new.contains_key("shape(dan2)[0]=Xx:2k O"), "{new:?}");
    assert!(!new.contains_key("shape(dan2)[0]=Xx:3 B-LOC"), "{new:?}");
}

#[test]
fn sentences_without_weight_teach_nothing() {
    let options = changed(quick(), |o| o.structure.states = Some(States::Observed));
    let model = original(&options);
    let weighted = |text: &str, weight: f64| -> Vec<Sentence> {
        corpus(text).into_iter().map(|s| s.with_weight(weight).unwrap()).collect()
    };
    let sentences = [weighted(MORE, 1.0), weighted("Lovelace/O left/O", 0.0)].concat();
    let trainer = Trainer::new(options).unwrap().init(&model);
    let new = trainer.train(sentences, None, &mut ()).unwrap().model;
    let (old, new) = (all_weights(&model), all_weights(&new));
    let name = "word[0]=Lovelace I-PER";
    assert_eq!(new[name], old[name]);
}

#[test]
fn all_of_the_model_is_kept_however_rare_it_is() {
    let model = original(&quick());
    let settings = TrainSettings::new(changed(quick(), |o| o.attributes.min_count = 2));
    let settings = settings.unwrap().continuing();
    let models = BaseModels { init: Some(&model), ..BaseModels::default() };
    let [dev, rest] = [&corpus(MORE)[..1], &corpus(MORE)[1..]].map(<[_]>::to_vec);
    let corpora = TrainingCorpora::new(rest).dev(dev);
    let set = training_set(corpora, None, &settings, &models);
    let nodes = model.attributes(AttributeKind::Node);
    // The held-out sentence is scored with the weights of the model.
    let development = set.extracted.development.as_ref().unwrap();
    let mut scorer = DevScorer::new(development, set.space());
    let score = scorer.score(&set.start(), &[0.0]).unwrap()[0].0;
    assert!(score.value() > 0.0, "{score:?}");
    let start = set.start();
    let mut kept = 0;
    for id in 0..nodes as u32 {
        let class = set.classes[0].class(id) as usize;
        let range = set.space().nodes.targets.range(class);
        kept += usize::from(start[range].iter().any(|&w| w != 0.0));
    }
    assert_eq!(kept, nodes);
}

#[test]
fn tags_that_look_like_bare_chunk_labels_are_of_no_span_in_the_data_as_in_the_model() {
    // Parts of speech of the Italian treebanks: B is an adverb, S a noun.
    let text = "Oggi/B Ada/SP corre/V\nnon/B dorme/V nessuno/S\ncasa/S bella/A";
    let model = trained(&quick(), corpus(text), TEMPLATE);
    assert!(!model.header().encodes_spans());
    let same = continued(&quick(), &model, text);
    assert_eq!(same.header().labels.names(), model.header().labels.names());
    let towards = Trainer::new(quick()).unwrap().towards(&model);
    assert!(towards.train(corpus(text), None, &mut ()).is_ok());
}

//! Classifiers.

use super::*;
use dropchain::kernel::optim::StopReason;
use dropchain::kernel::random::uniform;
use serde_json::json;

const LOSSES: [Loss; 4] = [Loss::Softmax, Loss::Hinge, Loss::Logistic, Loss::Squared];

/// Documents of words that say something of the class, and of others.
fn documents(classes: usize, count: usize) -> Vec<Instance> {
    let document = |i: usize| {
        let random = |k: u64, of: f64| (uniform(11, 8 * i as u64 + k) * of) as usize;
        let class = random(0, classes as f64).min(classes - 1);
        let sign = if uniform(12, i as u64) < 0.2 { (class + 1) % classes } else { class };
        let text = format!("s{sign} w{} w{} v{}", random(1, 20.0), random(2, 20.0), i % 7);
        Instance::from_text(text).with_label(format!("c{class}"))
    };
    (0..count).map(document).collect()
}

fn options(loss: Loss, dropout: f64, l2: f64) -> DocumentOptions {
    let mut options = DocumentOptions::texts();
    options.learning.loss = loss;
    options.strengths.dropout = dropout;
    options.strengths.l2 = Some(l2);
    options.learning.tolerance = Some(1e-11);
    options
}

fn accuracy(model: &DocumentModel, documents: &[Instance]) -> f64 {
    let is_right = |document: &&Instance| {
        let best = model.classify(document).unwrap().best();
        Some(&model.classes()[best]) == document.label.as_ref()
    };
    documents.iter().filter(is_right).count() as f64 / documents.len() as f64
}

#[test]
fn two_and_more_classes_are_told_apart_by_every_loss() {
    for classes in [2, 3] {
        let documents = documents(classes, 120);
        for loss in LOSSES {
            for dropout in [0.0, 0.5] {
                let model = train(documents.clone(), &options(loss, dropout, 0.1)).unwrap().model;
                let found = accuracy(&model, &documents);
                assert!(found > 0.8, "{loss:?} {classes} {dropout}: {found}");
                let prediction = model.classify(&documents[0]).unwrap();
                assert!((prediction.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert_eq!(prediction.ranking().len(), classes);
            }
        }
    }
}

/// Minimizes Σ max(0, ℓ − y·w·x) + c·‖w‖² by dual coordinate descent (Hsieh et al., ICML 2008),
/// where the bias has the feature √2. Returns the bias and the weights by name.
fn dual_coordinate_descent(
    documents: &[Instance],
    l2: f64,
) -> (f64, std::collections::BTreeMap<String, f64>) {
    let features = FeatureOptions::default();
    let first = documents[0].label.clone();
    let rows: Vec<_> = documents
        .iter()
        .map(|document| {
            let InstanceContent::Text(text) = &document.content else { unreachable!() };
            let mut row = features.extract(text);
            row.push((String::new(), 2.0_f64.sqrt()));
            (row, if document.label == first { -1.0 } else { 1.0 })
        })
        .collect();
    let mut w = std::collections::BTreeMap::new();
    let mut alphas = vec![0.0; rows.len()];
    for _ in 0..3000 {
        for ((row, y), alpha) in rows.iter().zip(&mut alphas) {
            let f: f64 = row.iter().map(|(name, x)| x * w.get(name).unwrap_or(&0.0)).sum();
            let square: f64 = row.iter().map(|(_, x)| x * x).sum();
            let new = (*alpha + (1.0 - y * f) / square).clamp(0.0, 0.5 / l2);
            for (name, x) in row {
                *w.entry(name.clone()).or_insert(0.0) += (new - *alpha) * y * x;
            }
            *alpha = new;
        }
    }
    (2.0_f64.sqrt() * w.remove("").unwrap(), w)
}

#[test]
fn without_noise_the_hinge_is_an_ordinary_support_vector_machine() {
    let documents = documents(2, 60);
    for l2 in [0.1, 1.0] {
        let mut options = options(Loss::Hinge, 0.0, l2);
        options.learning.penalize_bias = true;
        let model = train(documents.clone(), &options).unwrap().model;
        let (bias, expected) = dual_coordinate_descent(&documents, 0.5 * l2);
        let found = weights(&model);
        let found_bias = model.biases()[1];
        assert!((found_bias - 0.5 * bias).abs() < 1e-5, "{found_bias} {bias}");
        for (name, w) in &expected {
            let found = found.get(name).copied().unwrap_or(0.0);
            assert!((found - w).abs() < 1e-5, "{l2} {name}: {found} {w}");
        }
    }
}

#[test]
fn without_noise_the_logistic_loss_gives_the_log_linear_model() {
    let documents = documents(2, 80);
    let [a, b] = [Loss::Softmax, Loss::Logistic]
        .map(|loss| weights(&train(documents.clone(), &options(loss, 0.0, 0.3)).unwrap().model));
    for (name, w) in &a {
        assert!((w - b[name]).abs() < 1e-5, "{name}: {w} {}", b[name]);
    }
}

#[test]
fn softmax_of_two_classes_is_one_against_the_rest_and_noise_of_inputs_is_twice_as_strong() {
    let documents = documents(2, 80);
    for kind in [NoiseKind::Dropout, NoiseKind::GaussianScores] {
        let train = |masks, amount| {
            let mut options = options(Loss::Softmax, amount, 0.1);
            (options.learning.noise, options.learning.masks) = (kind, masks);
            weights(&train(documents.clone(), &options).unwrap().model)
        };
        // ρ = 1/3 and 2/3.
        let (a, b) = (train(Masks::Inputs, 0.25), train(Masks::Weights, 0.4));
        assert!(a.iter().all(|(name, w)| (w - b[name]).abs() < 1e-5), "{kind:?}");
    }
}

#[test]
fn the_noise_of_more_classes_has_every_kind_and_sampling_is_near() {
    let documents = documents(3, 90);
    let loss = |noise, masks, samples| {
        let mut options = options(Loss::Softmax, 0.1, 0.3);
        options.learning.noise = noise;
        (options.learning.masks, options.learning.samples) = (masks, samples);
        options.learning.max_iterations = Some(60);
        let model = train(documents.clone(), &options).unwrap().model;
        let (evaluation, _) = model.evaluate(documents.clone().into_iter().map(Ok), None).unwrap();
        evaluation.report(1).log_loss
    };
    for masks in [Masks::Weights, Masks::Inputs] {
        let (quadratic, sampled) =
            (loss(NoiseKind::Dropout, masks, 1), loss(NoiseKind::MonteCarlo, masks, 50));
        assert!((quadratic / sampled - 1.0).abs() < 0.08, "{quadratic} {sampled}");
    }
    let gaussian = loss(NoiseKind::GaussianScores, Masks::Weights, 1);
    assert!((gaussian / loss(NoiseKind::Dropout, Masks::Weights, 1) - 1.0).abs() < 0.08);
    let mut options = options(Loss::Softmax, 0.5, 0.1);
    (options.learning.noise, options.learning.masks) = (NoiseKind::GaussianScores, Masks::Inputs);
    let message = train(documents, &options).unwrap_err().to_string();
    assert!(message.contains("masks 'inputs' and 3 labels"), "{message}");
}

#[test]
fn the_shares_of_classes_do_not_depend_on_the_penalty() {
    // Nine documents of ten are of one class, and their words say nothing of it.
    let documents: Vec<Instance> = (0..300)
        .map(|i| {
            let class = if i % 10 == 0 { "rare" } else { "common" };
            Instance::from_text(["a b", "b c", "c a"][i / 10 % 3]).with_label(class)
        })
        .collect();
    let share = |options: &DocumentOptions| {
        let model = train(documents.clone(), options).unwrap().model;
        let common = model.classes().iter().position(|class| class == "common").unwrap();
        model.classify(&Instance::from_text("")).unwrap().probabilities[common]
    };
    for penalize_bias in [false, true] {
        for loss in [Loss::Softmax, Loss::Logistic] {
            let mut options = options(loss, 0.0, 1000.0);
            options.learning.penalize_bias = penalize_bias;
            let expected = if penalize_bias { 0.5..0.6 } else { 0.899..0.901 };
            let found = share(&options);
            assert!(expected.contains(&found), "{loss:?}: {found}");
        }
        // The scores of the other losses: the margin, and the mean of y = ±1.
        for (loss, score) in [(Loss::Hinge, 1.0), (Loss::Squared, 0.8_f64)] {
            let mut options = options(loss, 0.0, 1000.0);
            options.learning.penalize_bias = penalize_bias;
            let sigmoid = 1.0 / (1.0 + (-score).exp());
            let expected = if penalize_bias { 0.5..0.62 } else { sigmoid - 2e-3..sigmoid + 2e-3 };
            let found = share(&options);
            assert!(expected.contains(&found), "{loss:?}: {found}");
        }
    }
    let mut options = options(Loss::Softmax, 0.0, 0.1);
    options.strengths.l1 = 1000.0;
    assert!((0.899..0.901).contains(&share(&options)));
}

#[test]
fn strengths_by_informativeness_depend_on_counts() {
    // "a" says all of the class, "b" nothing.
    let documents: Vec<Instance> = (0..40)
        .map(|i| {
            let text = if i % 2 == 0 { "a b" } else { "b" };
            Instance::from_text(text).with_label(["x", "y"][i % 2])
        })
        .collect();
    let ratio = |epsilon| {
        let mut options = options(Loss::Softmax, 0.0, 1.0);
        options.features.as_mut().unwrap().words = Some("1..1".parse().unwrap());
        options.learning.l2_informativeness = epsilon;
        weights(&train(documents.clone(), &options).unwrap().model)["w=a"].abs()
    };
    // log(21/22) − log(1/22) = 3.04: a third of the strength.
    let mut weak = options(Loss::Softmax, 0.0, 1.0 / (21.0_f64.ln() + 0.1));
    weak.features.as_mut().unwrap().words = Some("1..1".parse().unwrap());
    let expected = weights(&train(documents.clone(), &weak).unwrap().model)["w=a"].abs();
    assert!((ratio(Some(0.1)) - expected).abs() < 1e-4 && ratio(None) < 0.9 * expected);
}

#[test]
fn models_have_the_same_bits_for_any_number_of_threads() {
    let documents = documents(3, 700);
    for loss in LOSSES {
        for dropout in [0.0, 0.5] {
            let mut options = options(loss, dropout, 0.1);
            options.learning.max_iterations = Some(10);
            let run =
                |threads| in_pool(threads, || train(documents.clone(), &options).unwrap().model);
            assert!(run(1).as_bytes() == run(3).as_bytes(), "{loss:?}");
        }
    }
}

#[test]
fn development_documents_choose_the_iteration() {
    let all = documents(3, 200);
    let mut options = options(Loss::Softmax, 0.0, 1e-6);
    (options.learning.patience, options.learning.tolerance) = (5, Some(0.0));
    let trainer = DocumentTrainer::new(options).unwrap();
    let [own, dev] =
        [&all[..100], &all[100..]].map(|documents| corpus(documents.to_vec(), &trainer));
    let mut scores = Vec::new();
    let trained = trainer.train(&own, Some(&dev), &mut |event| {
        if let Event::Iteration(iteration) = event {
            scores.push(iteration.dev.unwrap().value());
        }
        ControlFlow::Continue(())
    });
    let Trained { model, end } = trained.unwrap();
    // The mean of five decides.
    let mean = |i: usize| {
        let last = &scores[(i + 1_usize).saturating_sub(5)..=i];
        last.iter().sum::<f64>() / last.len() as f64
    };
    let best = end.best_iteration;
    assert!((0..scores.len()).all(|i| mean(i) <= mean(best)));
    assert_eq!(end.dev_accuracy, Some(scores[best]));
    assert_eq!((end.reason, scores.len()), (StopReason::Patience, best + 6));
    assert_eq!(accuracy(&model, &all[100..]), scores[best]);
}

#[test]
fn a_search_scores_all_combinations_and_trains_the_best() {
    let grid = [(0.0, 0.1), (0.0, 1000.0), (0.5, 0.1), (0.5, 1000.0)];
    for (loss, classes) in [(Loss::Softmax, 2), (Loss::Hinge, 3)] {
        let trainer = DocumentTrainer::new(options(loss, 0.0, 0.1)).unwrap();
        let own = corpus(documents(classes, 60), &trainer);
        let grid = grid.map(|(dropout, l2)| options(loss, dropout, l2).strengths);
        for scoring in [Scoring::Folds(3, 1), Scoring::Dev(&own)] {
            let search = |threads| {
                in_pool(threads, || trainer.search(&own, scoring, &grid, &|_| ()).unwrap())
            };
            let result = search(1);
            assert_eq!(result.configurations.len(), 4);
            let scores = result.configurations.iter().map(|found| found.mean_accuracy);
            assert!(scores.is_sorted_by(|a, b| a >= b));
            assert_eq!(result.configurations, search(3).configurations);
            let options = &result.trained.model.header().options;
            let Strengths { dropout, l2, .. } = result.configurations[0].strengths;
            assert_eq!((&options["dropout"], &options["l2"]), (&json!(dropout), &json!(l2)));
            if let Scoring::Dev(_) = scoring {
                // The score of the search is that of the model.
                let found = accuracy(&result.trained.model, &documents(classes, 60));
                assert_eq!(found, result.configurations[0].mean_accuracy, "{loss:?}");
            }
        }
        let error = trainer.search(&own, Scoring::Folds(61, 1), &grid, &|_| ()).unwrap_err();
        assert!(error.to_string().contains("--folds 61: there are 60 documents"));
    }
}

#[test]
fn options_that_do_not_fit_are_named() {
    type Change = fn(&mut DocumentOptions);
    let cases: [(Change, &str); 6] = [
        (|o| o.strengths.dropout = 1.0, "noise of 1; expected a dropout rate below 1"),
        (|o| o.learning.samples = 0, "0 samples; expected 1 to 1000"),
        (|o| o.strengths.l2 = Some(-1.0), "L2 strength -1; expected"),
        (|o| o.learning.l2_informativeness = Some(0.0), "L2 informativeness 0; expected"),
        (
            |o| {
                (o.learning.noise, o.learning.masks) = (NoiseKind::Additive, Masks::Inputs);
            },
            "the softmax loss with additive noise and masks of inputs",
        ),
        (
            |o| {
                o.learning.loss = Loss::Logistic;
                o.learning.noise = NoiseKind::MonteCarlo;
            },
            "the logistic loss with `noise` of this kind",
        ),
    ];
    for (change, expected) in cases {
        let mut options = DocumentOptions::texts();
        change(&mut options);
        let message = DocumentTrainer::new(options).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let one = vec![Instance::from_text("a").with_label("x")];
    let message = train(one, &DocumentOptions::texts()).unwrap_err().to_string();
    assert!(message.contains("all documents are of the class 'x'"), "{message}");
}

#[test]
fn unlabeled_documents_are_for_the_noise() {
    let [labeled, mut both] = [documents(2, 60), documents(2, 60)];
    both.extend(documents(2, 80).into_iter().skip(60).map(Instance::without_label));
    for (dropout, is_alike) in [(0.5, false), (0.0, true)] {
        let options = options(Loss::Softmax, dropout, 0.1);
        let [a, b] = [&labeled, &both].map(|documents| {
            let trained = train(documents.clone(), &options).unwrap().model;
            trained.classify(&labeled[0]).unwrap().probabilities[0]
        });
        assert_eq!((a - b).abs() < 1e-6, is_alike, "{dropout}: {a} {b}");
    }
}

#[test]
fn what_a_corpus_is_worse_for_is_said() {
    let many = |classes: usize| -> Vec<Instance> {
        let class = |i: usize| Instance::from_text("of many").with_label((i % classes).to_string());
        (0..2 * classes).map(class).collect()
    };
    let gaussian = NoiseKind::GaussianScores;
    for (classes, noise, multiclass, dropout, is_warned) in [
        (21, gaussian, Multiclass::Softmax, 0.5, true),
        (20, gaussian, Multiclass::Softmax, 0.5, false),
        (21, gaussian, Multiclass::OneVsRest, 0.5, false),
        (21, gaussian, Multiclass::Softmax, 0.0, false),
        (21, NoiseKind::Dropout, Multiclass::Softmax, 0.5, false),
    ] {
        let mut options = options(Loss::Softmax, dropout, 0.1);
        (options.learning.noise, options.learning.multiclass) = (noise, multiclass);
        let trainer = DocumentTrainer::new(options).unwrap();
        let warning = trainer.warning(&corpus(many(classes), &trainer)).unwrap_or_default();
        assert_eq!(warning.contains("gaussian-scores with 21 classes"), is_warned, "{warning}");
    }
    let trainer = DocumentTrainer::new(DocumentOptions::texts()).unwrap();
    let empty = ["a", "", " "].map(|text| Instance::from_text(text).with_label("x"));
    let notice = corpus(empty.to_vec(), &trainer).notice_of_empty().unwrap();
    assert_eq!(notice, "2 documents have no features: -:1, -:1");
}

//! One evaluation with the noise term, for each engine.

use criterion::{BenchmarkId, Criterion, Throughput};
use dropchain::internals::bench::{EvaluationPoint, parse_variants};
use dropchain::internals::sentence::Sentence;
use dropchain::optim::Objective;
use dropchain::template::Template;
use dropchain::train::{TrainOptions, TrainSettings, TrainingSet};

use crate::corpus;

/// Few sentences: message passing costs hundreds of times as much as the likelihood.
const SENTENCES: usize = 200;

pub fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gradients");
    // 5 labels: entities in the IO scheme.
    for (labels, column, template) in [(5, "ner", "ner-finkel"), (17, "upos", "pos-sancl")] {
        let mut sentences = corpus::sentences(column);
        sentences.truncate(SENTENCES);
        let tokens: usize = sentences.iter().map(Sentence::len).sum();
        group.throughput(Throughput::Elements(tokens as u64));
        let options = TrainOptions {
            scheme: if labels == 5 {
                dropchain::label::Scheme::Io
            } else {
                dropchain::label::Scheme::Raw
            },
            dropout: 0.5,
            ..TrainOptions::default()
        };
        let template = Template::shipped(template).unwrap().unwrap();
        let settings = TrainSettings::new(options).unwrap();
        let set = TrainingSet::new(sentences, template, &settings).unwrap();
        assert_eq!(set.space().labels(), labels);
        let theta = EvaluationPoint::Random { scale: 0.2 }
            .weights(&set, &settings, 1)
            .unwrap();
        let mut gradient = vec![0.0; theta.len()];
        let engines = parse_variants(&["adjoint", "message", "window=1", "local"]).unwrap();
        for engine in engines {
            let mut objective = engine.objective(&set, &settings).unwrap();
            let (expected, _) = objective.evaluate(&theta, &mut gradient);
            assert!(expected > tokens as f64 / 2.0, "value {expected}");
            let collapsed = if engine.is_collapsed() {
                "-collapsed"
            } else {
                ""
            };
            let id = BenchmarkId::new(engine.name() + collapsed, labels);
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    assert_eq!(objective.evaluate(&theta, &mut gradient).0, expected);
                });
            });
        }
    }
    group.finish();
}

//! One evaluation of the training objective: value and gradient over the whole corpus.

use criterion::{BenchmarkId, Criterion, Throughput};
use dropchain::kernel::extract::{Alphabets, AttributeSource, Classes, Dataset, DatasetBuilder};
use dropchain::kernel::ids::LabelId;
use dropchain::kernel::objective::PenalizedLikelihood;
use dropchain::kernel::optim::Objective;
use dropchain::kernel::score::{ParameterSpace, SpaceOptions};
use dropchain::label::LabelSet;
use dropchain::template::Template;

use crate::corpus::{self, Numbers};

/// The most frequent parts of speech, split in two to make 22 labels out of 17.
const SPLIT: [&str; 5] = ["NOUN", "VERB", "ADP", "PUNCT", "DET"];

/// The data set with attributes of `template`: 9 labels from the column `ner`, or 22 from `upos`.
fn dataset(label: &str, template: &str) -> (Dataset, usize, LabelSet) {
    let sentences = corpus::sentences(label);
    let mut template = Template::shipped(template).unwrap().unwrap();
    template.learn(sentences.iter());
    let source = AttributeSource::bind(Some(&template), sentences[0].schema()).unwrap();
    let mut builder = DatasetBuilder::extending(source, Alphabets::default(), true);
    let mut labels = LabelSet::new();
    for sentence in &sentences {
        let ids: Vec<LabelId> = (0..sentence.len())
            .map(|t| match sentence.label(t).unwrap() {
                tag if SPLIT.contains(&tag) => labels.insert(&format!("{tag}-{}", t % 2)),
                label => labels.insert(label),
            })
            .collect::<Result<_, _>>()
            .unwrap();
        builder.add(sentence, &ids).unwrap();
    }
    let (data, alphabets) = builder.finish();
    (data, alphabets.nodes.len(), labels)
}

pub fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("objective");
    group.throughput(Throughput::Elements(corpus::TOKENS as u64));
    for (labels, column, template) in [(9, "ner", "ner"), (22, "upos", "pos")] {
        for (name, collapse) in [("all", false), ("collapsed", true)] {
            let (mut data, attributes, names) = dataset(column, template);
            assert_eq!(names.len(), labels);
            let classes = if collapse {
                Classes::equal_columns(&data.nodes, attributes)
            } else {
                Classes::singletons(attributes)
            };
            data.nodes = classes.collapsed(&data.nodes).into();
            let space = ParameterSpace::new(
                labels,
                &data,
                &classes,
                &Classes::singletons(0),
                SpaceOptions::FIRST_ORDER,
            );
            println!(
                "K = {labels}, {name}: {} columns, {:.1} entries per token, {} parameters",
                classes.len(),
                data.nodes.nonzeros() as f64 / corpus::TOKENS as f64,
                space.dimension()
            );
            let mut objective = PenalizedLikelihood::new(&data, &space, 0.5);
            let mut numbers = Numbers(labels as u64);
            let theta: Vec<f64> = (0..space.dimension()).map(|_| 0.1 * numbers.score()).collect();
            let mut gradient = vec![0.0; theta.len()];
            let (expected, _) = objective.evaluate(&theta, &mut gradient);
            assert!(expected > corpus::TOKENS as f64, "value {expected}");
            let id = BenchmarkId::new(format!("{template}-{name}"), labels);
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    assert_eq!(objective.evaluate(&theta, &mut gradient).0, expected);
                });
            });
        }
    }
    group.finish();
}

//! Attribute extraction: from columns to attributes.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use dropchain::kernel::extract::{Alphabets, AttributeSource, DatasetBuilder};
use dropchain::template::{Attribute, AttributeSink, Template, Workspace};

use crate::corpus;

/// Counts attributes.
#[derive(Default, PartialEq, Debug)]
struct Count {
    attributes: usize,
}

impl AttributeSink for Count {
    fn node(&mut self, attribute: &Attribute<'_>, _value: f64) {
        self.attributes += 1;
        black_box(attribute);
    }

    fn edge(&mut self, attribute: &Attribute<'_>, value: f64) {
        self.node(attribute, value);
    }
}

pub fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("extraction");
    group.throughput(Throughput::Elements(corpus::TOKENS as u64));
    let sentences = corpus::sentences("ner");
    for (name, least) in [("chunk", 19), ("ner", 25), ("ner-finkel", 20)] {
        let mut template = Template::shipped(name).unwrap().unwrap();
        template.learn(sentences.iter());
        let extractor = template.bind(sentences[0].schema()).unwrap();
        let mut workspace = Workspace::default();
        let mut extract = || {
            let mut count = Count::default();
            for sentence in &sentences {
                extractor.prepare(sentence, &mut workspace).unwrap();
                for t in 0..sentence.len() {
                    extractor.extract(sentence, t, &mut workspace, &mut count);
                }
            }
            count
        };
        let expected = extract();
        assert!(expected.attributes >= least * corpus::TOKENS, "{name}: {expected:?}");
        println!("{name}: {expected:?}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| assert_eq!(extract(), expected));
        });
    }
    group.finish();

    let mut group = criterion.benchmark_group("design matrix");
    group.throughput(Throughput::Elements(corpus::TOKENS as u64));
    for name in ["chunk", "ner-finkel"] {
        let template = Template::shipped(name).unwrap().unwrap();
        let build = || {
            let source = AttributeSource::bind(Some(&template), sentences[0].schema()).unwrap();
            let mut builder = DatasetBuilder::extending(source, Alphabets::default(), true);
            for sentence in &sentences {
                builder.add(sentence, &[]).unwrap();
            }
            builder.finish().0.nodes.nonzeros()
        };
        let expected = build();
        group.bench_function(name, |bencher| {
            bencher.iter(|| assert_eq!(build(), expected));
        });
    }
    group.finish();
}

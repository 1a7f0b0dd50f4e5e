//! How close each kernel comes to what the machine can do:
//! `cargo bench --bench roofline -- [CORPORA] [--rounds N] [--json FILE] [CASE…]`.
//!
//! CORPORA holds the public corpora (see `corpora/fetch.sh`); without it, the cases are the corpus
//! of the bench `speed`. For every kernel of training and of tagging the table has the operations
//! and bytes counted from the shape of the data, its time, and the percentage of the limit: the
//! time that this work takes at least, at the peak of fused multiply-adds or the bandwidth of the
//! level of the memory hierarchy in which the data lie, whichever is longer. Peak and bandwidth are
//! those of plain loops in the same run. "% 2" is that on two threads at once. Shares are of an
//! evaluation without noise and with it ("noisy"); those of L-BFGS of an iteration of training;
//! those below it of tagging. The last table is that of docs/speed.md.
//!
//! All kernels compute in `f64`; the pairs of L-BFGS and the weights of models are stored in `f32`.
#![allow(clippy::print_stdout)] // prints its results

#[path = "../cases.rs"]
mod cases;
#[path = "../corpus.rs"]
mod corpus;
mod machine;
mod optimizer;
mod report;
mod shape;
mod tagging;
mod training;
mod work;

use dropchain::kernel::score::ParameterSpace;
use dropchain::sentence::Sentence;

use cases::{CASES, Case, evaluation_seconds, objectives, typical_weights};
use machine::Machine;
use report::CaseResult;
use shape::Shape;
use training::Evaluation;
use work::Row;

/// Cases that are measured unless others are named: 9, 17, 22 and 49 labels.
const SELECTED: [&str; 4] = ["ned", "upos", "chunks", "xpos"];

/// Returns the cases without corpora: the column of labels of the bench corpus, and its template.
fn embedded() -> impl Iterator<Item = (Case, Vec<Sentence>)> {
    [("ner", "ner"), ("upos", "pos")].into_iter().map(|(name, template)| {
        let case = Case { name, template, max_labels: 100, ..CASES[0] };
        (case, corpus::sentences(name))
    })
}

/// Returns the kernels of an evaluation and of the optimizer, and the seconds of an evaluation.
fn training_rows(
    machine: &Machine,
    data: &dropchain::kernel::extract::Dataset,
    space: &ParameterSpace,
    rounds: usize,
) -> (Vec<Row>, [f64; 2]) {
    let mut objectives = objectives(data, space);
    let theta = typical_weights(&mut objectives);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let evaluation =
        (pool.unwrap()).install(|| evaluation_seconds(&mut objectives, &theta, rounds));
    let shared = Evaluation::new(data, space, &theta);
    let shape = Shape::new(data, space, &shared.partition);
    let [plain, noisy] = [false, true].map(|is_noisy| shared.seconds(is_noisy, rounds));
    let row = |kernel, work, seconds: machine::ByThreads, of: [bool; 2]| Row {
        kernel,
        work,
        seconds,
        shares: [0, 1].map(|i| of[i].then(|| seconds[0] / evaluation[i])),
    };
    let mut rows = vec![
        row("S", shape.scores(machine, false), plain[0], [true, false]),
        row("S and V (noise)", shape.scores(machine, true), noisy[0], [false, true]),
        row("forward-backward", shape.chain(machine), plain[1], [true, true]),
        row("noise term", shape.noise(machine), noisy[2], [false, true]),
        row("G", shape.gradient(machine, false), plain[3], [true, false]),
        row("G (noise)", shape.gradient(machine, true), noisy[3], [false, true]),
    ];
    drop(shared);
    let (memory, seconds) = optimizer::seconds(&mut objectives[0]);
    rows.push(Row {
        kernel: "L-BFGS",
        work: shape.optimizer(machine, memory as f64),
        seconds,
        shares: evaluation.map(|evaluation| Some(seconds[0] / (seconds[0] + evaluation))),
    });
    (rows, evaluation)
}

fn measure(machine: &Machine, case: &Case, sentences: Vec<Sentence>, rounds: usize) -> CaseResult {
    let (data, classes, labels) = case.dataset(&sentences);
    let space = case.space(&data, &classes, labels);
    let (mut rows, evaluation) = training_rows(machine, &data, &space, rounds);
    let mut sentences = sentences;
    sentences.retain(|sentence| !sentence.layout.document_start);
    rows.extend(tagging::measure(machine, case.template, &sentences, rounds));
    CaseResult {
        name: case.name.to_owned(),
        labels,
        tokens: data.tokens(),
        entries: data.nodes.nonzeros(),
        parameters: space.dimension(),
        evaluation,
        rows,
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    let (mut rounds, mut json, mut names) = (10, None, Vec::new());
    while let Some(argument) = arguments.next() {
        match &argument[..] {
            "--rounds" => rounds = arguments.next().unwrap().parse().unwrap(),
            "--json" => json = arguments.next(),
            _ => names.push(argument),
        }
    }
    let machine = Machine::measure();
    report::print_machine(&machine);
    let mut results = Vec::new();
    let mut run = |case: &Case, sentences| {
        let result = measure(&machine, case, sentences, rounds);
        report::print_case(&machine, &result);
        results.push(result);
    };
    match names.split_first() {
        None => embedded().for_each(|(case, sentences)| run(&case, sentences)),
        Some((folder, names)) => {
            let is_named = |name: &str| match names {
                [] => SELECTED.contains(&name),
                names => names.iter().any(|other| other == name),
            };
            for case in CASES.iter().filter(|case| is_named(case.name)) {
                run(case, case.corpus(folder).into_sentences());
            }
        }
    }
    report::print_summary(&machine, &results);
    if let Some(path) = json {
        let text = serde_json::to_string_pretty(&report::json(&machine, &results)).unwrap();
        std::fs::write(path, text + "\n").unwrap();
    }
}

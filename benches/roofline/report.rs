//! The results as a table and as JSON.

use dropchain::kernel::simd::InstructionSet;
use serde_json::{Value, json};

use crate::machine::{ByThreads, LEVELS, Machine};
use crate::work::Row;

/// The results of a case.
pub struct CaseResult {
    pub name: String,
    pub labels: usize,
    pub tokens: usize,
    pub entries: usize,
    pub parameters: usize,
    /// Seconds of an evaluation without noise and with it, on one thread.
    pub evaluation: [f64; 2],
    pub rows: Vec<Row>,
}

/// Returns the name of what kernels are compiled for.
fn instructions() -> String {
    format!("{:?}", InstructionSet::selected()).to_uppercase()
}

/// Prints what plain loops reach.
pub fn print_machine(machine: &Machine) {
    let billions = |[one, two]: ByThreads| format!("{:6.1} {:6.1}", 1e-9 * one, 1e-9 * two);
    println!("{}; kernels run as {}", machine.processor, instructions());
    println!("{:34} 1 thr. 2 thr.", "");
    for (name, level) in LEVELS.iter().zip(0..) {
        println!("triad, {name:6} GB/s {:15} {}", "", billions(machine.triad[level]));
        println!("sum, {name:6} GB/s {:17} {}", "", billions(machine.sum[level]));
    }
    println!("fused multiply-adds    Gflop/s     {}", billions(machine.peak));
}

/// Prints the results of a case.
pub fn print_case(machine: &Machine, case: &CaseResult) {
    let [plain, noisy] = case.evaluation.map(|seconds| 1e3 * seconds);
    println!(
        "\n{}: K = {}, {} tokens, {} entries, {} parameters; evaluation {plain:.1} ms, with noise \
         {noisy:.1} ms, ratio {:.2}",
        case.name,
        case.labels,
        case.tokens,
        case.entries,
        case.parameters,
        noisy / plain,
    );
    println!(
        "{:22} {:>8} {:>8} {:>7} {:>8} {:>8} {:>7} {:>7} {:>5} {:>5} {:>7} {:>7}",
        "kernel",
        "Mflop",
        "MB",
        "flop/B",
        "ms",
        "Gflop/s",
        "GB/s",
        "bound",
        "%",
        "% 2",
        "share",
        "noisy",
    );
    for row in &case.rows {
        let work = &row.work;
        let [one, two] = row.seconds;
        let percent = |threads: usize, seconds| {
            format!("{:.0}", 100.0 * work.limit(machine, threads).1 / seconds)
        };
        let share =
            |share: Option<f64>| share.map_or(String::new(), |s| format!("{:.0} %", 100.0 * s));
        println!(
            "{:22} {:8.0} {:8.0} {:7.2} {:8.2} {:8.2} {:7.2} {:>7} {:>5} {:>5} {:>7} {:>7}",
            row.kernel,
            1e-6 * work.operations,
            1e-6 * work.total_bytes(),
            work.operations / work.total_bytes(),
            1e3 * one,
            1e-9 * work.operations / one,
            1e-9 * work.total_bytes() / one,
            work.limit(machine, 1).0.unwrap_or("flop"),
            percent(1, one),
            percent(2, two),
            share(row.shares[0]),
            share(row.shares[1]),
        );
    }
}

/// Prints the table of docs/speed.md: percent of the limit on one thread, and shares.
pub fn print_summary(machine: &Machine, cases: &[CaseResult]) {
    let cells = |cell: &dyn Fn(&CaseResult) -> String| {
        cases.iter().map(|case| format!(" {} |", cell(case))).collect::<String>()
    };
    println!(
        "
| kernel |{}",
        cells(&|case| format!("K = {}", case.labels))
    );
    println!("|---|{}", cells(&|_| "--:".to_owned()));
    for i in 0..cases.first().map_or(0, |case| case.rows.len()) {
        let cell = |case: &CaseResult| {
            let row = &case.rows[i];
            let percent = 100.0 * row.work.limit(machine, 1).1 / row.seconds[0];
            let [plain, noisy] = row.shares;
            let share = noisy.filter(|_| row.kernel != "L-BFGS").or(plain).unwrap_or(0.0);
            format!("{percent:.0} ({:.0})", 100.0 * share)
        };
        println!("| {} |{}", cases[0].rows[i].kernel, cells(&cell));
    }
    let ratio = |case: &CaseResult| format!("{:.2}", case.evaluation[1] / case.evaluation[0]);
    println!("| evaluation with noise, by one without |{}", cells(&ratio));
}

/// Returns everything as JSON: bytes, operations and seconds.
pub fn json(machine: &Machine, cases: &[CaseResult]) -> Value {
    let levels = LEVELS.iter().enumerate().map(|(level, name)| {
        json!({
            "level": name,
            "capacity": Some(machine.capacity[level]).filter(|c| c.is_finite()),
            "triad": machine.triad[level],
            "sum": machine.sum[level],
        })
    });
    let cases = cases.iter().map(|case| {
        let rows = case.rows.iter().map(|row| {
            let limits = [1, 2].map(|threads| row.work.limit(machine, threads));
            json!({
                "kernel": row.kernel,
                "operations": row.work.operations,
                "bytes": row.work.bytes,
                "seconds": row.seconds,
                "bound": limits[0].0.unwrap_or("arithmetic"),
                "limit_seconds": limits.map(|limit| limit.1),
                "shares": row.shares,
            })
        });
        json!({
            "case": case.name,
            "labels": case.labels,
            "tokens": case.tokens,
            "entries": case.entries,
            "parameters": case.parameters,
            "evaluation_seconds": case.evaluation,
            "noise_ratio": case.evaluation[1] / case.evaluation[0],
            "kernels": rows.collect::<Vec<_>>(),
        })
    });
    json!({
        "processor": machine.processor,
        "instructions": instructions(),
        "levels": levels.collect::<Vec<_>>(),
        "peak": machine.peak,
        "cases": cases.collect::<Vec<_>>(),
    })
}

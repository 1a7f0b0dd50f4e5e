//! Draws a figure that is described in JSON (`dropchain_report::plot::Sheet::parse`).
//!
//! ```text
//! cargo run -q -p dropchain-report --example plot -- FIGURE.json FIGURE.svg
//! ```

use std::path::Path;
use std::process::ExitCode;

use dropchain::kernel::atomic_file;
use dropchain::kernel::input_file::read_text;
use dropchain::{Error, Result};
use dropchain_report::plot::Sheet;

fn draw(source: &Path, target: &Path) -> Result<()> {
    let text = read_text(source, 64 << 20, "the description of a figure in JSON")?.text;
    let svg = Sheet::parse(&text)?.svg();
    let svg = svg.ok_or_else(|| Error::parameter("no points to draw"))?;
    atomic_file::write(target, svg.as_bytes())
}

#[expect(clippy::print_stderr)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, target] = &arguments[..] else {
        eprintln!("usage: plot FIGURE.json FIGURE.svg");
        return ExitCode::from(2);
    };
    match draw(Path::new(source), Path::new(target)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {source}: {error}");
            ExitCode::FAILURE
        }
    }
}

//! Argument groups and value types that commands share.

use std::borrow::Borrow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Deref;
use std::path::Path;

use clap::{Args, ValueEnum};
use dropchain::corpus::{ReadLimits, ReadOptions, ReadReport, TextOptions};
use dropchain::kernel::memory::available_address_space;
use dropchain::{Error, MemoryLimit, Result};
use serde::Serialize;

use crate::progress::{Progress, notice};

/// An option that is switched on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// It is on.
    On,
    /// It is off.
    Off,
}

impl Switch {
    /// Returns whether it is on.
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}

/// Maximum number of threads; more is a typo.
const MAX_THREADS: i64 = 1024;

/// Address space in bytes that a thread takes: its stack, and some of its first allocations.
const THREAD_ADDRESS_SPACE: u64 = (2 << 20) + (64 << 10);

/// How many threads to use.
#[derive(Clone, Debug, Default, Args)]
pub struct ThreadArguments {
    /// Number of threads [default: one per processor]
    ///
    /// The results are the same for any number of threads.
    #[arg(long, value_name = "N", hide_short_help = true,
          value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    pub threads: Option<u16>,
}

impl ThreadArguments {
    /// Returns the number of threads to use.
    pub fn count(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }

    /// Rejects threads whose stacks do not fit into the address space. Starting them would succeed,
    /// until one that runs already finds no room for its first allocation and aborts.
    pub fn check_stacks(&self) -> Result<()> {
        let needed = self.count() as u64 * THREAD_ADDRESS_SPACE;
        if available_address_space().is_some_and(|left| left < needed) {
            return Err(Error::threads("their stacks exceed the limit on the address space"));
        }
        Ok(())
    }

    /// Starts the global thread pool.
    pub fn start_pool(&self) -> Result<()> {
        self.check_stacks()?;
        rayon::ThreadPoolBuilder::new()
            .num_threads(self.count())
            .build_global()
            .map_err(Error::threads)
    }
}

/// Limits on what is read and on the memory for it.
#[derive(Clone, Debug, Default, Args)]
pub struct LimitArguments {
    /// Maximum number of tokens of a sentence; raw text is split there [default: 100000]
    ///
    /// In other formats a longer sentence is an error: most likely the blank lines between
    /// sentences are missing.
    #[arg(long, value_name = "N", help_heading = "Input",
          value_parser = clap::value_parser!(u32).range(1..), hide_long_help = true)]
    max_sentence: Option<u32>,
    #[command(flatten)]
    memory: MemoryArgument,
}

/// A limit on the memory of what is read.
#[derive(Clone, Debug, Default, Args)]
pub struct MemoryArgument {
    /// Memory limit, for example 4G or 500M [default: most of the free memory]
    #[arg(long, value_name = "SIZE", help_heading = None::<&str>, hide_short_help = true,
          value_parser = byte_size)]
    memory: Option<u64>,
}

impl MemoryArgument {
    /// Returns the memory limit.
    pub fn memory(&self) -> MemoryLimit {
        self.memory.map_or_else(MemoryLimit::default, MemoryLimit::Bytes)
    }
}

impl LimitArguments {
    /// Returns how much is read.
    pub fn read(&self) -> ReadLimits {
        let max_sentence = self.max_sentence.map_or(ReadLimits::MAX_SENTENCE, |max| max as usize);
        ReadLimits { max_sentence, memory: self.memory() }
    }

    /// Returns the memory limit.
    pub fn memory(&self) -> MemoryLimit {
        self.memory.memory()
    }
}

/// Parses a number of bytes, written with an optional decimal unit: k, M, G or T.
///
/// # Errors
///
/// It is no number of at least 1.
pub fn byte_size(text: &str) -> Result<u64, String> {
    let unit = match text.chars().last() {
        Some('k' | 'K') => 1e3,
        Some('m' | 'M') => 1e6,
        Some('g' | 'G') => 1e9,
        Some('t' | 'T') => 1e12,
        _ => 1.0,
    };
    let number = if unit > 1.0 { &text[..text.len() - 1] } else { text };
    let size = number.parse().ok().map(|number: f64| number * unit);
    let size = size.filter(|size| size.is_finite() && *size >= 1.0).map(|size| size as u64);
    size.ok_or_else(|| "expected a size such as 4G, 500M or 4000000000".to_owned())
}

/// Text in other encodings.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct TextArguments {
    /// Encoding of the input, for example latin1, windows-1250 or utf-16le [default: utf-8]
    ///
    /// Labels of the WHATWG Encoding Standard. A byte order mark overrides this option. With
    /// `-lossy` at its end, as in utf-8-lossy, invalid bytes are replaced with U+FFFD and counted.
    #[arg(long, value_name = "NAME", value_parser = TextOptions::of_encoding,
          hide_short_help = true)]
    encoding: Option<TextOptions>,
    #[arg(skip)]
    report: ReadReport,
}

impl TextArguments {
    /// Sets the corresponding reading options.
    pub fn apply(&self, options: ReadOptions) -> ReadOptions {
        let paragraphs = options.text.paragraphs;
        let text = TextOptions { paragraphs, ..self.encoding.unwrap_or_default() };
        ReadOptions { text, report: self.report.clone(), ..options }
    }

    /// Says what was changed in the inputs, and what was decided about them; if `quiet`, only what
    /// was changed as an option allows.
    pub fn print_notices(&self, quiet: bool) {
        let texts = if quiet { self.report.losses() } else { self.report.notices() };
        texts.iter().for_each(|text| notice(text));
    }

    /// Says the same, beside progress.
    pub fn print_notices_to(&self, progress: &Progress) {
        match progress {
            Progress::Quiet => self.print_notices(true),
            _ => progress.println_all(self.report.notices()),
        }
    }
}

/// The name of an input file, which need not be valid UTF-8. As a string, for messages and logs,
/// it has replacement characters then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct FileName {
    #[serde(skip)]
    name: OsString,
    text: String,
}

impl From<OsString> for FileName {
    fn from(name: OsString) -> Self {
        let text = name.to_string_lossy().into_owned();
        Self { name, text }
    }
}

impl Deref for FileName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Borrow<str> for FileName {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl AsRef<OsStr> for FileName {
    fn as_ref(&self) -> &OsStr {
        &self.name
    }
}

impl AsRef<Path> for FileName {
    fn as_ref(&self) -> &Path {
        Path::new(&self.name)
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_decimal_units() {
        assert_eq!(byte_size("1.5G"), Ok(1_500_000_000));
        assert_eq!(byte_size("300k"), Ok(300_000));
        assert_eq!(byte_size("12"), Ok(12));
        for text in ["", "G", "-1G", "0", "infG", "4GB", "4é"] {
            assert!(byte_size(text).is_err(), "{text}");
        }
    }
}

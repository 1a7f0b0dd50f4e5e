//! Text in other encodings, and with hard line breaks.

use clap::Args;
use dropchain::corpus::{ReadOptions, ReadReport, TextEncoding};

use super::progress::notice;

/// Text in other encodings, and with hard line breaks.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Input")]
pub struct TextArguments {
    /// Encoding of the input, for example latin1, windows-1250 or utf-16le [default: utf-8]
    ///
    /// The names are those of the web. A byte order mark is stronger.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    encoding: Option<TextEncoding>,
    /// Replace bytes that are no text by U+FFFD, and say how often
    #[arg(long, hide_short_help = true, hide_long_help = true)]
    lossy: bool,
    /// Raw text has hard line breaks: a blank line ends a paragraph, other line ends are blanks
    #[arg(long, hide_short_help = true, hide_long_help = true)]
    paragraphs: bool,
    #[arg(skip)]
    report: ReadReport,
}

impl TextArguments {
    /// Sets the corresponding reading options.
    pub fn apply(&self, options: ReadOptions) -> ReadOptions {
        ReadOptions {
            encoding: self.encoding,
            lossy: self.lossy,
            paragraphs: self.paragraphs,
            report: self.report.clone(),
            ..options
        }
    }

    /// Returns whether raw text has hard line breaks.
    pub fn has_paragraphs(&self) -> bool {
        self.paragraphs
    }

    /// Says what was changed in the inputs.
    pub fn print_notices(&self) {
        self.report.notices().iter().for_each(|text| notice(text));
    }
}

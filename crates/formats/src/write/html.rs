//! An HTML page with highlighted marks, as displaCy shows entities. It needs no other file and no
//! script.

use std::fmt::Write;

use dropchain::sentence::SourceFile;

use super::annotated_text::AnnotatedText;
use crate::marks::{self, Escaped, MARKS_STYLE};

/// The page up to its title.
const BEFORE_TITLE: &str = "\
<!DOCTYPE html>
<html lang=\"und\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
style-src 'unsafe-inline'\">
<title>";

/// The style of the page, before that of marks.
const STYLE: &str = include_str!("page.css");

const END: &str = "</main>\n</body>\n</html>\n";

/// The state of a page.
#[derive(Debug, Default)]
pub(super) struct HtmlPage {
    file: Option<SourceFile>, // of the last text, once the page is open
}

impl HtmlPage {
    /// Writes a text. (Writing to a string cannot fail.)
    pub fn text(&mut self, buffer: &mut String, text: &AnnotatedText) {
        self.open(buffer, &text.file);
        if self.file.as_deref() != Some(&*text.file) {
            self.file = Some(text.file.clone());
            if &*text.file != "-" {
                let _ = writeln!(buffer, "<h1>{}</h1>", Escaped(&text.file));
            }
        }
        buffer.push_str("<p dir=\"auto\">");
        for (part, mark) in text.parts() {
            match mark {
                None => _ = write!(buffer, "{}", Escaped(part)),
                Some(mark) => *buffer += &marks::mark(part, &mark.label, mark.probability),
            }
        }
        buffer.push_str("</p>\n");
    }

    /// Writes the boundary between two documents.
    pub fn boundary(&mut self, buffer: &mut String) {
        if self.file.is_some() {
            buffer.push_str("<hr>\n");
        }
    }

    /// Writes the end of the page.
    pub fn end(&mut self, buffer: &mut String) {
        self.open(buffer, "-");
        buffer.push_str(END);
    }

    fn open(&self, buffer: &mut String, file: &str) {
        if self.file.is_none() {
            let title = Escaped(if file == "-" { "Tagged text" } else { file });
            let _ = write!(
                buffer,
                "{BEFORE_TITLE}{title}</title>\n<style>\n{STYLE}{MARKS_STYLE}</style>\n</head>\n\
                 <body>\n<main>\n"
            );
        }
    }
}

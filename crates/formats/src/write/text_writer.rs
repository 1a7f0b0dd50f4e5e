//! Collects the sentences of a text, and writes it in a format of texts.

use std::io::Write;

use dropchain::corpus::{SentenceWriter, Tagged, WriteFormat, WriteOptions};
use dropchain::sentence::OffsetUnit;
use dropchain::{Error, Result};
use serde::Serialize;

use super::{annotated_text::AnnotatedText, brat::BratFile, html::HtmlPage, json};

/// A format of texts with marks: spans or, if labels encode none, tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// A page with highlighted spans.
    Html,
    /// JSON lines for spaCy's displaCy: one object per text.
    Displacy,
    /// Spans of characters as JSON lines, as Prodigy has them: one object per text.
    Spans,
    /// Spans of characters as JSON lines, as doccano has them: one object per text.
    Doccano,
    /// Tasks with predictions for Label Studio: a JSON array with an item per text.
    LabelStudio {
        /// The name of the model.
        model: String,
    },
    /// BRAT's standoff annotations.
    Brat,
}

/// Writes texts with marks.
pub struct TextWriter {
    format: TextFormat,
    spans: bool,
    offsets: OffsetUnit,
    open: Option<AnnotatedText>,
    texts: u64, // so far
    html: HtmlPage,
    brat: BratFile,
    text_output: Option<Box<dyn Write + Send>>,
}

impl WriteFormat for TextFormat {
    fn has_texts(&self) -> bool {
        true
    }

    fn writer(&self, options: &WriteOptions) -> Result<Box<dyn SentenceWriter>> {
        Ok(Box::new(TextWriter::new(self.clone(), options)))
    }
}

impl TextWriter {
    /// A writer of this format.
    pub fn new(format: TextFormat, options: &WriteOptions) -> Self {
        Self {
            format,
            spans: options.spans,
            offsets: options.offsets,
            open: None,
            texts: 0,
            html: HtmlPage::default(),
            brat: BratFile::default(),
            text_output: None,
        }
    }

    /// BRAT: writes the text that the annotations refer to to `out`, if there is no such file: the
    /// texts of the input, or the words of its sentences joined by spaces, each with a line feed.
    /// (If the input is a file of raw text, the annotations refer to that file.)
    #[must_use]
    pub fn with_text(self, out: Box<dyn Write + Send>) -> Self {
        Self { text_output: Some(out), ..self }
    }

    /// Writes the text that is being collected.
    fn close(&mut self, buffer: &mut String) -> Result<()> {
        let Some(text) = self.open.take() else { return Ok(()) };
        self.texts += 1;
        match &self.format {
            TextFormat::Html => self.html.text(buffer, &text),
            TextFormat::Displacy => json_line(buffer, &text, &json::displacy(&text))?,
            TextFormat::Spans => json_line(buffer, &text, &json::spans(&text, self.offsets))?,
            TextFormat::Doccano => json_line(buffer, &text, &json::doccano(&text, self.offsets))?,
            TextFormat::LabelStudio { model } => {
                buffer.push_str(if self.texts == 1 { "[\n" } else { ",\n" });
                json_line(buffer, &text, &json::task(&text, model, self.texts))?;
                buffer.pop(); // the line feed, which follows a comma
            }
            TextFormat::Brat => {
                let is_new = self.brat.text(buffer, &text)?;
                if let Some(out) = self.text_output.as_mut().filter(|_| is_new) {
                    let line = [text.text.as_bytes(), b"\n"].concat();
                    out.write_all(&line).map_err(text_error)?;
                }
            }
        }
        Ok(())
    }
}

impl SentenceWriter for TextWriter {
    /// Adds a sentence, and writes the texts that are complete.
    fn sentence(&mut self, buffer: &mut String, tagged: &Tagged) -> Result<()> {
        let continues = (self.open.as_ref()).is_some_and(|text| text.contains(tagged));
        if !continues {
            self.close(buffer)?;
        }
        let text = (self.open).get_or_insert_with(|| AnnotatedText::of(tagged));
        text.add(tagged, self.spans)?;
        if text.ends_with(tagged.sentence) {
            self.close(buffer)?;
        }
        Ok(())
    }

    fn boundary(&mut self, buffer: &mut String, _: &Tagged) -> Result<()> {
        self.close(buffer)?;
        if self.format == TextFormat::Html {
            self.html.boundary(buffer);
        }
        Ok(())
    }

    fn finish(&mut self, buffer: &mut String) -> Result<()> {
        self.close(buffer)?;
        match self.format {
            TextFormat::Html => self.html.end(buffer),
            TextFormat::LabelStudio { .. } => {
                buffer.push_str(if self.texts == 0 { "[]\n" } else { "\n]\n" });
            }
            _ => {}
        }
        match &mut self.text_output {
            Some(out) => out.flush().map_err(text_error),
            None => Ok(()),
        }
    }
}

/// Writes a line of JSON.
fn json_line(buffer: &mut String, text: &AnnotatedText, object: &impl Serialize) -> Result<()> {
    let line = serde_json::to_string(object);
    let line = line.map_err(|error| Error::input(text.place(0), error.to_string()))?;
    buffer.push_str(&line);
    buffer.push('\n');
    Ok(())
}

fn text_error(error: std::io::Error) -> Error {
    Error::io("the text of the annotations", error)
}

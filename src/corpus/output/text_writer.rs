//! Collects the sentences of a text, and writes it in a format of texts.

use std::io::Write;

use serde::Serialize;

use super::annotated_text::AnnotatedText;
use super::brat::BratFile;
use super::displacy::DisplacyRecord;
use super::format::OutputFormat;
use super::html::HtmlPage;
use super::inline_xml;
use super::label_studio::Task;
use super::spans::{DoccanoRecord, SpansRecord};
use super::tagged::Tagged;
use super::write_options::WriteOptions;
use crate::error::{Error, Result};

/// The state of the output in a format of texts.
#[derive(Default)]
pub(super) struct TextWriter {
    open: Option<AnnotatedText>,
    texts: u64, // so far
    html: HtmlPage,
    brat: BratFile,
    text_output: Option<Box<dyn Write + Send>>,
}

impl TextWriter {
    /// Sets where to write the texts that BRAT's annotations refer to.
    pub fn set_text_output(&mut self, out: Box<dyn Write + Send>) {
        self.text_output = Some(out);
    }

    /// Adds a sentence, and writes the texts that are complete.
    pub fn write(
        &mut self,
        buffer: &mut String,
        tagged: &Tagged,
        options: &WriteOptions,
    ) -> Result<()> {
        let sentence = tagged.sentence;
        if sentence.layout.document_start {
            self.close(buffer, options)?;
            if options.format == OutputFormat::Html {
                self.html.boundary(buffer);
            }
            return Ok(());
        }
        tagged.check()?;
        let continues = (self.open.as_ref()).is_some_and(|text| text.contains(sentence));
        if !continues {
            self.close(buffer, options)?;
        }
        let text = (self.open).get_or_insert_with(|| AnnotatedText::of(sentence));
        text.add(tagged, options.spans)?;
        if text.ends_with(sentence) {
            self.close(buffer, options)?;
        }
        Ok(())
    }

    /// Writes what is left after the last sentence.
    pub fn finish(&mut self, buffer: &mut String, options: &WriteOptions) -> Result<()> {
        self.close(buffer, options)?;
        match options.format {
            OutputFormat::Html => self.html.end(buffer),
            OutputFormat::LabelStudio => {
                buffer.push_str(if self.texts == 0 { "[]\n" } else { "\n]\n" });
            }
            _ => {}
        }
        match &mut self.text_output {
            Some(out) => out.flush().map_err(text_error),
            None => Ok(()),
        }
    }

    /// Writes the text that is being collected.
    fn close(&mut self, buffer: &mut String, options: &WriteOptions) -> Result<()> {
        let Some(text) = self.open.take() else {
            return Ok(());
        };
        self.texts += 1;
        match options.format {
            OutputFormat::InlineXml => inline_xml::text(buffer, &text),
            OutputFormat::Html => self.html.text(buffer, &text),
            OutputFormat::Displacy => json(buffer, &text, &DisplacyRecord::new(&text))?,
            OutputFormat::Spans => json(buffer, &text, &SpansRecord::new(&text, options.offsets))?,
            OutputFormat::Doccano => {
                json(buffer, &text, &DoccanoRecord::new(&text, options.offsets))?;
            }
            OutputFormat::LabelStudio => {
                buffer.push_str(if self.texts == 1 { "[\n" } else { ",\n" });
                json(buffer, &text, &Task::new(&text, &options.model, self.texts))?;
                buffer.pop(); // the line feed, which follows a comma
            }
            OutputFormat::Brat => {
                let is_new = self.brat.text(buffer, &text)?;
                if let Some(out) = self.text_output.as_mut().filter(|_| is_new) {
                    let line = [text.text.as_bytes(), b"\n"].concat();
                    out.write_all(&line).map_err(text_error)?;
                }
            }
            // These have sentences.
            OutputFormat::Conll
            | OutputFormat::Conllu
            | OutputFormat::Jsonl
            | OutputFormat::Inline
            | OutputFormat::SlashTags => {}
        }
        Ok(())
    }
}

/// Writes a line of JSON.
fn json(buffer: &mut String, text: &AnnotatedText, object: &impl Serialize) -> Result<()> {
    let line = serde_json::to_string(object);
    let line = line.map_err(|error| Error::input(text.first_place(), error.to_string()))?;
    buffer.push_str(&line);
    buffer.push('\n');
    Ok(())
}

fn text_error(error: std::io::Error) -> Error {
    Error::io("the text of the annotations", error)
}

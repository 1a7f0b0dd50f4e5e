//! Parsing JSON with spans of characters.

use std::collections::VecDeque;

use dropchain::corpus::{InputLine, LineReader, ReadFormat, ReadOptions, SentenceParser};
use dropchain::{Result, Sentence};

use super::alignment::Aligner;
use super::json_objects::JsonObjects;
use super::marked_json::{SpansSeen, marked_text};
use super::span_options::SpanOptions;

/// An object with what is needed.
const EXAMPLE: &str = r#"{"text": "Ann left", "spans": [{"start": 0, "end": 3, "label": "PER"}]}"#;

/// JSON with texts and spans of characters, as Prodigy, doccano and Label Studio write it. The
/// label of the options is the key of the spans.
#[derive(Clone, Debug)]
pub struct Spans(pub SpanOptions);

impl ReadFormat for Spans {
    fn parser(&self, options: &ReadOptions) -> Result<Box<dyn SentenceParser>> {
        Ok(Box::new(SpansParser {
            options: options.clone(),
            objects: JsonObjects::new(options.limits.memory.bytes(0), EXAMPLE),
            aligner: Aligner::new(options.clone(), self.0.clone(), "label")?,
            seen: SpansSeen::default(),
        }))
    }
}

/// Parses JSON with spans of characters.
struct SpansParser {
    options: ReadOptions,
    objects: JsonObjects,
    aligner: Aligner,
    seen: SpansSeen,
}

impl SentenceParser for SpansParser {
    fn memory_per_byte(&self) -> u64 {
        super::MEMORY_PER_BYTE
    }

    fn advance(&mut self, lines: &mut LineReader, ready: &mut VecDeque<Sentence>) -> Result<bool> {
        let Some((text, number)) = self.objects.next(lines)? else {
            self.aligner.finish()?;
            return self.seen.finish().map(|()| false);
        };
        lines.begin_sentence();
        let file = lines.file().clone();
        let line = InputLine::new(&text, &file, number);
        if let Some(marked) = marked_text(&line, &self.options, &mut self.seen)? {
            ready.extend(self.aligner.sentences(&marked, &file)?);
        }
        Ok(true)
    }

    fn recover(&mut self, lines: &mut LineReader) -> Result<()> {
        lines.skip_line()
    }
}

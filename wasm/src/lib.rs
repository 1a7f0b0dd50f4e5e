//! The tagger of dropchain for browsers and Node: a model file in, labels out, all in the memory of
//! the page. `wasm/build` makes an ES module of it; its interface is documented in TypeScript.

use std::io::Cursor;

use dropchain::corpus::{Format, OutputFormat, ReadOptions, Reader, WriteOptions, Writer};
use dropchain::sentence::OffsetUnit;
use dropchain::tag::{TagDocuments, TagOptions, Workspace};
use dropchain::{Error, MemoryLimit, Model, Result, Sentence};
use wasm_bindgen::prelude::*;

/// The memory in bytes that a text and its tagging may take; a page has 4 GB at most.
const MEMORY: u64 = 1 << 30;

/// The objects of JSON lines.
#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.ts");

#[wasm_bindgen]
extern "C" {
    /// Sentences, as an array of objects.
    #[wasm_bindgen(typescript_type = "TaggedSentence[]")]
    pub type TaggedSentences;

    #[wasm_bindgen(catch, js_namespace = JSON, js_name = parse)]
    fn parse_json(text: &str) -> std::result::Result<TaggedSentences, JsValue>;
}

/// A model that tags text.
#[wasm_bindgen]
pub struct Tagger {
    tagger: dropchain::Tagger,
}

#[wasm_bindgen]
impl Tagger {
    /// Reads the bytes of a model file. Throws an `Error` if they are not those of one.
    #[wasm_bindgen(constructor)]
    pub fn new(model: Vec<u8>) -> std::result::Result<Tagger, JsError> {
        let model = Model::from_bytes(model)?;
        model.verify()?;
        let tagger = dropchain::Tagger::new(model);
        Ok(Self { tagger: tagger.with_memory_limit(MemoryLimit::Bytes(MEMORY)) })
    }

    /// The labels of the model.
    #[wasm_bindgen(getter)]
    pub fn labels(&self) -> Vec<String> {
        self.tagger.model().header().labels.names().to_vec()
    }

    /// Splits raw text into sentences and tokens, every line on its own, and tags them.
    #[wasm_bindgen(js_name = tagText)]
    pub fn tag_text(
        &self,
        text: String,
        marginals: Option<bool>,
    ) -> std::result::Result<TaggedSentences, JsValue> {
        let lines = self.json_lines(text, marginals)?;
        let objects: Vec<&str> = lines.lines().collect();
        parse_json(&format!("[{}]", objects.join(",")))
    }

    /// Tags raw text; the bytes are those of `dropchain tag --output jsonl --offsets
    /// utf16`.
    #[wasm_bindgen(js_name = jsonLines)]
    pub fn json_lines(
        &self,
        text: String,
        marginals: Option<bool>,
    ) -> std::result::Result<String, JsError> {
        let marginals = marginals.unwrap_or_default();
        let options = TagOptions { marginals, probability: marginals, ..TagOptions::default() };
        Ok(tagged_lines(&self.tagger, text, options)?)
    }

    /// Tags the words of a sentence: a label for each.
    #[wasm_bindgen(js_name = tagWords)]
    pub fn tag_words(&self, words: Vec<String>) -> std::result::Result<Vec<String>, JsError> {
        Ok(self.tagger.tag_words(words)?.into_iter().map(Into::into).collect())
    }
}

/// Tags the lines of a text, and writes a line of JSON for each sentence.
fn tagged_lines(tagger: &dropchain::Tagger, text: String, options: TagOptions) -> Result<String> {
    let header = tagger.model().header();
    let read = ReadOptions {
        format: Some(Format::Text),
        limits: MemoryLimit::Bytes(MEMORY).into(),
        ..ReadOptions::default()
    };
    let sentences = Reader::from_read(Box::new(Cursor::new(text)), "text", &read)
        .collect::<Result<Vec<Sentence>>>()?;
    let write = WriteOptions {
        spans: header.encodes_spans(),
        joined: header.columns.joined_names().to_vec(),
        offsets: OffsetUnit::Utf16,
        ..WriteOptions::new(OutputFormat::Jsonl)
    };
    let mut writer = Writer::new(Vec::new(), "output", &write)?;
    let documents = TagDocuments::new(tagger, &sentences);
    let mut workspace = Workspace::default();
    for (i, sentence) in sentences.iter().enumerate() {
        let tagging = tagger.tag_with(documents.input(i), options, &mut workspace)?;
        writer.write(&tagger.tagged(sentence, &tagging, &header.corpus_labeling))?;
    }
    String::from_utf8(writer.into_inner()).map_err(|_| Error::parameter("output is not UTF-8"))
}

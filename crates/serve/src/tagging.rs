//! Answering a request to tag: from its body to that of the response.

use std::ops::Range;

use axum::http::StatusCode;
use dropchain::corpus::{OutputFormat, WriteOptions, Writer};
use dropchain::label::Scheme;
use dropchain::tag::{Condition, NamedTagging, TagDocuments, Tagger, Workspace};
use dropchain::{Result, Sentence};
use serde_json::Value;

use crate::api_error::ApiError;
use crate::options::ServeOptions;
use crate::query::{MAX_NBEST_TOKENS, RequestOptions};
use crate::request::TagRequest;

/// The answer to a request to tag.
#[derive(Debug, Default)]
pub struct Answer {
    /// The body of the response.
    pub body: Vec<u8>,
    /// Number of sentences.
    pub sentences: u64,
    /// Number of tokens.
    pub tokens: u64,
}

/// Tags the body of a request with the model `name`. `is_abandoned` tells whether nobody waits for
/// the answer anymore.
pub fn answer(
    body: &[u8],
    (name, tagger): (&str, &Tagger),
    options: &RequestOptions,
    limits: &ServeOptions,
    workspace: &mut Workspace,
    is_abandoned: &dyn Fn() -> bool,
) -> Result<Answer, ApiError> {
    let request = TagRequest::parse(body)?;
    let header = tagger.model().header();
    let sentences = request.sentences(header, limits)?;
    let (items, sentences): (Vec<usize>, Vec<Sentence>) = sentences.into_iter().unzip();
    let documents = TagDocuments::new(tagger, &sentences);
    let mut output = SentenceOutput {
        tagger,
        scheme: options.output_scheme(header)?,
        lines: Vec::new(),
        ends: Vec::with_capacity(sentences.len()),
    };
    let mut answer = Answer::default();
    for (i, sentence) in sentences.iter().enumerate() {
        if is_abandoned() {
            return Err(ApiError::unavailable("nobody waits for the answer"));
        }
        if sentence.layout.document_start {
            output.ends.push(output.lines.len());
            continue;
        }
        check_nbest(sentence, options)?;
        let input = documents.input(i);
        let tagging = match options.forced.is_empty() {
            true => tagger.tag_with(input, options.tag, workspace)?,
            false => {
                let condition = Condition::from_record(sentence, &options.forced)?;
                tagger.tag_given(input, &condition, options.tag, workspace)?
            }
        };
        output.write(sentence, &NamedTagging::new(tagger, tagging, output.scheme))?;
        let limit = limits.max_response();
        if output.lines.len() > limit {
            let message =
                format!("the response would have more than {limit} bytes; send less at once");
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        answer.sentences += 1;
        answer.tokens += sentence.len() as u64;
    }
    answer.body = output.into_body(name, &items, request.list_length());
    Ok(answer)
}

/// Rejects a sentence that is too long for the number of its best label sequences.
fn check_nbest(sentence: &Sentence, options: &RequestOptions) -> Result<(), ApiError> {
    let (tokens, nbest) = (sentence.len(), options.tag.nbest);
    if nbest < 2 || tokens.saturating_mul(nbest) <= MAX_NBEST_TOKENS {
        return Ok(());
    }
    Err(ApiError::unprocessable(format!(
        "a sentence of {tokens} tokens with nbest={nbest}; expected at most {MAX_NBEST_TOKENS} \
         tokens in all of its best label sequences"
    )))
}

/// The objects of sentences, as `tag --output jsonl` writes them.
struct SentenceOutput<'a> {
    tagger: &'a Tagger,
    scheme: Scheme,
    lines: Vec<u8>,
    ends: Vec<usize>, // [sentences] where the line of each ends
}

impl SentenceOutput<'_> {
    /// Writes a sentence.
    fn write(&mut self, sentence: &Sentence, tagging: &NamedTagging<'_>) -> Result<()> {
        let header = self.tagger.model().header();
        let options = WriteOptions {
            spans: header.encodes_spans(),
            joined: header.joined_names().to_vec(),
            ..WriteOptions::new(OutputFormat::Jsonl)
        };
        let mut writer = Writer::new(&mut self.lines, "the response", options)?;
        writer.write(&tagging.tagged(sentence))?;
        self.ends.push(self.lines.len());
        Ok(())
    }

    /// Returns the body of the response: the sentences, or those of each input of a list.
    fn into_body(mut self, model: &str, items: &[usize], list: Option<usize>) -> Vec<u8> {
        // A line contains no line break but its last byte.
        for byte in self.lines.iter_mut().filter(|byte| **byte == b'\n') {
            *byte = b',';
        }
        let mut body = format!("{{\"model\":{},", Value::from(model)).into_bytes();
        match list {
            None => self.push_sentences(&mut body, 0..self.ends.len()),
            Some(length) => {
                body.extend_from_slice(b"\"results\":[");
                let mut begin = 0;
                for item in 0..length {
                    let end = begin + items[begin..].iter().take_while(|i| **i == item).count();
                    body.extend_from_slice(if item == 0 { b"{" } else { b",{" });
                    self.push_sentences(&mut body, begin..end);
                    body.push(b'}');
                    begin = end;
                }
                body.push(b']');
            }
        }
        body.extend_from_slice(b"}\n");
        body
    }

    /// Appends the member with some of the sentences.
    fn push_sentences(&self, body: &mut Vec<u8>, sentences: Range<usize>) {
        let end_of = |i: usize| i.checked_sub(1).map_or(0, |i| self.ends[i]);
        let lines = &self.lines[end_of(sentences.start)..end_of(sentences.end)];
        body.extend_from_slice(b"\"sentences\":[");
        body.extend_from_slice(lines.strip_suffix(b",").unwrap_or(lines));
        body.push(b']');
    }
}

//! Answering a request to tag: from its body to that of the response.

use axum::http::StatusCode;
use dropchain::Sentence;
use dropchain::corpus::{OutputFormat, WriteOptions, Writer};
use dropchain::tag::{Condition, NamedTagging, TagDocuments, Tagger, Workspace};
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

impl Answer {
    fn push(&mut self, json: &str) {
        self.body.extend_from_slice(json.as_bytes());
    }

    /// Counts a sentence that was written as a line, unless the response is too large.
    fn count(&mut self, sentence: &Sentence, max_response: usize) -> Result<(), ApiError> {
        if self.body.len() > max_response {
            let message = format!(
                "the response would have more than {max_response} bytes; send less at once"
            );
            return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        self.body.pop();
        self.push(",");
        self.sentences += 1;
        self.tokens += sentence.len() as u64;
        Ok(())
    }

    fn end_sentences(&mut self) {
        if self.body.ends_with(b",") {
            self.body.pop();
        }
        self.push("]");
    }
}

/// Tags the body of a request with the model `name`, and writes its sentences as `tag --output
/// jsonl` does. `is_abandoned` tells whether nobody waits for the answer anymore.
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
    let (inputs, sentences): (Vec<usize>, Vec<Sentence>) = sentences.into_iter().unzip();
    let documents = TagDocuments::new(tagger, &sentences);
    let scheme = options.output_scheme(header)?;
    let write_options = WriteOptions {
        spans: header.encodes_spans(),
        joined: header.joined_names().to_vec(),
        ..WriteOptions::new(OutputFormat::Jsonl)
    };
    let is_list = request.list_length().is_some();
    let mut answer = Answer::default();
    answer.push(&format!("{{\"model\":{},", Value::from(name)));
    answer.push(if is_list { "\"results\":[" } else { "" });
    let mut rest = inputs.into_iter().zip(&sentences).enumerate().peekable();
    for input in 0..request.list_length().unwrap_or(1) {
        answer.push(if input > 0 { "," } else { "" });
        answer.push(if is_list { "{" } else { "" });
        answer.push("\"sentences\":[");
        while let Some((i, (_, sentence))) = rest.next_if(|(_, (of, _))| *of == input) {
            if is_abandoned() {
                return Err(ApiError::unavailable("nobody waits for the answer"));
            }
            if sentence.layout.document_start {
                continue;
            }
            check_nbest(sentence, options)?;
            let tagging = if options.forced.is_empty() {
                tagger.tag_with(documents.input(i), options.tag, workspace)?
            } else {
                let condition = Condition::from_record(sentence, &options.forced)?;
                tagger.tag_given(documents.input(i), &condition, options.tag, workspace)?
            };
            let tagging = NamedTagging::new(tagger, tagging, scheme);
            Writer::new(&mut answer.body, "the response", &write_options)?
                .write(&tagging.tagged(sentence))?;
            answer.count(sentence, limits.max_response())?;
        }
        answer.end_sentences();
        answer.push(if is_list { "}" } else { "" });
    }
    answer.push(if is_list { "]}\n" } else { "}\n" });
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

//! Answering a request to tag or to explain, from its body to that of the response, on a bounded
//! number of threads.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use dropchain::Sentence;
use dropchain::corpus::{OutputFormat, WriteOptions, Writer};
use dropchain::kernel::chain::Order;
use dropchain::label::Labeling;
use dropchain::tag::{Condition, Interrupt, TagDocuments, TagInput, Tagger, WordFit, Workspace};
use dropchain_analysis::{ExplainedSentence, ExplainedTokens, Explanation, words_to_explain};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;

use crate::ServeOptions;
use crate::request::{ApiError, RequestOptions, TagRequest, Task};

/// How much larger than the largest body of a request a response may be.
const RESPONSE_FACTOR: usize = 16;

/// Maximum number of tokens of a sentence times that of its best label sequences, which are held
/// in memory with the names of their labels.
const MAX_NBEST_TOKENS: usize = 1_000_000;

/// Maximum number of tokens of a sentence whose labels are explained.
const MAX_EXPLAINED: usize = 1000;

/// Steps from one label to the next that a processor core does not do in a second.
const STEPS_PER_SECOND: f64 = 4e9;

/// Number of parts of each margin; the others are summed.
const PARTS: usize = 8;

/// Number of words of raw text that are compared with those of the training data.
const SAMPLED_WORDS: usize = 200;

/// The version of the answer, raised when something in it changes its place or meaning.
const VERSION: u32 = 1;

/// The least bytes of a marginal in a response: `"O":1,`.
const LEAST_MARGINAL: usize = 6;

/// The answer to a request to tag or to explain.
#[derive(Debug, Default)]
pub struct Answer {
    /// The body of the response.
    pub body: Vec<u8>,
    /// Number of sentences.
    pub sentences: u64,
    /// Number of tokens.
    pub tokens: u64,
}

/// A sentence, what the tagger knows of it, and the labels and spans that are known.
type ToTag<'a> = (&'a Sentence, TagInput<'a>, Condition);

impl Answer {
    fn push(&mut self, json: &str) {
        self.body.extend_from_slice(json.as_bytes());
    }

    /// Counts a sentence that was written as a line, unless the response is too large.
    fn count(&mut self, sentence: &Sentence, limits: &ServeOptions) -> Result<(), ApiError> {
        check_response(self.body.len(), limits)?;
        self.body.pop();
        self.push(",");
        self.sentences += 1;
        self.tokens += sentence.len() as u64;
        Ok(())
    }

    /// Writes the labels of a sentence as a line.
    fn tag(
        &mut self,
        tagger: &Tagger,
        (sentence, input, condition): ToTag<'_>,
        options: &RequestOptions,
        (scheme, format): (&Labeling, &WriteOptions),
        workspace: &mut Workspace,
    ) -> Result<(), ApiError> {
        let mut tagging = tagger.tag_given(input, &condition, options.tag, workspace)?;
        if let Some(threshold) = &options.threshold {
            tagger.mark(input, &condition, threshold, &mut tagging)?;
        }
        let mut writer = Writer::new(&mut self.body, "the response", format)?;
        Ok(writer.write(&tagger.tagged(sentence, &tagging, scheme))?)
    }

    /// Writes why a sentence has its labels, as a line.
    fn explain(
        &mut self,
        tagger: &Tagger,
        (sentence, input, condition): ToTag<'_>,
        options: &RequestOptions,
        workspace: &mut Workspace,
    ) -> Result<(), ApiError> {
        let length = sentence.len();
        if length > MAX_EXPLAINED {
            return Err(ApiError::unprocessable(format!(
                "a sentence of {length} tokens; expected at most {MAX_EXPLAINED} to explain"
            )));
        }
        let explanation = &Explanation::given(tagger, input, &condition, options.tag, workspace)?;
        let explained = ExplainedSentence {
            words: words_to_explain(sentence),
            explanation,
            against: None,
            tokens: &ExplainedTokens::All,
            top: PARTS,
        };
        Ok(explained.write_json(options.html, &mut self.body)?)
    }
}

/// Tags the body of a request with the model `name`, and writes its sentences as `tag --output
/// jsonl` or `explain --output json` does. The workspace is interrupted when nobody waits for the
/// answer anymore.
pub fn answer(
    body: &[u8],
    (name, tagger): (&str, &Tagger),
    (options, limits): (&RequestOptions, &ServeOptions),
    workspace: &mut Workspace,
) -> Result<Answer, ApiError> {
    let request = TagRequest::parse(body)?;
    let header = tagger.model().header();
    let sentences = request.sentences(header, limits)?;
    let (inputs, sentences): (Vec<usize>, Vec<Sentence>) = sentences.into_iter().unzip();
    let documents = TagDocuments::new(tagger, &sentences);
    let scheme = options.output_scheme(header)?;
    options.threshold.as_ref().map_or(Ok(()), |threshold| threshold.check(header))?;
    let format = WriteOptions {
        spans: header.encodes_spans(),
        joined: header.columns.joined_names().to_vec(),
        offsets: options.offsets,
        ..WriteOptions::new(OutputFormat::Jsonl)
    };
    let is_list = request.list_length().is_some();
    let mut answer = Answer::default();
    answer.push(&format!("{{\"version\":{VERSION},\"model\":{},", Value::from(name)));
    // Raw text whose first words the model hardly knows.
    let raw = sentences.iter().filter(|sentence| sentence.layout.source.is_some());
    let words = raw.filter_map(Sentence::words).flatten().take(SAMPLED_WORDS);
    if let Some(warning) = tagger.word_fit(words).and_then(WordFit::warning) {
        answer.push(&format!("\"warning\":{},", Value::from(warning)));
    }
    answer.push(if is_list { "\"results\":[" } else { "" });
    let mut rest = inputs.into_iter().zip(&sentences).enumerate().peekable();
    for input in 0..request.list_length().unwrap_or(1) {
        answer.push(if input > 0 { "," } else { "" });
        answer.push(if is_list { "{" } else { "" });
        answer.push("\"sentences\":[");
        while let Some((i, (_, sentence))) = rest.next_if(|(_, (of, _))| *of == input) {
            workspace.interrupt().check()?;
            if sentence.layout.document_start {
                continue;
            }
            let condition = match &options.forced[..] {
                [] => Condition::new(),
                keys => Condition::from_record(sentence, keys)?,
            };
            let input = (sentence, documents.input(i), condition);
            check_work(sentence, tagger, (options, limits))?;
            match options.task {
                Task::Explain => answer.explain(tagger, input, options, workspace)?,
                Task::Tag => {
                    if options.tag.marginals {
                        // Those alone may make the response too large.
                        let marginals = sentence.len().saturating_mul(header.labels.len());
                        let bytes = marginals.saturating_mul(LEAST_MARGINAL);
                        check_response(answer.body.len().saturating_add(bytes), limits)?;
                    }
                    answer.tag(tagger, input, options, (&scheme, &format), workspace)?;
                }
            }
            answer.count(sentence, limits)?;
        }
        if answer.body.ends_with(b",") {
            answer.body.pop();
        }
        answer.push(if is_list { "]}" } else { "]" });
    }
    answer.push(if is_list { "]}\n" } else { "}\n" });
    Ok(answer)
}

/// Rejects a response of so many bytes if it is too large.
fn check_response(bytes: usize, limits: &ServeOptions) -> Result<(), ApiError> {
    let most = limits.max_body.saturating_mul(RESPONSE_FACTOR);
    if bytes <= most {
        return Ok(());
    }
    let message = format!("the response would have more than {most} bytes; send less at once");
    Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message))
}

/// Rejects a sentence whose label sequences take too much memory, or whose labels cannot be found
/// within the time of a request.
fn check_work(
    sentence: &Sentence,
    tagger: &Tagger,
    (options, limits): (&RequestOptions, &ServeOptions),
) -> Result<(), ApiError> {
    let (length, transitions) = (sentence.len(), tagger.transitions());
    let paths = if options.tag.nbest > 1 { options.tag.nbest } else { 0 };
    if length.saturating_mul(paths) > MAX_NBEST_TOKENS {
        return Err(ApiError::unprocessable(format!(
            "a sentence of {length} tokens with nbest={paths}; expected at most \
             {MAX_NBEST_TOKENS} tokens in all of its best label sequences"
        )));
    }
    let [tokens, labels] = [length, transitions.labels()].map(|n| n as f64);
    // Of a sentence that is explained, all of its labels may differ in each alternative.
    let alternatives = if options.task == Task::Explain { tokens } else { 0.0 };
    let pairs = match transitions.order() {
        Order::Zero => labels,
        Order::One => transitions.pair_numbers() as f64,
    };
    // Marginals of pairs, where there are spans.
    let pairs = if options.threshold.is_some() { 5.0 * pairs } else { pairs };
    let steps = tokens * (pairs + (paths as f64 + alternatives) * labels);
    let seconds = limits.timeout.as_secs_f64();
    match steps <= seconds * STEPS_PER_SECOND {
        true => Ok(()),
        false => Err(ApiError::unprocessable(format!(
            "a sentence of {tokens} tokens with a model of {labels} labels takes more than \
             {seconds} seconds; send a shorter one, or ask for fewer label sequences (--timeout)"
        ))),
    }
}

/// A bounded number of threads, and of requests that wait for them.
pub struct Workers {
    count: usize,
    capacity: usize, // requests that wait or are tagged
    places: Arc<Semaphore>,
    threads: Arc<Semaphore>,
}

impl Workers {
    /// Creates `count` workers; `queue` requests may wait for them.
    pub fn new(count: usize, queue: usize) -> Self {
        let count = count.max(1);
        let capacity = count.saturating_add(queue).min(Semaphore::MAX_PERMITS);
        Self {
            count,
            capacity,
            places: Arc::new(Semaphore::new(capacity)),
            threads: Arc::new(Semaphore::new(count)),
        }
    }

    /// Returns the number of requests that wait, and of threads that tag.
    pub fn load(&self) -> (usize, usize) {
        let busy = self.count - self.threads.available_permits();
        let admitted = self.capacity - self.places.available_permits();
        (admitted.saturating_sub(busy), busy)
    }

    /// Runs `work` on another thread. Its argument ends it when nobody waits for the result
    /// anymore: this future was dropped.
    ///
    /// # Errors
    ///
    /// Too many requests are waiting; `work` fails, or panics, which takes no thread from others.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(Interrupt) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let place = Arc::clone(&self.places)
            .try_acquire_owned()
            .map_err(|_| ApiError::unavailable("too many requests are waiting; try again later"))?;
        let thread = Arc::clone(&self.threads).acquire_owned().await;
        let client = Arc::new(());
        let watched = Arc::downgrade(&client);
        let interrupt = Interrupt::new(move || watched.strong_count() == 0);
        let done = spawn_blocking(move || {
            // An abandoned request keeps its thread until it has ended, too.
            let _permits = (place, thread);
            work(interrupt)
        });
        let result = done.await;
        drop(client);
        result.unwrap_or_else(|_| {
            let message = "tagging failed unexpectedly; please report it";
            Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, message))
        })
    }
}

/// Memory of responses that clients have not read yet, in units of [`UNIT`] bytes.
pub const RESPONSE_UNITS: usize = 1 << 19;

/// The unit of the memory of responses, in bytes.
const UNIT: usize = 1 << 10;

/// Reads the body of a request. It is copied, for a list of tiny chunks takes far more memory.
pub async fn read_body(mut body: Body, limit: usize) -> Result<Bytes, ApiError> {
    let mut bytes = Vec::new();
    let mut is_small = body.size_hint().lower() <= limit as u64;
    while is_small && let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|error| ApiError::bad_request(format!("the body cannot be read: {error}")))?;
        bytes.extend_from_slice(&frame.into_data().unwrap_or_default()); // or trailers
        is_small = bytes.len() <= limit;
    }
    if is_small {
        return Ok(bytes.into());
    }
    let message = format!("the body has more than {limit} bytes; send less at once (--max-body)");
    Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, message))
}

/// Returns a body that counts until it has been sent, given the memory for responses that clients
/// have not read yet.
pub fn admit(memory: &Arc<Semaphore>, bytes: Vec<u8>) -> Result<Bytes, ApiError> {
    // A response that is larger than all of the memory may have all of it.
    let units = bytes.len().div_ceil(UNIT).min(RESPONSE_UNITS) as u32;
    let permit = Arc::clone(memory).try_acquire_many_owned(units);
    let _permit = permit.map_err(|_| {
        ApiError::unavailable("too many responses wait to be read; try again later")
    })?;
    Ok(Bytes::from_owner(AdmittedBytes { bytes, _permit }))
}

/// Bytes with the permission to keep them in memory.
struct AdmittedBytes {
    bytes: Vec<u8>,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for AdmittedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dropchain::Model;
    use dropchain::label::LabelSet;
    use dropchain::model::{EdgeWeights, Header};
    use dropchain::tag::TagOptions;

    use super::*;

    #[test]
    fn what_takes_longer_than_a_request_may_is_refused_beforehand() {
        let labels: Vec<String> = (0..300).map(|i| format!("L{i}")).collect();
        let mut header = Header::new(LabelSet::try_from(labels).unwrap());
        header.label_weights.transitions = vec![0.5; 300 * 300];
        let nodes = [("x", vec![(dropchain::kernel::ids::LabelId(0), 1.0)])];
        let none: [EdgeWeights<&str>; 0] = [];
        let tagger = Tagger::new(Model::from_weights(header, nodes, none).unwrap());
        let limits =
            ServeOptions { timeout: Duration::from_millis(100), ..ServeOptions::default() };
        for (task, nbest, possible, refused) in [
            (Task::Tag, 1, 4000, 5000),
            (Task::Tag, 100, 3000, 3600),
            (Task::Explain, 1, 900, 1100),
        ] {
            let tag = TagOptions { nbest, ..TagOptions::default() };
            let options = RequestOptions { task, tag, ..RequestOptions::default() };
            let check = |tokens: usize| {
                let sentence = Sentence::from_words(vec!["a"; tokens]);
                check_work(&sentence, &tagger, (&options, &limits))
            };
            assert!(check(possible).is_ok(), "{task:?} {nbest}");
            let error = check(refused).unwrap_err();
            let expected =
                format!("{refused} tokens with a model of 300 labels takes more than 0.1");
            assert!(error.message.contains(&expected), "{}", error.message);
        }
    }

    #[test]
    fn unread_responses_take_a_bounded_amount_of_memory() {
        let memory = Arc::new(Semaphore::new(RESPONSE_UNITS));
        let half = RESPONSE_UNITS * UNIT / 2;
        let first = admit(&memory, vec![0; half]).unwrap();
        let second = admit(&memory, vec![0; half]).unwrap();
        assert!(admit(&memory, vec![0]).is_err());
        drop(first.clone());
        assert!(admit(&memory, vec![0]).is_err());
        drop(first);
        assert!(admit(&memory, vec![0; half]).is_ok());
        drop(second);
    }
}

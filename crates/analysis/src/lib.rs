//! What a tagger does, and why.
//!
//! | to … | use |
//! |---|---|
//! | learn why a token has its label; say it | [`Explanation`]; [`ExplainedSentence`] |
//! | find the sentences worth labeling next | [`uncertainty`], [`Highest`], [`WordPairs`] |
//! | see how a tagger takes fewer columns or attributes | [`MissingColumns`], [`Deletion`] |
//! | tag a file with gold labels; read predictions for it | [`tag_gold`]; [`Predictions`] |
//! | list and count what is wrong in predictions | [`compare_spans`], [`ErrorCounts`] |
//! | score words by their frequency in the training data | [`FrequencyEvaluation`] |
//! | compare two taggers, and test whether they differ | [`PairedBootstrap`] |
//! | say how certain a score is | [`SentenceCounts`], [`ScoreIntervals`] |
//! | score probabilities | [`Calibration`] |
//! | see what a model is and what it has learned | [`ModelSummary`], [`top_attributes`] |
//! | see what each template line contributes to a model | [`LineStatistics`] |
//! | find attributes with names like a given one | [`similar_attributes`] |

mod attributes;
mod bootstrap;
mod calibration;
mod damage;
mod errors;
mod explanation;
mod frequency;
mod intervals;
mod predictions;
mod summary;
#[cfg(test)]
mod tests;
mod uncertainty;

pub use attributes::{LineStatistics, TopAttribute, similar_attributes, top_attributes};
pub use bootstrap::{BootstrapReport, Difference, PairedBootstrap, holm};
pub use calibration::{Calibration, CalibrationBin};
pub use damage::{Deletion, MissingColumns};
pub use errors::{ErrorCounts, ErrorKind, SpanError, compare_spans, label_errors};
pub use explanation::{
    Alternative, Block, EXPLANATION_STYLE, ExplainedSentence, ExplainedToken, ExplainedTokens,
    Explanation, Lead, Others, PAGE_END, Part, PartKind, Reason, RunnerUp, blocks_html,
    labels_against, page_beginning, words_to_explain,
};
pub use frequency::{FrequencyBand, FrequencyEvaluation, WordCounts};
pub use intervals::{ScoreIntervals, SentenceCounts};
pub use predictions::{
    PredictedColumns, Predictions, gold_labels, joined_columns, knows_none, tag_gold,
};
pub use summary::ModelSummary;
pub use uncertainty::{Highest, WordPairs, uncertainty};

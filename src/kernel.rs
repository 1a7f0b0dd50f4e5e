//! What the crates beside this library are built from: numerics of chains and noise, the objective
//! and its terms, optimizers, and small helpers.
//!
//! Exempt from semantic versioning: any release may change what is here. Programs that train and
//! tag need none of it; a learner ([`train::Learner`]) or a term of the objective
//! ([`objective::Term`]) is written with it.
//!
//! The library itself names these modules without `kernel`: the numerics are in the package
//! `dropchain-numerics` (`crates/numerics/`), the folders of the others beside those of `src/`. A
//! module with the name of a public one ([`corpus`], [`train`], …) lists the parts of it that
//! other crates need and users do not.

pub use dropchain_numerics::{aligned, chain, ids, interrupt, math, names, random, simd};
#[cfg(feature = "train")]
pub use dropchain_numerics::{noise, objective, optim, ranks, score};

#[cfg(feature = "train")]
#[path = "atomic_file.rs"]
pub mod atomic_file;
#[path = "date.rs"]
pub mod date;
#[path = "extract/mod.rs"]
pub mod extract;
#[path = "fingerprint.rs"]
pub mod fingerprint;
#[path = "input_file.rs"]
pub mod input_file;
#[path = "memory/mod.rs"]
pub mod memory;

/// For readers and writers of other formats: files, lines and JSON objects as
/// [`corpus`](crate::corpus) reads them, and what it knows of inputs of other kinds.
pub mod corpus {
    pub use crate::corpus::columns::{CONLLU_COLUMNS, DOCUMENT_START, split_cells};
    pub use crate::corpus::json_object::{JsonObject, json_fault, parse_object, type_name};
    pub use crate::corpus::lines::{MAX_LINE, is_blank};
    pub use crate::corpus::output::with_notes;
    pub use crate::corpus::parse::{LabelsSeen, MEMORY_PER_BYTE, decoded};
    pub use crate::corpus::reader::{
        check_regular, check_sources, files_of, open_stream, paths_in,
    };
    pub use crate::corpus::sample::{SAMPLE_DEV, SAMPLE_TEST, SAMPLE_TRAIN};
    pub use crate::corpus::source::InputStream;
}

/// Measures from counts.
pub mod eval {
    pub use crate::eval::counts::{ratio, standard_error};
}

/// For commands that look at labels: single labels of a scheme, and what may follow what.
pub mod label {
    pub use crate::label::label_counts::Misfit;
    pub use crate::label::notation::{Letters, TagPlace};
    #[cfg(feature = "train")]
    pub use crate::label::partial::convert_partial;
    pub use crate::label::scheme_constraint::{SchemeConstraint, may_follow};
    pub use crate::label::span::ChunkLabel;
}

/// For files of other models, and for commands that look into a [`Model`](crate::Model).
pub mod model {
    pub use crate::model::columns::{CorpusColumns, LabelSource};
    pub use crate::model::format::{FORMAT_VERSION, MAGIC, MAX_LABELS, Magic};
    pub use crate::model::header::add_recall_bias;
    pub use crate::model::provenance::NoiseExposure;
}

/// Lists of names for messages.
pub mod sentence {
    pub use crate::sentence::schema::list_names;
}

/// For explanations: the scores of a sentence, and taggers that ignore some attributes.
pub mod tag {
    pub use crate::tag::scorer::SentenceScores;
    pub use crate::tag::tagger::AttributeFilter;
}

/// For the extraction of attributes without a training set or a tagger.
pub mod template {
    pub use crate::template::attribute_lines::AttributeLines;
    pub use crate::template::extractor::{BundleSink, Extractor};
    pub use crate::template::text::{edit_distance, quote_start};
    pub use crate::template::workspace::BundleKey;
}

#[cfg(feature = "train")]
pub mod train {
    //! For learners, and for programs that set up training: the [`Learner`] trait, its [`Schedule`]
    //! of [`Stage`]s, and the [`Course`] through which it starts, reports and saves.

    pub use crate::error::check_not_negative;
    pub use crate::train::checkpoint::CHECKPOINT_MAGIC;
    pub use crate::train::corpora::is_content;
    pub use crate::train::course::Course;
    pub use crate::train::folds::Folds;
    pub use crate::train::learner::{
        AnyLearner, AnyOptions, Learner, LearnerOptions, Request, fields, unfit,
    };
    pub use crate::train::options::{Defaults, Regularization};
    pub use crate::train::schedule::{Schedule, Stage, StageObjective};
    pub use crate::train::selection::{MeanChoice, MeanScore};
    pub use crate::train::training_set::TrainingSet;
}

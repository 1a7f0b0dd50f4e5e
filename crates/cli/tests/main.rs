//! Integration tests of the program, in one executable.

mod annotations;
mod bench;
mod caseless;
mod check;
mod checkpoints;
mod classify;
mod completions;
mod config;
mod contract;
mod crfsuite_models;
mod damaged_models;
mod damaged_text;
#[cfg(unix)]
mod documented_commands;
mod documents;
mod explain;
mod figures;
mod fingerprint;
mod first_model;
#[cfg(target_os = "linux")]
mod golden;
mod help;
mod hold_out;
mod inspect;
mod interrupted_passes;
mod joined_labels;
mod json_attributes;
mod knowledge;
mod learners;
mod memory;
mod model_files;
mod model_fixture;
mod noise;
mod odd_inputs;
mod online_start;
mod output_directory;
mod outputs;
mod partial_labels;
mod precisions;
#[cfg(unix)]
mod processes;
mod reading_decisions;
mod report;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod serve_limits;
#[cfg(unix)]
mod serve_models;
#[cfg(unix)]
mod signals;
mod support;
mod tagging;
mod template_files;
mod text_encodings;
mod training;
mod tune;
mod tune_resume;
mod two_passes;
mod uncertain;
mod warm_start;
mod weights;

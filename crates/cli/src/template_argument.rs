//! The value of `--template`.

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::corpus::{Corpus, Format};
use dropchain::template::Template;
use dropchain::train::BaseModels;
use dropchain::{Error, Result};
use dropchain_formats::InputFormat;

use super::arguments::InputArguments;
use super::file_name::FileName;

/// What a template may do.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct TemplateLimits {
    /// Reject templates that read files with `lexicon`, `cluster` or `vector`
    ///
    /// The contents of these files become part of the model. Use this option for templates from
    /// others, which may name any file that you can read.
    #[arg(long, hide_short_help = true, hide_long_help = true)]
    no_files: bool,
}

/// Loads the template for training on `files`; `None` if they hold pre-extracted attributes. By
/// default it is that of the model that training continues from.
pub fn load_template(
    name: Option<&FileName>,
    limits: TemplateLimits,
    files: &[FileName],
    input: &InputArguments,
    models: &BaseModels<'_>,
) -> Result<Option<Template>> {
    let format = input.format;
    let format_of = |file: &FileName| format.unwrap_or_else(|| Format::guess(file).into());
    // Objects of JSON lines may have attributes, which is known when they are read.
    let may_be_json = name.is_none() && models.template().is_none();
    let is_extracted = |file: &FileName| match format_of(file) {
        InputFormat::Core(Format::Jsonl) => may_be_json,
        format => format == Format::Crfsuite.into(),
    };
    match (name, files.iter().all(is_extracted)) {
        (Some(name), false) => find_template(name, limits).map(Some),
        (None, true) => Ok(None),
        (Some(_), true) => Err(Error::parameter(
            "--template: the attributes of CRFsuite files are already extracted; omit this option",
        )),
        (None, false) => match (models.template(), models.first()) {
            (Some(template), _) => Ok(Some(template.clone())),
            (None, None) => Err(Error::parameter(
                "--template is missing; expected a file or the name of a built-in template \
                 (ner, pos, chunk, minimal)",
            )),
            (None, Some(model)) => Err(Error::parameter(format!(
                "--template is missing, and {} has no template; expected a file, the name of a \
                 built-in template, or training files with attributes (CRFsuite's format)",
                model.path().display()
            ))),
        },
    }
}

/// Checks that sentences have attributes if there is no template.
pub fn check_attributes(template: Option<&Template>, corpus: &Corpus) -> Result<()> {
    let missing = corpus.iter().find(|sentence| sentence.attributes.is_none());
    match missing.filter(|_| template.is_none()) {
        None => Ok(()),
        Some(sentence) => Err(Error::input(
            sentence.place(0),
            "found no attributes (the key \"attributes\"), and --template is missing; expected a \
             file or the name of a built-in template (ner, pos, chunk, minimal)",
        )),
    }
}

/// Returns the files that were read to load a template: its own, and those it refers to.
pub fn template_files(name: Option<&FileName>, template: Option<&Template>) -> Vec<PathBuf> {
    let name = name.filter(|name| !is_template_text(name));
    let (Some(name), Some(template)) = (name, template) else {
        return Vec::new();
    };
    let path: &Path = name.as_ref();
    let directory = path.parent().unwrap_or(Path::new(""));
    let files = template.file_names().map(|name| directory.join(name));
    [path.to_owned()].into_iter().chain(files).collect()
}

/// Returns whether the value is the text of a template: it has several lines.
pub fn is_template_text(value: &FileName) -> bool {
    value.contains('\n')
}

/// Reads a template from a file, or else finds the built-in one of that name. The text of
/// a template refers to no files.
fn find_template(name: &FileName, limits: TemplateLimits) -> Result<Template> {
    if is_template_text(name) {
        return name.parse();
    }
    let path: &Path = name.as_ref();
    match Template::shipped(name) {
        // A directory may have the name of a built-in template.
        Some(template) if !path.exists() || path.is_dir() => template,
        None if !path.exists() => {
            let names: Vec<&str> = Template::shipped_names().collect();
            Err(Error::parameter(format!(
                "--template {name}: no such file or built-in template; expected a file, or one \
                 of {}",
                names.join(", ")
            )))
        }
        _ if limits.no_files => Template::read_without_files(path),
        _ => Template::read(path),
    }
}

//! The models that training continues from.

use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::template::Template;
use dropchain::train::{BaseModels, BaseRole, MatchCounts, ModelMatch};
use dropchain::{Model, Result};

use super::table::format_table;

/// The models that training continues from.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Continued training")]
pub struct InitArguments {
    /// Start at the weights of this model, and keep its labels and attributes
    ///
    /// Order, boundary weights, label scheme and, without --template, the template are those of the
    /// model. Attributes that the training data do not have keep their weights. It may be the file
    /// of --model, which is replaced when training is done.
    #[arg(long, value_name = "MODEL")]
    init: Option<PathBuf>,
    /// Pull weights towards those of this model instead of 0, as strongly as --l2 says
    ///
    /// The model is a prior from other data. Training starts there, too, unless --init is given;
    /// otherwise like --init.
    #[arg(long, value_name = "MODEL", hide_short_help = true)]
    towards: Option<PathBuf>,
}

/// The opened models.
pub struct OpenModels {
    init: Option<Model>,
    towards: Option<Model>,
}

impl InitArguments {
    /// Opens the models.
    ///
    /// # Errors
    ///
    /// A file cannot be read or is not a model.
    pub fn open(&self) -> Result<OpenModels> {
        let open = |path: &Option<PathBuf>| path.as_ref().map(dropchain_crfsuite::open).transpose();
        Ok(OpenModels {
            init: open(&self.init)?,
            towards: open(&self.towards)?,
        })
    }

    /// Returns the files of the models.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = self.init.iter().chain(&self.towards);
        files.map(PathBuf::as_path)
    }

    /// Returns whether a file is one of the models.
    pub fn reads(&self, file: &Path) -> bool {
        let is_same = |model: &Path| same_file::is_same_file(model, file).unwrap_or(false);
        self.files().any(is_same)
    }

    /// Returns the file of `--init`.
    pub fn init(&self) -> Option<&Path> {
        self.init.as_deref()
    }

    /// Returns the file of `--towards`.
    pub fn towards(&self) -> Option<&Path> {
        self.towards.as_deref()
    }
}

impl OpenModels {
    /// Returns the models.
    pub fn models(&self) -> BaseModels<'_> {
        BaseModels {
            init: self.init.as_ref(),
            towards: self.towards.as_ref(),
        }
    }

    /// Says what becomes of the template of the models if training uses none.
    pub fn notice_of_template(&self, template: Option<&Template>) -> Option<String> {
        let models = self.models();
        let lost = template.is_none() && models.template().is_some();
        let path = models.first()?.path().display();
        lost.then(|| {
            format!(
                "the training files come with attributes of their own: unlike {path}, the new \
                 model will have no template"
            )
        })
    }
}

/// Formats what a model has in common with the training data as a table.
pub fn format_match(found: &ModelMatch) -> String {
    let row = |name: &str, counts: &MatchCounts| {
        let MatchCounts {
            matched,
            new,
            only_in_model,
        } = counts;
        let numbers = [matched, new, only_in_model].map(ToString::to_string);
        [name.to_owned()].into_iter().chain(numbers).collect()
    };
    let title = match found.role {
        BaseRole::Init => "training starts at",
        BaseRole::Towards => "pulled towards",
    };
    let heading = [
        format!("{title} {}", found.model),
        "matched".to_owned(),
        "new".to_owned(),
        "only in the model".to_owned(),
    ];
    let mut rows = vec![
        heading.to_vec(),
        row("labels", &found.labels),
        row("node attributes", &found.node_attributes),
        row("edge attributes", &found.edge_attributes),
        row("transitions", &found.transitions),
    ];
    rows.retain(|row: &Vec<String>| row[0] != "edge attributes" || row[1..] != ["0", "0", "0"]);
    format_table(rows.into_iter()).trim_end().to_owned()
}

//! The files that a command reads and writes, checked before any work is done.
//!
//! No output may be a file that the command reads, or another of its outputs, whatever their
//! names. An existing file is replaced only if it is of the kind that the command writes, unless
//! the user forces it: a forgotten argument (`--model dev.conll`) must not cost a corpus.

mod identity;
mod kind;
mod result_file;

use std::path::{Path, PathBuf};

use dropchain::{Error, Result};

use identity::{Identity, Stream};
pub use kind::Kind;
pub use result_file::ResultFile;

/// A file to be written.
struct Output {
    flag: &'static str,
    kind: Kind,
    path: PathBuf,
}

/// The files of a command.
pub struct CommandFiles {
    force: bool,
    resume: bool,
    inputs: Vec<PathBuf>,
    models: Vec<PathBuf>, // inputs that a new model may replace
    outputs: Vec<Output>,
}

impl CommandFiles {
    /// Declares no files yet; `force` allows the replacement of files of another kind or user.
    pub fn new(force: bool) -> Self {
        Self {
            force,
            resume: false,
            inputs: Vec::new(),
            models: Vec::new(),
            outputs: Vec::new(),
        }
    }

    /// Declares input files; `-` is standard input.
    pub fn read<P: AsRef<Path>>(mut self, files: impl IntoIterator<Item = P>) -> Self {
        let files = files.into_iter().map(|file| file.as_ref().to_owned());
        self.inputs.extend(files);
        self
    }

    /// Declares models that are read whole before any work. The model that the command writes may
    /// replace one of them, unless there is a checkpoint: an interrupted run could not continue
    /// without it.
    pub fn read_models<P: AsRef<Path>>(mut self, files: impl IntoIterator<Item = P>) -> Self {
        let files = files.into_iter().map(|file| file.as_ref().to_owned());
        self.models.extend(files);
        self
    }

    /// Declares an output file, the value of `flag`, if there is one.
    pub fn write(mut self, flag: &'static str, kind: Kind, file: Option<&Path>) -> Self {
        self.outputs.extend(file.map(|path| Output {
            flag,
            kind,
            path: path.to_owned(),
        }));
        self
    }

    /// Declares the output files of a command that trains, except its checkpoint.
    pub fn write_model(self, model: &Path, log: Option<&Path>) -> Self {
        self.write("--model", Kind::Model, Some(model))
            .write("--log", Kind::Log, log)
    }

    /// Declares the checkpoint of a command, if there is one; `resume` allows one that exists.
    pub fn write_checkpoint(mut self, file: Option<&Path>, resume: bool) -> Self {
        self.resume = resume;
        self.write("--checkpoint", Kind::Checkpoint, file)
    }

    /// Checks the files.
    ///
    /// # Errors
    ///
    /// An output is an input, another output or `-`; an output exists and is of another kind, or a
    /// checkpoint that is not resumed; an input or an output is the file that standard output goes
    /// to.
    pub fn check(&self) -> Result<()> {
        let files: Vec<&PathBuf> = self.inputs.iter().chain(&self.models).collect();
        let inputs: Vec<_> = files.iter().map(|file| identify_input(file)).collect();
        let has_checkpoint = self.outputs.iter().any(|o| o.kind == Kind::Checkpoint);
        let streams = [Stream::Output, Stream::Error];
        let streams = streams.map(|stream| (stream, Identity::of_stream(stream)));
        for (stream, file) in &streams {
            if let Some(i) = position(&inputs, file.as_ref()) {
                return Err(Error::parameter(format!(
                    "{}: the input file is the output file: {stream} is redirected to it",
                    files[i].display()
                )));
            }
        }
        let mut outputs: Vec<Option<Identity>> = Vec::new();
        for output in &self.outputs {
            if output.path == Path::new("-") {
                return Err(output.error(
                    "this is not written to standard output; expected the name of a file (./- if \
                     its name is -)",
                ));
            }
            let file = Identity::of_output(&output.path);
            let may_replace = output.kind == Kind::Model && !has_checkpoint;
            let count = if may_replace {
                self.inputs.len()
            } else {
                files.len()
            };
            if let Some(i) = position(&inputs[..count], file.as_ref()) {
                let reason = if i < self.inputs.len() || output.kind != Kind::Model {
                    ""
                } else {
                    ", since with --checkpoint an interrupted run needs this one to continue"
                };
                return Err(output.error(&format!(
                    "this is the input file {}; expected a different file to write to{reason}",
                    files[i].display()
                )));
            }
            if let Some(i) = position(&outputs, file.as_ref()) {
                let kind = self.outputs[i].kind;
                return Err(output.error(&format!(
                    "this is the {kind} file; expected a different file"
                )));
            }
            let stream = streams.iter().find(|s| file.is_some() && s.1 == file);
            if let Some((stream, _)) = stream.filter(|_| !output.is_stream_name()) {
                return Err(output.error(&format!(
                    "{stream} is redirected to this file; expected a different file"
                )));
            }
            outputs.push(file);
            if !self.force {
                output.check_replacement(self.resume)?;
            }
        }
        Ok(())
    }
}

impl Output {
    fn error(&self, message: &str) -> Error {
        Error::parameter(format!("{} {}: {message}", self.flag, self.path.display()))
    }

    /// Returns whether the path means a stream that is open already, such as `/dev/stdout`.
    fn is_stream_name(&self) -> bool {
        ["/dev", "/proc"]
            .iter()
            .any(|root| self.path.starts_with(root))
    }

    /// Checks that an existing file is of the same kind and user, and no checkpoint to be lost.
    fn check_replacement(&self, resume: bool) -> Result<()> {
        let Ok(metadata) = self.path.metadata() else {
            return Ok(());
        };
        if !metadata.is_file() || metadata.len() == 0 || self.is_stream_name() {
            return Ok(());
        }
        if self.kind == Kind::Tagged {
            return Err(self
                .error("this file exists; choose another directory, or replace it with --force"));
        }
        let found = Kind::describe(&self.path, self.kind).map_err(|e| Error::io(&self.path, e))?;
        if let Some(found) = found {
            return Err(self.error(&format!(
                "the argument after {} is the file to write, and this one exists and is not a \
                 {kind}: it looks like {found}; expected a new file or an old {kind} (--force \
                 replaces any file)",
                self.flag,
                kind = self.kind
            )));
        }
        #[cfg(unix)]
        self.check_owner(&metadata)?;
        if self.kind == Kind::Checkpoint && !resume {
            return Err(self.error(
                "there is a checkpoint of an earlier run; continue it with --resume, or start \
                 from the beginning with --force",
            ));
        }
        Ok(())
    }

    /// Checks that the file belongs to the user of this process, who would become the owner of
    /// its replacement.
    #[cfg(unix)]
    fn check_owner(&self, metadata: &std::fs::Metadata) -> Result<()> {
        use std::os::unix::fs::MetadataExt;

        let user = rustix::process::geteuid();
        if user.is_root() || metadata.uid() == user.as_raw() {
            return Ok(());
        }
        Err(self.error(&format!(
            "this file belongs to another user (number {}), and its replacement would be yours; \
             choose another name, or replace it with --force",
            metadata.uid()
        )))
    }
}

fn identify_input(file: &Path) -> Option<Identity> {
    if file == Path::new("-") {
        Identity::of_stream(Stream::Input)
    } else {
        Identity::of_file(file)
    }
}

fn position(files: &[Option<Identity>], file: Option<&Identity>) -> Option<usize> {
    let file = file?;
    files.iter().position(|other| other.as_ref() == Some(file))
}

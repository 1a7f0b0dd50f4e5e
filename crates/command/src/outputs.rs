//! The files that a command reads and writes, checked before any work is done: no output is a file
//! that the command reads, or another of its outputs, whatever their names.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::kernel::atomic_file;
use dropchain::kernel::atomic_file::{parent_directory, resolve_target};
use dropchain::kernel::model::MAGIC;
use dropchain::kernel::train::CHECKPOINT_MAGIC;
use dropchain::{Error, Result};
use same_file::Handle;

use crate::arguments::FileName;
use crate::interrupt;

/// The model that training writes.
#[derive(Clone, Debug, Args)]
pub struct ModelArgument {
    /// Write the model to this file [default: a new file named after TRAIN: train.model]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
}

impl ModelArgument {
    /// Returns the file: by default of the name of the first training file, in this folder.
    pub fn path(&self, train: &[FileName]) -> PathBuf {
        let name = || {
            let file = train.first().filter(|file| &***file != "-");
            let name = file.and_then(|file| AsRef::<Path>::as_ref(file).file_name());
            let name = Path::new(name.unwrap_or("dropchain".as_ref()));
            let is_compressed = name.extension().is_some_and(|e| e == "gz");
            let name = if is_compressed { name.with_extension("") } else { name.to_owned() };
            name.with_extension("model")
        };
        self.model.clone().unwrap_or_else(name)
    }

    /// Declares the file and the log as outputs. Only a file that is named may exist.
    pub fn declare(
        &self,
        files: CommandFiles,
        train: &[FileName],
        log: Option<&Path>,
    ) -> CommandFiles {
        let refusal = "this file exists; name it with --model to replace it, or another one";
        let refusal = self.model.is_none().then_some(refusal);
        files.write_new("--model", Some(&self.path(train)), refusal).write("--log", log)
    }
}

/// A file to be written.
struct Output {
    flag: &'static str,
    path: PathBuf,
    /// Message if the file exists; `None` if it may be replaced.
    refusal: Option<&'static str>,
}

/// The files of a command.
#[derive(Default)]
pub struct CommandFiles {
    inputs: Vec<PathBuf>,
    models: Vec<PathBuf>, // inputs that a new model may replace
    outputs: Vec<Output>,
}

impl CommandFiles {
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
    pub fn write(self, flag: &'static str, file: Option<&Path>) -> Self {
        self.write_new(flag, file, None)
    }

    /// Declares an output file that must not exist; if there is a refusal, which says so.
    pub fn write_new(
        mut self,
        flag: &'static str,
        file: Option<&Path>,
        refusal: Option<&'static str>,
    ) -> Self {
        self.outputs.extend(file.map(|path| Output { flag, path: path.to_owned(), refusal }));
        self
    }

    /// Declares the output files of a command that trains, except its checkpoint.
    pub fn write_model(self, model: &Path, log: Option<&Path>) -> Self {
        self.write("--model", Some(model)).write("--log", log)
    }

    /// Declares the checkpoint of a command, if there is one, and whether it may exist.
    pub fn write_checkpoint(self, file: Option<&Path>, may_exist: bool) -> Self {
        let refusal = "this file exists: if it is the checkpoint of an earlier run, continue it \
                       with --resume, or remove it to start from the beginning";
        self.write_new("--checkpoint", file, (!may_exist).then_some(refusal))
    }

    /// Checks the files.
    ///
    /// # Errors
    ///
    /// An output is an input, another output or `-`, or exists and must not; an input or an output
    /// is the file that standard output goes to; a model would replace a file that is none.
    pub fn check(&self) -> Result<()> {
        let inputs: Vec<_> = (self.inputs.iter().chain(&self.models))
            .map(|path| (path.display().to_string(), Identity::of_input(path)))
            .collect();
        let streams = [("standard output", Handle::stdout()), ("standard error", Handle::stderr())];
        let streams = streams.map(|(name, handle)| (name.to_owned(), Identity::of_stream(handle)));
        for (stream, file) in &streams {
            if let Some(input) = find(&inputs, file.as_ref()) {
                return Err(Error::parameter(format!(
                    "{input}: the input file is the output file: {stream} is redirected to it"
                )));
            }
        }
        let has_checkpoint = self.outputs.iter().any(|o| o.flag == "--checkpoint");
        let mut outputs: Vec<(String, Option<Identity>)> = Vec::new();
        for output in &self.outputs {
            let file = Identity::of_output(&output.path);
            let count = match output.flag == "--model" && !has_checkpoint {
                true => self.inputs.len(),
                false => inputs.len(),
            };
            if output.path == Path::new("-") {
                return Err(output.error(
                    "this is not written to standard output; expected the name of a file (./- if \
                     its name is -)",
                ));
            }
            if let Some(input) = find(&inputs[..count], file.as_ref()) {
                let expected = "expected a different file to write to";
                return Err(output.error(&format!("this is the input file {input}; {expected}")));
            }
            if let Some(other) = find(&outputs, file.as_ref()) {
                return Err(output.error(&format!(
                    "this is the {} file; expected a different file",
                    other.trim_start_matches('-')
                )));
            }
            let stream = find(&streams, file.as_ref());
            if let Some(stream) = stream.filter(|_| !atomic_file::is_special(&output.path)) {
                return Err(output.error(&format!(
                    "{stream} is redirected to this file; expected a different file"
                )));
            }
            let exists = fs::metadata(&output.path).is_ok_and(|m| m.is_file() && m.len() > 0);
            if let Some(refusal) = output.refusal.filter(|_| exists) {
                return Err(output.error(refusal));
            }
            if output.flag == "--model" && exists && !is_own_model(&output.path) {
                return Err(output.error(
                    "this file exists and is no model of dropchain; expected one to replace, or a \
                     new name",
                ));
            }
            outputs.push((output.flag.to_owned(), file));
        }
        Ok(())
    }
}

/// Returns whether a file is a model of this program, of any kind or version.
fn is_own_model(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    let is_ours = start[..4] == MAGIC[..4] && start.ends_with(b"\n");
    read.is_ok() && is_ours && start != CHECKPOINT_MAGIC
}

impl Output {
    fn error(&self, message: &str) -> Error {
        Error::parameter(format!("{} {}: {message}", self.flag, self.path.display()))
    }
}

/// Identity of a regular file.
#[derive(PartialEq, Eq)]
enum Identity {
    File(Handle),
    /// A file that does not exist yet: its directory and its name.
    New(Handle, OsString),
}

impl Identity {
    /// Identifies an existing regular file. Others cannot be lost, and opening a pipe would
    /// disturb it.
    fn of_input(path: &Path) -> Option<Self> {
        if path == Path::new("-") {
            return Self::of_stream(Handle::stdin());
        }
        let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        is_file.then(|| Handle::from_path(path).ok().map(Self::File))?
    }

    /// Identifies the file that a name stands for, which need not exist.
    fn of_output(path: &Path) -> Option<Self> {
        if path.exists() {
            return Self::of_input(path);
        }
        let target = resolve_target(path);
        let directory = Handle::from_path(parent_directory(&target)).ok()?;
        Some(Self::New(directory, target.file_name()?.to_owned()))
    }

    /// Identifies the regular file that a standard stream comes from or goes to.
    fn of_stream(stream: io::Result<Handle>) -> Option<Self> {
        let handle = stream.ok()?;
        let is_file = handle.as_file().metadata().ok()?.is_file();
        is_file.then_some(Self::File(handle))
    }
}

/// Returns the name of a file among others.
fn find<'a>(files: &'a [(String, Option<Identity>)], file: Option<&Identity>) -> Option<&'a str> {
    let found = (files.iter()).find(|(_, other)| file.is_some() && other.as_ref() == file);
    found.map(|(name, _)| name.as_str())
}

/// The file that receives the result of a command.
pub struct ResultFile(PathBuf);

impl ResultFile {
    /// Checks that the file can be written.
    pub fn new(path: &Path) -> Result<Self> {
        atomic_file::check_writable(path).map(|()| Self(path.to_owned()))
    }

    /// Writes the file.
    pub fn save(self, contents: &[u8]) -> Result<()> {
        interrupt::set_has_result();
        atomic_file::write(&self.0, contents)
    }
}

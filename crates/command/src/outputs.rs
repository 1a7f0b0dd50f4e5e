//! The files that a command reads and writes, checked before any work is done: no output is a file
//! that the command reads, or another of its outputs, whatever their names.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use dropchain::corpus::FileKind;
use dropchain::kernel::atomic_file::{self, parent_directory, resolve_target};
use dropchain::kernel::train::CHECKPOINT_MAGIC;
use dropchain::{Error, Result};
use same_file::Handle;

use crate::arguments::FileName;
use crate::{interrupt, missing};

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
        let files = files.write_new("--model", OutputKind::Model, Some(&self.path(train)), refusal);
        files.write("--log", OutputKind::Log, log)
    }
}

/// What is written to a file, which replaces only a file of its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// A model of any kind and version.
    Model,
    /// A log of training.
    Log,
    /// The page of `report`.
    Page,
    /// A figure.
    Figure,
    /// Results of a benchmark.
    Benchmark,
    /// Clusters of words.
    Clusters,
    /// The access log of `serve`, to which lines are appended.
    AccessLog,
    /// A checkpoint, which is verified when it is read.
    Checkpoint,
    /// A tagged file, in any format: whoever declares it says whether it may exist.
    Tagged,
}

impl OutputKind {
    const NAMED: [(Self, &str); 7] = [
        (Self::Model, "a model of dropchain"),
        (Self::Log, "a log of training"),
        (Self::Page, "a page of `report`"),
        (Self::Figure, "a figure of dropchain"),
        (Self::Benchmark, "results of `bench`"),
        (Self::Clusters, "clusters of words"),
        (Self::AccessLog, "an access log"),
    ];

    /// Returns whether a file that begins so is of this kind.
    fn is(self, start: &[u8]) -> bool {
        let beginning: &[u8] = match self {
            Self::Model => {
                return FileKind::is_own(start) && !start.starts_with(&CHECKPOINT_MAGIC);
            }
            Self::Clusters => {
                let mut cells = start.split(|byte| *byte == b'\t');
                let path = cells.next().unwrap_or_default();
                return path.iter().all(|bit| b"01".contains(bit)) && cells.nth(1).is_some();
            }
            Self::Log => b"{\"event\":\"",
            Self::AccessLog => b"{\"time\":\"",
            Self::Page => b"<!DOCTYPE html>\n<!-- dropchain report -->",
            Self::Figure => b"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot",
            Self::Benchmark => b"{\n  \"version\": \"",
            Self::Checkpoint | Self::Tagged => b"",
        };
        start.starts_with(beginning)
    }

    /// Says what a file is, if it exists and is of another kind.
    fn conflict(self, path: &Path) -> Option<String> {
        let mut start = Vec::new();
        let read = File::open(path).and_then(|file| file.take(200).read_to_end(&mut start));
        if read.is_ok() && (start.is_empty() || self.is(&start)) {
            return None;
        }
        let named = Self::NAMED.iter().find(|(kind, _)| kind.is(&start));
        let first = String::from_utf8_lossy(&start);
        let first: String = first.lines().next().unwrap_or_default().chars().take(40).collect();
        let found =
            named.map_or_else(|| format!("begins with {first:?}"), |n| format!("is {}", n.1));
        let (_, own) = Self::NAMED.iter().find(|(kind, _)| *kind == self)?;
        Some(format!("this file exists and {found}; expected {own} to replace, or a new name"))
    }
}

/// A file to be written.
struct Output {
    flag: &'static str,
    kind: OutputKind,
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
        self.inputs.extend(files.into_iter().map(|file| file.as_ref().to_owned()));
        self
    }

    /// Declares models that are read whole before any work. The model that the command writes may
    /// replace one of them, unless there is a checkpoint: an interrupted run could not continue
    /// without it.
    pub fn read_models<P: AsRef<Path>>(mut self, files: impl IntoIterator<Item = P>) -> Self {
        self.models.extend(files.into_iter().map(|file| file.as_ref().to_owned()));
        self
    }

    /// Declares an output file, the value of `flag`, if there is one.
    pub fn write(self, flag: &'static str, kind: OutputKind, file: Option<&Path>) -> Self {
        self.write_new(flag, kind, file, None)
    }

    /// Declares an output file that must not exist; if there is a refusal, which says so.
    pub fn write_new(
        mut self,
        flag: &'static str,
        kind: OutputKind,
        file: Option<&Path>,
        refusal: Option<&'static str>,
    ) -> Self {
        let output = |path: &Path| Output { flag, kind, path: path.to_owned(), refusal };
        self.outputs.extend(file.map(output));
        self
    }

    /// Declares the output files of a command that trains, except its checkpoint.
    pub fn write_model(self, model: &Path, log: Option<&Path>) -> Self {
        self.write("--model", OutputKind::Model, Some(model)).write("--log", OutputKind::Log, log)
    }

    /// Declares the checkpoint of a command, if there is one, and whether it may exist.
    pub fn write_checkpoint(self, file: Option<&Path>, may_exist: bool) -> Self {
        let refusal = "this file exists: if it is the checkpoint of an earlier run, continue it \
                       with --resume, or remove it to start from the beginning";
        let refusal = (!may_exist).then_some(refusal);
        self.write_new("--checkpoint", OutputKind::Checkpoint, file, refusal)
    }

    /// Checks the files.
    ///
    /// # Errors
    ///
    /// An input does not exist or cannot be read; an output is an input, another output or `-`, or
    /// exists and must not; an input or an output is the file that standard output goes to, or
    /// would replace a file of another kind.
    pub fn check(&self) -> Result<()> {
        self.inputs.iter().chain(&self.models).try_for_each(|path| check_readable(path))?;
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
            output.check_existing()?;
            outputs.push((output.flag.to_owned(), file));
        }
        Ok(())
    }
}

impl Output {
    /// Checks what is there.
    fn check_existing(&self) -> Result<()> {
        let is_there = fs::symlink_metadata(&self.path).is_ok();
        if self.kind == OutputKind::Tagged && is_there && !self.path.is_file() {
            return Err(self.error("this is not a regular file; expected one, or a new name"));
        }
        // That of tagged files is created.
        if let Some(folder) = missing::absent_folder(&self.path)
            && self.kind != OutputKind::Tagged
        {
            return Err(self.error(&format!("there is no folder {}", folder.display())));
        }
        let has_contents = fs::metadata(&self.path).is_ok_and(|m| m.is_file() && m.len() > 0);
        let refusal = || self.refusal.map(str::to_owned);
        let conflict = || refusal().or_else(|| self.kind.conflict(&self.path));
        match has_contents.then(conflict).flatten() {
            Some(message) => Err(self.error(&message)),
            None => Ok(()),
        }
    }

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

/// Checks that an input file can be opened. Opening a pipe would wait, or disturb it.
fn check_readable(path: &Path) -> Result<()> {
    let is_file = |path| fs::metadata(path).map(|metadata| metadata.is_file());
    let opened = || if is_file(path)? { File::open(path).map(drop) } else { Ok(()) };
    match path == Path::new("-") {
        true => Ok(()),
        false => opened().map_err(|e| Error::io(path, e)),
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

#[cfg(test)]
mod tests {
    use dropchain::kernel::model::MAGIC;

    use super::*;

    #[test]
    fn a_result_replaces_a_file_of_its_own_kind_or_none() {
        let directory = tempfile::tempdir().unwrap();
        let old_version = [&MAGIC[..4], b"OLD\n"].concat();
        let documents = [&MAGIC[..4], b"DOC\n\x01\x02"].concat();
        let checkpoint = [CHECKPOINT_MAGIC.as_slice(), b"train10\n"].concat();
        let page = b"<!DOCTYPE html>\n<!-- dropchain report -->\n<p>";
        let figure = b"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\">";
        let files: [(&str, &[u8], &[OutputKind]); 14] = [
            ("model", b"DROPCRF\n\x01", &[OutputKind::Model]),
            ("old.model", &old_version, &[OutputKind::Model]),
            ("documents.model", &documents, &[OutputKind::Model]),
            ("log", b"{\"event\":\"start\",\"version\"", &[OutputKind::Log]),
            ("resumed.log", b"{\"event\":\"pass\",\"number\":1}\n", &[OutputKind::Log]),
            ("page", page, &[OutputKind::Page]),
            ("figure", figure, &[OutputKind::Figure]),
            ("benchmark", b"{\n  \"version\": \"0.1.0\"", &[OutputKind::Benchmark]),
            ("clusters", b"0110\tRome\t12\n0111\tYork\t3\n", &[OutputKind::Clusters]),
            ("checkpoint", &checkpoint, &[]),
            ("dev.conll", b"Ann NNP B-PER\nleft VBD O\n", &[]),
            ("spans.jsonl", b"{\"tokens\": [\"Ann\"]}\n", &[]),
            ("photo", b"\x89PNG\r\n\x1a\n\0\0\0", &[]),
            ("numbers.tsv", b"7\t0.25\t1\n", &[]),
        ];
        for (name, contents, own) in files {
            let path = directory.path().join(name);
            fs::write(&path, contents).unwrap();
            for (kind, expected) in OutputKind::NAMED {
                let checked = CommandFiles::default().write("--x", kind, Some(&path)).check();
                let message = checked.err().map(|error| error.to_string());
                assert_eq!(message.is_none(), own.contains(&kind), "{name}, {expected}");
                if let Some(message) = message {
                    let start = format!("--x {}: this file exists and ", path.display());
                    assert!(message.starts_with(&start), "{message}");
                    let end = format!("; expected {expected} to replace, or a new name");
                    assert!(message.ends_with(&end), "{message}");
                }
            }
        }
        let conflict = |name| OutputKind::Log.conflict(&directory.path().join(name)).unwrap();
        assert!(conflict("model").contains("exists and is a model of dropchain;"));
        assert!(conflict("dev.conll").contains("exists and begins with \"Ann NNP B-PER\";"));
        // Nothing is lost with an empty file.
        let empty = directory.path().join("empty");
        fs::write(&empty, b"").unwrap();
        let declared = CommandFiles::default().write("--log", OutputKind::Log, Some(&empty));
        declared.check().unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_tagged_file_replaces_only_a_regular_file() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        for path in [&link, Path::new("/dev/null"), directory.path()] {
            let files = CommandFiles::default();
            let checked = files.write("--output-dir", OutputKind::Tagged, Some(path)).check();
            let message = checked.unwrap_err().to_string();
            assert!(message.contains("this is not a regular file"), "{message}");
        }
    }
}

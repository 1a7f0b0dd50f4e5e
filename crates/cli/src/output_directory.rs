//! The files that `tag --output-dir` writes.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use dropchain::atomic_file::{Reservation, resolve_target};
use dropchain::corpus::{Format, Reader};
use dropchain::{Error, Result};
use dropchain_formats::InputFormat;

use super::file_name::FileName;
use super::outputs::{CommandFiles, Kind};
use super::tag_output::OutputName;
use super::tagging_pipeline::OutputStreams;

const FLAG: &str = "--output-dir";

/// The output files of an input file.
pub struct OutputFiles<'a> {
    input: &'a FileName,
    main: PathBuf,
    /// The text of BRAT's annotations.
    text: Option<PathBuf>,
    /// Whether the input is that text itself, which is not written then.
    pub is_own_text: bool,
}

/// A directory for output files.
pub struct OutputDirectory<'a> {
    directory: &'a Path,
    model: &'a Path,
    force: bool,
    inputs: HashSet<PathBuf>, // all that is read, without symbolic links
}

impl<'a> OutputDirectory<'a> {
    pub fn new(directory: &'a Path, force: bool, model: &'a Path, inputs: &[FileName]) -> Self {
        let paths = inputs.iter().map(AsRef::<Path>::as_ref).chain([model]);
        Self {
            directory,
            model,
            force,
            inputs: paths
                .filter_map(|path| fs::canonicalize(path).ok())
                .collect(),
        }
    }

    /// Names the output files, checks all of them, and creates the directory.
    ///
    /// # Errors
    ///
    /// An input has no name, or two have the same; an output is an input, or exists and is not to
    /// be replaced; the directory cannot be created.
    pub fn files<'i>(
        &self,
        inputs: &'i [FileName],
        format: OutputName,
    ) -> Result<Vec<OutputFiles<'i>>> {
        let mut names: HashMap<OsString, &FileName> = HashMap::new();
        let mut files = Vec::with_capacity(inputs.len());
        for input in inputs {
            let name = base_name(input)?;
            if let Some(other) = names.insert(name.clone(), input) {
                return Err(Error::parameter(format!(
                    "{FLAG}: the output of {other} and of {input} would have the same name; \
                     expected input files with different names"
                )));
            }
            files.push(self.output_files(input, &name, format)?);
        }
        if self.directory.exists() && !self.directory.is_dir() {
            return Err(Error::parameter(format!(
                "{FLAG} {}: this is not a directory; expected one, or a new name",
                self.directory.display()
            )));
        }
        let created = fs::create_dir_all(self.directory);
        created.map_err(|error| Error::io(self.directory, error))?;
        Ok(files)
    }

    fn output_files<'i>(
        &self,
        input: &'i FileName,
        name: &OsStr,
        format: OutputName,
    ) -> Result<OutputFiles<'i>> {
        let path = |extension: &str| {
            let mut name = name.to_owned();
            name.push(".");
            name.push(extension);
            self.directory.join(name)
        };
        let text = (format == OutputName::Brat).then(|| path("txt"));
        let is_own_text = text
            .as_deref()
            .is_some_and(|text| is_same(text, input.as_ref()));
        let files = OutputFiles {
            input,
            main: path(format.extension()),
            text: text.filter(|_| !is_own_text),
            is_own_text,
        };
        self.check(&files)?;
        Ok(files)
    }

    /// Checks that no file would be lost.
    fn check(&self, files: &OutputFiles<'_>) -> Result<()> {
        for path in [Some(&files.main), files.text.as_ref()]
            .into_iter()
            .flatten()
        {
            // Whoever replaces a file replaces its name, so another name of an input is no danger.
            let target = fs::canonicalize(resolve_target(path));
            if target.is_ok_and(|target| self.inputs.contains(&target)) {
                return Err(Error::parameter(format!(
                    "{FLAG} {}: this is an input file; expected a different directory",
                    path.display()
                )));
            }
        }
        CommandFiles::new(self.force)
            .read([self.model])
            .read([files.input])
            .write(FLAG, Kind::Tagged, Some(&files.main))
            .write(FLAG, Kind::Tagged, files.text.as_deref())
            .check()
    }

    /// Writes the output files of an input of this format. `run` tags what its reader has.
    ///
    /// # Errors
    ///
    /// A file has come into being since the first check, or cannot be written; those of `run`. No
    /// file is changed then, except that a text may have been written without annotations.
    pub fn write(
        &self,
        files: &OutputFiles<'_>,
        reader: Reader,
        format: InputFormat,
        run: impl FnOnce(Reader, OutputStreams<&mut File>) -> Result<()>,
    ) -> Result<()> {
        self.check(files)?;
        let main = Reservation::new(&files.main)?;
        let name = files.main.display().to_string();
        let Some(path) = &files.text else {
            return main.commit_with(|out| {
                let streams = OutputStreams {
                    out,
                    name,
                    text: None,
                };
                run(reader, streams)
            });
        };
        let text = Reservation::new(path)?;
        let mut spool = Spool::new(self.directory)?;
        let copy = Box::new(BufWriter::new(spool.writer()?));
        main.commit_with(|out| {
            let (reader, text_output): (_, Option<Box<dyn io::Write + Send>>) = match format {
                InputFormat::Core(Format::Text) => (reader.with_copy(copy), None),
                _ => (reader, Some(copy)),
            };
            let streams = OutputStreams {
                out,
                name,
                text: text_output,
            };
            run(reader, streams)?;
            text.commit_with(|file| spool.copy_to(file, path))
        })
    }
}

/// A file without a name, for what cannot be written to its place yet.
struct Spool {
    file: File,
    directory: PathBuf,
}

impl Spool {
    fn new(directory: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(directory);
        Ok(Self {
            file: file.map_err(|error| Error::io(directory, error))?,
            directory: directory.to_owned(),
        })
    }

    fn writer(&self) -> Result<File> {
        let file = self.file.try_clone();
        file.map_err(|error| Error::io(&self.directory, error))
    }

    fn copy_to(&mut self, target: &mut File, path: &Path) -> Result<()> {
        let copied =
            (self.file.seek(SeekFrom::Start(0))).and_then(|_| io::copy(&mut self.file, target));
        copied.map(drop).map_err(|error| Error::io(path, error))
    }
}

/// The name of an input file without directory, `.gz` and extension.
fn base_name(input: &FileName) -> Result<OsString> {
    let path: &Path = input.as_ref();
    let name = path.file_name().filter(|name| *name != "-").map(Path::new);
    let Some(mut name) = name else {
        return Err(Error::parameter(format!(
            "{FLAG}: standard input has no name for the output; expected input files"
        )));
    };
    let is_compressed = |name: &Path| {
        let extension = name.extension();
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
    };
    if is_compressed(name) {
        name = name.file_stem().map_or(name, Path::new);
    }
    Ok(name.file_stem().unwrap_or(name.as_os_str()).to_owned())
}

/// Whether both paths lead to the same existing file.
fn is_same(a: &Path, b: &Path) -> bool {
    let paths = [a, b].map(fs::canonicalize);
    matches!(paths, [Ok(a), Ok(b)] if a == b)
}

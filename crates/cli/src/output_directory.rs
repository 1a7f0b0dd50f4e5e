//! The files that `tag --output-dir` writes.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use dropchain::atomic_file;
use dropchain::corpus::{Format, Reader};
use dropchain::{Error, Result};
use dropchain_formats::InputFormat;

use super::file_name::FileName;
use super::outputs::CommandFiles;
use super::tag_output::OutputName;
use super::tagging_pipeline::OutputStreams;

const FLAG: &str = "--output-dir";

/// A directory for output files.
pub struct OutputDirectory<'a> {
    pub path: &'a Path,
    /// Whether to replace files.
    pub force: bool,
}

/// The output files of an input file.
pub struct OutputFiles<'a> {
    directory: &'a Path,
    main: PathBuf,
    /// The text of BRAT's annotations.
    text: Option<PathBuf>,
    /// Whether the input is that text itself, which is not written then.
    pub is_own_text: bool,
}

impl<'a> OutputDirectory<'a> {
    /// Names the output files, checks all of them, and creates the directory.
    ///
    /// # Errors
    ///
    /// An input has no name, or two have the same; an output is an input, or exists and is not to
    /// be replaced; the directory cannot be created.
    pub fn files(
        &self,
        inputs: &[FileName],
        model: &Path,
        format: OutputName,
    ) -> Result<Vec<OutputFiles<'a>>> {
        let exists = "this file exists; choose another directory, or replace it with --force";
        let refusal = (!self.force).then_some(exists);
        let mut names: HashMap<OsString, &FileName> = HashMap::new();
        let mut files = Vec::with_capacity(inputs.len());
        let mut declared = CommandFiles::default().read([model]).read(inputs);
        for input in inputs {
            let name = base_name(input)?;
            if let Some(other) = names.insert(name.clone(), input) {
                return Err(Error::parameter(format!(
                    "{FLAG}: the output of {other} and of {input} would have the same name; \
                     expected input files with different names"
                )));
            }
            let output = self.output_files(input, &name, format);
            declared = declared
                .write_new(FLAG, Some(&output.main), refusal)
                .write_new(FLAG, output.text.as_deref(), refusal);
            files.push(output);
        }
        declared.check()?;
        if self.path.exists() && !self.path.is_dir() {
            return Err(Error::parameter(format!(
                "{FLAG} {}: this is not a directory; expected one, or a new name",
                self.path.display()
            )));
        }
        fs::create_dir_all(self.path).map_err(|error| Error::io(self.path, error))?;
        Ok(files)
    }

    fn output_files(&self, input: &FileName, name: &OsStr, format: OutputName) -> OutputFiles<'a> {
        let path = |extension: &str| {
            let mut name = name.to_owned();
            name.push(".");
            name.push(extension);
            self.path.join(name)
        };
        let text = (format == OutputName::Brat).then(|| path("txt"));
        let is_same = |text: &PathBuf| same_file::is_same_file(text, input).unwrap_or(false);
        let is_own_text = text.as_ref().is_some_and(is_same);
        OutputFiles {
            directory: self.path,
            main: path(format.extension()),
            text: text.filter(|_| !is_own_text),
            is_own_text,
        }
    }
}

impl OutputFiles<'_> {
    /// Writes the output files of an input of this format. `run` tags what its reader has. All goes
    /// to files without names first, which leave no trace if the program ends early.
    ///
    /// # Errors
    ///
    /// A file cannot be written; those of `run`. No file is changed then, except that a text may
    /// have been written without annotations.
    pub fn write(
        &self,
        mut reader: Reader,
        format: InputFormat,
        run: impl FnOnce(Reader, OutputStreams<&mut File>) -> Result<()>,
    ) -> Result<()> {
        let spool = || tempfile::tempfile_in(self.directory);
        let open = || -> io::Result<_> {
            let text = self.text.as_ref().map(|_| spool()).transpose()?;
            let copy = text.as_ref().map(File::try_clone).transpose()?;
            Ok((spool()?, text, copy))
        };
        let (mut main, text, copy) = open().map_err(|error| Error::io(self.directory, error))?;
        let mut copy = copy.map(|file| Box::new(BufWriter::new(file)) as Box<dyn Write + Send>);
        if let Some(copy) = copy.take_if(|_| format == InputFormat::Core(Format::Text)) {
            reader = reader.with_copy(copy);
        }
        let streams = OutputStreams {
            out: &mut main,
            name: self.main.display().to_string(),
            text: copy,
        };
        run(reader, streams)?;
        let files = [self.text.as_ref().zip(text), Some((&self.main, main))];
        files
            .into_iter()
            .flatten()
            .try_for_each(|(path, mut spool)| {
                let copy = |file: &mut File| {
                    spool.seek(SeekFrom::Start(0))?;
                    io::copy(&mut spool, file).map(drop)
                };
                atomic_file::replace(path, copy).map(drop)
            })
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

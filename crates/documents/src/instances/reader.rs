//! Streaming the documents of files in any format, and of folders of files with a document each.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::table::{TabbedLines, Table, separator};
use super::{Instance, InstanceContent, InstanceFormat, InstanceReadOptions, line};
use dropchain::corpus::{LineReader, Repair};
use dropchain::kernel::corpus::{check_regular, check_sources, open_stream, paths_in};
use dropchain::kernel::memory::input_over_limit;
use dropchain::{Error, Place, Result};
use dropchain_formats::JsonObjects;

/// Number of lines by which the columns of a file are recognized.
const INSPECTED: usize = 20;

/// Files whose first line has names that columns commonly have.
const HEADER: Repair = Repair {
    one: "first line names columns",
    many: "first lines name columns",
    fate: "read as a table",
};

/// An iterator over the documents of some inputs. It ends after an error.
pub struct InstanceReader {
    options: InstanceReadOptions,
    pending: VecDeque<Input>,
    current: Option<Open>,
}

/// The input that is being read.
enum Open {
    Lines(LineReader, InstanceFormat),
    Json(LineReader, JsonObjects),
    Table(Table),
}

impl InstanceReader {
    /// Reads files or folders in order; `-` is standard input. gzip is recognized by its magic
    /// bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file does not exist, or a folder cannot be read; [`Error::Parameter`] if
    /// there are no sources, or standard input twice, or a folder has another format or no files.
    pub fn open<S: AsRef<OsStr>>(sources: &[S], options: &InstanceReadOptions) -> Result<Self> {
        check_sources(sources)?;
        let mut pending = VecDeque::new();
        for source in sources {
            let path = Path::new(source);
            match (options.format, path.is_dir()) {
                (Some(InstanceFormat::Folder) | None, true) => {
                    pending.extend(folder_inputs(path, options)?);
                }
                (Some(InstanceFormat::Folder), false) => {
                    return Err(fault(path, "expected a folder of documents"));
                }
                (Some(_), true) => {
                    let message = "found a folder; expected a file in the format that was given";
                    return Err(fault(path, message));
                }
                (_, false) => pending.push_back(Input { path: path.to_owned(), whole: None }),
            }
        }
        Ok(Self { options: options.clone(), pending, current: None })
    }

    fn read(&mut self) -> Result<Option<Instance>> {
        loop {
            let document = match &mut self.current {
                None => None,
                Some(Open::Table(table)) => table.read(&self.options)?,
                Some(Open::Lines(lines, format)) => line::read(lines, *format, &self.options)?,
                Some(Open::Json(lines, objects)) => line::read_json(lines, objects, &self.options)?,
            };
            if document.is_some() {
                return Ok(document);
            }
            let Some(input) = self.pending.pop_front() else { return Ok(None) };
            let (stream, file) = open_stream(input.path.as_os_str())?;
            let memory = self.options.read.limits.memory.bytes(0);
            let mut lines = LineReader::new(stream, file);
            lines.limit_memory(memory, None);
            self.options.read.decode(&mut lines);
            if let Some(label) = input.whole {
                self.current = None;
                return read_whole(lines, label, memory).map(Some);
            }
            self.current = Some(self.start(lines)?);
        }
    }

    /// Finds out the format of an input.
    fn start(&self, mut lines: LineReader) -> Result<Open> {
        let name = OsString::from(&**lines.file());
        let given = self.options.format;
        let format = match given.or_else(|| InstanceFormat::of_name(&name)) {
            Some(format) => format,
            None => self.format_of_lines(&name, &mut lines)?,
        };
        Ok(match format {
            InstanceFormat::Csv | InstanceFormat::Tsv => {
                let separator = match (format, given) {
                    (InstanceFormat::Tsv, _) => b'\t',
                    (_, None) => separator(&lines.peek(0)?.unwrap_or_default()),
                    (_, Some(_)) => b',',
                };
                Open::Table(Table::new(lines, separator, &self.options)?)
            }
            InstanceFormat::Jsonl => {
                let memory = self.options.read.limits.memory.bytes(0);
                Open::Json(lines, JsonObjects::new(memory, line::JSON_EXAMPLE))
            }
            _ => {
                if self.options.has_names() {
                    let fate = "read as lines, which have no columns to name (--text, --label)";
                    self.options.read.report.warn(Place::line(&**lines.file(), 1), fate);
                }
                Open::Lines(lines, format)
            }
        })
    }

    /// Returns the format of a file whose name does not tell it, by its first lines if they should
    /// have tabs.
    fn format_of_lines(&self, name: &OsStr, lines: &mut LineReader) -> Result<InstanceFormat> {
        let (name, default) = (name.to_string_lossy(), self.options.default_format);
        let is_tsv = name.ends_with(".tsv") || name.ends_with(".tsv.gz");
        if !is_tsv && default != InstanceFormat::Labeled {
            return Ok(default);
        }
        let first = (0..INSPECTED).map_while(|i| lines.peek(i).transpose());
        match TabbedLines::of(&first.collect::<Result<Vec<_>>>()?, &self.options) {
            TabbedLines::Table => {
                self.options.read.report.add_at(&HEADER, lines.file(), 1);
                Ok(InstanceFormat::Tsv)
            }
            TabbedLines::Unnamed(width) if default == InstanceFormat::Labeled => Err(Error::input(
                Place::line(&**lines.file(), 1),
                format!(
                    "each line has {width} cells; expected a class, a tab and the text, or names \
                     of columns on the first line, such as text and label"
                ),
            )),
            _ => Ok(default),
        }
    }
}

impl Iterator for InstanceReader {
    type Item = Result<Instance>;

    fn next(&mut self) -> Option<Result<Instance>> {
        let document = self.read();
        if document.is_err() {
            (self.current, self.pending) = (None, VecDeque::new());
        }
        document.transpose()
    }
}

/// An input that has not been opened.
struct Input {
    path: PathBuf,
    /// If the input is one document: its class, if it is known.
    whole: Option<Option<String>>,
}

fn fault(path: &Path, message: &str) -> Error {
    Error::input(Place::file(path.to_string_lossy()), message)
}

/// Returns the files of a folder in order: those of its folders, whose names are the classes, or
/// if it has no folders its own, without classes. Names that begin with a dot are skipped.
fn folder_inputs(folder: &Path, options: &InstanceReadOptions) -> Result<Vec<Input>> {
    let (folders, files) = entries(folder)?;
    if folders.is_empty() && options.needs_labels {
        return Err(fault(folder, "the folder has no folders; expected one for each class"));
    }
    if let (Some(file), false) = (files.first(), folders.is_empty()) {
        let message = "found a file beside the folders of the classes; expected folders only";
        return Err(fault(file, message));
    }
    let mut inputs: Vec<Input> =
        files.into_iter().map(|path| Input { path, whole: Some(None) }).collect();
    for class in folders {
        let Some(label) = class.file_name().and_then(OsStr::to_str) else {
            let message = "the name of the folder is not UTF-8; expected that of a class";
            return Err(fault(&class, message));
        };
        let (inner, files) = entries(&class)?;
        if let Some(inner) = inner.first() {
            return Err(fault(inner, "found a folder; expected the documents of a class"));
        }
        let whole = Some(Some(label.to_owned()));
        inputs.extend(files.into_iter().map(|path| Input { path, whole: whole.clone() }));
    }
    if inputs.is_empty() {
        return Err(fault(folder, "the folder has no documents"));
    }
    Ok(inputs)
}

/// Returns the folders and the files in a folder, by name.
fn entries(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let is_shown = |path: &PathBuf| {
        path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b"."))
    };
    let paths = paths_in(folder)?.into_iter().filter(is_shown);
    let (folders, files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    files.iter().try_for_each(|file| check_regular(file))?;
    Ok((folders, files))
}

/// Reads a file that is one document.
fn read_whole(mut lines: LineReader, label: Option<String>, limit: u64) -> Result<Instance> {
    let file = lines.file().clone();
    let mut text = String::new();
    loop {
        lines.begin_sentence(); // the whole is counted here
        let Some(line) = lines.next_line()? else { break };
        if !text.is_empty() {
            text.push('\n');
        }
        // The text doubles when it grows.
        if 2 * (text.len() + line.text.len()) as u64 > limit {
            let what = "the document up to here needs";
            let place = Place::line(&*file, line.number);
            return Err(input_over_limit(place, what, limit, "shorter documents"));
        }
        text.push_str(line.text);
    }
    Ok(Instance { label, content: InstanceContent::Text(text), file, line: 0 })
}

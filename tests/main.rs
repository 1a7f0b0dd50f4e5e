//! The structure of the sources. ARCHITECTURE.md describes it; these tests enforce it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules that a module must not import even though their row is above its own.
const FORBIDDEN: [(&str, &[&str]); 3] =
    [("corpus", &["chain", "optim"]), ("extract", &["chain", "optim"]), ("score", &["optim"])];

/// Maximum number of characters per line of source code.
const MAX_COLUMNS: usize = 100;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below `folder` with one of these extensions, sorted.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && name != "__pycache__" {
                found.extend(files(&path, extensions));
            }
        } else if extensions.contains(&name.rsplit('.').next().unwrap()) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap()
}

/// The row of each module in the table of modules in ARCHITECTURE.md, `| row | `module` … |`.
fn rows() -> BTreeMap<String, usize> {
    let mut rows = BTreeMap::new();
    for line in read(&root().join("ARCHITECTURE.md")).lines() {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let (Some(row), Some(modules)) = (cells.next(), cells.next()) else {
            continue;
        };
        if let Ok(row) = row.parse() {
            let names = modules.split('`').skip(1).step_by(2);
            rows.extend(names.map(|name| (name.to_owned(), row)));
        }
    }
    assert!(rows.len() > 20, "found only {} modules", rows.len());
    rows
}

/// A source file of the crate as a module.
struct Module {
    file: PathBuf,
    /// Its path from the root, such as `["chain", "viterbi"]`.
    path: Vec<String>,
    /// Every path that it imports: segments, and whether it is re-exported.
    imports: Vec<(Vec<String>, bool)>,
}

impl Module {
    fn parse(file: PathBuf, source: &Path) -> Self {
        let inside = file.strip_prefix(source).unwrap();
        let mut path: Vec<String> = inside
            .with_extension("")
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        if path.last().is_some_and(|last| last == "mod") {
            path.pop();
        }
        let text = read(&file);
        let mut imports = Vec::new();
        for statement in without_inline_tests(&text).split(';') {
            let code: Vec<&str> = statement.lines().map(without_comment).collect();
            let code = code.join(" ");
            let Some((before, tree)) = code.rsplit_once("use ") else {
                continue;
            };
            let is_import = ["", "pub", "pub(crate)", "pub(super)"]
                .iter()
                .any(|v| before.trim_end().ends_with(v))
                && before.trim_end().chars().last().is_none_or(|c| "}])b".contains(c));
            if is_import {
                let is_public = before.trim_end().ends_with("pub");
                for path in expand(tree.trim()) {
                    imports.push((path, is_public));
                }
            }
        }
        Self { file, path, imports }
    }

    fn is_test(&self) -> bool {
        self.path.iter().any(|part| part == "tests")
    }

    /// The segments of an import from the root of the crate; `None` if it leaves the crate.
    fn resolve(&self, import: &[String]) -> Option<Vec<String>> {
        let mut base = self.path.clone();
        match import[0].as_str() {
            "crate" => base.clear(),
            "self" => {}
            "super" => {
                base.pop();
            }
            _ => {
                base.extend_from_slice(import);
                return Some(base);
            }
        }
        for segment in &import[1..] {
            match segment.as_str() {
                "super" => {
                    base.pop();
                }
                "self" => {}
                name => base.push(name.to_owned()),
            }
        }
        Some(base)
    }
}

fn without_inline_tests(text: &str) -> &str {
    let end = text.find("#[cfg(test)]\nmod tests {");
    &text[..end.unwrap_or(text.len())]
}

fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// The paths of a use tree: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn expand(tree: &str) -> Vec<Vec<String>> {
    let Some((prefix, list)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![path.split("::").map(|s| s.trim().to_owned()).collect()];
    };
    let prefix: Vec<String> =
        prefix.split("::").map(|s| s.trim().to_owned()).filter(|s| !s.is_empty()).collect();
    let list = list.rsplit_once('}').map_or(list, |(list, _)| list);
    let (mut paths, mut depth, mut start) = (Vec::new(), 0, 0);
    let ends = list.char_indices().chain([(list.len(), ',')]);
    for (i, c) in ends {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let item = list[start..i].trim();
                start = i + 1;
                if !item.is_empty() {
                    for rest in expand(item) {
                        paths.push(prefix.iter().cloned().chain(rest).collect());
                    }
                }
            }
            _ => {}
        }
    }
    paths
}

/// The folders of sources of the core: the library, and what it computes with.
const CORE: [&str; 2] = ["src", "crates/numerics/src"];

/// The modules of the core.
fn modules() -> Vec<Module> {
    CORE.iter().flat_map(|source| modules_of(&root().join(source))).collect()
}

fn modules_of(source: &Path) -> Vec<Module> {
    let sources = files(source, &["rs"]).into_iter();
    sources.map(|file| Module::parse(file, source)).collect()
}

/// The folders of sources of all packages.
fn sources() -> Vec<PathBuf> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().path());
    let others = ["", "python", "mpi", "wasm"].map(|package| root().join(package));
    let mut sources: Vec<_> = crates.chain(others).map(|path| path.join("src")).collect();
    sources.sort();
    sources
}

/// Every import of one top-level module by another: the file, the importing and the imported
/// module.
fn imports() -> Vec<(PathBuf, String, String)> {
    let rows = rows();
    let mut imports = Vec::new();
    for module in modules().iter().filter(|m| !m.is_test()) {
        let from = module.path[0].clone();
        if from == "lib" || from == "main" {
            continue;
        }
        // Paths in code count as well, so this reads lines, not only `use` statements.
        for line in without_inline_tests(&read(&module.file)).lines() {
            // A path of a macro is one of its users.
            let code = without_comment(line).replace("$crate::", "");
            for (at, prefix) in code.match_indices("crate::") {
                let rest = &code[at + prefix.len()..];
                let tree = rest.split([';', '(', ' ', ')']).next().unwrap_or_default();
                for path in expand(if rest.starts_with('{') { rest } else { tree }) {
                    let to = &path[0];
                    if *to != from && rows.contains_key(to) {
                        imports.push((module.file.clone(), from.clone(), to.clone()));
                    }
                }
            }
        }
    }
    assert!(imports.len() > 200, "found only {} imports", imports.len());
    imports
}

#[test]
fn every_module_has_a_row() {
    let rows = rows();
    let mut found = BTreeSet::new();
    for module in modules() {
        let name = &module.path[0];
        let has_row = rows.contains_key(name) || name == "lib" || name == "main";
        assert!(has_row, "ARCHITECTURE.md has no row for {}", module.file.display());
        found.insert(name.clone());
    }
    for name in rows.keys() {
        assert!(found.contains(name), "ARCHITECTURE.md: module '{name}' does not exist");
    }
}

#[test]
fn a_module_imports_only_from_rows_above_its_own() {
    let rows = rows();
    for (file, from, to) in imports() {
        let is_allowed = rows[&to] < rows[&from] || rows[&to] == 0;
        assert!(is_allowed, "{}: {from} imports {to}", file.display());
    }
}

#[test]
fn a_module_does_not_import_forbidden_modules() {
    for (file, from, to) in imports() {
        let is_forbidden = FORBIDDEN
            .iter()
            .any(|(module, others)| *module == from && others.contains(&to.as_str()));
        assert!(!is_forbidden, "{}: {from} imports {to}", file.display());
    }
}

/// The file that defines what an import names, following re-exports.
fn target(
    modules: &BTreeMap<Vec<String>, &Module>,
    path: &[String],
    depth: usize,
) -> Option<Vec<String>> {
    let length = (1..=path.len()).rev().find(|&n| modules.contains_key(&path[..n]))?;
    let (module, rest) = path.split_at(length);
    let (Some(name), true) = (rest.first(), depth < 10) else {
        return Some(module.to_vec());
    };
    let reexport = modules[module]
        .imports
        .iter()
        .find(|(import, _)| import.last() == Some(name) && import.len() > 1);
    let followed = reexport.and_then(|(import, _)| {
        let path = modules[module].resolve(import)?;
        target(modules, &path, depth + 1)
    });
    Some(followed.unwrap_or_else(|| module.to_vec()))
}

/// Files that are on a circle of imports today. A circle that is dissolved leaves this list, and no
/// file may join it.
const CIRCLES: [&str; 0] = [];

#[test]
fn no_other_files_import_one_another_in_a_circle() {
    let (mut count, mut found) = (0, Vec::new());
    let rust = sources().into_iter().map(|source| {
        let package = source.strip_prefix(root()).unwrap().display().to_string();
        (package, file_imports(&source))
    });
    let python = ("python/lib".to_owned(), python_imports(&root().join("python/lib")));
    for (package, edges) in rust.chain([python]) {
        let imports = edges.values().map(BTreeSet::len).sum::<usize>();
        assert!(package != "python/lib" || imports > 80, "found only {imports} imports in Python");
        count += imports;
        let is_circular = |file: &&Vec<String>| reachable(&edges, file).contains(*file);
        let circular = edges.keys().filter(is_circular);
        found.extend(circular.map(|file| format!("{package}/{}", file.join("/"))));
    }
    assert_eq!(found, CIRCLES, "files on circles of imports");
    assert!(count > 400, "found only {count} imports between files");
}

/// The files that a file imports, directly or over others.
fn reachable(
    edges: &BTreeMap<Vec<String>, BTreeSet<Vec<String>>>,
    file: &[String],
) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let mut open = vec![file.to_vec()];
    while let Some(next) = open.pop() {
        let new = edges.get(&next).into_iter().flatten();
        let new: Vec<_> = new.filter(|to| !found.contains(*to)).cloned().collect();
        found.extend(new.iter().cloned());
        open.extend(new);
    }
    found
}

/// The files of a package that each of its files imports, without re-exports. In the core, imports
/// of other modules are left out: those follow the rows.
fn file_imports(source: &Path) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let is_core = CORE.iter().any(|core| source == root().join(core));
    let all = modules_of(source);
    let files = all.iter().filter(|module| !module.is_test());
    let by_path: BTreeMap<_, _> = files.map(|m| (m.path.clone(), m)).collect();
    let imports = |path: &Vec<String>, module: &Module| -> BTreeSet<Vec<String>> {
        let own = module.imports.iter().filter(|(_, is_public)| !is_public);
        let targets = own.filter_map(|(import, _)| target(&by_path, &module.resolve(import)?, 0));
        let is_other = |to: &Vec<String>| to != path && !(is_core && to[0] != path[0]);
        targets.filter(is_other).collect()
    };
    let edges = by_path.iter().map(|(path, m)| (path.clone(), imports(path, m)));
    edges.collect()
}

/// The files of Python below a folder that each of them imports, in functions and for the checker
/// of types, too.
fn python_imports(folder: &Path) -> BTreeMap<Vec<String>, BTreeSet<Vec<String>>> {
    let module = |file: &PathBuf| {
        let path = file.strip_prefix(folder).unwrap().with_extension("");
        let parts = path.iter().map(|part| part.to_string_lossy().into_owned());
        parts.filter(|part| part != "__init__").collect::<Vec<_>>()
    };
    // The stubs of extension modules name what Python has, but import nothing.
    let modules: BTreeSet<_> = files(folder, &["py", "pyi"]).iter().map(module).collect();
    let imports = |file: &PathBuf| {
        let text = read(file);
        let statements = text.split('\n').enumerate().filter_map(|(i, line)| {
            let (from, names) = line.trim_start().strip_prefix("from ")?.split_once(" import ")?;
            let rest: Vec<&str> = text.split('\n').skip(i + 1).collect();
            let names = match names.strip_prefix('(') {
                Some(names) => format!("{names}\n{}", rest.join("\n")),
                None => names.to_owned(),
            };
            let names = names.split(')').next().unwrap_or_default().to_owned();
            Some((from.split('.').map(str::to_owned).collect::<Vec<_>>(), names))
        });
        let targets = statements.flat_map(|(from, names)| {
            let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
            names.into_iter().map(move |name| {
                let name = name.split_whitespace().next().unwrap_or_default();
                ([&from[..], &[name.to_owned()]].concat(), from.clone())
            })
        });
        let targets = targets.filter_map(|(submodule, package)| {
            [submodule, package].into_iter().find(|target| modules.contains(target))
        });
        targets.filter(|target| *target != module(file)).collect()
    };
    files(folder, &["py"]).iter().map(|file| (module(file), imports(file))).collect()
}

#[test]
fn every_path_in_architecture_md_exists() {
    let text = read(&root().join("ARCHITECTURE.md"));
    let quoted = text.split('`').skip(1).step_by(2);
    let folders = ["src/", "crates/", "python/", "mpi/", "tests/", "docs/", "benches/", "corpora/"];
    let paths: Vec<&str> = quoted
        .filter(|path| folders.iter().any(|folder| path.starts_with(folder)))
        .filter(|path| *path != "corpora/public")
        .collect();
    assert!(paths.len() > 40, "found only {} paths", paths.len());
    for path in paths {
        assert!(root().join(path).exists(), "ARCHITECTURE.md: {path} does not exist");
    }
}

#[test]
fn modules_are_folders_with_a_mod_file_and_tests_follow_one_layout() {
    for module in sources().iter().flat_map(|source| modules_of(source)) {
        let file = module.file.display();
        let name = module.file.file_name().unwrap().to_string_lossy();
        assert!(
            !module.file.with_extension("").is_dir(),
            "{file}: expected mod.rs in the folder of that name"
        );
        assert!(name != "tests.rs", "{file}: expected tests/mod.rs or an inline module");
    }
}

#[test]
fn lines_fit_in_100_columns() {
    let mut long = Vec::new();
    for file in files(root(), &["rs", "py", "sh"]) {
        for (i, line) in read(&file).lines().enumerate() {
            if line.chars().count() > MAX_COLUMNS {
                long.push(format!("{}:{}", file.display(), i + 1));
            }
        }
    }
    assert!(long.is_empty(), "longer than {MAX_COLUMNS}:\n{}", long.join("\n"));
}

#[test]
fn only_versioned_files_use_the_serialization_format() {
    let versioned = ["model/header.rs", "train/checkpoint.rs"];
    for module in sources().iter().flat_map(|source| modules_of(source)) {
        let is_versioned = versioned.iter().any(|name| module.file.ends_with(name));
        if !module.is_test() && !is_versioned {
            let file = module.file.display();
            assert!(!read(&module.file).contains("bincode::"), "{file} uses bincode");
        }
    }
}

/// The tests that a line of docs/reliability.md names, as `file: function`.
fn named_tests(line: &str) -> Vec<(&str, &str)> {
    let code = line.split('`').skip(1).step_by(2);
    let named = code.filter_map(|code| code.split_once(": "));
    let is_source = |file: &str| file.ends_with(".rs") || file.ends_with(".py");
    named.filter(|(file, _)| is_source(file)).collect()
}

#[test]
fn every_promise_is_held_by_a_test_that_exists() {
    let page = read(&root().join("docs/reliability.md"));
    let tables = page.split("| promise | test |\n|---|---|\n").skip(1);
    let rows = tables.flat_map(|table| table.lines().take_while(|line| line.starts_with('|')));
    let mut promises = 0;
    for row in rows {
        let tests = named_tests(row);
        assert!(!tests.is_empty(), "no test holds this promise: {row}");
        for (file, function) in tests {
            let path = root().join(file);
            let keyword = if file.ends_with(".rs") { "fn" } else { "def" };
            let declaration = format!("{keyword} {function}(");
            let exists = path.is_file() && read(&path).contains(&declaration);
            assert!(exists, "there is no test {file}: {function}");
        }
        promises += 1;
    }
    assert!(promises > 40, "found only {promises} promises");
}

#[test]
fn every_page_of_the_documentation_is_in_its_summary() {
    let folder = root().join("docs");
    let summary = read(&folder.join("SUMMARY.md"));
    for page in files(&folder, &["md"]) {
        let name = page.strip_prefix(&folder).unwrap().to_string_lossy();
        let is_listed = name == "SUMMARY.md" || summary.contains(&format!("]({name})"));
        assert!(is_listed, "docs/SUMMARY.md has no link to {name}");
    }
}

#[test]
fn only_the_listed_files_have_unsafe_code_and_each_use_has_its_proof() {
    let mut found = BTreeSet::new();
    for file in files(root(), &["rs"]) {
        let text = read(&file);
        let code: Vec<&str> = text.lines().map(without_comment).collect();
        let is_unsafe = |line: &&&str| {
            let uses = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe(", "unsafe extern"];
            uses.iter().any(|unsafe_use| line.contains(unsafe_use))
        };
        let uses = code.iter().filter(is_unsafe).count();
        let proofs = text.matches("// SAFETY: ").count();
        let allowed = code.iter().any(|line| line.contains(concat!("allow(unsafe", "_code)")));
        let name = file.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        if name != "tests/main.rs" && (allowed || uses > 0) {
            assert!(uses <= proofs, "{name}: {uses} unsafe blocks, {proofs} proofs");
            found.insert(name);
        }
    }
    assert_eq!(found, first_cells("Unsafe code"));
}

/// The names in the first column of the table in a section of docs/dependencies.md.
fn first_cells(section: &str) -> BTreeSet<String> {
    let page = read(&root().join("docs/dependencies.md"));
    let mut sections = page.split("\n## ");
    let text = sections.find(|text| text.starts_with(section)).unwrap();
    text.lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .map(str::to_owned)
        .collect()
}

/// The lines of a manifest that name a version of a crate, each with the line before it.
fn versions(manifest: &str) -> Vec<(&str, &str)> {
    let mut is_dependency = false;
    let mut found = Vec::new();
    for (before, line) in manifest.lines().zip(manifest.lines().skip(1)) {
        if line.starts_with('[') {
            is_dependency = line.ends_with("dependencies]");
        } else if is_dependency && line.contains(" = ") {
            let is_other = ["dropchain", "#"].iter().any(|start| line.starts_with(start));
            if !is_other && !line.contains("workspace = true") {
                found.push((before, line));
            }
        }
    }
    found
}

#[test]
fn every_dependency_has_its_reason_beside_it() {
    let mut manifests: Vec<PathBuf> =
        ["", "python", "mpi", "wasm"].iter().map(|package| root().join(package)).collect();
    let crates = fs::read_dir(root().join("crates")).unwrap();
    manifests.extend(crates.map(|entry| entry.unwrap().path()));
    let mut count = 0;
    for package in manifests {
        let text = read(&package.join("Cargo.toml"));
        for (before, line) in versions(&text) {
            let has_reason = before.starts_with("# ") || line.contains(" # ");
            let file = package.display();
            assert!(has_reason, "{file}: no comment says what this is for: {line}");
            count += 1;
        }
    }
    assert!(count > 45, "found only {count} dependencies");
}

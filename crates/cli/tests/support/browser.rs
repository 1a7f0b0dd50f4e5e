//! Pages in headless Chromium.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{TestDir, finish};

/// Names of the program.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Headless Chromium.
pub struct Browser(PathBuf);

/// What a script found in a page, and what the page wrote to the console.
pub struct Findings {
    pub values: Value,
    pub console: Vec<String>,
}

impl Browser {
    /// Finds the program; `None`, and says so, if it is missing or cannot run.
    #[expect(clippy::print_stdout, reason = "reports a skipped test")]
    pub fn find() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let programs = NAMES.iter().flat_map(|name| folders.iter().map(move |f| f.join(name)));
        let runs = |program: &PathBuf| {
            let mut command = Command::new(program);
            let command = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        let found = programs.filter(|program| program.is_file()).find(runs);
        if found.is_none() {
            println!("skipped: no Chromium");
        }
        found.map(Self)
    }

    /// Opens a page at a width, in a dark or a light theme, and runs a script in it: the body of a
    /// function that returns what it finds. The page is in a frame, which may be narrower than any
    /// window.
    pub fn run(&self, dir: &TestDir, page: &str, width: u32, dark: bool, script: &str) -> Findings {
        let script = format!(
            "<script>addEventListener('load', () => {{ const find = () => {{ {script} }};
             parent.postMessage(JSON.stringify(find()), '*'); }});</script>"
        );
        let text = dir.text(page);
        assert!(text.contains("</body>"), "the page ends too early");
        dir.write("framed.html", text.replace("</body>", &format!("{script}</body>")));
        dir.write(
            "frame.html",
            format!(
                "<!DOCTYPE html><pre id=\"findings\"></pre>
                 <script>addEventListener('message', (event) => {{
                 document.getElementById('findings').textContent = event.data; }});</script>
                 <iframe src=\"framed.html\" style=\"border: 0; height: 900px; width: {width}px\">
                 </iframe>"
            ),
        );
        let url = format!("file://{}", dir.path("frame.html").display());
        let (document, log) = self.dump(&url, &dir.path("profile"), dark);
        let start = "<pre id=\"findings\">";
        let found = document.split_once(start).and_then(|(_, rest)| rest.split_once("</pre>"));
        let json = found.map_or("", |(json, _)| json);
        let json = json.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let console = log.lines().filter(|line| line.contains("CONSOLE"));
        Findings {
            values: serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {json}: {log}")),
            console: console.map(str::to_owned).collect(),
        }
    }

    /// Returns the document after its scripts have run, and what was logged.
    pub fn dump(&self, url: &str, profile: &Path, dark: bool) -> (String, String) {
        let mut command = Command::new(&self.0);
        command
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--enable-logging=stderr", "--dump-dom"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .args(["--hide-scrollbars", "--window-size=1400,1000", "--virtual-time-budget=5000"])
            .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let output = finish(command.spawn().unwrap(), "(Chromium)");
        (output.stdout, output.stderr)
    }
}

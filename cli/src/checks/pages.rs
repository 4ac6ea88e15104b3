//! Pages in a real browser, without a window: what it makes of each, and that scripts do what they promise.
//!
//! Screenshots stay in the target folder for whoever wants to look at them.

use super::{Case, make_folder};
use crate::outcome::Failure;
use crate::output::whole_file;
use crate::process::run_logged;
use crate::workspace::Workspace;
use eitri_launch::tools::Tool;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Longest that one step may take.
const LIMIT: Duration = Duration::from_secs(180);

/// A shader whose stores leave their buffer.
const SHADER: &str = "#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out { uint words[]; };
layout(push_constant) uniform Push { uint step; };
void main() { words[gl_GlobalInvocationID.x * step] = gl_GlobalInvocationID.x; }
";

/// A page: how it is made, how it is asked for, and what the browser must show of it.
struct Page {
    name: &'static str,
    /// The command's words; what it needs is in the folder that it runs in.
    command: &'static [&'static str],
    file: &'static str,
    shows: &'static [&'static str],
}

/// Each text stands in the document after all scripts have run.
const PAGES: &[Page] = &[
    Page {
        name: "a dump begins with its fault and has memory as a picture",
        command: &["dump", "show", "fault.dump", "--html", "dump.html"],
        file: "dump.html",
        shows: &[
            "FAULT",
            "<svg",
            "class=\"hit\"",
            "What was being executed",
            "RUN_COMPUTE",
        ],
    },
    Page {
        name: "code stands beside its source",
        command: &[
            "compile",
            "stores.comp",
            "--emit",
            "html",
            "-o",
            "code.html",
        ],
        file: "code.html",
        shows: &[
            "href=\"#line-0-5\"",
            "href=\"#ir-",
            "STORE",
            "SPIR-V",
            "Representation",
        ],
    },
    Page {
        name: "a profile begins with its bounds and links code to lines",
        command: &[
            "profile",
            "stores.comp",
            "--buffer",
            "0=zero:4096",
            "--push",
            "step=1",
            "--groups",
            "4",
            "--html",
            "profile.html",
        ],
        file: "profile.html",
        shows: &[
            "dispatch 1: 4x1x1 workgroups",
            "class=\"meter\"",
            "Hottest lines",
            "href=\"#row-0-",
            "href=\"#ir-0-",
            "store.buffer",
        ],
    },
    Page {
        name: "results begin with their verdict",
        command: &[
            "validate",
            "--seeded-faults",
            "core-",
            "--html",
            "results.html",
        ],
        file: "results.html",
        shows: &["Nothing failed.", "class=\"verdict good\""],
    },
    Page {
        name: "the site's first page lists all others",
        command: &["docs", "--site", "site"],
        file: "site/index.html",
        shows: &["Getting started", "hardware/valhall-isa.html"],
    },
    Page {
        name: "the site finds sections by their words",
        command: &[],
        file: "site/index.html?q=tiler+heap",
        shows: &["<li><a href=\"reference/descriptors.html#tiler-heap\">"],
    },
];

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/pages");
    make_folder(&folder)?;
    whole_file::put(&folder.join("stores.comp"), SHADER.as_bytes())?;
    let machine = Machine { folder };
    // The dump of a page: the command says that the job failed.
    let dump = [
        "run",
        "stores.comp",
        "--on",
        "host",
        "--buffer",
        "0=zero:4096",
        "--push",
        "step=4096",
        "--groups",
        "4",
        "--robust",
        "off",
        "--check",
        "none",
        "--dump",
        "fault.dump",
    ];
    machine.eitri(&dump)?;
    PAGES.iter().map(|page| machine.page(page)).collect()
}

struct Machine {
    folder: PathBuf,
}

impl Machine {
    /// Runs this command in the folder; its output, if its status was bad.
    fn eitri(&self, words: &[&str]) -> Result<Option<String>, Failure> {
        let own =
            std::env::current_exe().map_err(|cause| Failure::unreadable("own program", cause))?;
        let mut command = Command::new(own);
        command
            .current_dir(&self.folder)
            .args(words)
            .env("NO_COLOR", "1");
        self.finished(&mut command, "made.log")
    }

    /// Runs a command to its end; what it printed, if it did not end well.
    fn finished(&self, command: &mut Command, log: &str) -> Result<Option<String>, Failure> {
        let log = self.folder.join(log);
        let finished = run_logged(command, &log, LIMIT)?;
        Ok((!finished.end.good()).then(|| finished.output()))
    }

    /// Makes a page, and asks the browser what it shows.
    fn page(&self, page: &Page) -> Result<Case, Failure> {
        if !page.command.is_empty()
            && let Some(output) = self.eitri(page.command)?
        {
            return Ok(Case::ran(page.name, Some(output)));
        }
        let url = format!("file://{}", self.folder.join(page.file).display());
        let plain = page.file.replace(['/', '?', '='], "-");
        let picture = self.folder.join(format!("{plain}.png"));
        // The picture of an earlier run is none of this one's.
        let _ = std::fs::remove_file(&picture);
        let mut shot = browser();
        shot.arg(format!("--screenshot={}", picture.display()))
            .arg("--window-size=1400,1200")
            .arg(&url);
        if let Some(output) = self.finished(&mut shot, "shot.log")? {
            return Ok(Case::ran(page.name, Some(output)));
        }
        let mut dom = browser();
        dom.arg("--dump-dom").arg(&url);
        let log = format!("{plain}.dom");
        if let Some(output) = self.finished(&mut dom, &log)? {
            return Ok(Case::ran(page.name, Some(output)));
        }
        let shown = read(&self.folder.join(log));
        let missing = page.shows.iter().find(|text| !shown.contains(**text));
        let wrong =
            missing.map(|text| format!("the browser's document has no `{text}`: {plain}.dom"));
        Ok(Case::ran(page.name, wrong.or_else(|| blank(&picture))))
    }
}

/// The browser without a window; it has no user of its own to protect.
fn browser() -> Command {
    let mut command = Command::new(Tool::Chromium.program());
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--virtual-time-budget=5000",
    ]);
    command
}

fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Says so if a screenshot is no picture, or shows next to nothing.
fn blank(path: &Path) -> Option<String> {
    let shown = || -> Option<usize> {
        let file = std::io::BufReader::new(std::fs::File::open(path).ok()?);
        let mut reader = png::Decoder::new(file).read_info().ok()?;
        let mut pixels = vec![0; reader.output_buffer_size()?];
        let frame = reader.next_frame(&mut pixels).ok()?;
        let samples = frame.color_type.samples();
        let colours: BTreeSet<&[u8]> = pixels[..frame.buffer_size()]
            .chunks_exact(samples)
            .collect();
        Some(colours.len())
    };
    match shown() {
        None => Some(format!("there is no picture {}", path.display())),
        // Text alone has dozens of greys.
        Some(colours) if colours < 16 => Some(format!("{} has {colours} colours", path.display())),
        Some(_) => None,
    }
}

//! An editor's client drives `eitri debug`: the one with which Microsoft tests debug adapters, on standard input and on a port.
//!
//! npm fetches the client into the target folder.

use super::own_command::this_command;
use super::{Case, make_folder};
use crate::outcome::{Failure, FileError};
use crate::output::whole_file;
use crate::process::run_logged;
use crate::workspace::Workspace;
use eitri_launch::tools::Tool;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The client.
const PACKAGE: &str = "@vscode/debugadapter-testsupport@1.68.0";
/// Longest that one step may take.
const LIMIT: Duration = Duration::from_secs(300);
/// The steps that the client takes, and what it expects of each.
const SCRIPT: &str = include_str!("debugger.js");

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/debugger");
    make_folder(&folder)?;
    if let Some(why) = fetch(&folder)? {
        return Ok(vec![Case::skipped("an editor's client", why)]);
    }
    whole_file::put(&folder.join("debugger.js"), SCRIPT.as_bytes())?;
    let eitri = this_command()?;
    let shaders = workspace.root().join("cli/tests/debug");
    let mut cases = drive(&folder, &eitri, &shaders, "stdio")?;
    let server = Listening::start(&eitri)?;
    cases.extend(drive(&folder, &eitri, &shaders, &server.port)?);
    Ok(cases)
}

/// Fetches the client if it is not there yet. Why it can't be had.
fn fetch(folder: &Path) -> Result<Option<String>, Failure> {
    if folder.join("node_modules/@vscode").exists() {
        return Ok(None);
    }
    let mut install = Command::new(Tool::Npm.program());
    install
        .args(["install", "--no-audit", "--no-fund", "--prefix", "."])
        .arg(PACKAGE);
    install.current_dir(folder);
    let finished = run_logged(&mut install, &folder.join("fetch.log"), LIMIT)?;
    let why = || format!("npm: {}", finished.output().trim());
    Ok((!finished.end.good()).then(why))
}

/// Runs the client; each of its lines is a case.
fn drive(folder: &Path, eitri: &Path, shaders: &Path, way: &str) -> Result<Vec<Case>, Failure> {
    let mut node = Command::new("node");
    node.arg("debugger.js").arg(eitri).arg(shaders).arg(way);
    node.current_dir(folder);
    let log = folder.join(format!("client-{way}.log"));
    let finished = run_logged(&mut node, &log, LIMIT)?;
    let output = finished.output();
    let place = match way {
        "stdio" => "standard input",
        _ => "a port",
    };
    let case = |line: &str| match line.strip_prefix("not ok ") {
        Some(rest) => {
            let (name, why) = rest.split_once(": ").unwrap_or((rest, ""));
            Some(Case::ran(
                format!("{name}, on {place}"),
                Some(why.to_owned()),
            ))
        }
        None => {
            let name = line.strip_prefix("ok ")?;
            Some(Case::ran(format!("{name}, on {place}"), None))
        }
    };
    let mut cases: Vec<Case> = output.lines().filter_map(case).collect();
    let failed = (!finished.end.good() || cases.is_empty()).then(|| output.clone());
    cases.push(Case::ran(
        format!("the client comes to its end, on {place}"),
        failed,
    ));
    Ok(cases)
}

/// The command, listening on a port of the system's choice; ended with this value.
struct Listening {
    child: Child,
    port: String,
}

impl Listening {
    fn start(eitri: &Path) -> Result<Listening, Failure> {
        let failed = |cause| {
            let path: PathBuf = eitri.to_owned();
            Failure::missing(FileError::at("start", path, cause))
        };
        let mut command = Command::new(eitri);
        command
            .args(["debug", "--listen", "0"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let mut line = String::new();
        if let Some(stderr) = child.stderr.take() {
            // "listening on 127.0.0.1:PORT"
            BufReader::new(stderr)
                .read_line(&mut line)
                .map_err(failed)?;
        }
        let port = line.trim().rsplit(':').next().unwrap_or_default();
        let port = port.to_owned();
        Ok(Listening { child, port })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It has ended by itself if that fails.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! `eitri doctor`: what this machine has of what Eitri needs, in a form to paste into a report.

use crate::images::revision;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::workspace::Workspace;
use eitri_launch::tools::{self, Tool};
use serde_json::json;
use std::process::Command;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The same as JSON.
    #[arg(long)]
    json: bool,
    /// What for: what only other uses need may be missing. All of it if not given.
    #[arg(long = "for", value_name = "USE", value_enum)]
    wanted: Option<Use>,
}

/// What somebody wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Use {
    /// Compile and run shaders on this machine.
    Run,
    /// Make images, and boot them in QEMU.
    Image,
    /// Run `eitri test`.
    Test,
    /// Run its long checks, programs in a guest that runs Linux, and images for UEFI firmware.
    Long,
}

impl Use {
    const ALL: [(Use, &'static [Tool]); 4] = [
        (Use::Run, &[Tool::Glslang]),
        (Use::Image, &[Tool::Glslang, Tool::Target, Tool::Qemu]),
        (Use::Test, Tool::OF_TESTS),
        (Use::Long, Tool::ALL),
    ];

    fn tools(self) -> &'static [Tool] {
        let row = Use::ALL.iter().find(|(it, _)| *it == self);
        row.map_or(Tool::ALL, |(_, tools)| tools)
    }

    /// The first use that needs a tool, in words.
    fn first_of(tool: Tool) -> &'static str {
        let row = Use::ALL.iter().find(|(_, tools)| tools.contains(&tool));
        match row.map_or(Use::Long, |(it, _)| *it) {
            Use::Run => "`run` with GLSL that naga can't read",
            Use::Image => "images",
            Use::Test => "`eitri test`",
            Use::Long => "long checks, `linux --vulkan-runner` and `--format efi`",
        }
    }
}

/// A line of the report.
struct Finding {
    what: &'static str,
    /// What was found; what to do about it, if it is missing.
    found: Result<String, String>,
    /// Where it is missing: whether what somebody wants needs it.
    is_needed: bool,
}

impl Finding {
    fn is_good(&self) -> bool {
        self.found.is_ok() || !self.is_needed
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let workspace = Workspace::find().ok();
    let mut findings = vec![
        Finding {
            what: "eitri",
            is_needed: true,
            found: Ok(match workspace.as_ref().map(revision::of) {
                Some(Some(commit)) => format!("{}, {commit}", env!("CARGO_PKG_VERSION")),
                Some(None) => env!("CARGO_PKG_VERSION").to_owned(),
                None => format!("{}, without its sources", env!("CARGO_PKG_VERSION")),
            }),
        },
        Finding {
            what: "machine",
            is_needed: true,
            found: Ok(machine()),
        },
    ];
    // Without the sources nothing is built.
    if let Some(workspace) = &workspace {
        findings.push(Finding {
            what: "rustc",
            is_needed: args.wanted != Some(Use::Run),
            found: said(
                Command::new("rustc")
                    .arg("--version")
                    .current_dir(workspace.root()),
            )
            .ok_or_else(|| "install rustup: https://rustup.rs".to_owned()),
        });
    }
    let of_use = |tool: &&Tool| workspace.is_some() || tool.target().is_none();
    let is_missing = |tool: Tool| match &workspace {
        Some(workspace) => !tools::missing(workspace, &[tool]).is_empty(),
        None => !tools::in_path(tool.program()),
    };
    let of_tools = Tool::ALL.iter().filter(of_use);
    findings.extend(of_tools.map(|tool| of_tool(*tool, is_missing(*tool), args.wanted)));
    if let Some(workspace) = &workspace {
        let facts = workspace.root().join("../shared/hardware").is_dir();
        findings.push(Finding {
            what: "hardware facts",
            is_needed: false,
            found: Ok(match facts {
                true => "beside the clone".to_owned(),
                false => "not beside the clone: tests that need them are skipped".to_owned(),
            }),
        });
    }
    match args.json {
        true => outln!("{}", as_json(&findings))?,
        false => {
            for finding in &findings {
                match &finding.found {
                    Ok(found) => outln!("{:<24} {found}", finding.what)?,
                    Err(help) if finding.is_needed => {
                        outln!("{:<24} MISSING: {help}", finding.what)?
                    }
                    Err(help) => outln!("{:<24} not installed: {help}", finding.what)?,
                }
            }
        }
    }
    Ok(match findings.iter().all(Finding::is_good) {
        true => Status::Good,
        false => Status::Missing,
    })
}

fn of_tool(tool: Tool, is_missing: bool, wanted: Option<Use>) -> Finding {
    let get = match tool.target() {
        Some(target) => format!("rustup target add {target}"),
        None => format!("apt-get install {}", tool.package().unwrap_or_default()),
    };
    let found = match (is_missing, tool) {
        (true, _) => Err(format!("{get} ({} need it)", Use::first_of(tool))),
        (false, Tool::Target | Tool::UefiTarget | Tool::GuestTarget | Tool::UBoot | Tool::Uefi) => {
            Ok("installed".to_owned())
        }
        (false, Tool::MkImage) => Ok(version(tool, "-V")),
        (false, _) => Ok(version(tool, "--version")),
    };
    // Nobody who has not asked for them needs what long checks do.
    let of = wanted.unwrap_or(Use::Test).tools();
    Finding {
        is_needed: of.contains(&tool),
        what: match tool {
            Tool::UBoot => "U-Boot for QEMU",
            Tool::Uefi => "UEFI for QEMU",
            _ => tool.program(),
        },
        found,
    }
}

/// The first line that a tool says of itself.
fn version(tool: Tool, option: &str) -> String {
    said(Command::new(tool.program()).arg(option)).unwrap_or_else(|| "installed".to_owned())
}

/// The first line of what a command prints, if it ran and printed any.
fn said(command: &mut Command) -> Option<String> {
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find(|line| !line.trim().is_empty())
        .map(|line| line.trim().to_owned())
}

fn machine() -> String {
    let system = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = system
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = name.unwrap_or(std::env::consts::OS).trim_matches('"');
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{name}, {}, {cores} processors", std::env::consts::ARCH)
}

fn as_json(findings: &[Finding]) -> String {
    let rows: Vec<_> = findings
        .iter()
        .map(|finding| match &finding.found {
            Ok(found) => json!({ "what": finding.what, "found": found }),
            Err(help) => json!({
                "what": finding.what,
                "found": null,
                "needed": finding.is_needed,
                "help": help,
            }),
        })
        .collect();
    json!({ "schema": 1, "findings": rows }).to_string()
}

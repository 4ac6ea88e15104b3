//! Shaders in both places: QEMU and the host must give the same bytes, and the demos those of a CPU.

use super::Case;
use crate::buffer_source::{BindingName, BufferArgument, SourceError};
use crate::commands::demo::request;
use crate::demo::{self, Picture};
use crate::dispatch::{self, Place, Request, Talk};
use crate::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::shader_file;
use crate::workspace::Workspace;
use eitri_shaderc::Options;
use std::time::Duration;

/// A shader as a user would run it.
struct UserShader {
    file: &'static str,
    buffers: &'static [&'static str],
    groups: [u32; 3],
    saves: &'static [(u32, u32)],
}

#[rustfmt::skip]
const USER_SHADERS: &[UserShader] = &[
    UserShader { file: "histogram.comp",     groups: [4, 1, 1], saves: &[(0, 1)],         buffers: &["0=random-u32:1:256", "1=zero:1024"] },
    UserShader { file: "matmul.comp",        groups: [2, 1, 1], saves: &[(1, 0)],         buffers: &["0=iota-f32:512", "1=fill-f32:0.5:512", "1:0=zero:2048"] },
    UserShader { file: "prefix_sum.wgsl",    groups: [2, 1, 1], saves: &[(0, 1), (0, 2)], buffers: &["0=random-u32:2:512", "1=zero:2048", "2=zero:8"] },
    UserShader { file: "collatz.wgsl",       groups: [3, 1, 1], saves: &[(0, 0)],         buffers: &["0=iota-u32:90"] },
    UserShader { file: "rotate_points.comp", groups: [1, 1, 1], saves: &[(0, 2)],         buffers: &["0=iota-f32:128", "1=fill-f32:1:8", "2=zero:256"] },
];

/// Longest that one shader may take.
const LIMIT: Duration = Duration::from_secs(60);

/// What is run, from which file, and what a CPU says of it, if anything.
struct Run {
    name: &'static str,
    folder: &'static str,
    request: Request,
    expected: Option<Vec<u8>>,
}

/// Runs every demo and every user's shader in both places.
pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let mut runs: Vec<Run> = Vec::new();
    for demo in demo::all(&Picture::WHOLE_SET) {
        runs.push(Run {
            name: demo.file,
            folder: "cli/demo",
            request: request(&demo),
            expected: Some(demo.expected),
        });
    }
    for shader in USER_SHADERS {
        runs.push(Run {
            name: shader.file,
            folder: "cli/tests/shaders",
            request: shader.request()?,
            expected: None,
        });
    }
    let mut cases = runs
        .iter()
        .map(|run| run.compare(workspace))
        .collect::<Result<Vec<_>, _>>()?;
    cases.push(endless(workspace)?);
    Ok(cases)
}

/// A shader that never ends is stopped by the driver in the image, which tells what the GPU was doing.
fn endless(workspace: &Workspace) -> Result<Case, Failure> {
    const SAID: &str = "did not finish within 1s";
    let path = workspace.root().join("cli/tests/shaders/endless.wgsl");
    let shader = shader_file::load(&path.to_string_lossy())?;
    let compiled = dispatch::compile(&shader, &Options::default())?;
    let name = BindingName { set: 0, binding: 0 };
    let request = Request {
        buffers: vec![(name, vec![0; 8])],
        push_constants: Vec::new(),
        groups: [1; 3],
        saves: vec![name],
        gpu: GpuChoice::default(),
        firmware: None,
        limit: Duration::from_secs(1),
        talk: Talk::Quiet,
    };
    let failure = match dispatch::run("endless.wgsl", &compiled, &request, Place::Qemu) {
        Ok(_) => Some("it ended".to_owned()),
        Err(failure) => {
            let text = failure.to_string();
            (!text.contains(SAID)).then(|| format!("no {SAID:?} in {text}"))
        }
    };
    Ok(Case {
        name: "endless.wgsl".to_owned(),
        failure,
    })
}

impl UserShader {
    fn request(&self) -> Result<Request, Failure> {
        let load = |text: &&str| {
            let argument: Result<BufferArgument, SourceError> = text.parse();
            let argument = argument.map_err(Failure::refused)?;
            Ok((argument.name, argument.source.bytes()?))
        };
        Ok(Request {
            buffers: self
                .buffers
                .iter()
                .map(load)
                .collect::<Result<_, Failure>>()?,
            push_constants: Vec::new(),
            groups: self.groups,
            saves: self
                .saves
                .iter()
                .map(|(set, binding)| BindingName {
                    set: *set,
                    binding: *binding,
                })
                .collect(),
            gpu: GpuChoice::default(),
            firmware: None,
            limit: LIMIT,
            talk: Talk::Quiet,
        })
    }
}

impl Run {
    fn compare(&self, workspace: &Workspace) -> Result<Case, Failure> {
        let path = workspace.root().join(self.folder).join(self.name);
        let shader = shader_file::load(&path.to_string_lossy())?;
        let compiled = dispatch::compile(&shader, &Options::default())?;
        let on = |place| dispatch::run(self.name, &compiled, &self.request, place);
        let (host, qemu) = (on(Place::Host)?.saved, on(Place::Qemu)?.saved);
        let different = host.iter().zip(&qemu).find(|(host, qemu)| host != qemu);
        let wrong = self.expected.as_deref().zip(host.first());
        let wrong = wrong.is_some_and(|(expected, (_, bytes))| expected != bytes.as_slice());
        let untouched = host
            .iter()
            .all(|(_, bytes)| bytes.iter().all(|byte| *byte == 0));
        let failure = match different {
            Some(((name, _), _)) => Some(format!("binding {name} differs between host and QEMU")),
            None if host.len() != qemu.len() || host.is_empty() => {
                Some("buffers are missing".to_owned())
            }
            None if wrong => Some("both places agree, but not with a CPU".to_owned()),
            None if untouched => Some("the shader wrote nothing".to_owned()),
            None => None,
        };
        Ok(Case {
            name: self.name.to_owned(),
            failure,
        })
    }
}

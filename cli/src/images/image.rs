//! Bare-metal images: built with cargo, turned into the raw file that a boot loader takes.

mod parts;

use crate::images::fresh::Stamp;
use crate::images::revision;
use crate::input::board_file;
use crate::input::buffer_source::BindingName;
use crate::outcome::{Failure, FileError};
use crate::output::whole_file;
use crate::workspace::Workspace;
use eitri_boards::Target;
use eitri_launch::cargo::{self, Manner, Watch};
use eitri_launch::images::{self, UEFI_APPLICATION};
use eitri_launch::tools::{self, Tool};
use miette::Diagnostic;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};
use thiserror::Error;

/// Longest that a build may take.
const BUILD_LIMIT: Duration = Duration::from_secs(20 * 60);
/// Most bytes of a raw image: a stray segment must not fill the disk.
pub(crate) const MOST_BYTES: u64 = 512 << 20;

/// The variables that build scripts of images look at: the board,
const BOARD: &str = "EITRI_BOARD";
/// the source of one that a file describes, for `boards`,
const BOARD_SOURCE: &str = "EITRI_BOARD_SOURCE";
/// the job of `kernel/image`,
const JOB: &str = "EITRI_JOB";
/// what of the job it shows,
const SHOWN: &str = "EITRI_SHOWN";
/// the scripts of `kernel/amber-image`,
const SUITE: &str = "EITRI_SUITE";
/// the drawings of `kernel/draw-image`,
const DRAWINGS: &str = "EITRI_DRAWINGS";
/// the image of `kernel/uefi`,
const IMAGE: &str = "EITRI_IMAGE";
/// and the GPU's firmware and the program of `examples/embed`, or the programs of `qemu-tests/driver-tests`.
pub(crate) const FIRMWARE: &str = "EITRI_FIRMWARE";
pub(crate) const PROGRAM: &str = "EITRI_PROGRAM";
/// The second program of `qemu-tests/bench`.
pub(crate) const OTHER_PROGRAM: &str = "EITRI_OTHER_PROGRAM";
/// Its programs for draws, and those of `examples/cube`.
pub(crate) const VERTEX_PROGRAM: &str = "EITRI_VERTEX_PROGRAM";
pub(crate) const FRAGMENT_PROGRAM: &str = "EITRI_FRAGMENT_PROGRAM";

/// What stands before the build id in a raw file, and before as many dots in what the linker made: `kernel/src/build_id.rs`.
pub(crate) const BUILD: &[u8] = b"eitri build ";

/// What has cargo leave debug information out of images that are passed on, which is most of their size.
const DEBUG: &str = "CARGO_PROFILE_RELEASE_DEBUG";

/// The prefix of an image's description. The linker leaves that many dots behind it, as in `kernel/src/build_id.rs`.
const ABOUT: &[u8] = b"eitri about ";
const ABOUT_DOTS: usize = 115;

/// Why there is no image.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum ImageError {
    #[error("the image could not be built: `{command}`\n{output}")]
    Build { command: String, output: String },
    #[error("{path}: not an AArch64 ELF file")]
    Elf {
        path: String,
        #[source]
        cause: object::Error,
    },
    #[error("{path}: its loadable segments span {bytes:#x} bytes")]
    Span { path: String, bytes: u64 },
    #[error("{path}: there is no symbol {name}")]
    NoSymbol { path: String, name: String },
    #[error(
        "with what it carries the image has {bytes} bytes, and {board} has {room} for its image"
    )]
    Room {
        board: &'static str,
        bytes: usize,
        room: usize,
    },
    #[error("{path} has vanished after it was built")]
    Gone {
        path: String,
        #[source]
        cause: std::io::Error,
    },
}

/// One built program.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    /// The ELF file, with the symbols and the table of log messages; what UEFI starts is a PE file.
    pub(crate) elf: Vec<u8>,
    path: PathBuf,
    /// What it is made of, in words that it prints.
    about: String,
    /// What stands behind it (`eitri_job::parts`), if it was linked without.
    parts: Vec<u8>,
}

/// A part of an image that is in memory when it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// What an image is made of, besides the program itself.
pub(crate) struct Parts<'a> {
    /// The board that it is for.
    pub(crate) board: Option<Target>,
    /// The files that are linked into it, each with the variable by which its build script finds it.
    pub(crate) files: &'a [(&'static str, &'a Path)],
}

/// Builds bare-metal programs.
pub(crate) struct Builder {
    workspace: Workspace,
    /// Held while the target folder is being built in and read from: another `eitri` may want the same file names.
    _lock: std::fs::File,
}

impl Builder {
    /// Sets up what a build needs, and waits until no other `eitri` builds images.
    pub(crate) fn new() -> Result<Builder, Failure> {
        let workspace = Workspace::find()?;
        let folder = workspace.target_folder().join("eitri");
        let path = folder.join("images.lock");
        let lock = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::File::create(&path))
            .and_then(|file| file.lock().map(|()| file));
        match lock {
            Ok(lock) => Ok(Builder {
                workspace,
                _lock: lock,
            }),
            Err(cause) => Err(Failure::missing(FileError::at("lock", path, cause))),
        }
    }

    /// Builds the program `binary` of `package` without a job, for the board that images are for when nobody says otherwise.
    pub(crate) fn build(&self, package: &str, binary: &str) -> Result<Image, Failure> {
        let parts = Parts {
            board: None,
            files: &[],
        };
        self.build_with(package, binary, &parts)
    }

    /// Builds the image that people boot, with `bundle` as its job, and the image of it that is shown on the board's display.
    pub(crate) fn build_job(
        &self,
        board: Option<Target>,
        bundle: &[u8],
        shown: Option<BindingName>,
    ) -> Result<Image, Failure> {
        let shown = shown.map(BindingName::words);
        let mut parts = vec![(JOB, bundle)];
        parts.extend(shown.iter().map(|shown| (SHOWN, shown.as_bytes())));
        self.build_around(board, "eitri-image", &parts)
    }

    /// Builds the image of [`Builder::build_job`] without a job: in QEMU it reads that from a file of the host's.
    pub(crate) fn build_without_job(&self, shown: Option<BindingName>) -> Result<Image, Failure> {
        let shown = shown.map(BindingName::words);
        let parts: Vec<_> = shown.iter().map(|it| (SHOWN, it.as_bytes())).collect();
        self.build_around(None, "eitri-image", &parts)
    }

    /// Builds the image that carries scripts.
    pub(crate) fn build_suite(
        &self,
        board: Option<Target>,
        suite: &[u8],
    ) -> Result<Image, Failure> {
        self.build_around(board, "eitri-amber-image", &[(SUITE, suite)])
    }

    /// Builds the image that carries drawings, and perhaps shows the first.
    pub(crate) fn build_drawings(
        &self,
        board: Option<Target>,
        drawings: &[u8],
        shown: bool,
    ) -> Result<Image, Failure> {
        let mut parts = vec![(DRAWINGS, drawings)];
        if shown {
            parts.push((SHOWN, b"0"));
        }
        self.build_around(board, "eitri-draw-image", &parts)
    }

    /// Builds the program of a package around bytes, each with the variable by which its build script finds them.
    fn build_around(
        &self,
        board: Option<Target>,
        package: &str,
        parts: &[(&'static str, &[u8])],
    ) -> Result<Image, Failure> {
        let folder = tempfile::tempdir()
            .map_err(|cause| Failure::unwritable(std::env::temp_dir(), cause))?;
        let mut paths = Vec::new();
        for (variable, bytes) in parts {
            let path = folder.path().join(variable);
            whole_file::put(&path, bytes)?;
            paths.push((*variable, path));
        }
        let files: Vec<(&str, &Path)> = paths
            .iter()
            .map(|(variable, path)| (*variable, path.as_path()))
            .collect();
        let files = &files;
        self.build_with(package, package, &Parts { board, files })
    }

    /// Builds an image that looks for everything behind itself.
    pub(crate) fn build_for_parts(
        &self,
        board: Option<Target>,
        package: &str,
    ) -> Result<Image, Failure> {
        let folder = tempfile::tempdir()
            .map_err(|cause| Failure::unwritable(std::env::temp_dir(), cause))?;
        let shown = folder.path().join(SHOWN);
        whole_file::put(&shown, b"attached")?;
        let files = &[(SHOWN, shown.as_path())];
        let mut command = images::build(&self.workspace, package);
        command.env(DEBUG, "0");
        let path = images::path(&self.workspace, package, package);
        let parts = Parts { board, files };
        let image = self.run(command, (package, package), &parts, path)?;
        Ok(Image {
            about: revision::about(&self.workspace, package, &[]),
            ..image
        })
    }

    /// Builds the image that runs the validation suite, with the GPU's firmware and perhaps scripts in it.
    pub(crate) fn build_validation(
        &self,
        board: Option<Target>,
        firmware: &[u8],
        scripts: Option<&[u8]>,
    ) -> Result<Image, Failure> {
        let mut parts = vec![(FIRMWARE, firmware)];
        parts.extend(scripts.map(|scripts| (SUITE, scripts)));
        self.build_around(board, "eitri-validation-image", &parts)
    }

    /// Builds the image that carries the driver's tests, with the GPU's firmware and the programs that they run in it.
    pub(crate) fn build_driver_tests(
        &self,
        firmware: &[u8],
        programs: &[u8],
    ) -> Result<Image, Failure> {
        let parts = [(FIRMWARE, firmware), (PROGRAM, programs)];
        self.build_around(None, "eitri-driver-tests-image", &parts)
    }

    /// Builds the image of `examples/cube`, with the GPU's firmware and the programs of its two shaders in it.
    pub(crate) fn build_cube(
        &self,
        firmware: &[u8],
        [vertex, fragment]: [&[u8]; 2],
    ) -> Result<Image, Failure> {
        let parts = [
            (FIRMWARE, firmware),
            (VERTEX_PROGRAM, vertex),
            (FRAGMENT_PROGRAM, fragment),
        ];
        self.build_around(None, "eitri-cube", &parts)
    }

    /// Builds the application that UEFI firmware starts, with a raw image in it; gives its file.
    pub(crate) fn build_uefi(&self, board: Target, raw: &[u8]) -> Result<Vec<u8>, Failure> {
        tools::ensure(&self.workspace, &[Tool::UefiTarget])?;
        let application = self.build_around(Some(board), UEFI_APPLICATION, &[(IMAGE, raw)])?;
        Ok(application.elf)
    }

    /// Builds the program `binary` of `package` of these parts.
    pub(crate) fn build_with(
        &self,
        package: &str,
        binary: &str,
        parts: &Parts<'_>,
    ) -> Result<Image, Failure> {
        let command = images::build(&self.workspace, package);
        let path = images::path(&self.workspace, package, binary);
        self.run(command, (package, binary), parts, path)
    }

    /// Builds the program of a package as small as it gets.
    pub(crate) fn build_small(&self, package: &str, parts: &Parts<'_>) -> Result<Image, Failure> {
        let command = images::build_small(&self.workspace, package);
        let path = images::path_of_small(&self.workspace, package);
        self.run(command, (package, package), parts, path)
    }

    fn run(
        &self,
        mut command: Command,
        (package, binary): (&str, &str),
        parts: &Parts<'_>,
        path: PathBuf,
    ) -> Result<Image, Failure> {
        // What the caller's own environment says of these is not meant for this build.
        let others = [
            SUITE,
            DRAWINGS,
            FIRMWARE,
            PROGRAM,
            OTHER_PROGRAM,
            VERTEX_PROGRAM,
            FRAGMENT_PROGRAM,
            IMAGE,
        ];
        for variable in [BOARD, JOB, SHOWN].into_iter().chain(others) {
            command.env_remove(variable);
        }
        for (variable, file) in parts.files {
            command.env(variable, file);
        }
        if let Some(board) = parts.board {
            command.env(BOARD, board.name());
        }
        match board_file::source() {
            Some(source) => command.env(BOARD_SOURCE, source),
            None => command.env_remove(BOARD_SOURCE),
        };
        // Files that are linked into it lie elsewhere each time.
        let stamp = parts.files.is_empty();
        let stamp = stamp.then(|| Stamp::new(&self.workspace, package, &command, &path));
        if !stamp.as_ref().is_some_and(Stamp::is_fresh) {
            let since = SystemTime::now();
            self.ask_cargo(&mut command, (package, binary))?;
            stamp.inspect(|stamp| stamp.keep(since));
        }
        match std::fs::read(&path) {
            Ok(elf) => Ok(Image {
                elf,
                path,
                about: revision::about(&self.workspace, package, &inside(parts)),
                parts: Vec::new(),
            }),
            Err(cause) => Err(Failure::missing(ImageError::Gone {
                path: path.display().to_string(),
                cause,
            })),
        }
    }

    /// Has cargo build what is not up to date.
    fn ask_cargo(
        &self,
        command: &mut Command,
        (package, binary): (&str, &str),
    ) -> Result<(), Failure> {
        tools::ensure(&self.workspace, &[Tool::Target])?;
        let watch = Watch {
            what: &format!("building {binary}"),
            log: &images::log(&self.workspace, package),
            limit: BUILD_LIMIT,
            manner: Manner::Quiet,
        };
        let finished = cargo::run(command, &watch)?;
        if !finished.end.good() {
            let output = finished.output();
            let broken = output.contains(cargo::SOURCES_ARE_BROKEN);
            let command = format!("{command:?}").replace('"', "");
            let error = ImageError::Build { command, output };
            // Without a network, say, cargo does not come that far.
            return Err(match broken {
                true => Failure::refused(error),
                false => Failure::missing(error),
            });
        }
        Ok(())
    }
}

/// Names of the files that are linked into an image.
fn inside(parts: &Parts<'_>) -> Vec<&'static str> {
    let has = |variable: &str| parts.files.iter().any(|(name, _)| *name == variable);
    let names = [
        (JOB, "job"),
        (SHOWN, "display"),
        (FIRMWARE, "firmware"),
        (SUITE, "scripts"),
        (DRAWINGS, "drawings"),
        (PROGRAM, "programs"),
        (VERTEX_PROGRAM, "draws"),
    ];
    let names = names.iter().filter(|(variable, _)| has(variable));
    names.map(|(_, name)| *name).collect()
}

/// What of an ELF file is loaded: each segment's physical address, and its bytes.
pub(crate) fn load_segments(elf: &[u8]) -> Result<Vec<(u64, &[u8])>, object::Error> {
    let header = elf::FileHeader64::<object::LittleEndian>::parse(elf)?;
    let endian = header.endian()?;
    let mut loaded = Vec::new();
    for segment in header.program_headers(endian, elf)? {
        if segment.p_type(endian) != elf::PT_LOAD {
            continue;
        }
        // One that leaves the file holds nothing.
        let bytes = segment.data(endian, elf).unwrap_or(&[]);
        if !bytes.is_empty() {
            loaded.push((segment.p_paddr(endian), bytes));
        }
    }
    Ok(loaded)
}

impl Image {
    /// One that was built elsewhere.
    pub(crate) fn prebuilt(elf: Vec<u8>, path: PathBuf, about: &str) -> Image {
        Image {
            elf,
            path,
            about: about.to_owned(),
            parts: Vec::new(),
        }
    }

    /// What it is made of, in words.
    pub(crate) fn about(&self) -> &str {
        &self.about
    }

    /// Where cargo put the ELF file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is loaded: each segment's physical address, and its bytes.
    fn segments(&self) -> Result<Vec<(u64, &[u8])>, Failure> {
        load_segments(&self.elf).map_err(|cause| {
            Failure::missing(ImageError::Elf {
                path: self.path.display().to_string(),
                cause,
            })
        })
    }

    /// The address of its first byte.
    pub(crate) fn load_address(&self) -> Result<u64, Failure> {
        let segments = self.segments()?;
        let addresses = segments.iter().map(|(address, _)| *address);
        Ok(addresses.min().unwrap_or(0))
    }

    /// The bytes that are booted: every loadable segment at its physical address, less that of the first.
    pub(crate) fn raw(&self) -> Result<Vec<u8>, Failure> {
        let (loaded, base) = (self.segments()?, self.load_address()?);
        let ends = loaded
            .iter()
            .map(|(address, bytes)| address.saturating_add(bytes.len() as u64));
        let span = ends.max().unwrap_or(0) - base;
        if span > MOST_BYTES {
            return Err(Failure::missing(ImageError::Span {
                path: self.path.display().to_string(),
                bytes: span,
            }));
        }
        let mut raw = vec![0; span as usize];
        for (address, bytes) in loaded {
            // `span` is the largest end less the smallest start, so every segment lies inside.
            let start = (address - base) as usize;
            if let Some(place) = raw.get_mut(start..start + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        }
        self.name_build(&mut raw);
        revision::put_text(&mut raw, ABOUT, ABOUT_DOTS, &self.about);
        if self.has_parts() {
            self.put_parts(&mut raw)?;
        }
        Ok(raw)
    }

    /// The build id, as an image says it in its first line; none where it was linked without.
    pub(crate) fn build_id(&self) -> Option<String> {
        let file = object::File::parse(self.elf.as_slice()).ok()?;
        let id = file.build_id().ok()??;
        Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Puts the build id as text where the kernel has left room for it.
    fn name_build(&self, raw: &mut [u8]) {
        if let Some(id) = self.build_id() {
            revision::put_text(raw, BUILD, id.len(), &id);
        }
    }

    /// What is in memory when it runs, but for debug information.
    pub(crate) fn sections(&self) -> Result<Vec<Section>, Failure> {
        let file = object::File::parse(self.elf.as_slice()).map_err(|cause| {
            let path = self.path.display().to_string();
            Failure::missing(ImageError::Elf { path, cause })
        })?;
        let sections = file.sections().filter_map(|section| {
            let SectionFlags::Elf { sh_flags } = section.flags() else {
                return None;
            };
            let has = |flag: u32| sh_flags & u64::from(flag) != 0;
            has(elf::SHF_ALLOC).then(|| Section {
                name: section.name().unwrap_or_default().to_owned(),
                bytes: section.size(),
            })
        });
        Ok(sections.collect())
    }

    /// The function that an address lies in, as its source calls it.
    pub(crate) fn function(&self, address: u64) -> Option<String> {
        let file = object::File::parse(self.elf.as_slice()).ok()?;
        let has = |symbol: &object::Symbol<'_, '_>| {
            let bytes = address.checked_sub(symbol.address());
            symbol.kind() == SymbolKind::Text && bytes.is_some_and(|bytes| bytes < symbol.size())
        };
        let symbol = file.symbols().find(has)?;
        let name = symbol.name().ok()?;
        Some(format!("{:#}", rustc_demangle::demangle(name)))
    }

    /// Address of the symbol of this name.
    pub(crate) fn address_of(&self, name: &str) -> Result<u64, Failure> {
        let path = || self.path.display().to_string();
        let file = object::File::parse(self.elf.as_slice()).map_err(|cause| {
            Failure::missing(ImageError::Elf {
                path: path(),
                cause,
            })
        })?;
        let symbol = file.symbol_by_name(name).ok_or_else(|| {
            Failure::missing(ImageError::NoSymbol {
                path: path(),
                name: name.to_owned(),
            })
        })?;
        Ok(symbol.address())
    }

    /// Names of the symbols that contain `part`.
    pub(crate) fn symbols_with(&self, part: &str) -> Result<Vec<String>, Failure> {
        let file = object::File::parse(self.elf.as_slice()).map_err(|cause| {
            let path = self.path.display().to_string();
            Failure::missing(ImageError::Elf { path, cause })
        })?;
        let names = file
            .symbols()
            .filter_map(|symbol| symbol.name().ok().map(str::to_owned));
        Ok(names.filter(|name| name.contains(part)).collect())
    }
}

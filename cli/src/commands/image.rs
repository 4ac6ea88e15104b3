//! `eitri image`: a shader as a file that a board boots.

use crate::amber::suite as scripts;
use crate::images::boot_file::{self, Beside, Format, tftp};
use crate::images::image::Image;
use crate::images::lab_files::{self, LabKind};
use crate::images::prebuilt;
use crate::input::board_choice;
use crate::input::board_firmware;
use crate::input::buffer_source::{self, BindingName};
use crate::input::gpu_choice::GpuChoice;
use crate::input::job_arguments::JobArguments;
use crate::input::shader_file;
use crate::input::shown;
use crate::outcome::{Failure, FileError, Status};
use crate::output::list::{self, ListForm, Row};
use crate::output::streams::{outln, talk};
use crate::output::whole_file::Pending;
use crate::runs::dispatch::{self, Request, Talk};
use eitri_boards::{Loader, Target};
use eitri_job::Wants;
use eitri_shaderc::Options;
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shader: .wgsl, .comp or .glsl, .spv, .spvasm.
    #[arg(required_unless_present_any = ["list_boards", "validation"])]
    shader: Option<String>,
    /// The validation suite instead of a shader: an image that says whether the board's GPU works.
    #[arg(long, conflicts_with = "shader")]
    validation: bool,
    /// Amber scripts, or folders of them, that the validation suite runs after its own tests.
    #[arg(long, value_name = "FILE|DIR", num_args = 1.., requires = "validation")]
    suite: Vec<String>,
    /// The board that it is for, by its name or by a file that describes it (docs/own-board.md).
    #[arg(
        long,
        value_name = "NAME|FILE",
        required_unless_present = "list_boards"
    )]
    board: Option<String>,
    /// List the boards, and do nothing else.
    #[arg(long, value_name = "FORM", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    list_boards: Option<ListForm>,
    /// The form of the file; if not given, what the board's own boot loader takes.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Where the file goes; `eitri-BOARD` with the form's ending if not given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Write what U-Boot has to do as a script too, for its `source` command.
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    /// Put everything where a TFTP server with this root finds it, under names that stay: eitri/BOARD/eitri with the form's
    /// ending, the firmware that U-Boot loads by itself, and boot.scr for U-Boot.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "script"])]
    tftp: Option<PathBuf>,
    /// Leave the GPU's firmware out of the image: U-Boot loads it at this address, a multiple of 64 KiB, as the file that
    /// --firmware names or mali_csffw.bin.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    firmware_at: Option<usize>,
    /// The machine's device tree, as a .dtb file: --format fit puts it beside the image, for a boot loader that has none of its own.
    #[arg(long, value_name = "FILE")]
    tree: Option<String>,
    /// Write what a lab wants to know beside the file: environment, strategy and test for labgrid, or job and device
    /// dictionary for LAVA.
    #[arg(long, value_enum)]
    lab: Option<LabKind>,
    /// Show an image that the shader has written on the board's display, until the board is switched off: the display that the boot
    /// loader left (simple-framebuffer of its device tree), in QEMU the device ramfb.
    #[arg(long, value_name = "BINDING", conflicts_with = "validation")]
    show: Option<BindingName>,
    #[command(flatten)]
    job: JobArguments,
}

/// Why no image is made.
#[derive(Debug, Error, Diagnostic)]
enum RequestError {
    #[error("an ELF file is not for U-Boot: there is nothing to put into --script")]
    NoScript,
    #[error("an ELF file is not for a boot loader: there is nothing to serve by --tftp")]
    NotServed,
    #[error("a device tree goes into --format fit, and not into this form")]
    TreeAlone,
    #[error("{board} has no U-Boot: there is nothing to put into --script")]
    NoUBoot { board: &'static str },
    #[error(
        "firmware at an address is U-Boot's to load: {board} has none, and an ELF file or an application is not for it"
    )]
    NoLoader { board: &'static str },
    #[error("{address:#x} is no place for firmware: {what} of {board} is at {base:#x} to {end:#x}")]
    #[diagnostic(help("a place that is free: {free:#x}"))]
    InTheWay {
        address: usize,
        what: &'static str,
        board: &'static str,
        base: usize,
        end: usize,
        free: usize,
    },
}

/// Files of firmware are linked for pages of 64 KiB: hardware/boards.md 8.
const FIRMWARE_ALIGNMENT: usize = 64 << 10;
/// More than any firmware has.
const FIRMWARE_BYTES: usize = 4 << 20;

/// An address for firmware.
fn address(text: &str) -> Result<usize, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text).replace('_', "");
    let address = usize::from_str_radix(&digits, 16).map_err(|error| error.to_string())?;
    match address % FIRMWARE_ALIGNMENT {
        0 => Ok(address),
        _ => Err("no multiple of 0x10000".to_owned()),
    }
}

/// The firmware that U-Boot is to load, if that was asked for and can be.
fn beside(args: &Args, target: Target, format: Format) -> Result<Option<Beside>, Failure> {
    let Some(at) = args.firmware_at else {
        return Ok(None);
    };
    let by_u_boot = matches!(
        format,
        Format::Bin | Format::Image | Format::Fit | Format::Uimage
    );
    let board = match (target.loader(), target.board()) {
        (Loader::UBoot(_), Some(board)) if by_u_boot => board,
        _ => {
            let board = target.title();
            return Err(Failure::refused(RequestError::NoLoader { board }));
        }
    };
    let memory = board.memory;
    let mut taken = vec![
        ("the image", memory.image),
        ("the heap", memory.heap),
        ("what the GPU shares", memory.shared),
        ("the GPU", board.gpu.window),
    ];
    taken.extend(memory.devices.iter().map(|region| ("a device", *region)));
    taken.extend(
        memory
            .never
            .iter()
            .map(|region| ("reserved memory", *region)),
    );
    let end = at.saturating_add(FIRMWARE_BYTES);
    let in_the_way = taken
        .iter()
        .find(|(_, region)| at < region.end() && region.base < end);
    if let Some((what, region)) = in_the_way {
        return Err(Failure::refused(RequestError::InTheWay {
            address: at,
            what,
            board: board.name,
            base: region.base,
            end: region.end(),
            // Behind what is shared, where no board has anything else.
            free: memory.shared.end(),
        }));
    }
    let path = args.job.firmware_path().map(Path::new);
    let name = path.and_then(Path::file_name);
    let name = name.map_or(board_firmware::FILE_NAME.into(), |name| {
        name.to_string_lossy()
    });
    let name = served(args, target, &name);
    Ok(Some(Beside { at, name }))
}

/// What a file is called on the server.
fn served(args: &Args, board: Target, name: &str) -> String {
    match args.tftp {
        Some(_) => tftp::name(board, name),
        None => name.to_owned(),
    }
}

/// The path of a file below the server's root, in a folder that is there.
fn below(root: &Path, name: &str) -> Result<String, Failure> {
    let path = root.join(name);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|cause| Failure::refused(FileError::at("make", folder, cause)))?;
    }
    Ok(path.display().to_string())
}

/// The firmware that is inside of the image: none where U-Boot loads it.
fn inside(args: &Args, board: Target) -> Result<Vec<u8>, Failure> {
    match args.firmware_at {
        Some(_) => Ok(Vec::new()),
        None => board_firmware::for_board(board, args.job.firmware_option()),
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    if let Some(form) = args.list_boards {
        let rows: Vec<Row> = Target::all()
            .map(|board| Row::named(board.name()).about(board.title()))
            .collect();
        list::print(form, "boards", &rows, |row| {
            format!("{:<12} {}", row.name, row.about)
        })?;
        return Ok(Status::Good);
    }
    // clap has seen to it that there are a board and a shader.
    let name = args.board.as_deref().unwrap_or_default();
    let board = board_choice::named(name)?;
    let format = args.format.unwrap_or(match (board.loader(), args.lab) {
        // It makes the image tree itself, of the image and of a device tree that it has.
        (Loader::Depthcharge(_), Some(LabKind::Lava)) => Format::Image,
        _ => Format::of(board),
    });
    let tree = args.tree.as_deref();
    if tree.is_some() && format != Format::Fit {
        return Err(Failure::refused(RequestError::TreeAlone));
    }
    let tree =
        tree.map(|path| std::fs::read(path).map_err(|cause| Failure::unreadable(path, cause)));
    let tree = tree.transpose()?;
    boot_file::takes(board, format, tree.as_deref())?;
    let by_u_boot = matches!(board.loader(), Loader::UBoot(_));
    if args.script.is_some() {
        if format == Format::Elf {
            return Err(Failure::refused(RequestError::NoScript));
        }
        if !by_u_boot {
            let board = board.title();
            return Err(Failure::refused(RequestError::NoUBoot { board }));
        }
    }
    if args.tftp.is_some() && format == Format::Elf {
        return Err(Failure::refused(RequestError::NotServed));
    }
    let beside = beside(args, board, format)?;
    let image = match args.validation {
        true => validation_image(args, board)?,
        false => job_image(args, board)?,
    };
    let on_server = served(args, board, &format!("eitri.{}", format.extension()));
    let output = match (&args.tftp, &args.output) {
        (Some(root), _) => below(root, &on_server)?,
        (None, Some(output)) => output.clone(),
        (None, None) => format!("eitri-{}.{}", board.name(), format.extension()),
    };
    let file_name = Path::new(&output).file_name().unwrap_or_default();
    let file_name = file_name.to_string_lossy();
    let name = args.tftp.as_ref().map_or(&*file_name, |_| &on_server);
    let lines = match (&beside, board.board()) {
        (Some(beside), Some(board)) => boot_file::u_boot_lines_with(board, format, name, beside),
        _ => boot_file::lines(board, format, name),
    };
    let network = boot_file::network_lines(board);
    let bytes = boot_file::encode(&image, board, format, tree.as_deref())?;
    let mut files = vec![Pending::write(&output, &bytes)?];
    if let (Some(root), Some(beside)) = (&args.tftp, &beside) {
        match args.job.firmware_path() {
            Some(path) => {
                let at = below(root, &beside.name)?;
                files.push(Pending::write(&at, &buffer_source::read(path)?)?);
            }
            None => talk!("the server needs the firmware too, as {}", beside.name),
        }
    }
    // A script that comes from the server finds its network set up; another does that itself.
    let (script, sets_up) = match (&args.tftp, &args.script) {
        (Some(root), _) if by_u_boot => (
            Some(below(root, &tftp::name(board, tftp::SCRIPT))?),
            &[][..],
        ),
        (_, script) => (script.clone(), network.as_slice()),
    };
    if let Some(path) = script {
        let script = [sets_up, &lines].concat();
        files.push(Pending::write(&path, &boot_file::boot_script(&script)?)?);
    }
    let words = args.validation.then(|| boot_file::console_words(board));
    // What lies beside the image has to be loaded too, which these do not say.
    let others = match &beside {
        None => boot_file::other_ways(board, format, name),
        Some(_) => Vec::new(),
    };
    let words: Vec<String> = words.flatten().into_iter().collect();
    let mut lines = [network, others, words, lines].concat();
    if args.tftp.is_some() && by_u_boot {
        lines.push("# or all of it by the script:".to_owned());
        lines.extend(tftp::lines(board, "${scriptaddr}"));
    }
    if let Some(kind) = args.lab {
        let folder = Path::new(&output).parent().unwrap_or(Path::new(""));
        for file in lab_files::files(kind, board, &file_name) {
            let path = folder.join(&file.name).display().to_string();
            files.push(Pending::write(&path, file.text.as_bytes())?);
        }
    }
    files.into_iter().try_for_each(Pending::commit)?;
    // What goes to standard output is either the file or what to do with it.
    if output != "-" && args.script.as_deref() != Some("-") && format != Format::Elf {
        outln!("{}", lines.join("\n"))?;
    }
    Ok(Status::Good)
}

/// The GPU that a board has, and what is said to the compiler of a shader for it.
fn for_board(job: &JobArguments, board: Target) -> (GpuChoice, Options) {
    let gpu = GpuChoice::of_board(board).unwrap_or_default();
    let options = Options {
        target: gpu.target(),
        ..job.options()
    };
    (gpu, options)
}

/// The image that runs the shader.
fn job_image(args: &Args, board: Target) -> Result<Image, Failure> {
    let shader = shader_file::load(args.shader.as_deref().unwrap_or_default())?;
    let (gpu, options) = for_board(&args.job, board);
    let compiled = dispatch::compile(&shader, &options)?;
    let resources = args.job.resources()?;
    let mut saves = Vec::new();
    if let Some(name) = args.show {
        shown::save(name, &resources, &mut saves)?;
    }
    let request = Request {
        resources,
        push_constants: args.job.push_constants(&shader)?,
        groups: args.job.groups(),
        gpu,
        saves,
        coherent: true,
        firmware: Some(inside(args, board)?),
        limit: args.job.limit(),
        wants: Wants::default(),
        talk: Talk::Quiet,
    };
    let bundle = dispatch::bundle(&shader.path, &compiled, &request)?;
    prebuilt::job(board, &bundle, args.show)
}

/// The image that runs the validation suite.
fn validation_image(args: &Args, board: Target) -> Result<Image, Failure> {
    let firmware = inside(args, board)?;
    let gpu = GpuChoice::of_board(board).unwrap_or_default();
    let scripts = scripts::compiled(&args.suite, gpu)?;
    prebuilt::validation(Some(board), &firmware, scripts.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args as _, Command, FromArgMatches};

    #[test]
    fn a_shader_is_compiled_for_the_gpu_of_the_board() {
        let line = JobArguments::augment_args(Command::new("image"));
        let line = line.get_matches_from(["image"]);
        let job = JobArguments::from_arg_matches(&line).unwrap();
        for (name, arch) in [
            ("rk3588", "v10"),
            ("imx95", "v10"),
            ("cix-p1", "v12"),
            ("mt8196", "v13"),
        ] {
            let board = Target::named(name).unwrap();
            let (gpu, options) = for_board(&job, board);
            assert_eq!(gpu.arch().to_string(), arch, "{name}");
            assert_eq!(options.target, gpu.target(), "{name}");
        }
    }
}

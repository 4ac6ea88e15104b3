//! The program binary: what the runtime must know beside the code.
//!
//! Facts: hardware/compiler-abi.md 1.2 (handles), 4 (uniform words).

use eitri_isa::Arch;
use eitri_program as program;

use super::{AddressHalf, Binary, FauWord};
use crate::ir::{Axis, Binding, BindingKind, Dim, Function};
use crate::machine::program::{access, push_ranges};

/// The uniform words of a program, and what is computed of them.
pub(super) struct Uniforms {
    pub(super) fau: Vec<program::FauWord>,
    pub(super) steps: Vec<program::FauStep>,
}

impl Uniforms {
    pub(super) fn of(binary: &Binary) -> Uniforms {
        let work = |word: &FauWord| match *word {
            FauWord::Worked(number) => binary.work.get(number),
            _ => None,
        };
        let steps = binary.fau.iter().zip(0u8..).flat_map(|(fau, word)| {
            let steps = work(fau).into_iter().flat_map(|work| &work.steps);
            steps.map(move |&(op, operand)| program::FauStep { word, op, operand })
        });
        let fau = binary.fau.iter();
        let fau = fau.map(|word| fau_word(work(word).map_or(*word, |work| work.start)));
        Uniforms {
            steps: steps.collect(),
            fau: fau.collect(),
        }
    }
}

/// What a function's programs have in common.
pub(super) struct Tables {
    pub(super) bindings: Vec<program::Binding>,
    pub(super) push_ranges: Vec<program::PushRange>,
    pub(super) data: Vec<u64>,
}

impl Tables {
    /// `handles` are those of the bindings' first elements.
    pub(super) fn of(function: &Function, handles: &[u32]) -> Tables {
        let bindings = function.bindings.iter().zip(handles);
        let bindings = bindings.map(|(binding, handle)| program::Binding {
            set: binding.set,
            binding: binding.binding,
            kind: kind_of(binding),
            access: access(binding),
            count: binding.count,
            slot: slot(*handle),
            min_bytes: binding.min_bytes,
        });
        let data = function.data.chunks(2).map(|words| {
            let word = |place: usize| u64::from(words.get(place).copied().unwrap_or(0));
            word(1) << 32 | word(0)
        });
        Tables {
            bindings: bindings.collect(),
            push_ranges: push_ranges(function),
            data: data.collect(),
        }
    }
}

/// The registers that each thread is given.
pub(super) fn registers(binary: &Binary) -> program::RegisterFile {
    match binary.registers {
        0..=32 => program::RegisterFile::Half,
        _ => program::RegisterFile::Full,
    }
}

/// The program binary of a compiled function.
pub(super) fn encode(
    function: &Function,
    binary: &Binary,
    arch: Arch,
) -> Result<Vec<u8>, program::EncodeError> {
    let uniforms = Uniforms::of(binary);
    let tables = Tables::of(function, &binary.handles);
    let [x, y, z] = function.workgroup_size;
    let parts = program::ProgramParts {
        arch,
        stage: program::Stage::Compute,
        entry: &function.name,
        code: &binary.code,
        data: &tables.data,
        registers: registers(binary),
        preload: binary.preload,
        workgroup: program::WorkgroupSize::new(x, y, z)?,
        shared_bytes: function.shared_bytes,
        scratch_bytes: binary.scratch_bytes,
        push_constant_bytes: function.push_constant_bytes,
        fau: &uniforms.fau,
        fau_steps: &uniforms.steps,
        bindings: &tables.bindings,
        push_ranges: &tables.push_ranges,
    };
    let mut bytes = vec![0; parts.encoded_len()?];
    let length = parts.encode(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// The descriptor that a handle names.
fn slot(handle: u32) -> program::DescriptorSlot {
    program::DescriptorSlot {
        table: (handle >> 24) as u8,
        index: handle & 0xff_ffff,
    }
}

/// A uniform word as the program has it.
pub(super) fn fau_word(word: FauWord) -> program::FauWord {
    let axis = |axis: Axis| program::Axis::ALL[axis.index()];
    let half = |half| match half {
        AddressHalf::Low => program::AddressHalf::Low,
        AddressHalf::High => program::AddressHalf::High,
    };
    match word {
        FauWord::Constant(bits) => program::FauWord::Constant(bits),
        FauWord::PushConstant(offset) => program::FauWord::PushConstant { offset },
        FauWord::NumWorkgroups(which) => program::FauWord::NumWorkgroups(axis(which)),
        FauWord::BufferBytes(handle) => program::FauWord::BufferBytes { slot: slot(handle) },
        FauWord::BufferWord(handle, offset) => program::FauWord::BufferWord {
            slot: slot(handle),
            offset,
        },
        FauWord::TexelCount(handle) => program::FauWord::TexelCount { slot: slot(handle) },
        FauWord::TexelFormat(handle) => program::FauWord::TexelFormat { slot: slot(handle) },
        FauWord::BufferAddress(handle, which) => program::FauWord::BufferAddress {
            slot: slot(handle),
            half: half(which),
        },
        FauWord::DataAddress(which) => program::FauWord::DataAddress(half(which)),
        FauWord::Draw(word) => program::FauWord::Draw(word),
        // All work has a start, which is no work.
        FauWord::Worked(_) => program::FauWord::Constant(0),
    }
}

/// The kind of a binding as the program has it.
fn kind_of(binding: &Binding) -> program::BindingKind {
    let shape = binding.image.map(|image| image.shape);
    let shape = shape.map(|shape| program::ImageShape {
        dimension: match shape.dim {
            Dim::Buffer | Dim::D1 => program::ImageDimension::OneD,
            Dim::D2 => program::ImageDimension::TwoD,
            Dim::D3 => program::ImageDimension::ThreeD,
            Dim::Cube => program::ImageDimension::Cube,
        },
        arrayed: shape.arrayed,
        multisampled: shape.multisampled,
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

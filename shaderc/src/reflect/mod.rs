//! Reflection: what a compute shader wants from outside, read off its SPIR-V.
//!
//! Needs: any bytes.  Guarantees: no panic and bounded work whatever the bytes; works for shaders that the compiler refuses,
//! too.  Never: looks into functions: a resource is told when it is declared, used or not.

mod declarations;
mod types;

use std::collections::BTreeMap;

use rspirv::spirv::{
    BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass,
};

use crate::options::ShaderStage;
use crate::spirv::error::Error;
use crate::spirv::reader::{self, Instr};
use declarations::Declarations;
pub use types::{Member, Type};

/// What a compute shader wants from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Reflection {
    /// Name of the entry point.
    pub entry: String,
    /// Names of the capabilities that the module declares, in its order.
    pub capabilities: Vec<String>,
    /// Its extensions.
    pub extensions: Vec<String>,
    /// Invocations of a workgroup in x, y, z, with the specialisation given.
    pub workgroup_size: [u32; 3],
    /// Resources by set and binding.
    pub resources: Vec<Resource>,
    /// The push-constant block.
    pub push_constants: Option<Type>,
    /// Specialisation constants by SpecId.
    pub spec_constants: Vec<SpecConstant>,
}

/// What a resource is to the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceKind {
    /// A storage buffer.
    StorageBuffer,
    /// A uniform buffer.
    UniformBuffer,
    /// An image that is read and written by texel.
    StorageImage,
    /// An image that is sampled or fetched from.
    SampledImage,
    /// An image with its sampler.
    CombinedImageSampler,
    /// A sampler alone.
    Sampler,
    /// A buffer of texels that are only read.
    UniformTexelBuffer,
    /// A buffer of texels.
    StorageTexelBuffer,
    /// An acceleration structure, or what is not known here.
    Other,
}

impl ResourceKind {
    /// Whether a shader can't write to it, whatever the declaration says.
    fn is_read_only(self) -> bool {
        match self {
            ResourceKind::UniformBuffer
            | ResourceKind::SampledImage
            | ResourceKind::CombinedImageSampler
            | ResourceKind::Sampler
            | ResourceKind::UniformTexelBuffer => true,
            ResourceKind::StorageBuffer
            | ResourceKind::StorageImage
            | ResourceKind::StorageTexelBuffer
            | ResourceKind::Other => false,
        }
    }
}

/// A resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// The variable's name, or that of its block; may be empty.
    pub name: String,
    /// What it is.
    pub kind: ResourceKind,
    /// Descriptors: 1 unless it is an array; none for an array without a length.
    pub count: Option<u32>,
    /// Declared as never read.
    pub write_only: bool,
    /// Declared as never written.
    pub read_only: bool,
    /// Of one descriptor, without the array.
    pub ty: Type,
}

/// A specialisation constant.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecConstant {
    /// Its SpecId.
    pub id: u32,
    /// Its name; may be empty.
    pub name: String,
    /// Its type: `bool`, `u32`, …
    pub ty: String,
    /// The bits that it has unless it is given others.
    pub default: u64,
}

/// Reads off what the entry point called `entry` (the only one, if none is named) wants from outside.
///
/// # Errors
/// Bytes that are no SPIR-V, an entry point that is not there or not of compute, declarations that contradict each other.
pub fn reflect(
    bytes: &[u8],
    entry: Option<&str>,
    spec_constants: &BTreeMap<u32, u32>,
) -> Result<Reflection, Error> {
    let instrs = reader::read(bytes).map_err(|error| *error)?;
    let (name, function, interface) = find_entry(&instrs, entry)?;
    let declared = Declarations::collect(&instrs, spec_constants);
    let lists_all = declares_all_globals(bytes);
    let mut resources = Vec::new();
    let mut push_constants = None;
    for variable in declared.variables() {
        if lists_all && !interface.contains(&variable.id) {
            continue;
        }
        match variable.class {
            StorageClass::PushConstant => push_constants = Some(declared.ty(variable.pointee)),
            StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant => {
                resources.push(declared.resource(variable));
            }
            _ => {}
        }
    }
    resources.sort_by_key(|resource| (resource.set, resource.binding));
    let text = |op: Op| {
        let found = instrs.iter().filter(move |instr| instr.op == op);
        found.filter_map(|instr| instr.string(0).ok().map(|(text, _)| text))
    };
    let capabilities = instrs.iter().filter(|instr| instr.op == Op::Capability);
    Ok(Reflection {
        entry: name,
        capabilities: capabilities
            .filter_map(|instr| instr.operands.first())
            .map(|number| match Capability::from_u32(*number) {
                Some(capability) => format!("{capability:?}"),
                None => number.to_string(),
            })
            .collect(),
        extensions: text(Op::Extension).collect(),
        workgroup_size: workgroup_size(&instrs, function, &declared),
        resources,
        push_constants,
        spec_constants: declared.spec_constants(),
    })
}

/// From SPIR-V 1.4 on, an entry point names every global variable that it uses.
fn declares_all_globals(bytes: &[u8]) -> bool {
    let version = bytes.get(4..8).and_then(|word| word.try_into().ok());
    let magic_is_little = bytes.first() == Some(&0x03);
    let version = version.map_or(0, |word: [u8; 4]| match magic_is_little {
        true => u32::from_le_bytes(word),
        false => u32::from_be_bytes(word),
    });
    version >= 0x0001_0400
}

/// Name, function and interface of the entry point.
fn find_entry(instrs: &[Instr], wanted: Option<&str>) -> Result<(String, u32, Vec<u32>), Error> {
    let mut found = Vec::new();
    for instr in instrs.iter().filter(|instr| instr.op == Op::EntryPoint) {
        let (name, end) = instr.string(2).map_err(|error| *error)?;
        let is_compute = instr.operands.first() == Some(&(ExecutionModel::GLCompute as u32));
        if is_compute {
            let function = instr.word(1).map_err(|error| *error)?;
            found.push((name, function, instr.rest(end).to_vec()));
        }
    }
    let names = found.iter().map(|(name, ..)| name.clone()).collect();
    let mut matching = found;
    matching.retain(|(name, ..)| wanted.is_none_or(|wanted| wanted == name));
    match (matching.pop(), matching.is_empty()) {
        (Some(entry), true) => Ok(entry),
        _ => Err(Error::NoEntryPoint {
            stage: ShaderStage::Compute,
            wanted: wanted.map(str::to_owned),
            found: names,
        }),
    }
}

/// The size that the last of LocalSize, LocalSizeId and the constant WorkgroupSize gives; 0 where none is known.
fn workgroup_size(instrs: &[Instr], function: u32, declared: &Declarations) -> [u32; 3] {
    let mut size = [0; 3];
    for instr in instrs {
        let [of, mode, operands @ ..] = &*instr.operands else {
            continue;
        };
        if *of != function || !matches!(instr.op, Op::ExecutionMode | Op::ExecutionModeId) {
            continue;
        }
        for (size, operand) in size.iter_mut().zip(operands) {
            match ExecutionMode::from_u32(*mode) {
                Some(ExecutionMode::LocalSize) => *size = *operand,
                Some(ExecutionMode::LocalSizeId) => *size = declared.word(*operand).unwrap_or(0),
                _ => {}
            }
        }
    }
    let composite = declared.decorated(Decoration::BuiltIn, BuiltIn::WorkgroupSize as u32);
    if let Some(parts) = composite.and_then(|id| declared.composite(id)) {
        for (size, part) in size.iter_mut().zip(parts) {
            *size = declared.word(*part).unwrap_or(0);
        }
    }
    size
}

#[cfg(test)]
mod tests;

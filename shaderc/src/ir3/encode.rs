//! The program binary: what a driver would need, beside the code.

use eitri_ir3_program as program;

use super::{Binary, descriptors};
use crate::ir::Function;
use crate::machine::program::{access, push_ranges};

pub(super) fn encode(
    function: &Function,
    binary: &Binary,
) -> Result<Vec<u8>, program::EncodeError> {
    let bindings: Vec<program::Binding> = function
        .bindings
        .iter()
        .zip(&binary.descriptors)
        .map(|(binding, descriptor)| program::Binding {
            set: binding.set,
            binding: binding.binding,
            kind: descriptors::kind_of(binding.kind),
            access: access(binding),
            count: binding.count,
            descriptor: *descriptor,
            min_bytes: binding.min_bytes,
        })
        .collect();
    let push_ranges = push_ranges(function);
    let [x, y, z] = function.workgroup_size;
    let registers = |count: u32| u8::try_from(count).unwrap_or(u8::MAX);
    let parts = program::ProgramParts {
        generation: program::Gen::A6xx,
        entry: &function.name,
        code: &binary.code,
        data: &function.data,
        constants: binary.constants,
        immediates: &binary.immediates,
        uniforms: &binary.uniforms,
        full_registers: registers(binary.statistics.full_registers),
        half_registers: registers(binary.statistics.half_registers),
        branch_stack: binary.branch_stack,
        wave: program::WaveSize::Single,
        local_id: binary.local_id,
        workgroup_id: binary.workgroup_id,
        workgroup: program::WorkgroupSize::new(x, y, z)?,
        shared_bytes: function.shared_bytes,
        private_bytes: binary.private_bytes,
        push_constant_bytes: function.push_constant_bytes,
        bindings: &bindings,
        push_ranges: &push_ranges,
    };
    let mut bytes = vec![0; parts.encoded_len()?];
    let length = parts.encode(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

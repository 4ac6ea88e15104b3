//! Descriptors that a dispatch needs, from what the runtime knows to words.
//!
//! Facts: hardware/descriptors.md sections 3, 4, 5, 11 and 13.

use eitri_descriptors::resource::{Buffer, Resource};
use eitri_descriptors::shader::{
    AddressMode, ComputeSizeWorkgroup, LocalStorage, Preload, ShaderProgram,
    ShaderRegisterAllocation, ShaderStage,
};
use eitri_descriptors::{
    Address, Aligned, Arch, Descriptor, DescriptorError, FieldError, FieldProblem,
};
use eitri_program::{Program, RegisterFile};

/// Bytes of a buffer, shader program or local storage descriptor.
pub(crate) const DESCRIPTOR_BYTES: u64 = 32;
/// What workgroup memory is aligned to.
const PAGE: u64 = 4096;
/// EncodedInstructions and bytes of an entry of the resource table.
pub(crate) const RESOURCE_WORDS: usize = 4;
pub(crate) const RESOURCE_BYTES: u64 = RESOURCE_WORDS as u64 * 4;
/// Entries of a resource table come in groups of this many.
const RESOURCE_GROUP: u32 = 4;

/// Entries of a resource table whose highest one is `highest`.
pub(crate) const fn resource_entries(highest: u8) -> u32 {
    (highest as u32)
        .saturating_add(1)
        .next_multiple_of(RESOURCE_GROUP)
}

/// A buffer of `bytes` at `address`.
pub(crate) fn buffer(arch: Arch, address: u64, bytes: u32) -> Result<[u32; 8], DescriptorError> {
    pack(
        arch,
        Buffer {
            size: bytes,
            address: Address(address),
            ..Buffer::default()
        },
    )
}

/// A table of `bytes` of descriptors at `address`.
pub(crate) fn resource(
    arch: Arch,
    address: u64,
    bytes: u32,
) -> Result<[u32; RESOURCE_WORDS], DescriptorError> {
    pack(
        arch,
        Resource {
            address: Address(address),
            size: bytes.into(),
            ..Resource::default()
        },
    )
}

/// The compute shader whose code is at `address`.
pub(crate) fn shader_program(
    arch: Arch,
    address: u64,
    program: &Program<'_>,
) -> Result<[u32; 8], DescriptorError> {
    let register_allocation = match program.registers() {
        RegisterFile::Full => ShaderRegisterAllocation::SixtyFourPerThread,
        RegisterFile::Half => ShaderRegisterAllocation::ThirtyTwoPerThread,
    };
    let preload = Preload {
        r48_r63: program.preload().into(),
        ..Preload::default()
    };
    pack(
        arch,
        ShaderProgram {
            stage: ShaderStage::Compute,
            register_allocation,
            preload,
            binary: Address(address),
            ..ShaderProgram::default()
        },
    )
}

/// The workgroup size register of a program.
pub(crate) fn workgroup_size(arch: Arch, program: &Program<'_>) -> Result<u32, DescriptorError> {
    let size = program.workgroup();
    let [word] = pack(
        arch,
        ComputeSizeWorkgroup {
            workgroup_size_x: size.x(),
            workgroup_size_y: size.y(),
            workgroup_size_z: size.z(),
            // A program does not say whether it has barriers, which forbid merging.
            allow_merging_workgroups: false,
        },
    )?;
    Ok(word)
}

/// Thread-local memory: log2 of bytes a thread / 16, and where it is (4096-byte aligned).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadStorage {
    pub(crate) address: u64,
    pub(crate) size_log2: u32,
}

/// Workgroup memory: instances a core (a power of two), log2 of bytes an instance, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorkgroupStorage {
    pub(crate) address: u64,
    pub(crate) instances: u32,
    pub(crate) size_log2: u32,
}

/// Local storage of a job.
pub(crate) fn local_storage(
    arch: Arch,
    thread: Option<ThreadStorage>,
    workgroup: Option<WorkgroupStorage>,
) -> Result<[u32; 8], DescriptorError> {
    let mut storage = LocalStorage::default();
    if let Some(ThreadStorage { address, size_log2 }) = thread {
        storage.tls_size = size_log2;
        storage.tls_address_mode = AddressMode::Packed;
        // Packed: the field holds address / 256.
        storage.tls_base_pointer = Address(address >> 8);
    }
    if let Some(WorkgroupStorage {
        address,
        instances,
        size_log2,
    }) = workgroup
    {
        storage.wls_instances = instances;
        storage.wls_size_scale = size_log2.saturating_add(1);
        storage.wls_base_pointer = page_aligned(address)?;
    }
    pack(arch, storage)
}

/// An address of workgroup memory.
fn page_aligned(address: u64) -> Result<Aligned<PAGE>, DescriptorError> {
    Aligned::new(address).ok_or(DescriptorError::Field {
        structure: LocalStorage::LAYOUT.name,
        error: FieldError {
            field: "WLS Base Pointer",
            problem: FieldProblem::NotMultiple {
                value: address,
                multiple: PAGE,
            },
        },
    })
}

/// A descriptor as words.
pub(crate) fn pack<D: Descriptor, const N: usize>(
    arch: Arch,
    descriptor: D,
) -> Result<[u32; N], DescriptorError> {
    let mut words = [0; N];
    descriptor.pack(arch, &mut words)?;
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_as_the_facts_say() {
        assert_eq!(
            local_storage(Arch::V10, None, None),
            Ok([0, 31, 0, 0, 0, 0, 0, 0])
        );
        let thread = ThreadStorage {
            address: 0x12_3456_7000,
            size_log2: 5,
        };
        let workgroup = WorkgroupStorage {
            address: 0x8000_0000,
            instances: 4,
            size_log2: 7,
        };
        assert_eq!(
            local_storage(Arch::V10, Some(thread), Some(workgroup)),
            Ok([5, 2 | 8 << 8, 0x1234_5670, 1 << 28, 0x8000_0000, 0, 0, 0])
        );
    }

    #[test]
    fn tables_and_buffers_are_as_the_facts_say() {
        assert_eq!(
            buffer(Arch::V10, 0x1_0000_1000, 4096),
            Ok([0x19, 4096, 0x1000, 1, 0, 0, 0, 0])
        );
        assert_eq!(
            resource(Arch::V10, 0x1000, 64),
            Ok([0x1000, 1 << 24, 64, 0])
        );
    }
}

//! Descriptors that jobs read from memory; their layouts stand in `eitri_descriptors`.
//!
//! Bits that no field covers are ignored, as hardware is assumed to do; values that mean nothing are refused.
//!
//! Facts: hardware/descriptors.md 3 to 5, 11; lookups 4.

use crate::fabric::{Access, Fabric};
use crate::fidelity::Inexact;
use crate::memory::PhysicalMemory;
use crate::mmu::Refusal;
use crate::shader::FloatPolicy;
use eitri_descriptors::resource::{Buffer, DescriptorType, Resource};
use eitri_descriptors::shader::{
    AddressMode, FlushToZeroMode, LocalStorage, ShaderProgram, ShaderRegisterAllocation,
    ShaderStage,
};
use eitri_descriptors::{Descriptor, FieldError};

/// The table through which the resource tables themselves are read.
const TABLE_OF_TABLES: u32 = 62;
/// Bytes of a descriptor in a table.
const DESCRIPTOR_BYTES: u64 = 32;
/// Bytes of a resource table's entry.
const RESOURCE_BYTES: u64 = 16;

/// A buffer as a shader sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) stride: u32,
}

/// What a handle leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// A buffer.
    Buffer(View),
    /// Nothing: no such table, no such index, or a null descriptor.
    Absent,
    /// A descriptor of this other type.
    Wrong(u8),
}

/// The first `N` words of what a shader's handle leads to, through the cache that the core has for such.
pub(crate) fn descriptor_words<const N: usize>(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    access: Access,
) -> Result<[u32; N], Refusal> {
    // Who reads a descriptor remembers it.
    fabric.spoil_recording();
    fabric.lookups += 1;
    if let Some(words) = fabric.lent_words(memory, access) {
        return Ok(words);
    }
    let mut words = [0; N];
    for (word, offset) in words.iter_mut().zip((0..).step_by(4)) {
        let mut bytes = [0; 4];
        let access = access.to(access.address.wrapping_add(offset));
        fabric.read_through_first_level(memory, access, &mut bytes)?;
        *word = u32::from_le_bytes(bytes);
    }
    Ok(words)
}

/// The first `N` words at an address.
fn words<const N: usize>(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    access: Access,
) -> Result<[u32; N], Refusal> {
    let mut words = [0; N];
    for (word, offset) in words.iter_mut().zip((0..).step_by(4)) {
        *word = fabric.read32(memory, access.to(access.address.wrapping_add(offset)))?;
    }
    Ok(words)
}

/// The structure at an address; bits in no field are ignored.
fn structure<D: Descriptor>(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    access: Access,
) -> Result<Result<D, FieldError>, Refusal> {
    let words = words::<8>(fabric, memory, access)?;
    Ok(D::unpack_at(fabric.config.product.arch(), &words, 0))
}

/// The descriptor of a handle, through the resource tables at `tables` (address, count). `None` where there is none, or a null one.
pub(crate) fn descriptor(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    access: Access,
    tables: (u64, u32),
    handle: u32,
) -> Result<Option<[u32; 8]>, Refusal> {
    let (table, index) = (handle >> 24, handle & 0xff_ffff);
    let Some(resource) = resource(fabric, memory, access, tables, table)? else {
        return Ok(None);
    };
    let offset = DESCRIPTOR_BYTES * u64::from(index);
    if !resource.contains_descriptors || offset >= resource.size {
        return Ok(None);
    }
    let at = resource.address.0.wrapping_add(offset);
    let words = descriptor_words::<8>(fabric, memory, access.to(at))?;
    Ok((words[0] & 0xf != DescriptorType::Null as u32).then_some(words))
}

/// Entry `entry` of the resource tables at `tables` (address, count).
fn resource(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    access: Access,
    (tables, count): (u64, u32),
    entry: u32,
) -> Result<Option<Resource>, Refusal> {
    if entry >= count {
        return Ok(None);
    }
    let at = tables.wrapping_add(RESOURCE_BYTES * u64::from(entry));
    let words = descriptor_words::<4>(fabric, memory, access.to(at))?;
    Ok(Resource::unpack_at(fabric.config.product.arch(), &words, 0).ok())
}

/// Finds the buffer of a handle through the resource tables at `tables` (address, count).
pub(crate) fn look_up(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    access: Access,
    tables: (u64, u32),
    handle: u32,
) -> Result<Lookup, Refusal> {
    if handle >> 24 == TABLE_OF_TABLES {
        let entry = handle & 0xff_ffff;
        let resource = resource(fabric, memory, access, tables, entry)?;
        return Ok(resource.map_or(Lookup::Absent, |resource| {
            Lookup::Buffer(View {
                address: resource.address.0,
                size: resource.size,
                stride: 0,
            })
        }));
    }
    let Some(words) = descriptor(fabric, memory, access, tables, handle)? else {
        return Ok(Lookup::Absent);
    };
    let kind = words[0] & 0xf;
    Ok(
        match Buffer::unpack_at(fabric.config.product.arch(), &words, 0) {
            Ok(buffer) => Lookup::Buffer(View {
                address: buffer.address.0,
                size: u64::from(buffer.size_hi) << 32 | u64::from(buffer.size),
                stride: buffer.stride,
            }),
            Err(_) => Lookup::Wrong(kind as u8),
        },
    )
}

/// What a job takes from its shader program descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) entry: u64,
    /// Whether it has 32 registers rather than 64.
    pub(super) half_registers: bool,
    /// Bit k: r(48 + k) is preloaded.
    pub(super) preload: u16,
    /// Whether quads are filled with helper lanes.
    pub(super) helpers: bool,
    pub(super) policy: FloatPolicy,
}

/// The name of a field whose value is not valid.
pub(super) type InvalidField = &'static str;

/// Reads a shader program descriptor of a stage.
pub(super) fn shader_program(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    access: Access,
    stage: ShaderStage,
) -> Result<Result<Program, InvalidField>, Refusal> {
    let program: ShaderProgram = match structure(fabric, memory, access)? {
        Ok(program) => program,
        Err(error) => return Ok(Err(error.field)),
    };
    let entry = program.binary.0;
    if program.stage != stage {
        return Ok(Err("Stage"));
    }
    if entry == 0 || !entry.is_multiple_of(8) {
        return Ok(Err("Binary"));
    }
    let flush = program.flush_to_zero_mode;
    if flush == FlushToZeroMode::Abrupt {
        fabric.fidelity.meet(Inexact::FlushMode);
    }
    Ok(Ok(Program {
        entry,
        half_registers: program.register_allocation == ShaderRegisterAllocation::ThirtyTwoPerThread,
        preload: program.preload.r48_r63 as u16,
        helpers: program.requires_helper_threads,
        policy: FloatPolicy {
            flush32: flush != FlushToZeroMode::PreserveSubnormals,
            flush16: matches!(flush, FlushToZeroMode::Always | FlushToZeroMode::Abrupt),
            suppress_nan: program.suppress_nan,
            suppress_inf: program.suppress_inf,
        },
    }))
}

/// Thread and workgroup storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Storage {
    pub(super) tls_base: u64,
    /// Bytes a thread; 0 is none.
    pub(super) tls_bytes: u64,
    pub(super) wls_base: u64,
    /// Bytes an instance; 0 is none.
    pub(super) wls_bytes: u64,
    /// Instances a core.
    pub(super) wls_instances: u64,
}

/// Reads a local storage descriptor.
pub(super) fn local_storage(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    access: Access,
) -> Result<Result<Storage, InvalidField>, Refusal> {
    const NO_WORKGROUP_MEMORY: u32 = 1 << 31;
    let storage: LocalStorage = match structure(fabric, memory, access)? {
        Ok(storage) => storage,
        Err(error) => return Ok(Err(error.field)),
    };
    let pointer = storage.tls_base_pointer.0;
    let tls_base = match storage.tls_address_mode {
        AddressMode::Flat => pointer,
        AddressMode::Packed => pointer << 8,
        AddressMode::OutOfBounds => return Ok(Err("TLS Address Mode")),
    };
    let has_workgroup_memory =
        storage.wls_instances != NO_WORKGROUP_MEMORY && storage.wls_size_scale != 0;
    Ok(Ok(Storage {
        tls_base,
        // 16 bytes are stored as 0 too: the pointer tells.
        tls_bytes: if pointer == 0 {
            0
        } else {
            16 << storage.tls_size
        },
        wls_base: storage.wls_base_pointer.get(),
        wls_bytes: if has_workgroup_memory {
            1 << (storage.wls_size_scale - 1)
        } else {
            0
        },
        wls_instances: if has_workgroup_memory {
            storage.wls_instances.into()
        } else {
            1
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::memory::{BusError, SparseMemory};
    use crate::mmu::Source;
    use eitri_csf::registers::address_space::{TranslationMode, transcfg};
    use std::format;

    /// Memory that the host does not lend.
    struct Unlent(SparseMemory);

    impl PhysicalMemory for Unlent {
        fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
            self.0.read(address, bytes)
        }

        fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
            self.0.write(address, bytes)
        }
    }

    #[test]
    fn words_of_lent_memory_are_counted_as_words_that_are_read_one_by_one() {
        let left = |memory: &mut dyn PhysicalMemory| {
            let mut fabric = Fabric::new(Config::default());
            let space = fabric.mmu.space_mut(1);
            space.programmed.transcfg = transcfg::MODE.set(0, TranslationMode::Identity);
            space.update();
            for word in 0..2048 {
                let value = (word as u32).wrapping_mul(0x9e37_79b9);
                memory.write32(0x5000 + 4 * word, value).expect("memory");
            }
            // Twice at one place, in the same line, across two, between words, at the end of a page and beyond.
            let addresses = [0x5000, 0x5000, 0x5020, 0x5030, 0x5042, 0x5fe0, 0x5ff0];
            let words = addresses.map(|address| {
                let access = Access {
                    space: 1,
                    address,
                    source: Source::Core(0),
                };
                descriptor_words::<8>(&mut fabric, memory, access).expect("words")
            });
            let counted = format!("{:?}", fabric.activity.slices());
            (words, counted, fabric.mmu.walks(), fabric.lookups)
        };
        let memory = || SparseMemory::new(1 << 20);
        assert_eq!(left(&mut memory()), left(&mut Unlent(memory())));
    }
}

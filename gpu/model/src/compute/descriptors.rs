//! Descriptors that a compute job reads from memory.
//!
//! Facts: hardware/descriptors.md 3 to 5, 11; lookups 4.

use crate::fabric::{Access, Fabric};
use crate::memory::PhysicalMemory;
use crate::mmu::Refusal;
use crate::shader::FloatPolicy;

/// The table through which the resource tables themselves are read.
const TABLE_OF_TABLES: u32 = 62;

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

/// A descriptor of 32 bytes.
type Words = [u32; 8];

fn read(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    access: Access,
) -> Result<Words, Refusal> {
    let mut bytes = [0; 32];
    fabric.read(memory, access, &mut bytes)?;
    Ok(core::array::from_fn(|i| {
        u32::from_le_bytes([
            bytes[4 * i],
            bytes[4 * i + 1],
            bytes[4 * i + 2],
            bytes[4 * i + 3],
        ])
    }))
}

/// Finds the buffer of a handle through the resource tables at `tables` (address, count).
pub(crate) fn look_up(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    access: Access,
    (tables, count): (u64, u32),
    handle: u32,
) -> Result<Lookup, Refusal> {
    let (table, index) = (handle >> 24, handle & 0xff_ffff);
    let entry = if table == TABLE_OF_TABLES {
        index
    } else {
        table
    };
    if entry >= count {
        return Ok(Lookup::Absent);
    }
    let at = access.to(tables.wrapping_add(16 * u64::from(entry)));
    let low = fabric.read64(memory, at)?;
    let size = fabric.read32(memory, at.to(at.address.wrapping_add(8)))?;
    let (address, of_descriptors) = (low & 0x00ff_ffff_ffff_ffff, low >> 56 & 1 != 0);
    if table == TABLE_OF_TABLES {
        return Ok(Lookup::Buffer(View {
            address,
            size: size.into(),
            stride: 0,
        }));
    }
    let offset = 32 * u64::from(index);
    if !of_descriptors || offset >= u64::from(size) {
        return Ok(Lookup::Absent);
    }
    let words = read(fabric, memory, access.to(address.wrapping_add(offset)))?;
    Ok(match words[0] & 0xf {
        0 => Lookup::Absent,
        9 => Lookup::Buffer(View {
            address: u64::from(words[3]) << 32 | u64::from(words[2]),
            size: words[1].into(),
            stride: words[4],
        }),
        other => Lookup::Wrong(other as u8),
    })
}

/// A shader program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShaderProgram {
    pub(super) entry: u64,
    /// Whether it has 32 registers rather than 64.
    pub(super) half_registers: bool,
    /// Bit k: r(48 + k) is preloaded.
    pub(super) preload: u16,
    pub(super) policy: FloatPolicy,
}

/// A word of a descriptor that is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InvalidWord {
    pub(super) word: u32,
    pub(super) value: u32,
}

/// Reads a shader program descriptor for a compute job.
pub(super) fn shader_program(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    access: Access,
) -> Result<Result<ShaderProgram, InvalidWord>, Refusal> {
    const SHADER: u32 = 8;
    const COMPUTE: u32 = 1;
    let words = read(fabric, memory, access)?;
    let invalid = |word: u32| InvalidWord {
        word,
        value: words[word as usize],
    };
    let (kind, stage) = (words[0] & 0xf, words[0] >> 4 & 0xf);
    let (allocation, flush) = (words[0] >> 30, words[0] >> 17 & 3);
    let entry = u64::from(words[3]) << 32 | u64::from(words[2]);
    if kind != SHADER || stage != COMPUTE || !matches!(allocation, 0 | 2) {
        return Ok(Err(invalid(0)));
    }
    if entry == 0 || !entry.is_multiple_of(8) {
        return Ok(Err(invalid(2)));
    }
    Ok(Ok(ShaderProgram {
        entry,
        half_registers: allocation == 2,
        preload: words[1] as u16,
        policy: FloatPolicy {
            flush32: flush != 0,
            flush16: flush >= 2,
            suppress_nan: words[0] >> 16 & 1 != 0,
            suppress_inf: words[0] >> 19 & 1 != 0,
        },
    }))
}

/// Thread and workgroup storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LocalStorage {
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
) -> Result<Result<LocalStorage, InvalidWord>, Refusal> {
    const PACKED: u32 = 1;
    const NO_WORKGROUP_MEMORY: u32 = 31;
    let words = read(fabric, memory, access)?;
    let mode = words[3] >> 28;
    if !matches!(mode, 0 | PACKED) {
        return Ok(Err(InvalidWord {
            word: 3,
            value: words[3],
        }));
    }
    let pointer = u64::from(words[3] & 0xffff) << 32 | u64::from(words[2]);
    let tls_base = if mode == PACKED {
        pointer << 8
    } else {
        pointer
    };
    let log = words[0] & 0x1f;
    let (instances, scale) = (words[1] & 0x1f, words[1] >> 8 & 0x1f);
    let has_workgroup_memory = instances != NO_WORKGROUP_MEMORY && scale != 0;
    Ok(Ok(LocalStorage {
        tls_base,
        // 16 bytes are stored as 0 too: the pointer tells.
        tls_bytes: if pointer == 0 { 0 } else { 16 << log },
        wls_base: u64::from(words[5]) << 32 | u64::from(words[4]),
        wls_bytes: if has_workgroup_memory {
            1 << (scale - 1)
        } else {
            0
        },
        wls_instances: if has_workgroup_memory {
            1 << instances
        } else {
            1
        },
    }))
}

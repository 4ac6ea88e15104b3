//! Bindings and push-constant ranges: what the caller must supply.
//!
//! Facts: hardware/compiler-abi.md 1.1 to 1.4 (tables, handles, descriptors a binding).

/// What kind of resource a binding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingKind {
    /// A storage buffer (SSBO).
    StorageBuffer,
    /// A uniform buffer (UBO).
    UniformBuffer,
}

/// What the program does with a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Only loads.
    Read,
    /// Stores or atomics, perhaps loads too.
    ReadWrite,
}

/// Where a descriptor stands: entry `index` of resource table `table`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DescriptorSlot {
    /// Resource table: 0 is the driver's own, set s is table s + 1. At most [`DescriptorSlot::MAX_TABLE`].
    pub table: u8,
    /// Descriptor in the table, in units of 32 bytes: below 2^24.
    pub index: u32,
}

impl DescriptorSlot {
    /// Highest table that a program may use: above it lie the numbers with a special meaning
    /// (hardware/compiler-abi.md 1.2).
    pub const MAX_TABLE: u8 = 11;

    /// The 32-bit handle by which an instruction names this descriptor (hardware/compiler-abi.md 1.2).
    pub const fn handle(self) -> u32 {
        (self.table as u32) << 24 | (self.index & 0x00FF_FFFF)
    }

    /// The descriptor of a handle; `None` when its table is none that a program may use.
    pub(crate) const fn from_handle(handle: u32) -> Option<DescriptorSlot> {
        let table = (handle >> 24) as u8;
        match table <= DescriptorSlot::MAX_TABLE {
            true => Some(DescriptorSlot {
                table,
                index: handle & 0x00FF_FFFF,
            }),
            false => None,
        }
    }
}

/// One resource that the program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// Descriptor set of the shader's text.
    pub set: u32,
    /// Binding of the shader's text.
    pub binding: u32,
    /// What it is.
    pub kind: BindingKind,
    /// What is done with it.
    pub access: Access,
    /// Descriptors of an array binding; they are consecutive from `slot`. 1 for a single resource.
    pub count: u32,
    /// Where the (first) descriptor stands.
    pub slot: DescriptorSlot,
    /// Fewest bytes that the resource must have: the fixed part of its block, without a runtime array.
    pub min_bytes: u32,
}

impl Binding {
    /// Whether a descriptor is one of its own.
    pub(crate) fn has(&self, slot: DescriptorSlot) -> bool {
        let first = self.slot.index;
        // No overflow: a binding's last index is below 2^24, checked by `Binding::from_record`.
        slot.table == self.slot.table
            && (first..first.saturating_add(self.count)).contains(&slot.index)
    }

    pub(crate) fn to_record(self) -> [u32; 7] {
        let kind = match self.kind {
            BindingKind::StorageBuffer => 0,
            BindingKind::UniformBuffer => 1,
        };
        let access = match self.access {
            Access::Read => 0,
            Access::ReadWrite => 1 << 8,
        };
        [
            self.set,
            self.binding,
            kind | access,
            self.count,
            u32::from(self.slot.table),
            self.slot.index,
            self.min_bytes,
        ]
    }

    /// The binding of a record; `None` when a field has no meaning.
    pub(crate) fn from_record(record: [u32; 7]) -> Option<Binding> {
        let [set, binding, kind, count, table, index, min_bytes] = record;
        let access = match kind >> 8 {
            0 => Access::Read,
            1 => Access::ReadWrite,
            _ => return None,
        };
        let kind = match kind & 0xFF {
            0 => BindingKind::StorageBuffer,
            1 => BindingKind::UniformBuffer,
            _ => return None,
        };
        let table = u8::try_from(table).ok()?;
        let last = index.checked_add(count.checked_sub(1)?)?;
        (table <= DescriptorSlot::MAX_TABLE && last < 1 << 24).then_some(Binding {
            set,
            binding,
            kind,
            access,
            count,
            slot: DescriptorSlot { table, index },
            min_bytes,
        })
    }
}

/// A member of the push-constant block, for tools that show the layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PushRange {
    /// Bytes from the start of the push constants.
    pub offset: u32,
    /// Length in bytes.
    pub bytes: u32,
}

impl PushRange {
    /// The range of a record; `None` when it leaves the push constants.
    pub(crate) fn from_record([offset, bytes]: [u32; 2], push_bytes: u32) -> Option<PushRange> {
        let end = offset.checked_add(bytes)?;
        (end <= push_bytes).then_some(PushRange { offset, bytes })
    }
}

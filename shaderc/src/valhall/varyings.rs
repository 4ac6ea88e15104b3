//! Varyings: where a vertex leaves what its fragments find.
//!
//! The vertex shader decides: its locations lie in order, each at a multiple of the power of two that holds it.
//! Facts: hardware/graphics-compiler.md 2.1 (compact layout).

use eitri_program::VaryingSize;

use crate::ir::{self, Output};

/// The record of a vertex.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VaryingLayout {
    slots: Vec<VaryingSlot>,
    bytes: u32,
}

/// What a location has in the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VaryingSlot {
    /// The location.
    pub location: u8,
    /// How many components, 1 to 4.
    pub components: u8,
    /// How large each is.
    pub size: VaryingSize,
    /// Bytes from the start of the record.
    pub offset: u32,
}

impl VaryingLayout {
    /// That of a vertex shader's outputs.
    pub fn of(vertex: &ir::Function) -> VaryingLayout {
        let outputs = vertex.placed_insts().map(|(_, inst)| vertex.inst(inst).op);
        let mut found: Vec<(u8, u8)> = outputs
            .filter_map(|op| match op {
                ir::Op::StoreOutput(Output::Varying {
                    location, count, ..
                }) => Some((location, count)),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        let mut layout = VaryingLayout::default();
        for (location, components) in found {
            let size = VaryingSize::Word;
            let bytes = u32::from(components) * size.bytes();
            let offset = layout.bytes.next_multiple_of(bytes.next_power_of_two());
            layout.bytes = offset + bytes;
            layout.slots.push(VaryingSlot {
                location,
                components,
                size,
                offset,
            });
        }
        layout
    }

    /// What a location has, if the vertex shader writes it.
    pub fn slot(&self, location: u8) -> Option<&VaryingSlot> {
        self.slots.iter().find(|slot| slot.location == location)
    }

    /// All of them, by location.
    pub fn slots(&self) -> &[VaryingSlot] {
        &self.slots
    }

    /// Bytes of the record.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }
}

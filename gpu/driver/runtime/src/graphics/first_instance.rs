//! Where what goes on with instances begins: with the first instance.
//!
//! A draw of the host's moves the vertex buffers of such inputs by their strides; an indirect one has a copy of the table of inputs,
//! which the stream completes.
//! Facts: hardware/graphics-draw.md 3.6 (the address of an element is a sum, to which either adds the same).

use super::part_shapes::PartShapes;
use super::pass_bound::{Bound, PassBound};
use super::pipeline::GraphicsPipelined;
use super::pipeline_places::Places;
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::DESCRIPTOR_BYTES;

impl Bound {
    /// The part of a vertex buffer that a draw reads whose first instance is `base`; all of it if the buffer goes on with vertices.
    pub(super) fn behind_instances<P: Platform>(
        &self,
        binding: u32,
        base: u32,
        platform: &mut P,
        (made, places): (&GraphicsPipelined, &Places),
    ) -> Bound {
        if base == 0 || made.instance_bindings >> binding & 1 == 0 {
            return *self;
        }
        let at = places.binding_strides();
        let at = at.offset(u64::from(binding).wrapping_mul(4));
        let stride = platform.load32(at);
        self.behind(u64::from(stride).wrapping_mul(base.into()))
    }
}

impl PassBound {
    /// Writes the descriptors of vertex buffers that go on with instances again, for a draw from instance `base` on.
    #[inline(never)]
    pub(super) fn write_behind_instances<P: Platform>(
        &self,
        base: u32,
        (platform, shapes): (&mut P, &PartShapes),
        of: (&GraphicsPipelined, &Places),
        to: PhysicalAddress,
    ) {
        let mut left = of.0.instance_bindings;
        while left != 0 {
            let binding = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            let bound = self.vertex_buffers.get(binding as usize);
            // All of them are bound.
            let Some(Some(bound)) = bound else { continue };
            let moved = bound.behind_instances(binding, base, platform, of);
            let at = to.offset(u64::from(binding).wrapping_mul(DESCRIPTOR_BYTES));
            platform.write_words(at, &moved.descriptor(shapes));
        }
    }
}

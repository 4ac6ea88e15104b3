//! Stored values of a primitive's vertices that all lanes of a message load alike: read once, and counted for each lane.
//!
//! Needs: the same as direct messages, and pages that the host lends.  Guarantees: counters are those of lanes that read one by one.

use super::access::alignment;
use super::{Requester, Sender};
use crate::l2::{CACHED, LINE};
use crate::memory::{PAGE, PAGE_BYTES};
use crate::mmu::{AccessKind, Request};
use crate::shader::stage::Geometry;
use core::ops::Range;

/// The bits of components, of each for the vertices.
pub(super) type VertexBits = [[u32; 3]; 4];

/// Components in the blocks of vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Components {
    /// Where the first begins in each block.
    pub(super) offset: u32,
    /// Bytes of each: 4 or 2.
    pub(super) bytes: u8,
    /// How many there are, at most 4.
    pub(super) count: usize,
}

/// Bytes of a vertex that are read, at a virtual and a physical address.
#[derive(Clone, Copy, Debug, Default)]
struct Read {
    address: u64,
    physical: u64,
    bytes: u64,
}

impl Read {
    /// Adds the bytes behind it. Whether all lie in one line, where they are together in physical memory, too; if not, it is of no
    /// use.
    fn extend(&mut self, next: Read) -> bool {
        if self.bytes == 0 {
            *self = next;
            return true;
        }
        self.bytes += next.bytes;
        let last = self.physical + self.bytes - 1;
        self.physical / LINE == last / LINE
    }
}

impl Sender<'_> {
    /// The bits of some vertices' components, which so many lanes read; `None`, with nothing done, if each lane is to read them itself.
    pub(super) fn bits_for_all(
        &mut self,
        geometry: &Geometry,
        vertices: Range<usize>,
        components: Components,
        lanes: u32,
    ) -> Option<VertexBits> {
        if !self.fabric.allows_direct_messages() || self.fabric.is_recording() {
            return None;
        }
        let mut bits = VertexBits::default();
        let mut places = [Read::default(); 12];
        let mut count = 0;
        let mut whole = [Read::default(); 3];
        let mut in_lines = true;
        let mut page = None;
        for (component, bits) in (0..).zip(&mut bits).take(components.count) {
            let offset = component * u32::from(components.bytes);
            let offset = components.offset.wrapping_add(offset);
            let end = offset.checked_add(components.bytes.into());
            if end.is_none_or(|end| end > geometry.varying_bytes) {
                continue;
            }
            for vertex in vertices.clone() {
                let Some(base) = geometry.varyings.get(vertex) else {
                    continue;
                };
                let address = base.wrapping_add(offset.into());
                let (read, physical) = self.lent_bits(address, components.bytes, &mut page)?;
                *bits.get_mut(vertex)? = read;
                let read = Read {
                    address,
                    physical,
                    bytes: components.bytes.into(),
                };
                in_lines &= whole.get_mut(vertex)?.extend(read);
                *places.get_mut(count)? = read;
                count += 1;
            }
        }
        // Lines come in the order of the vertices either way, if each vertex has all of its components in one.
        let reads = if in_lines { &whole } else { &places[..count] };
        for read in reads.iter().filter(|read| read.bytes != 0) {
            self.fabric.mmu.note_use(self.environment.space);
            let accesses = read.bytes / u64::from(components.bytes) * u64::from(lanes);
            self.fabric
                .activity
                .translated_often(read.address, accesses);
            self.touched.count(read.bytes * u64::from(lanes), false);
            self.touched
                .note(self.fabric, read.physical, read.bytes, false);
        }
        Some(bits)
    }

    /// The bytes at an address and their physical address, if a cached translation answers and the host lends the page. `page` is that of
    /// the access before: its number and frame.
    fn lent_bits(
        &mut self,
        address: u64,
        bytes: u8,
        page: &mut Option<(u64, u64)>,
    ) -> Option<(u32, u64)> {
        let (start, length) = ((address % PAGE) as usize, usize::from(bytes));
        let is_aligned = address.is_multiple_of(alignment(AccessKind::Read, bytes));
        if !is_aligned || start + length > PAGE_BYTES {
            return None;
        }
        let number = address / PAGE;
        let frame = match *page {
            Some((last, frame)) if last == number => frame,
            _ => {
                let frame = self.fabric.mmu.cached_frame(Request {
                    space: self.environment.space,
                    address,
                    kind: AccessKind::Read,
                    source: Requester::Core(self.place.core),
                })?;
                *page = Some((number, frame));
                frame
            }
        };
        if frame & CACHED != 0 {
            return None;
        }
        let lent = self.memory.page(frame)?;
        let mut word = [0; 4];
        word.get_mut(..length)?
            .copy_from_slice(lent.get(start..start + length)?);
        Some((u32::from_le_bytes(word), frame | (address % PAGE)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::touched::Touched;
    use super::*;
    use crate::config::Config;
    use crate::fabric::Fabric;
    use crate::memory::{PhysicalMemory, SparseMemory};
    use crate::shader::environment::{Environment, Place};
    use alloc::boxed::Box;
    use eitri_csf::registers::address_space::{TranslationMode, transcfg};
    use eitri_isa::Arch;
    use std::format;
    use std::string::String;

    /// What lanes read of the vertices and what was counted, of all at once or lane by lane.
    fn left(
        geometry: &Geometry,
        vertices: Range<usize>,
        components: Components,
        at_once: bool,
    ) -> (Option<VertexBits>, String) {
        let mut memory = SparseMemory::new(1 << 20);
        for word in 0..4096 {
            let value = (word as u32).wrapping_mul(0x9e37_79b9);
            memory.write32(0x4000 + 4 * word, value).expect("memory");
        }
        let mut fabric = Fabric::new(Config::default());
        let space = fabric.mmu.space_mut(1);
        space.programmed.transcfg = transcfg::MODE.set(0, TranslationMode::Identity);
        space.update();
        let environment = Environment {
            space: 1,
            ..Environment::default()
        };
        let mut touched = Box::new(Touched::default());
        touched.begin(0, false);
        let mut sender = Sender {
            fabric: &mut fabric,
            memory: &mut memory,
            environment: &environment,
            place: Place::default(),
            requester: Requester::Core(0),
            address: 0,
            arch: Arch::V10,
            touched,
        };
        // Translations are cached from here on.
        for address in [0x4000, 0x5000] {
            sender.translate(address, AccessKind::Read).expect("memory");
        }
        let lanes = 11;
        let bits = match at_once {
            true => sender.bits_for_all(geometry, vertices, components, lanes),
            false => {
                let mut all = VertexBits::default();
                for _ in 0..lanes {
                    for (component, bits) in (0..).zip(&mut all).take(components.count) {
                        let offset = component * u32::from(components.bytes);
                        let offset = components.offset.wrapping_add(offset);
                        for vertex in vertices.clone() {
                            let read =
                                sender.vertex_bits(geometry, vertex, offset, components.bytes);
                            bits[vertex] = read.expect("memory");
                        }
                    }
                }
                Some(all)
            }
        };
        let bytes = sender.touched.bytes();
        let lines = sender.touched.settle(sender.fabric);
        let activity = &fabric.activity;
        let counted = format!(
            "{lines} {bytes:?} {:?} {:?}",
            activity.cores().first(),
            activity.slices()
        );
        (bits, counted)
    }

    #[test]
    fn all_lanes_at_once_are_counted_as_lane_by_lane() {
        let mut alike = 0;
        for offset in [0, 4, 6, 0x30, 0x3c, u32::MAX - 3] {
            for (bytes, count) in [(4, 4), (4, 1), (2, 3), (2, 4)] {
                for last in [0x4100_u64, 0x4fd0, 0x5008] {
                    for vertices in [0..3, 0..2, 1..2] {
                        let geometry = Geometry {
                            varyings: [0x4000, 0x4040, last],
                            vertices: 3,
                            varying_bytes: 0x40,
                            ..Geometry::default()
                        };
                        let components = Components {
                            offset,
                            bytes,
                            count,
                        };
                        let one_by_one = left(&geometry, vertices.clone(), components, false);
                        let at_once = left(&geometry, vertices.clone(), components, true);
                        if at_once.0.is_some() {
                            alike += 1;
                            assert_eq!(at_once, one_by_one, "{components:?} of {vertices:?}");
                        }
                    }
                }
            }
        }
        assert!(alike > 150, "{alike}");
    }
}

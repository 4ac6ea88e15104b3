//! The command stream of a pass.

use super::{
    BLEND, DEPTH_STENCILS, DONE, DRAWS, FRAMEBUFFER, HANDLER, HEAP_CONTEXT, PROGRAMS, Pass,
    RESOURCES, Rectangle, TILER, UNIFORMS, Vertices,
};
use eitri_cs::enums::SyncScope;
use eitri_cs::instr::{
    FinishTiling, HeapSet, Instr as Command, Move32, ReqResource, RunFragment, RunFullscreen,
    RunIdvs, RunIdvs2, SetExceptionHandler, SetSbEntry, SyncAdd64, Wait,
};
use eitri_cs::{Pair, Reg, Slot, SlotMask};
use eitri_descriptors::{Arch, Descriptor};

impl Pass {
    pub(super) fn commands(&self) -> Vec<u64> {
        let arch = self.arch();
        let mut words = Vec::new();
        let mut push = |instr: Command| words.push(instr.encode(arch).expect("legal"));
        let set = |register: u8, immediate: u32| {
            let destination = Reg::new(register);
            Command::from(Move32 {
                destination,
                immediate,
            })
        };
        let pair = |register: u8| Pair::new(register).expect("even");
        let wait = Wait {
            wait_mask: SlotMask::new(0xff),
            ..Wait::default()
        };
        push(
            ReqResource {
                fragment: true,
                tiler: true,
                idvs: true,
                ..ReqResource::default()
            }
            .into(),
        );
        push(set(66, HEAP_CONTEXT as u32));
        push(set(67, 0));
        push(HeapSet { address: pair(66) }.into());
        if !self.handler.is_empty() {
            push(set(66, HANDLER as u32));
            push(set(67, 0));
            push(set(68, 8 * self.handler.len() as u32));
            push(
                SetExceptionHandler {
                    address: pair(66),
                    length: Reg::new(68),
                    ..SetExceptionHandler::default()
                }
                .into(),
            );
        }
        push(
            SetSbEntry {
                endpoint_entry: Slot::new(3).expect("a slot"),
                ..SetSbEntry::default()
            }
            .into(),
        );
        push(set(40, TILER as u32));
        push(set(41, 0));
        for (number, rectangle) in self.draws.iter().enumerate() {
            let [first, last] = rectangle.scissor.map(|[x, y]| x | y << 16);
            push(set(42, first));
            push(set(43, last));
            if let Some(vertices) = &rectangle.vertices {
                for (register, value) in draw_registers(self, number as u32, rectangle, vertices) {
                    push(set(register, value));
                }
                push(run_idvs(arch));
                continue;
            }
            push(set(56, rectangle.layers << 24));
            if arch >= Arch::V13 {
                // The descriptor's words once more.
                let mut flags = [0];
                rectangle.flags.pack(arch, &mut flags).expect("a word");
                let [first] = flags;
                let flags_1 = 0xffff | rectangle.targets << 16;
                for (register, word) in [(57, first), (58, flags_1), (59, 0)] {
                    push(set(register, word));
                }
            }
            push(set(66, (DRAWS + 128 * number as u64) as u32));
            push(set(67, 0));
            push(
                RunFullscreen {
                    dcd: pair(66),
                    ..RunFullscreen::default()
                }
                .into(),
            );
        }
        push(FinishTiling::default().into());
        push(wait.into());
        let all = [[[0, 0], self.size.map(|side| side - 1)]];
        let boxes = match self.boxes.as_slice() {
            [] => &all,
            boxes => boxes,
        };
        // Targets but one, and depth.
        let tag = 1 | 1 << 1 | (self.others.len() as u32) << 2;
        for (layer, corners) in (0..self.layers).flat_map(|it| boxes.iter().map(move |at| (it, at)))
        {
            let [first, last] = corners.map(|[x, y]| x | y << 16);
            push(set(40, (FRAMEBUFFER as u32 + 0x100 * layer) | tag));
            push(set(42, first));
            push(set(43, last));
            push(RunFragment::default().into());
            push(wait.into());
        }
        for (register, value) in [(66, DONE as u32), (67, 0), (68, 1), (69, 0)] {
            push(set(register, value));
        }
        push(
            SyncAdd64 {
                address: pair(66),
                data: pair(68),
                scope: SyncScope::System,
                error_propagate: true,
                ..SyncAdd64::default()
            }
            .into(),
        );
        words
    }
}

/// The draw of vertices that a generation has.
fn run_idvs(arch: Arch) -> Command {
    let malloc_enable = true;
    match arch >= Arch::V12 {
        true => RunIdvs2 {
            malloc_enable,
            ..RunIdvs2::default()
        }
        .into(),
        false => RunIdvs {
            malloc_enable,
            ..RunIdvs::default()
        }
        .into(),
    }
}

/// The registers of a draw of vertices but for its scissor (graphics-draw.md 3.1, 3.1.1).
fn draw_registers(
    pass: &Pass,
    number: u32,
    rectangle: &Rectangle,
    vertices: &Vertices,
) -> Vec<(u8, u32)> {
    let arch = pass.arch();
    let mut dcd = [0; 2];
    rectangle.flags.pack(arch, &mut dcd).expect("fields fit");
    let uniforms = (pass.uniforms.len().div_ceil(2) as u32) << 24;
    let fragment = match rectangle.program {
        "" => 0,
        _ => PROGRAMS as u32 + 32 * number,
    };
    // Of an index buffer: address, size, and the type among the primitive flags.
    let (index_address, index_size, index_type) = vertices.indices.map_or((0, 0, 0), |it| {
        let code = it.index_bytes.trailing_zeros() + 1;
        (it.address as u32, it.bytes, code << 8)
    });
    let [low, high] = rectangle.range.map(f32::to_bits);
    let occlusion = rectangle.occlusion as u32;
    let (blend, state) = (BLEND as u32 | 1, DEPTH_STENCILS as u32 + 32 * number);
    let merged = arch >= Arch::V12;
    let fragment_uniforms = if merged { 10 } else { 12 };
    let fragment_program = if merged { 18 } else { 20 };
    let mut registers: Vec<(u8, u32)> = (0..66).map(|register| (register, 0)).collect();
    registers.retain(|(register, _)| *register != 42 && *register != 43);
    registers.extend([
        (8, UNIFORMS as u32),
        (9, uniforms),
        (fragment_uniforms, UNIFORMS as u32),
        (fragment_uniforms + 1, uniforms),
        (16, PROGRAMS as u32 + 32 * (number + 32)),
        (fragment_program, fragment),
        (33, vertices.count),
        (34, 1),
        (35, rectangle.first_index),
        (40, TILER as u32),
        (
            56,
            vertices.mode | vertices.flags | index_type | rectangle.layers << 24,
        ),
        (57, dcd[0]),
        (58, 0xffff | rectangle.targets << 16),
        (60, vertices.size.to_bits()),
    ]);
    if pass.attribute.is_some() {
        let of_fragments = if merged { 2 } else { 4 };
        registers.push((of_fragments, RESOURCES as u32 | 4));
    }
    if merged {
        // The viewport's box, and its depths.
        let [first, last] = rectangle.viewport.map(|[x, y]| x | y << 16);
        registers.extend([(44, first), (45, last), (46, low), (47, high)]);
        registers.extend([(48, index_address)]);
        registers.extend([(51, vertices.varying_bytes)]);
        registers.extend([(50, index_size), (52, state), (54, blend), (64, occlusion)]);
    } else {
        registers.extend([(39, index_size), (44, low), (45, high), (46, occlusion)]);
        registers.extend([(50, blend), (52, state), (54, index_address)]);
    }
    registers
}

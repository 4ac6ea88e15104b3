//! The worked example of the fact sheets: a clear and one triangle, by streams that no driver made.
//!
//! Descriptors are the words that the sheets print, programs are assembly, both streams are submitted as they are; the heap alone
//! is the driver's.
//! Facts: hardware/graphics.md 1.3 to 1.5, 1.9 and 1.10; graphics-draw.md 3.1 and 3.13.

use crate::bench::{OrFail, diagnoses, machine, queue_in, up, wait};
use crate::machine::Host;
use alloc::vec::Vec;
use eitri_cs::enums::{Condition, HeapOperationKind, SyncScope};
use eitri_cs::instr::{
    FinishFragment, FinishTiling, HeapOperation, HeapSet, Instr as Command, LoadMultiple, Move32,
    Move48, ReqResource, RunFragment, RunIdvs, SetSbEntry, SyncAdd64, SyncWait64, Wait,
};
use eitri_cs::{Arch, Pair, Reg, RegMask, Slot, SlotMask, d, r, slot};
use eitri_descriptors::shader::{Preload, ShaderProgram, ShaderStage};
use eitri_descriptors::tiler::TilerHeap;
use eitri_descriptors::{Address, Descriptor};
use eitri_isa::{Instr, Syntax};
use eitri_runtime::{Access, Buffer, Device, GpuAddress, SubQueue, TilerHeapConfig, TilerHeapInfo};

const ARCH: Arch = Arch::V10;
/// Pixels along a side of the picture.
const SIDE: u32 = 256;

/// Where the memory is mapped, and what stands there.
const TABLES: u64 = 0x7000_0000;
const TILER_CONTEXT: u64 = TABLES;
const FRAMEBUFFER: u64 = TABLES + 0x100;
const RENDER_TARGET: u64 = FRAMEBUFFER + 128;
const TILER_HEAP: u64 = TABLES + 0x200;
const RESOURCES: u64 = TABLES + 0x240;
const LOCAL_STORAGE: u64 = TABLES + 0x280;
const BLEND: u64 = TABLES + 0x2C0;
const DEPTH_STENCIL: u64 = TABLES + 0x300;
const POSITION_PROGRAM: u64 = TABLES + 0x340;
const FRAGMENT_PROGRAM: u64 = TABLES + 0x380;
const POSITION_UNIFORMS: u64 = TABLES + 0x3C0;
const FRAGMENT_UNIFORMS: u64 = TABLES + 0x400;
const VERTICES: u64 = TABLES + 0x440;
/// How many passes have been tiled.
const TILED: u64 = TABLES + 0x500;
const SAMPLE_POSITIONS: u64 = TABLES + 0x800;
const CODE: u64 = TABLES + 0x1_0000;
const FRAGMENT_CODE: u64 = CODE + 0x100;
const STREAMS: u64 = TABLES + 0x1000;
const FRAGMENT_STREAM: u64 = STREAMS + 0x800;
const PICTURE: u64 = TABLES + 0x10_0000;

/// Opaque blue, which the pass clears to, and the triangle's red.
const CLEAR: u32 = 0xFFFF_0000;
const RED: u32 = 0xFF00_00FF;
/// Length of the triangle's legs, in pixels: no centre of a pixel lies on its long side.
const LEG: f32 = 200.25;

/// The position of a vertex, by number, from the vertices that u0 and u1 point to.
const POSITION: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u0, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    NOP.end";

/// The colour in u0 to u3.
const FRAGMENT: &str = "
    MOV.i32 r0, u0
    MOV.i32 r1, u1
    MOV.i32 r2, u2
    MOV.i32 r3, u3
    ATEST.wait0126 @r60, r60, r3, atest_datum.w0
    BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0";

/// Memory of the example, mapped where it wants it.
struct Memory {
    device: Device<'static, 'static, Host>,
    tables: Buffer,
    code: Buffer,
}

impl Memory {
    /// Puts words to an address of the tables.
    fn put(&mut self, at: u64, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let written = self.device.write_buffer(self.tables, at - TABLES, &bytes);
        written.or_fail("the tables are large enough");
    }

    /// Puts a program and its descriptor.
    fn put_program(&mut self, at: u64, code: u64, text: &str, program: ShaderProgram) {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let words = lines.map(|line| Instr::assemble(line, ARCH, Syntax::Mesa24));
        let bytes: Vec<u8> = words
            .flat_map(|word| word.or_fail("it is an instruction").to_le_bytes())
            .collect();
        let written = self.device.write_buffer(self.code, code - CODE, &bytes);
        written.or_fail("it fits");
        let mut words = [0; 8];
        let program = ShaderProgram {
            binary: Address(code),
            ..program
        };
        program.pack(ARCH, &mut words).or_fail("fields fit");
        self.put(at, &words);
    }

    /// Puts the instructions of a stream; gives their bytes.
    fn put_stream(&mut self, at: u64, commands: &[Command]) -> u32 {
        let words = commands.iter().map(|command| command.encode(ARCH));
        let words: Vec<u32> = words
            .map(|word| word.or_fail("it is legal"))
            .flat_map(|word| [word as u32, (word >> 32) as u32])
            .collect();
        self.put(at, &words);
        words.len() as u32 * 4
    }
}

const fn low(address: u64) -> u32 {
    address as u32
}

/// The descriptors, word by word as the sheets print them.
fn put_descriptors(memory: &mut Memory, geometry: GpuAddress, heap: &TilerHeapInfo) {
    let [low_geometry, high_geometry] = [geometry.0 | 0x10, geometry.0 >> 32].map(|it| it as u32);
    let mut context = [0; 32];
    context[2] = 0x0004_00FE;
    context[3] = 0x00FF_00FF;
    context[6] = low(TILER_HEAP);
    context[8..10].copy_from_slice(&[low_geometry, high_geometry]);
    memory.put(TILER_CONTEXT, &context);
    let mut words = [0; 8];
    let descriptor = TilerHeap {
        size: heap.chunk_bytes.into(),
        base: Address(heap.first_chunk.0),
        bottom: Address(heap.first_chunk.0 + 64),
        top: Address(heap.first_chunk.0 + u64::from(heap.chunk_bytes)),
        ..TilerHeap::default()
    };
    descriptor.pack(ARCH, &mut words).or_fail("fields fit");
    memory.put(TILER_HEAP, &words);
    let mut framebuffer = [0; 32];
    framebuffer[4] = low(SAMPLE_POSITIONS);
    framebuffer[8] = 0x00FF_00FF;
    framebuffer[10] = 0x00FF_00FF;
    framebuffer[11] = 0x0400_5480;
    framebuffer[12] = 0x0001_0000;
    framebuffer[14] = low(TILER_CONTEXT);
    memory.put(FRAMEBUFFER, &framebuffer);
    let mut target = [0; 16];
    target[..2].copy_from_slice(&[0x0400_0000, 0x8688_8299]);
    target[8] = low(PICTURE);
    target[10..12].copy_from_slice(&[4 * SIDE, 4 * SIDE * SIDE]);
    target[12..].fill(CLEAR);
    memory.put(RENDER_TARGET, &target);
    memory.put(LOCAL_STORAGE, &[0, 31]);
    memory.put(BLEND, &[0x0000_0A00, 0xF012_2122, 0x0000_0019, 0x000E_D000]);
    memory.put(DEPTH_STENCIL, &[0x0007_0077, 0, 0, 0, 0xE4C0_0000]);
    // The only sample is in the middle of its pixel: 128 of 256 each way.
    memory.put(SAMPLE_POSITIONS, &[0x0080_0080; 384]);
}

fn put_programs(memory: &mut Memory) {
    let position = ShaderProgram {
        stage: ShaderStage::Vertex,
        preload: Preload {
            r59: true,
            r60: true,
            ..Preload::default()
        },
        ..ShaderProgram::default()
    };
    let fragment = ShaderProgram {
        stage: ShaderStage::Fragment,
        preload: Preload {
            r60: true,
            r61: true,
            ..Preload::default()
        },
        ..ShaderProgram::default()
    };
    memory.put_program(POSITION_PROGRAM, CODE, POSITION, position);
    memory.put_program(FRAGMENT_PROGRAM, FRAGMENT_CODE, FRAGMENT, fragment);
    memory.put(POSITION_UNIFORMS, &[low(VERTICES), 0]);
    memory.put(FRAGMENT_UNIFORMS, &[1.0, 0.0, 0.0, 1.0].map(f32::to_bits));
    // Where they are on the screen, depth, and 1/w.
    for (at, [x, y]) in (VERTICES..)
        .step_by(16)
        .zip([[0.0, 0.0], [LEG, 0.0], [0.0, LEG]])
    {
        memory.put(at, &[x, y, 0.5, 1.0].map(f32::to_bits));
    }
}

fn set(register: u8, immediate: u32) -> Command {
    let destination = Reg::new(register);
    Command::from(Move32 {
        destination,
        immediate,
    })
}

fn set_pair(destination: Pair, immediate: u64) -> Command {
    Command::from(Move48 {
        destination,
        immediate,
    })
}

fn wait_for(slots: SlotMask) -> Command {
    Command::from(Wait {
        wait_mask: slots,
        ..Wait::default()
    })
}

/// Slots: loads, stores and flushes, and the iterator's.
const OTHERS: Slot = slot!(0);
const ITERATOR: Slot = slot!(3);

/// How each stream begins: its heap, and its slots.
fn beginning(heap: &TilerHeapInfo, resources: ReqResource) -> Vec<Command> {
    let slots = SetSbEntry {
        endpoint_entry: ITERATOR,
        other_entry: OTHERS,
    };
    Vec::from([
        resources.into(),
        set_pair(d!(66), heap.context.0),
        HeapSet { address: d!(66) }.into(),
        slots.into(),
    ])
}

fn heap_operation(operation: HeapOperationKind) -> Command {
    Command::from(HeapOperation {
        operation,
        ..HeapOperation::default()
    })
}

/// The half of vertices and tiling.
fn tiling(heap: &TilerHeapInfo) -> Vec<Command> {
    let resources = ReqResource {
        tiler: true,
        idvs: true,
        ..ReqResource::default()
    };
    let mut all = beginning(heap, resources);
    all.push(heap_operation(HeapOperationKind::VertexTilerStarted));
    all.extend((0..62).map(|register| set(register, 0)));
    let counted = |address: u64, pairs: u64| address | pairs << 56;
    let pairs = [
        (d!(0), RESOURCES | 4),
        (d!(16), POSITION_PROGRAM),
        (d!(20), FRAGMENT_PROGRAM),
        (d!(24), LOCAL_STORAGE),
        (d!(40), TILER_CONTEXT),
        (d!(50), BLEND | 1),
        (d!(52), DEPTH_STENCIL),
    ];
    all.extend(pairs.map(|(pair, value)| set_pair(pair, value)));
    for (first, value) in [
        (8, counted(POSITION_UNIFORMS, 1)),
        (12, counted(FRAGMENT_UNIFORMS, 2)),
    ] {
        all.extend([set(first, low(value)), set(first + 1, low(value >> 32))]);
    }
    let words = [
        (33, 3),
        (34, 1),
        (43, 0x00FF_00FF),
        (45, 1.0_f32.to_bits()),
        (56, 0x0043_0000),
        (58, 0x0001_FFFF),
        (60, 1.0_f32.to_bits()),
    ];
    all.extend(words.map(|(register, value)| set(register, value)));
    let draw = RunIdvs {
        // Triangles.
        flags_override: 8,
        malloc_enable: true,
        ..RunIdvs::default()
    };
    all.extend([
        draw.into(),
        FinishTiling::default().into(),
        wait_for(ITERATOR.mask()),
        heap_operation(HeapOperationKind::VertexTilerCompleted),
        set_pair(d!(66), TILED),
        set_pair(d!(68), 1),
        SyncAdd64 {
            address: d!(66),
            data: d!(68),
            scope: SyncScope::Csg,
            ..SyncAdd64::default()
        }
        .into(),
        ReqResource::default().into(),
    ]);
    all
}

/// The half of fragments.
fn fragments(heap: &TilerHeapInfo) -> Vec<Command> {
    let resources = ReqResource {
        fragment: true,
        ..ReqResource::default()
    };
    let mut all = beginning(heap, resources);
    all.extend([
        set_pair(d!(66), TILED),
        set_pair(d!(68), 0),
        SyncWait64 {
            address: d!(66),
            data: d!(68),
            condition: Condition::Greater,
            ..SyncWait64::default()
        }
        .into(),
        set(42, 0),
        set(43, 0x00FF_00FF),
        set_pair(d!(40), FRAMEBUFFER | 1),
        RunFragment::default().into(),
        set_pair(d!(66), TILER_CONTEXT),
        LoadMultiple {
            base_register: r!(70),
            mask: RegMask::first(4),
            address: d!(66),
            offset: 40,
        }
        .into(),
        wait_for(OTHERS.mask() | ITERATOR.mask()),
        FinishFragment {
            increment_fragment_completed: true,
            first_heap_chunk: d!(70),
            last_heap_chunk: d!(72),
            ..FinishFragment::default()
        }
        .into(),
        ReqResource::default().into(),
    ]);
    all
}

pub(crate) fn the_worked_example_is_drawn_by_streams_as_they_are() {
    let machine = machine();
    let mut device = up(machine.clone());
    let space = device.create_space().or_fail("there is memory");
    let queue = queue_in(&mut device, space);
    let config = TilerHeapConfig {
        chunk_bytes: 256 << 10,
        initial: 2,
        most: 2,
        reserve: 0,
        passes: 1,
    };
    let heap = device.create_tiler_heap(space, config);
    let heap = heap.or_fail("there is memory");
    let heap = device.tiler_heap(heap).or_fail("it is there");
    let mut buffer = |bytes, at: Option<u64>, access| {
        let made = device.create_buffer(space, bytes);
        let buffer = made.or_fail("there is memory");
        if let Some(at) = at {
            let mapped = device.map_buffer(buffer, 0, bytes, GpuAddress(at), access);
            mapped.or_fail("the place is free");
        }
        buffer
    };
    let picture_bytes = u64::from(4 * SIDE * SIDE);
    let tables = buffer(CODE - TABLES, Some(TABLES), Access::ReadWrite);
    let code = buffer(4096, Some(CODE), Access::Execute);
    let picture = buffer(picture_bytes, Some(PICTURE), Access::ReadWrite);
    let geometry = buffer(64 << 10, None, Access::ReadWrite);
    let geometry = device.buffer_address(geometry).or_fail("it is there");
    let mut memory = Memory {
        device,
        tables,
        code,
    };
    put_descriptors(&mut memory, geometry, &heap);
    put_programs(&mut memory);
    let streams = [
        (SubQueue::VertexTiler, STREAMS, tiling(&heap)),
        (SubQueue::Fragment, FRAGMENT_STREAM, fragments(&heap)),
    ];
    let streams = streams.map(|(stream, at, commands)| {
        let bytes = memory.put_stream(at, &commands);
        (stream, at, bytes)
    });
    let Memory { mut device, .. } = memory;
    // The half of fragments first: it waits.
    let fences = streams.into_iter().rev().map(|(stream, at, bytes)| {
        let submitted = device.submit_stream(queue, stream, GpuAddress(at), bytes);
        submitted.or_fail("there is room")
    });
    let fences: Vec<_> = fences.collect();
    for fence in fences {
        assert_eq!(wait(&mut device, fence), Ok(()));
    }
    assert_eq!(diagnoses(&machine), [""; 0]);
    let mut bytes = alloc::vec![0; picture_bytes as usize];
    device
        .read_buffer(picture, 0, &mut bytes)
        .or_fail("no job is in flight");
    let (pixels, _) = bytes.as_chunks::<4>();
    for (at, pixel) in (0..).zip(pixels) {
        let (x, y) = (at % SIDE, at / SIDE);
        // Centres of pixels lie half a pixel in.
        let inside = (x + y + 1) as f32 <= LEG;
        let expected = if inside { RED } else { CLEAR };
        assert_eq!(u32::from_le_bytes(*pixel), expected, "pixel {x}, {y}");
    }
}

//! Performance counters of passes: what does not depend on time counts alike on any number of cores.
//!
//! Facts: hardware/csf-perfcnt.md.

use super::bench::counting::{ACK, ENABLE, SAMPLES, each, sample, switch_on, total};
use super::{BUFFER, Drawn, Pass, Rectangle, STORE, Vertices};
use eitri_csf::counters::{BlockKind, Unit, counters};
use eitri_csf::page_table::Attributes;
use eitri_descriptors::raster::DcdFlags0;

/// Stores position `vertex` of the buffer, whose address is in u4.
const POSITION: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    NOP.end";

/// Stores fragment W, 1/w at the pixel.
const FRAGMENT_W: &str = "
    LD_VAR_SPECIAL.v2.f32.center.clobber.slot0.wait0126 @r0:r1, r61, index:0x2
    OUTPUT";

/// Stores 9.
const NINE: &str = "
    IADD_IMM.i32 r0, 0x0, #0x9
    OUTPUT";

const POINTS: u32 = 1;
const LINES: u32 = 2;
const TRIANGLES: u32 = 8;
/// Pixels along a side of the framebuffer: 16 tiles.
const WHOLE: u32 = 64;
const TARGET: u64 = 0x80_0000_0000;
/// Vertices of each draw.
const VERTICES: u32 = 60;

fn draw(mode: u32, program: &'static str) -> Rectangle {
    let usual = Rectangle::default();
    Rectangle {
        vertices: Some(Vertices {
            mode,
            count: VERTICES,
            program: POSITION,
            size: 3.0,
            flags: 0,
            indices: None,
            varying_bytes: 0,
        }),
        program,
        layers: 0,
        scissor: [[0, 0], [WHOLE - 1; 2]],
        flags: DcdFlags0 {
            allow_forward_pixel_to_kill: true,
            allow_forward_pixel_to_be_killed: true,
            ..usual.flags
        },
        ..usual
    }
}

/// Draws triangles, lines and points over each other on the cores of a mask, with the counters on.
#[track_caller]
fn counted(gpu: &'static str, cores: u64) -> Drawn {
    let [store, format] = STORE;
    let pass = Pass {
        gpu,
        cores,
        size: [WHOLE; 2],
        target: TARGET,
        writes_zs: false,
        uniforms: vec![store, format, 0, 0, BUFFER as u32, 0],
        draws: vec![
            draw(TRIANGLES, FRAGMENT_W),
            draw(LINES, NINE),
            draw(POINTS, NINE),
            draw(TRIANGLES, NINE),
        ],
        ..Pass::default()
    };
    let mut drawn = pass.run_with(|bench| {
        let mut state = 0x9e37_79b9_u32;
        let mut coordinate = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state % (64 * 80)) as f32 / 64.0 - 8.0
        };
        for vertex in 0..u64::from(VERTICES) {
            let position = [coordinate(), coordinate(), 0.5, 1.0];
            let bytes: Vec<u8> = position
                .iter()
                .flat_map(|it: &f32| it.to_le_bytes())
                .collect();
            bench.put(1, BUFFER + 16 * vertex, &bytes);
        }
        bench.map(1, TARGET, u64::from(4 * WHOLE * WHOLE), Attributes::CACHED);
        bench.map(1, SAMPLES, 0x4_0000, Attributes::UNCACHED);
        switch_on(bench, SAMPLES, 8);
        bench.poll_shared(ACK, ENABLE, ENABLE);
    });
    assert_eq!(sample(&mut drawn.bench), 1);
    drawn
}

/// Counters of cores and tiler that count work, not time.
fn names(drawn: &Drawn) -> Vec<&'static str> {
    let arch = drawn.bench.arch();
    let of_work = counters().filter(|it| {
        it.archs.contains(arch)
            && matches!(it.block, BlockKind::ShaderCore | BlockKind::Tiler)
            && !matches!(it.unit, Unit::Cycles | Unit::Unnamed)
    });
    of_work.map(|it| it.name).collect()
}

#[test]
fn counters_of_work_agree_on_any_number_of_cores() {
    for (gpu, masks) in [
        ("G610", [0x1, 0x4_0001, 0x5_0005]),
        ("G720", [0x1, 0x5, 0x15]),
    ] {
        let mut one = counted(gpu, masks[0]);
        let names = names(&one);
        let wanted: Vec<(&str, u32)> = names
            .iter()
            .map(|name| (*name, total(&mut one.bench, 0, name)))
            .collect();
        let count = |name: &str| wanted.iter().find(|it| it.0 == name).map(|it| it.1);
        // Not all of nothing.
        assert_eq!(count("FRAG_PTILES"), Some(16), "{gpu}");
        for name in [
            "FRAG_WARPS",
            "FRAG_QUADS_RAST",
            "QUAD_FPK_KILLER",
            "TRIANGLES",
            "LINES",
            "POINTS",
            "COMPUTE_WARPS",
            "VARY_INSTR",
        ] {
            assert!(
                count(name).is_some_and(|count| count > 0),
                "{name} of {gpu}: {wanted:?}"
            );
        }
        for mask in &masks[1..] {
            let mut several = counted(gpu, *mask);
            let found: Vec<(&str, u32)> = names
                .iter()
                .map(|name| (*name, total(&mut several.bench, 0, name)))
                .collect();
            assert_eq!(found, wanted, "{gpu} on cores {mask:#x}");
            // Each core has its part, and no other has one.
            let tiles = each(&mut several.bench, 0, "FRAG_PTILES");
            for (core, tiles) in tiles.iter().enumerate() {
                assert_eq!(
                    *tiles > 0,
                    mask >> core & 1 != 0,
                    "core {core} of {gpu} has {tiles} tiles"
                );
            }
        }
    }
}

/// 60 vertices are three full warps and one of 12 lanes. All triangles are outside of the picture, so no warps of fragments count.
#[test]
fn warps_of_vertices_are_full_where_all_lanes_run() {
    let [store, format] = STORE;
    let pass = Pass {
        uniforms: vec![store, format, 0, 0, BUFFER as u32, 0],
        draws: vec![draw(TRIANGLES, NINE)],
        writes_zs: false,
        ..Pass::default()
    };
    let mut drawn = pass.run_with(|bench| {
        for vertex in 0..u64::from(VERTICES) {
            let far = [-200.0_f32 - vertex as f32, -300.0, 0.5, 1.0];
            let bytes: Vec<u8> = far.iter().flat_map(|it| it.to_le_bytes()).collect();
            bench.put(1, BUFFER + 16 * vertex, &bytes);
        }
        bench.map(1, SAMPLES, 0x4_0000, Attributes::UNCACHED);
        switch_on(bench, SAMPLES, 8);
        bench.poll_shared(ACK, ENABLE, ENABLE);
    });
    assert_eq!(sample(&mut drawn.bench), 1);
    let counts = ["COMPUTE_WARPS", "FULL_QUAD_WARPS", "FRAG_WARPS"];
    let counts = counts.map(|name| total(&mut drawn.bench, 0, name));
    assert_eq!(
        counts,
        [4, 3, 0],
        "warps, full ones, and those of fragments"
    );
}

/// hardware/compiler-optimization.md 3: a core takes four pixels in a cycle.
#[test]
fn pixels_on_their_way_to_a_shader_take_their_part_of_a_cycle() {
    for draws in [1, 5] {
        let draw = Rectangle {
            program: NINE,
            ..Rectangle::default()
        };
        let pass = Pass {
            uniforms: STORE.to_vec(),
            draws: vec![draw; draws],
            ..Pass::default()
        };
        let drawn = pass.run();
        let times = drawn.bench.gpu.unit_times();
        let cycles: u64 = times.iter().map(|core| core.pixels).sum();
        assert_eq!(cycles, 64 * draws as u64, "{draws} draws of 256 pixels");
    }
}

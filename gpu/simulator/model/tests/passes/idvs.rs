//! Modes and override fields of the instructions that draw: the same pictures as without them, or those that they ask for.
//!
//! Facts: hardware/command-stream.md 3.6 (RUN_IDVS, RUN_IDVS2, RUN_FULLSCREEN); graphics-draw.md 3.5 (draw id).

use super::{BUFFER, CLEAR, DONE, Drawn, Pass, Rectangle, STORE, Vertices, pixels};
use eitri_cs::Reg;
use eitri_cs::instr::{Instr as Command, Move32};

const POINTS: u32 = 1;
/// Opcodes.
const RUN_IDVS: u64 = 6;
const RUN_FULLSCREEN: u64 = 8;
const RUN_IDVS2: u64 = 12;

/// Stores the position whose number is the vertex plus the draw id; u4 is the buffer's address.
const POSITION: &str = "
    IADD.u32 r5, r60, r62
    LSHIFT_OR.i32 r0, r5, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    NOP.end";

const NINE: &str = "
    IADD_IMM.i32 r0, 0x0, #0x9
    OUTPUT";

/// Pixels of the positions in the buffer.
const PLACES: [[u32; 2]; 4] = [[2, 3], [9, 1], [4, 12], [14, 7]];

/// A pass that draws two points.
fn points(gpu: &'static str, mode: u32) -> Pass {
    let [store, format] = STORE;
    Pass {
        gpu,
        uniforms: vec![store, format, 0, 0, BUFFER as u32, 0],
        draws: vec![Rectangle {
            vertices: Some(Vertices {
                mode,
                count: 2,
                program: POSITION,
                size: 1.0,
                flags: 0,
                indices: None,
                varying_bytes: 0,
            }),
            program: NINE,
            layers: 0,
            ..Rectangle::default()
        }],
        ..Pass::default()
    }
}

/// Runs a pass whose drawing instruction is changed; words may be put in front of it.
#[track_caller]
fn changed(pass: &Pass, bits: u64, before: &[Command]) -> Drawn {
    let arch = pass.arch();
    let mut bench = pass.submitted_filled(
        |bench| {
            for (number, [x, y]) in (0..).zip(PLACES) {
                let position = [x as f32 + 0.5, y as f32 + 0.5, 0.5, 1.0];
                let bytes: Vec<u8> = position.iter().flat_map(|it| it.to_le_bytes()).collect();
                bench.put(1, BUFFER + 16 * number, &bytes);
            }
        },
        |words| {
            let draws = [RUN_IDVS, RUN_FULLSCREEN, RUN_IDVS2];
            let place = words.iter().position(|word| draws.contains(&(word >> 56)));
            let place = place.expect("a draw");
            words[place] |= bits;
            let before = before.iter().map(|it| it.encode(arch).expect("legal"));
            words.splice(place..place, before);
        },
    );
    bench.drain(0);
    assert_eq!(bench.get64(1, DONE), 1, "\n{}", bench.report());
    bench.expect_no_diagnoses();
    bench.flush();
    Drawn { bench }
}

/// The pixels that hold 9.
fn nines(drawn: &mut Drawn) -> Vec<[u32; 2]> {
    let mut found = Vec::new();
    for pixel in pixels() {
        match drawn.colour(pixel, 0, 0) {
            9 => found.push(pixel),
            other => assert_eq!(other, CLEAR, "{pixel:?}"),
        }
    }
    found
}

/// Two of the places, in the order of pixels.
fn places(first: usize) -> Vec<[u32; 2]> {
    let mut places = PLACES[first..first + 2].to_vec();
    places.sort_unstable_by_key(|[x, y]| (*y, *x));
    places
}

#[test]
fn the_draw_id_is_that_of_the_named_register_or_0() {
    let register = 70;
    let set = Command::from(Move32 {
        destination: Reg::new(register),
        immediate: 2,
    });
    let named = 1 << 34 | u64::from(register) << 40;
    for gpu in ["G610", "G615", "G720", "G925"] {
        let pass = points(gpu, POINTS);
        let mut drawn = changed(&pass, named, &[set]);
        assert_eq!(nines(&mut drawn), places(2), "{gpu}");
        // Not enabled: the register is not looked at.
        let mut drawn = changed(&pass, u64::from(register) << 40, &[set]);
        assert_eq!(nines(&mut drawn), places(0), "{gpu}");
    }
}

/// Primitives of an instance are counted from 0 on, as if it were the only one.
#[test]
fn primitives_are_numbered_in_each_instance() {
    const IDS: u32 = 1 << 13;
    const INSTANCES: u8 = 34;
    let two = Command::from(Move32 {
        destination: Reg::new(INSTANCES),
        immediate: 2,
    });
    for gpu in ["G610", "G615", "G720", "G925"] {
        let mut pass = points(gpu, POINTS);
        for draw in &mut pass.draws {
            // The last instance lies above the first.
            draw.program = "
                IADD_IMM.i32 r0, r57, #0x1
                OUTPUT";
            draw.vertices.as_mut().expect("points").flags = IDS;
        }
        let mut drawn = changed(&pass, 0, std::slice::from_ref(&two));
        let ids = [0, 1].map(|point| drawn.colour(PLACES[point], 0, 0));
        assert_eq!(ids, [1, 2], "{gpu}: ids plus 1");
    }
}

#[test]
fn a_topology_may_come_from_the_override() {
    for gpu in ["G610", "G615", "G720", "G925"] {
        let mut drawn = changed(&points(gpu, 0), POINTS.into(), &[]);
        assert_eq!(nines(&mut drawn), places(0), "{gpu}");
    }
}

#[test]
fn vertices_are_shaded_early_or_after_culling_and_the_picture_is_the_same() {
    const DEFERRED: u64 = 1 << 35;
    for gpu in ["G720", "G725", "G925"] {
        for mode in [0, DEFERRED] {
            let mut drawn = changed(&points(gpu, POINTS), mode, &[]);
            assert_eq!(nines(&mut drawn), places(0), "{gpu}, {mode:#x}");
        }
    }
}

#[test]
fn layers_of_a_rectangle_may_come_from_the_override() {
    for gpu in ["G610", "G615", "G720", "G925"] {
        let pass = Pass {
            gpu,
            layers: 2,
            uniforms: STORE.to_vec(),
            draws: vec![Rectangle {
                program: NINE,
                layers: 0,
                ..Rectangle::default()
            }],
            ..Pass::default()
        };
        let mut drawn = changed(&pass, 0b10 << 24, &[]);
        for pixel in pixels() {
            let found = [0, 1].map(|layer| drawn.colour(pixel, 0, layer));
            assert_eq!(found, [CLEAR, 9], "{gpu}, {pixel:?}");
        }
    }
}

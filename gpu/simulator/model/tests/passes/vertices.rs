//! What vertices make: points, lines, and views of multiview.

use super::bench::EACH;
use super::{BUFFER, CLEAR, Drawn, IndexBuffer, Pass, Rectangle, STORE, Vertices, pixels};
use eitri_descriptors::raster::OcclusionMode;

/// Stores position `vertex` of the buffer, whose address is in u4.
const POSITION: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    NOP.end";

/// As [`POSITION`], with the address of an attribute record, which the vertices don't have and nothing is stored in.
const UNUSED_RECORD: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    IADD_IMM.i32 r6, r59, #0x4
    LEA_BUF_IMM.slot1 @r6:r7, r6, table:0xD, index:0x0
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    NOP.end";

/// As [`POSITION`], with a record: the vertex's number as layer, and a point size of 3.
const LAYERED: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    MOV.i32 r12, r60
    IADD_IMM.i32 r13, 0x0, #0x4200
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    IADD_IMM.i32 r6, r59, #0x4
    LEA_BUF_IMM.slot1 @r6:r7, r6, table:0xD, index:0x0
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    STORE.i16.istream.slot2 @r13, r6, offset:0
    STORE.i8.istream.slot2 @r12, r6, offset:2
    NOP.end";

/// As [`POSITION`], and for the second view the position that lies 256 bytes further.
const TWO_VIEWS: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    IADD_IMM.i32 r6, r0, #0x100
    SHADDX.u64 r6, u4, r6.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    LOAD.i128.unsigned.slot0 @r12:r13:r14:r15, r6, offset:0
    IADD_IMM.i32 r1, r59, #0x4
    LEA_BUF_IMM.slot1 @r4:r5, r59, table:0xD, index:0x0
    LEA_BUF_IMM.slot1.wait01 @r6:r7, r1, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    STORE.i128.istream.slot2 @r12:r13:r14:r15, r6, offset:0
    NOP.end";

/// Stores 9.
pub const NINE: &str = "
    IADD_IMM.i32 r0, 0x0, #0x9
    OUTPUT";

/// Stores the layer plus 5.
const LAYER: &str = "
    IADD_IMM.i32 r0, r62, #0x5
    OUTPUT";

/// Stores the first point coordinate.
const POINT_COORDINATE: &str = "
    LD_VAR_SPECIAL.v2.f32.center.clobber.slot0.wait0126 @r0:r1, r61, index:0x0
    OUTPUT";

/// Stores the second point coordinate.
const SECOND_COORDINATE: &str = "
    LD_VAR_SPECIAL.v2.f32.center.clobber.slot0.wait0126 @r2:r3, r61, index:0x0
    MOV.i32 r0, r3
    OUTPUT";

const POINTS: u32 = 1;
pub const LINES: u32 = 2;
pub const TRIANGLES: u32 = 8;

/// Draws vertices at these places, those of the second view from number 16 on.
#[track_caller]
fn drawn(layers: u32, rectangle: Rectangle, places: &[(u64, [f32; 2])]) -> Drawn {
    drawn_on("G610", layers, rectangle, places)
}

/// As [`drawn`], on a product.
#[track_caller]
fn drawn_on(
    gpu: &'static str,
    layers: u32,
    rectangle: Rectangle,
    places: &[(u64, [f32; 2])],
) -> Drawn {
    let [mode, format] = STORE;
    let pass = Pass {
        gpu,
        layers,
        uniforms: vec![mode, format, 0, 0, BUFFER as u32, 0],
        draws: vec![rectangle],
        ..Pass::default()
    };
    at_places(&pass, places)
}

/// Draws a pass with vertices at these places.
#[track_caller]
pub fn at_places(pass: &Pass, places: &[(u64, [f32; 2])]) -> Drawn {
    pass.run_with(|bench| {
        for (number, [x, y]) in places {
            let position: Vec<u8> = [*x, *y, 0.5, 1.0]
                .iter()
                .flat_map(|it| it.to_le_bytes())
                .collect();
            bench.put(1, BUFFER + 16 * number, &position);
        }
    })
}

pub fn vertices(mode: u32, count: u32, size: f32) -> Option<Vertices> {
    Some(Vertices {
        mode,
        count,
        program: POSITION,
        size,
        flags: 0,
        indices: None,
        varying_bytes: 0,
    })
}

#[test]
fn points_are_squares_around_their_places() {
    let rectangle = Rectangle {
        vertices: vertices(POINTS, 2, 3.0),
        program: POINT_COORDINATE,
        layers: 0,
        ..Rectangle::default()
    };
    let mut drawn = drawn(1, rectangle, &[(0, [4.5, 6.5]), (1, [12.0, 2.0])]);
    for [x, y] in pixels() {
        let first = (3..=5).contains(&x) && (5..=7).contains(&y);
        // Around a corner of pixels: the centres from 10.5 on, up to but not including 13.5.
        let second = (10..=12).contains(&x) && (0..=2).contains(&y);
        let left = if first { 3.0 } else { 10.5 };
        let coordinate = (f64::from(x) + 0.5 - left) / 3.0;
        let wanted = match first || second {
            true => (coordinate as f32).to_bits(),
            false => CLEAR,
        };
        assert_eq!(drawn.colour([x, y], 0, 0), wanted, "({x}, {y})");
    }
}

#[test]
fn the_second_point_coordinate_grows_from_the_corner_that_the_framebuffer_names() {
    for below in [false, true] {
        let rectangle = Rectangle {
            vertices: vertices(POINTS, 1, 4.0),
            program: SECOND_COORDINATE,
            layers: 0,
            ..Rectangle::default()
        };
        let [mode, format] = STORE;
        let pass = Pass {
            point_origin_below: below,
            uniforms: vec![mode, format, 0, 0, BUFFER as u32, 0],
            draws: vec![rectangle],
            ..Pass::default()
        };
        let mut drawn = pass.run_with(|bench| {
            let position = [6.0_f32, 6.0, 0.5, 1.0];
            let bytes: Vec<u8> = position.iter().flat_map(|it| it.to_le_bytes()).collect();
            bench.put(1, BUFFER, &bytes);
        });
        // Rows 4 to 7, each a quarter of the point.
        for row in 0..4_u32 {
            let from_top = (row as f32 + 0.5) / 4.0;
            let wanted = if below { 1.0 - from_top } else { from_top };
            let found = f32::from_bits(drawn.colour([5, 4 + row], 0, 0));
            assert_eq!(found, wanted, "row {row}, origin below: {below}");
        }
    }
}

#[test]
fn wide_lines_are_rectangles_along_their_ways() {
    let rectangle = Rectangle {
        vertices: vertices(LINES, 2, 4.0),
        program: NINE,
        layers: 0,
        ..Rectangle::default()
    };
    let mut drawn = drawn(1, rectangle, &[(0, [2.0, 8.0]), (1, [13.0, 8.0])]);
    for [x, y] in pixels() {
        let inside = (2..13).contains(&x) && (6..10).contains(&y);
        let wanted = if inside { 9 } else { CLEAR };
        assert_eq!(drawn.colour([x, y], 0, 0), wanted, "({x}, {y})");
    }
}

#[test]
fn the_address_of_an_output_that_is_not_there_breaks_no_rule() {
    let rectangle = Rectangle {
        vertices: Some(Vertices {
            program: UNUSED_RECORD,
            ..vertices(TRIANGLES, 3, 1.0).expect("vertices")
        }),
        program: NINE,
        layers: 0,
        ..Rectangle::default()
    };
    let places = [(0, [8.0, -16.0]), (1, [8.0, 32.0]), (2, [-40.0, 8.0])];
    // No diagnosis.
    let mut drawn = drawn(1, rectangle, &places);
    assert_eq!(drawn.colour([3, 3], 0, 0), 9);
}

/// Slots of queries, behind the positions.
const QUERIES: u64 = BUFFER + 0x1000;

#[test]
fn each_view_has_its_own_query() {
    let mut rectangle = Rectangle {
        vertices: Some(Vertices {
            program: TWO_VIEWS,
            ..vertices(TRIANGLES, 3, 1.0).expect("vertices")
        }),
        layers: 0b101,
        occlusion: QUERIES,
        ..Rectangle::default()
    };
    rectangle.flags.occlusion_query = OcclusionMode::Counter;
    // A column of pixels in view 0, the upper half in view 2.
    let first = [[1.0, -16.0], [1.0, 32.0], [-40.0, 8.0]];
    let second = [[-16.0, 8.0], [32.0, 8.0], [8.0, -40.0]];
    let places: Vec<(u64, [f32; 2])> = (0..).zip(first).chain((16..).zip(second)).collect();
    let mut drawn = drawn(3, rectangle, &places);
    let found = [0, 1, 2].map(|slot| drawn.bench.get64(1, QUERIES + 8 * slot));
    assert_eq!(found, [16, 128, 0]);
}

#[test]
fn each_view_has_its_own_positions_and_its_layer() {
    let rectangle = Rectangle {
        vertices: Some(Vertices {
            program: TWO_VIEWS,
            ..vertices(TRIANGLES, 3, 1.0).expect("vertices")
        }),
        program: LAYER,
        layers: 0b11,
        ..Rectangle::default()
    };
    // The left half in the first view, the upper half in the second, each a part of a large triangle.
    let first = [[8.0, -16.0], [8.0, 32.0], [-40.0, 8.0]];
    let second = [[-16.0, 8.0], [32.0, 8.0], [8.0, -40.0]];
    let places: Vec<(u64, [f32; 2])> = (0..).zip(first).chain((16..).zip(second)).collect();
    let mut drawn = drawn(2, rectangle, &places);
    for [x, y] in pixels() {
        let found = [0, 1].map(|layer| drawn.colour([x, y], 0, layer));
        let covered = |inside: bool, layer: u32| if inside { layer + 5 } else { CLEAR };
        let wanted = [covered(x < 8, 0), covered(y < 8, 1)];
        assert_eq!(found, wanted, "({x}, {y})");
    }
}

/// Primitive flags: point sizes are halves of the records, layers come from them.
const POINT_SIZES: u32 = 2 << 11;
const LAYERS: u32 = 1 << 20;

#[test]
fn records_choose_the_layer_and_those_beyond_the_last_draw_nothing() {
    for gpu in EACH {
        // v13 has no format of point sizes.
        let sizes = if gpu == "G925" { 0 } else { POINT_SIZES };
        let rectangle = Rectangle {
            vertices: Some(Vertices {
                program: LAYERED,
                flags: LAYERS | sizes,
                ..vertices(POINTS, 3, 1.0).expect("vertices")
            }),
            program: NINE,
            layers: 0,
            ..Rectangle::default()
        };
        let places = [(0, [2.5, 3.5]), (1, [4.5, 5.5]), (2, [6.5, 7.5])];
        let mut drawn = drawn_on(gpu, 2, rectangle, &places);
        for [x, y] in pixels() {
            let found = [0, 1].map(|layer| drawn.colour([x, y], 0, layer));
            // Squares of three pixels around their places.
            let wanted = [[2, 3], [4, 5]].map(|[column, row]: [u32; 2]| {
                let inside = x.abs_diff(column) <= 1 && y.abs_diff(row) <= 1;
                if inside { 9 } else { CLEAR }
            });
            assert_eq!(found, wanted, "({x}, {y}) on {gpu}");
        }
    }
}

/// As [`POSITION`], with a record whose primitive id is in u3.
const NUMBERED: &str = "
    LSHIFT_OR.i32 r0, r60, 0x7060504.b00, 0x0
    MOV.i32 r1, 0x0
    MOV.i32 r12, u3
    SHADDX.u64 r2, u4, r0.w0, shift:0x0
    LOAD.i128.unsigned.slot0 @r8:r9:r10:r11, r2, offset:0
    IADD_IMM.i32 r6, r59, #0x4
    LEA_BUF_IMM.slot1 @r6:r7, r6, table:0xD, index:0x0
    LEA_BUF_IMM.slot1.wait01 @r4:r5, r59, table:0xD, index:0x0
    STORE.i128.istream.slot2 @r8:r9:r10:r11, r4, offset:0
    STORE.i32.istream.slot2 @r12, r6, offset:12
    NOP.end";

/// Primitive flags: primitive ids come from the records.
const PRIMITIVE_IDS: u32 = 1 << 14;

#[test]
fn all_bytes_of_a_primitive_id_come_from_the_record() {
    for gpu in EACH {
        let [mode, format] = STORE;
        let pass = Pass {
            gpu,
            uniforms: vec![mode, format, 0, 0x8765_4321, BUFFER as u32, 0],
            draws: vec![Rectangle {
                vertices: Some(Vertices {
                    program: NUMBERED,
                    flags: PRIMITIVE_IDS,
                    ..vertices(TRIANGLES, 3, 1.0).expect("vertices")
                }),
                program: "MOV.i32 r0, r57\nOUTPUT",
                layers: 0,
                ..Rectangle::default()
            }],
            ..Pass::default()
        };
        let mut drawn = at_places(
            &pass,
            &[(0, [0.0, 0.25]), (1, [64.0, 0.25]), (2, [0.0, 64.0])],
        );
        assert_eq!(drawn.colour([5, 5], 0, 0), 0x8765_4321, "on {gpu}");
    }
}

#[test]
fn viewports_of_v12_and_later_cut_beside_the_scissor() {
    for (gpu, cuts) in [("G610", false), ("G720", true), ("G925", true)] {
        let rectangle = Rectangle {
            vertices: vertices(TRIANGLES, 3, 1.0),
            program: NINE,
            viewport: [[2, 3], [9, 20]],
            scissor: [[0, 0], [15, 11]],
            layers: 0,
            ..Rectangle::default()
        };
        let places = [(0, [-20.0, -20.0]), (1, [60.0, -20.0]), (2, [-20.0, 60.0])];
        let mut drawn = drawn_on(gpu, 1, rectangle, &places);
        for [x, y] in pixels() {
            let inside = !cuts || (2..=9).contains(&x) && y >= 3;
            let wanted = if inside && y <= 11 { 9 } else { CLEAR };
            assert_eq!(drawn.colour([x, y], 0, 0), wanted, "({x}, {y}) on {gpu}");
        }
    }
}

#[test]
fn indices_beyond_the_buffer_are_0_however_far() {
    // Places 2^32 - 1 to 2^32 + 1 do not come round to the first indices.
    for (first_index, covers) in [(0, true), (1, false), (u32::MAX, false)] {
        let indices = IndexBuffer {
            address: BUFFER + 0x800,
            index_bytes: 2,
            bytes: 6,
        };
        let rectangle = Rectangle {
            vertices: Some(Vertices {
                indices: Some(indices),
                ..vertices(TRIANGLES, 3, 1.0).expect("vertices")
            }),
            program: NINE,
            first_index,
            layers: 0,
            ..Rectangle::default()
        };
        let [mode, format] = STORE;
        let pass = Pass {
            uniforms: vec![mode, format, 0, 0, BUFFER as u32, 0],
            draws: vec![rectangle],
            ..Pass::default()
        };
        let mut drawn = pass.run_with(|bench| {
            // Vertices 0 to 2 cover everything; 0, 1, 0 and 2, 0, 0 have no area.
            for (number, [x, y]) in [[-20.0_f32, -20.0], [60.0, -20.0], [-20.0, 60.0]]
                .iter()
                .enumerate()
            {
                let position: Vec<u8> = [*x, *y, 0.5, 1.0]
                    .iter()
                    .flat_map(|it| it.to_le_bytes())
                    .collect();
                bench.put(1, BUFFER + 16 * number as u64, &position);
            }
            let bytes: Vec<u8> = [1_u16, 2, 0]
                .iter()
                .flat_map(|it| it.to_le_bytes())
                .collect();
            bench.put(1, BUFFER + 0x800, &bytes);
        });
        let wanted = if covers { 9 } else { CLEAR };
        assert_eq!(
            drawn.colour([7, 7], 0, 0),
            wanted,
            "from {first_index:#x} on"
        );
    }
}

#[test]
fn tiles_that_nothing_touches_keep_depth_and_colour_in_memory_unless_clean_ones_are_written() {
    for clean_tiles in [false, true] {
        let pass = Pass {
            clean_tiles,
            depth_clear: 0.25,
            ..Pass::default()
        };
        let old = 0.75_f32.to_bits();
        let mut drawn = pass.run_with(|bench| {
            for address in [super::COLOUR, super::DEPTH] {
                let words: Vec<u8> = (0..256).flat_map(|_| old.to_le_bytes()).collect();
                bench.put(1, address, &words);
            }
        });
        let wanted = if clean_tiles {
            (CLEAR, 0.25)
        } else {
            (old, 0.75)
        };
        for pixel in [[0, 0], [15, 15]] {
            let found = (drawn.colour(pixel, 0, 0), drawn.depth(pixel));
            assert_eq!(found, wanted, "{pixel:?}, {clean_tiles}");
        }
    }
}

#[test]
fn arrays_of_scissors_and_of_wide_point_sizes_are_told() {
    for (flags, told) in [(0, false), (1 << 21, true), (3 << 11, true)] {
        let [mode, format] = STORE;
        let pass = Pass {
            uniforms: vec![mode, format, 0, 0, BUFFER as u32, 0],
            draws: vec![Rectangle {
                vertices: Some(Vertices {
                    flags,
                    ..vertices(POINTS, 1, 1.0).expect("vertices")
                }),
                program: NINE,
                layers: 0,
                ..Rectangle::default()
            }],
            ..Pass::default()
        };
        let mut bench = pass.submitted(|_| {});
        bench.drain(0);
        if told {
            bench.expect_diagnosis("staging register r56");
        } else {
            bench.expect_no_diagnoses();
        }
    }
}

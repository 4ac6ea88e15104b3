//! What vertices make: points, lines, and views of multiview.

use super::{BUFFER, CLEAR, Drawn, Pass, Rectangle, STORE, Vertices, pixels};
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
const NINE: &str = "
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

const POINTS: u32 = 1;
const LINES: u32 = 2;
const TRIANGLES: u32 = 8;

/// Draws vertices at these places, those of the second view from number 16 on.
#[track_caller]
fn drawn(layers: u32, rectangle: Rectangle, places: &[(u64, [f32; 2])]) -> Drawn {
    let [mode, format] = STORE;
    let pass = Pass {
        layers,
        uniforms: vec![mode, format, 0, 0, BUFFER as u32, 0],
        draws: vec![rectangle],
        ..Pass::default()
    };
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

fn vertices(mode: u32, count: u32, size: f32) -> Option<Vertices> {
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

//! Streams of more vertices than the model works on at once: primitives go on from one part of a stream to the next.

use super::vertices::{NINE, at_places, vertices};
use super::{BUFFER, CLEAR, Drawn, Pass, Rectangle, STORE};

const LINE_STRIP: u32 = 4;
const LINE_LOOP: u32 = 6;
/// More than a part, and not a multiple of one.
const COUNT: u32 = 300;

/// Draws lines through vertices at these places; a place is that of all vertices from its number on.
fn through(mode: u32, places: &[(u32, [f32; 2])]) -> Drawn {
    let rectangle = Rectangle {
        vertices: vertices(mode, COUNT, 1.0),
        program: NINE,
        layers: 0,
        ..Rectangle::default()
    };
    let [store, format] = STORE;
    let pass = Pass {
        uniforms: vec![store, format, 0, 0, BUFFER as u32, 0],
        draws: vec![rectangle],
        buffer: 16 * u64::from(COUNT),
        ..Pass::default()
    };
    let place = |vertex: u32| {
        let begun = places.iter().rfind(|(from, _)| *from <= vertex);
        begun.map_or([0.0; 2], |(_, place)| *place)
    };
    let all: Vec<(u64, [f32; 2])> = (0..COUNT)
        .map(|vertex| (vertex.into(), place(vertex)))
        .collect();
    at_places(&pass, &all)
}

#[test]
fn a_strip_goes_on_from_one_part_of_its_stream_to_the_next() {
    // All lines are points but the one from the first part's last vertex to the second part's first.
    let mut drawn = through(LINE_STRIP, &[(0, [1.0, 2.5]), (256, [15.0, 2.5])]);
    assert_eq!(drawn.colour([8, 2], 0, 0), 9);
}

#[test]
fn a_loop_is_closed_behind_its_last_vertex_and_nowhere_else() {
    let places = [(0, [1.0, 2.5]), (200, [14.5, 2.5]), (256, [14.5, 14.0])];
    let mut drawn = through(LINE_LOOP, &places);
    assert_eq!(drawn.colour([8, 2], 0, 0), 9, "from vertex 199 to 200");
    assert_eq!(drawn.colour([14, 8], 0, 0), 9, "from vertex 255 to 256");
    // From the last to the first: 11.5 rows on 13.5 columns.
    assert_eq!(drawn.colour([8, 8], 0, 0), 9, "from vertex 299 to 0");
    assert_eq!(drawn.colour([11, 5], 0, 0), CLEAR, "inside");
}

//! Primitive assembly: from a stream of vertices to points, lines and triangles.
//!
//! Facts: hardware/graphics-draw.md 3.20, graphics-model.md 1.1.

use eitri_descriptors::raster::DrawMode;

/// A topology that the facts describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topology {
    Points,
    Lines,
    LineStrip,
    LineLoop,
    Triangles,
    TriangleStrip,
    TriangleFan,
}

impl Topology {
    /// The topology of a draw mode. None for modes without rules.
    // FACT: how polygons, quads and the adjacency modes assemble is not established (hardware/graphics-draw.md 3.20 lists
    // the other codes). Settled by a draw in each of these modes with flat colours on any board.
    pub(crate) fn new(mode: DrawMode) -> Option<Topology> {
        match mode {
            DrawMode::Points => Some(Topology::Points),
            DrawMode::Lines => Some(Topology::Lines),
            DrawMode::LineStrip => Some(Topology::LineStrip),
            DrawMode::LineLoop => Some(Topology::LineLoop),
            DrawMode::Triangles => Some(Topology::Triangles),
            DrawMode::TriangleStrip => Some(Topology::TriangleStrip),
            DrawMode::TriangleFan => Some(Topology::TriangleFan),
            DrawMode::None
            | DrawMode::LinesAdjacency
            | DrawMode::LineStripAdjacency
            | DrawMode::TrianglesAdjacency
            | DrawMode::TriangleStripAdjacency
            | DrawMode::Polygon
            | DrawMode::Quads => None,
        }
    }
}

/// Vertex of a primitive that flat values come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProvokingVertex {
    First,
    Last,
}

/// A primitive, by whatever names its vertices have in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Assembled {
    corners: [u32; 3],
    count: usize,
    /// Corner that flat values come from.
    pub(crate) provoking: u8,
    /// Number of the primitive in its instance, culled ones included.
    pub(crate) id: u32,
}

impl Assembled {
    /// The vertices: 1 of a point, 2 of a line, 3 of a triangle.
    pub(crate) fn corners(&self) -> &[u32] {
        &self.corners[..self.count]
    }
}

/// Assembles the primitives of one instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assembler {
    topology: Topology,
    provoking: ProvokingVertex,
    /// Vertices since the last restart.
    seen: u32,
    /// The first vertex of the run, and the last two.
    first: u32,
    recent: [u32; 2],
    next_id: u32,
}

impl Assembler {
    pub(crate) fn new(topology: Topology, provoking: ProvokingVertex) -> Assembler {
        Assembler {
            topology,
            provoking,
            seen: 0,
            first: 0,
            recent: [0; 2],
            next_id: 0,
        }
    }

    /// Takes the next vertex and gives the primitive that it completes.
    pub(crate) fn vertex(&mut self, vertex: u32) -> Option<Assembled> {
        let number = self.seen;
        if number == 0 {
            self.first = vertex;
        }
        let [before, last] = self.recent;
        self.recent = [last, vertex];
        self.seen = number.saturating_add(1);
        // Corners in the order of the table, and those that provoke for "first" and "last".
        match self.topology {
            Topology::Points => self.primitive(&[vertex], [0, 0]),
            Topology::Lines if number % 2 == 1 => self.primitive(&[last, vertex], [0, 1]),
            Topology::LineStrip | Topology::LineLoop if number >= 1 => {
                self.primitive(&[last, vertex], [0, 1])
            }
            Topology::Triangles if number % 3 == 2 => {
                self.primitive(&[before, last, vertex], [0, 2])
            }
            Topology::TriangleStrip if number >= 2 && number.is_multiple_of(2) => {
                self.primitive(&[before, last, vertex], [0, 2])
            }
            Topology::TriangleStrip if number >= 2 => {
                self.primitive(&[before, vertex, last], [0, 1])
            }
            Topology::TriangleFan if number >= 2 => {
                self.primitive(&[last, vertex, self.first], [0, 1])
            }
            _ => None,
        }
    }

    /// Ends a run at a restart index or at the end of the instance, and gives the line that closes a loop.
    ///
    /// A loop of one vertex has none (free choice: it would have no length).
    pub(crate) fn restart(&mut self) -> Option<Assembled> {
        let [_, last] = self.recent;
        let closes = self.topology == Topology::LineLoop && self.seen >= 2;
        self.seen = 0;
        if closes {
            self.primitive(&[last, self.first], [0, 1])
        } else {
            None
        }
    }

    fn primitive(&mut self, corners: &[u32], provoking: [u8; 2]) -> Option<Assembled> {
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        let mut assembled = Assembled {
            corners: [0; 3],
            count: corners.len(),
            provoking: match self.provoking {
                ProvokingVertex::First => provoking[0],
                ProvokingVertex::Last => provoking[1],
            },
            id,
        };
        for (to, from) in assembled.corners.iter_mut().zip(corners) {
            *to = *from;
        }
        Some(assembled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use serde_json::Value;

    fn assemble(
        topology: Topology,
        provoking: ProvokingVertex,
        stream: &[Option<u32>],
    ) -> Vec<Assembled> {
        let mut assembler = Assembler::new(topology, provoking);
        let mut primitives = Vec::new();
        for vertex in stream {
            primitives.extend(match vertex {
                Some(vertex) => assembler.vertex(*vertex),
                None => assembler.restart(),
            });
        }
        primitives.extend(assembler.restart());
        primitives
    }

    fn topology(name: &str) -> Topology {
        let modes = (0..16).filter_map(DrawMode::from_number);
        let named = |mode: &DrawMode| {
            let text = std::format!("{mode:?}");
            text.eq_ignore_ascii_case(&name.replace('_', ""))
        };
        let mode = modes
            .into_iter()
            .find(named)
            .unwrap_or_else(|| panic!("no mode {name}"));
        Topology::new(mode).unwrap_or_else(|| panic!("no rules for {name}"))
    }

    #[test]
    fn primitives_are_those_of_every_vector() {
        let path = eitri_testdata::kept("graphics-vectors.json");
        let text = std::fs::read_to_string(path).expect("kept vectors");
        let value: Value = serde_json::from_str(&text).expect("the vectors are JSON");
        let vectors = value["primitive_assembly"].as_array().expect("a list");
        assert_eq!(vectors.len(), 12);
        for vector in vectors {
            let number = |value: &Value| value.as_u64().expect("a number") as u32;
            let restart = vector["restart"].as_u64().map(|it| it as u32);
            let stream: Vec<Option<u32>> = vector["indices"]
                .as_array()
                .expect("a list")
                .iter()
                .map(number)
                .map(|index| (Some(index) != restart).then_some(index))
                .collect();
            let name = vector["topology"].as_str().expect("a name");
            let got = assemble(topology(name), ProvokingVertex::First, &stream);
            let expected: Vec<Vec<u32>> = vector["primitives"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|corners| {
                    corners
                        .as_array()
                        .expect("a list")
                        .iter()
                        .map(number)
                        .collect()
                })
                .collect();
            let corners: Vec<Vec<u32>> = got.iter().map(|it| it.corners().to_vec()).collect();
            assert_eq!(corners, expected, "{name} of {stream:?}");
            let ids: Vec<u32> = got.iter().map(|it| it.id).collect();
            assert_eq!(
                ids,
                (0..got.len() as u32).collect::<Vec<_>>(),
                "ids of {name}"
            );
        }
    }

    /// Provoking vertices of the first two primitives of 0, 1, 2, …, from the table.
    #[test]
    fn provoking_vertices_are_those_of_the_table() {
        let table = [
            (Topology::Points, [0, 1], [0, 1]),
            (Topology::Lines, [0, 2], [1, 3]),
            (Topology::LineStrip, [0, 1], [1, 2]),
            (Topology::Triangles, [0, 3], [2, 5]),
            (Topology::TriangleStrip, [0, 1], [2, 3]),
            (Topology::TriangleFan, [1, 2], [2, 3]),
        ];
        let stream: Vec<Option<u32>> = (0..8).map(Some).collect();
        for (topology, first, last) in table {
            for (mode, expected) in [
                (ProvokingVertex::First, first),
                (ProvokingVertex::Last, last),
            ] {
                let got = assemble(topology, mode, &stream);
                let provoking = |it: &Assembled| it.corners()[usize::from(it.provoking)];
                assert_eq!(
                    [provoking(&got[0]), provoking(&got[1])],
                    expected,
                    "{topology:?}, {mode:?}"
                );
            }
        }
    }

    #[test]
    fn loops_are_closed_at_a_restart_and_at_the_end() {
        let stream = [
            Some(4),
            Some(5),
            Some(6),
            None,
            Some(7),
            None,
            Some(8),
            Some(9),
        ];
        let got = assemble(Topology::LineLoop, ProvokingVertex::First, &stream);
        let corners: Vec<&[u32]> = got.iter().map(Assembled::corners).collect();
        let expected: [&[u32]; 5] = [&[4, 5], &[5, 6], &[6, 4], &[8, 9], &[9, 8]];
        assert_eq!(corners, expected);
    }

    #[test]
    fn modes_without_rules_have_no_topology() {
        for mode in [
            DrawMode::None,
            DrawMode::Quads,
            DrawMode::Polygon,
            DrawMode::LinesAdjacency,
        ] {
            assert_eq!(Topology::new(mode), None, "{mode:?}");
        }
    }
}

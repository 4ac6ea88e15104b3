//! Meshes: vertices in buffers, with or without indices.

use crate::parts::hex;
use crate::random::Random;
use crate::targets::Targets;
use serde_json::{Value, json};

/// The bytes of a vertex: its position and its colour, each four words at most.
const STRIDE: u32 = 32;

/// A primitive topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topology {
    Points,
    Lines,
    LineStrip,
    Triangles,
    TriangleStrip,
    TriangleFan,
}

impl Topology {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Topology::Points => "point_list",
            Topology::Lines => "line_list",
            Topology::LineStrip => "line_strip",
            Topology::Triangles => "triangle_list",
            Topology::TriangleStrip => "triangle_strip",
            Topology::TriangleFan => "triangle_fan",
        }
    }

    /// Whether primitive restart applies to it.
    pub(crate) const fn can_restart(self) -> bool {
        matches!(
            self,
            Topology::LineStrip | Topology::TriangleStrip | Topology::TriangleFan
        )
    }

    const fn is_lines(self) -> bool {
        matches!(self, Topology::Lines | Topology::LineStrip)
    }

    const fn is_triangles(self) -> bool {
        matches!(
            self,
            Topology::Triangles | Topology::TriangleStrip | Topology::TriangleFan
        )
    }
}

/// What meshes choose from; the first three with one sample alone.
const TOPOLOGIES: [Topology; 9] = [
    Topology::Points,
    Topology::Lines,
    Topology::LineStrip,
    Topology::Triangles,
    Topology::Triangles,
    Topology::TriangleStrip,
    Topology::TriangleStrip,
    Topology::TriangleFan,
    Topology::TriangleFan,
];

/// A plain or an indexed draw.
pub(crate) enum Order {
    Plain {
        first: u32,
        vertices: u32,
    },
    Indexed {
        buffer: String,
        kind: &'static str,
        first: u32,
        indices: u32,
        vertex_offset: i32,
    },
}

/// Vertices, and how they are read.
pub(crate) struct Mesh {
    pub(crate) buffer: String,
    pub(crate) topology: Topology,
    pub(crate) restart: bool,
    pub(crate) order: Order,
    /// Whether every implementation computes the same depths: all are equal, w is 1, and nothing is clipped.
    pub(crate) is_flat: bool,
    position_format: &'static str,
    colour_format: &'static str,
    /// Whether colours are read by instance, not by vertex.
    by_instance: bool,
}

impl Mesh {
    /// Chooses vertices, and adds their buffers to `buffers`.
    pub(crate) fn choose(random: &mut Random, targets: &Targets, buffers: &mut Vec<Value>) -> Mesh {
        // Lines of several samples are rectangles or parallelograms.
        let first = if targets.samples == 1 { 0 } else { 3 };
        let topology = random.of(&TOPOLOGIES[first..]);
        let vertices = 3 * random.between(1, 24);
        let position_format = random.of(&[
            "r32g32b32a32_sfloat",
            "r32g32b32a32_sfloat",
            "r32g32b32_sfloat",
            "r32g32_sfloat",
        ]);
        let mut words = Vec::new();
        let places = Places::choose(random, targets, topology);
        let mut last = [0.0; 4];
        for number in 0..vertices {
            last = places.vertex(random, number, last);
            words.extend(last.map(f32::to_bits));
            words.extend((0..4).map(|_| random.eighths().to_bits()));
        }
        let colour_format = random.of(&[
            "r32g32b32a32_sfloat",
            "r32g32b32a32_sfloat",
            "r32g32b32_sfloat",
            "r8g8b8a8_unorm",
            "r16g16_unorm",
            "a2b10g10r10_unorm_pack32",
        ]);
        if !colour_format.starts_with("r32") {
            let colours = words.iter_mut().enumerate();
            let colours = colours.filter(|(place, _)| place % 8 >= 4);
            colours.for_each(|(_, word)| *word = random.word());
        }
        let buffer = format!("vertices{}", buffers.len());
        buffers.push(json!({"name": buffer, "bytes": words.len() * 4, "init": {"u32": words}}));
        let restart = topology.can_restart() && random.once_in(2);
        let order = if restart || random.once_in(3) {
            indexed(random, (vertices, topology), restart, buffers)
        } else {
            let first = random.between(0, vertices / 3);
            let vertices = vertices - first;
            Order::Plain { first, vertices }
        };
        Mesh {
            buffer,
            topology,
            restart,
            order,
            is_flat: !places.slopes && !places.perspective && !places.outside,
            position_format,
            colour_format,
            by_instance: random.once_in(6),
        }
    }

    /// The members of a pipeline that say how vertices are read.
    pub(crate) fn describe(&self, pipeline: &mut Value) {
        pipeline["topology"] = json!(self.topology.name());
        pipeline["restart"] = json!(self.restart);
        let mut bindings = vec![json!({"binding": 0, "stride": STRIDE})];
        let (binding, offset) = if self.by_instance { (1, 0) } else { (0, 16) };
        if self.by_instance {
            bindings.push(json!({"binding": 1, "stride": STRIDE, "rate": "instance"}));
        }
        pipeline["vertex_bindings"] = json!(bindings);
        pipeline["attributes"] = json!([
            {"location": 0, "binding": 0, "format": self.position_format, "offset": 0},
            {"location": 1, "binding": binding, "format": self.colour_format, "offset": offset},
        ]);
    }

    /// The buffers that a draw binds.
    pub(crate) fn bound(&self) -> Vec<Value> {
        let mut bound = vec![json!({"binding": 0, "buffer": self.buffer})];
        if self.by_instance {
            bound.push(json!({"binding": 1, "buffer": self.buffer, "offset": 16}));
        }
        bound
    }
}

/// Indices of so many vertices, in a buffer of their own.
fn indexed(
    random: &mut Random,
    (vertices, topology): (u32, Topology),
    restart: bool,
    buffers: &mut Vec<Value>,
) -> Order {
    let (kind, bytes) = random.of(&[("u16", 2), ("u16", 2), ("u32", 4)]);
    let skipped = random.between(0, 3);
    let indices = random.between(3, 60);
    let vertex_offset = random.signed(-2, 2);
    let all_ones = u32::MAX >> (32 - 8 * bytes);
    let least = u32::try_from(-vertex_offset).unwrap_or(0);
    let most = vertices - 1 - u32::try_from(vertex_offset).unwrap_or(0).min(vertices - 1);
    let in_order = topology.is_lines() || random.once_in(2);
    let mut data = Vec::new();
    for number in 0..skipped + indices {
        let index = if restart && random.once_in(6) {
            all_ones
        } else if in_order {
            least + number % (most + 1 - least.min(most))
        } else {
            random.between(least.min(most), most)
        };
        data.extend(&index.to_le_bytes()[..bytes]);
    }
    data.resize(data.len().next_multiple_of(4), 0);
    let buffer = format!("indices{}", buffers.len());
    buffers.push(json!({"name": buffer, "bytes": data.len(), "init": {"hex": hex(&data)}}));
    Order::Indexed {
        buffer,
        kind,
        first: skipped,
        indices,
        vertex_offset,
    }
}

/// Where vertices stand.
struct Places {
    width: u32,
    height: u32,
    topology: Topology,
    /// Whether depths differ from vertex to vertex.
    slopes: bool,
    /// Whether w differs from vertex to vertex.
    perspective: bool,
    /// Whether vertices may lie outside of the viewport.
    outside: bool,
}

impl Places {
    fn choose(random: &mut Random, targets: &Targets, topology: Topology) -> Places {
        let slopes = topology.is_triangles() && random.once_in(4);
        let perspective = topology.is_triangles() && random.once_in(4);
        // Where lavapipe clips primitives in perspective, noperspective colours may become NaN.
        let outside = !perspective && random.once_in(4);
        Places {
            width: targets.width,
            height: targets.height,
            topology,
            slopes,
            perspective,
            outside,
        }
    }

    /// The clip coordinates of a vertex, of which `last` is the one before.
    fn vertex(&self, random: &mut Random, number: u32, last: [f32; 4]) -> [f32; 4] {
        let mut along = |pixels: u32| {
            let sixteenths = 16 * pixels.cast_signed();
            let around = if self.outside { sixteenths / 4 } else { 0 };
            let at = random.signed(-around, sixteenths + around);
            // Points and lines lie beside the centres of pixels.
            let at = if self.topology.is_triangles() {
                at
            } else {
                at / 16 * 16 + 7
            };
            at as f32 * 2.0 / sixteenths as f32 - 1.0
        };
        let (mut x, mut y) = (along(self.width), along(self.height));
        if number > 0 && self.topology.is_lines() {
            // Along an axis.
            match number % 2 {
                0 => y = last[1],
                _ => x = last[0],
            }
        }
        let z = if self.slopes {
            number as f32 % 5.0 / 4.0
        } else {
            0.5
        };
        let w = if self.perspective {
            random.of(&[1.0, 2.0, 0.5, 4.0])
        } else {
            1.0
        };
        [x, y, z, w]
    }
}

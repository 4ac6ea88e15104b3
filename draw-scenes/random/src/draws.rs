//! Draws, and clears within passes.

use crate::geometry::{Mesh, Order};
use crate::parts::{Parts, hex};
use crate::pipelines::{self, Pipeline};
use crate::random::Random;
use crate::targets::{Class, Targets};
use serde_json::{Value, json};

/// A mesh with the pipeline that draws it.
pub(crate) struct Drawable {
    mesh: Mesh,
    pipeline: Pipeline,
}

impl Drawable {
    /// A new one, which `scene` has then.
    pub(crate) fn choose(random: &mut Random, targets: &Targets, scene: &mut Parts) -> Drawable {
        let mesh = Mesh::choose(random, targets, &mut scene.buffers);
        let pipeline = pipelines::choose(random, targets, &mesh, scene);
        Drawable { mesh, pipeline }
    }

    /// A draw of it.
    pub(crate) fn draw(&self, random: &mut Random, targets: &Targets, scene: &mut Parts) -> Value {
        let mut draw = json!({
            "op": "draw",
            "pipeline": self.pipeline.name,
            "push": push(random, self.mesh.is_flat),
            "vertex_buffers": self.mesh.bound(),
        });
        let instances = random.of(&[1, 1, 1, 2, 4]);
        let first_instance = random.of(&[0, 0, 0, 1]);
        let words = match &self.mesh.order {
            Order::Plain { first, vertices } => {
                draw["vertices"] = json!(vertices);
                draw["first_vertex"] = json!(first);
                vec![*vertices, instances, *first, first_instance]
            }
            Order::Indexed {
                buffer,
                kind,
                first,
                indices,
                vertex_offset,
            } => {
                draw["index"] = json!({"buffer": buffer, "type": kind});
                draw["indices"] = json!(indices);
                draw["first_index"] = json!(first);
                draw["vertex_offset"] = json!(vertex_offset);
                vec![
                    *indices,
                    instances,
                    *first,
                    vertex_offset.cast_unsigned(),
                    first_instance,
                ]
            }
        };
        draw["instances"] = json!(instances);
        draw["first_instance"] = json!(first_instance);
        if random.once_in(8) {
            indirect(&mut draw, &words, random, scene);
        }
        if self.pipeline.reads_textures && random.once_in(3) {
            draw["sets"] = json!([scene.set(random)]);
        }
        if random.once_in(4) {
            draw["scissors"] = json!([rectangle(random, targets)]);
        }
        if random.once_in(5) {
            draw["viewports"] = json!([viewport(random, targets)]);
        }
        draw
    }
}

/// Takes a draw's parameters from a buffer, twice.
fn indirect(draw: &mut Value, words: &[u32], random: &mut Random, scene: &mut Parts) {
    let members = draw.as_object_mut();
    let named = [
        "vertices",
        "first_vertex",
        "indices",
        "first_index",
        "vertex_offset",
        "instances",
        "first_instance",
    ];
    if let Some(members) = members {
        named.iter().for_each(|name| drop(members.remove(*name)));
    }
    let mut all = words.to_vec();
    let mut second = words.to_vec();
    second[1] = random.between(0, 2);
    all.extend(second);
    let buffer = format!("indirect{}", scene.buffers.len());
    scene
        .buffers
        .push(json!({"name": buffer, "bytes": all.len() * 4, "init": {"u32": all}}));
    draw["indirect"] = json!({"buffer": buffer, "draws": 2, "stride": words.len() * 4});
    scene.needs(&["multiDrawIndirect", "drawIndirectFirstInstance"]);
}

/// Push constants: `mesh.vert` says what they are.
fn push(random: &mut Random, is_flat: bool) -> String {
    let whole = random.once_in(2);
    let place = if whole {
        [1.0, 1.0, 0.0, 0.0]
    } else {
        [
            random.of(&[0.5, 1.0, -0.5]),
            random.of(&[0.5, 1.0, -1.0]),
            random.signed(-2, 2) as f32 / 4.0,
            random.signed(-2, 2) as f32 / 4.0,
        ]
    };
    let tint = random.colour().map(|part| part + 0.125);
    // Depths that may round are none that another draw has.
    let beside = if is_flat { 0 } else { random.between(1, 60) };
    let from = random.between(0, 3) as f32 / 8.0 + beside as f32 / 512.0;
    let depth = [random.of(&[0.25, 0.5]), from];
    let size = random.of(&[1.0, 2.0, 3.0, 8.0]);
    let floats = place.iter().chain(&tint).chain(&depth).chain([&size]);
    let words = floats
        .map(|float: &f32| float.to_bits())
        .chain([random.between(0, 255)]);
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    hex(&bytes)
}

/// A part of the targets.
pub(crate) fn rectangle(random: &mut Random, targets: &Targets) -> [u32; 4] {
    let mut part = |pixels: u32| {
        let from = random.between(0, pixels - 1);
        (from, random.between(1, pixels - from))
    };
    let (x, width) = part(targets.width);
    let (y, height) = part(targets.height);
    [x, y, width, height]
}

/// A viewport whose size is a power of two.
fn viewport(random: &mut Random, targets: &Targets) -> [f32; 6] {
    let half = (targets.width / 2) as f32;
    let x = random.of(&[0.0, half / 2.0, half]);
    let height = targets.height as f32;
    let (y, height) = random.of(&[(0.0, height), (height, -height), (0.0, height / 2.0)]);
    let (near, far) = random.of(&[(0.0, 1.0), (0.25, 0.75), (1.0, 0.0)]);
    [x, y, half, height, near, far]
}

/// The colour that a target is cleared to.
pub(crate) fn clear_colour(random: &mut Random, targets: &Targets) -> Value {
    match targets.class {
        Class::Real => json!({"float": random.colour()}),
        Class::Signed => json!({"int": [random.signed(-9, 9), 3, random.signed(-100, 100), 1]}),
        Class::Unsigned => json!({"uint": [random.between(0, 200), 3, random.between(0, 3), 1]}),
    }
}

/// Clears of some attachments in a rectangle, of a pass that draws to all of its targets.
pub(crate) fn clear_attachments(random: &mut Random, targets: &Targets) -> Value {
    let index = random.between(0, targets.colours.len() as u32 - 1);
    let mut attachments = vec![json!({"index": index, "clear": clear_colour(random, targets)})];
    if targets.has_depth() && random.once_in(2) {
        attachments.push(json!({"aspect": "depth", "depth": random.eighths()}));
    }
    if targets.has_stencil() && random.once_in(2) {
        attachments.push(json!({"aspect": "stencil", "stencil": random.between(0, 255)}));
    }
    json!({"op": "clear_attachments", "attachments": attachments, "rects": [{"rect": rectangle(random, targets)}]})
}

//! A draw as a whole: from vertex results in heap memory to the quads of every tile, as the iterators will do it.

use super::cull::Survivor;
use super::memory::array::Array;
use super::*;
use crate::random::Random;
use crate::raster::{
    Corner, DepthBounds, LineWidth, PixelBox, PointSize, Primitive, Quad, Sampling, TriangleRules,
    cover,
};
use alloc::vec::Vec;
use eitri_descriptors::Arch;
use eitri_descriptors::framebuffer::{SamplePattern, TieBreakRule};
use eitri_descriptors::raster::DrawMode;

const RULES: TriangleRules = TriangleRules {
    tie: TieBreakRule::Minus180In0Out,
    front_ccw: true,
    conservative: false,
};

const SAMPLING: Sampling = Sampling {
    pattern: SamplePattern::Rotated4xGrid,
    each_sample: true,
    mask: 0xffff,
};

fn cull_rules(area: PixelBox) -> CullRules {
    CullRules {
        area,
        front_ccw: true,
        cull_front: false,
        cull_back: false,
        depth: DepthBounds {
            low: 0.0,
            high: 1.0,
            cull_low: true,
            cull_high: true,
        },
        conservative: false,
        line_width: LineWidth::new(1.0),
        bresenham: false,
    }
}

/// Stores positions as a vertex program does.
fn shade(memory: &mut impl HeapMemory, batch: &VertexBatch, vertex: u32, position: &Corner) {
    let address = batch
        .position_element(batch.index(vertex))
        .expect("a vertex of the batch");
    let floats = [position.x, position.y, position.z, position.inv_w];
    let bytes: Vec<u8> = floats.iter().flat_map(|it| it.to_le_bytes()).collect();
    assert!(
        memory.write(address, &bytes).is_ok(),
        "heap memory can be written"
    );
}

/// Enters what is left of a primitive.
fn enter(
    memory: &mut Array,
    list: &mut PolygonList,
    batch: &VertexBatch,
    assembled: &Assembled,
    survivors: &[Survivor],
) {
    let mut vertices = [VertexReference::default(); 3];
    for (reference, vertex) in vertices.iter_mut().zip(assembled.corners()) {
        reference.position = batch.position(*vertex, 0).expect("a vertex of the batch");
        reference.varyings = batch.varyings(*vertex, 0).expect("a vertex of the batch");
    }
    for Survivor {
        corners,
        parts,
        bounds,
    } in survivors.iter().copied()
    {
        let primitive = ListedPrimitive {
            kind: PrimitiveKind::Triangle,
            provoking: assembled.provoking,
            id: assembled.id,
            layer: 0,
            point_size: 1.0,
            bounds,
            vertices,
            piece: parts.map(|parts| Piece { corners, parts }),
            draw: 0,
        };
        list.add(memory, &primitive).expect("room");
    }
}

/// Quads of a tile in the order of drawing, each with the primitive's number.
fn read(memory: &mut Array, mut primitives: TilePrimitives, tile: PixelBox) -> Vec<(u32, Quad)> {
    let mut all = Vec::new();
    while let Some(listed) = primitives.next(memory).expect("a good list") {
        let corners = listed.corners(memory).expect("plain memory");
        let primitive = Primitive::triangle(corners, RULES).expect("it was entered");
        let mut quads = Vec::new();
        cover(&primitive, &SAMPLING, tile, &mut quads);
        all.extend(quads.into_iter().map(|quad| (listed.id, quad)));
    }
    all
}

#[test]
fn tiles_hold_the_quads_of_the_triangles_that_were_drawn() {
    let (mut memory, opening) = exhaustion::opened(40);
    let mut list = PolygonList::open(&mut memory, &opening).expect("a context");
    let area = list.framebuffer();
    let mut random = Random::new(13);
    let vertices = 40;
    let layout = VertexLayout::new(1, false, 12);
    let batch = list
        .allocate_vertices(&mut memory, layout, vertices)
        .expect("room");
    let mut part = |range: u64| random.below(range) as f32 / 16.0;
    let positions: Vec<Corner> = (0..vertices)
        .map(|_| {
            let (x, y, z) = (part(300 * 16), part(200 * 16), part(16));
            let inv_w = if part(16) < 0.2 { -0.5 } else { 0.5 };
            Corner { x, y, z, inv_w }
        })
        .collect();
    for (vertex, position) in (0..).zip(&positions) {
        shade(&mut memory, &batch, vertex, position);
    }
    let topology = Topology::new(DrawMode::TriangleStrip).expect("a topology with rules");
    let mut assembler = Assembler::new(topology, ProvokingVertex::First);
    let mut drawn = Vec::new();
    for vertex in 0..vertices {
        let Some(assembled) = assembler.vertex(vertex) else {
            continue;
        };
        let corners: Vec<Corner> = assembled
            .corners()
            .iter()
            .map(|it| positions[*it as usize])
            .collect();
        let fate = cull(&corners, PointSize::new(1.0, Arch::V10), &cull_rules(area));
        let Fate::Visible(_, survivors) = fate else {
            continue;
        };
        enter(&mut memory, &mut list, &batch, &assembled, &survivors);
        drawn.extend(
            survivors
                .into_iter()
                .map(|survivor| (assembled.id, survivor)),
        );
    }
    list.store(&mut memory).expect("plain memory");
    let root = memory.get64(opening.context);
    let reader = ListReader::open(&mut memory, root)
        .expect("a list")
        .expect("not empty");
    let mut total = 0;
    for number in 0..70u16 {
        let (min_x, min_y) = (number % 10 * 32, number / 10 * 32);
        let tile = PixelBox {
            min_x,
            min_y,
            max_x: min_x + 31,
            max_y: min_y + 31,
        };
        let primitives = reader.tile(&mut memory, 0, tile).expect("a good list");
        let got = read(&mut memory, primitives, tile);
        let mut expected = Vec::new();
        for (id, survivor) in &drawn {
            let primitive = Primitive::triangle(survivor.corners, RULES).expect("it survived");
            let mut quads = Vec::new();
            cover(&primitive, &SAMPLING, tile, &mut quads);
            expected.extend(quads.into_iter().map(|quad| (*id, quad)));
        }
        assert_eq!(got, expected, "quads of {tile:?}");
        total += got.len();
    }
    assert!(total > 1000, "{total} quads were drawn");
    assert!(
        drawn.iter().any(|(_, survivor)| survivor.parts.is_some()),
        "no triangle was cut"
    );
}

//! Materials, transforms and cameras: each picture against that of a CPU.

use super::glb::{File, Without};
use super::scene::{Alpha, Camera, Corner, IDENTITY, Part, Surface, Texture, plain, quad, turned};
use super::{FRONT, SIZE, compare, draw};
use serde_json::json;

/// Draws parts with their matrices, and compares.
#[track_caller]
fn check(parts: &[Part], camera: Camera, without: Without) {
    let file = File::of(parts, &camera, without);
    compare(&draw(&file, &[]), parts, camera, 0.06);
}

/// A picture of large texels, each of its own colour.
fn texels(width: usize, height: usize, of: impl Fn(usize, usize) -> [u8; 4]) -> Texture {
    let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    Texture {
        width,
        texels: places.map(|(x, y)| of(x, y)).collect(),
        linear: false,
        repeat: true,
    }
}

/// A ball of triangles with smooth normals.
fn ball(radius: f64, surface: Surface) -> Part {
    const ROWS: usize = 12;
    const COLUMNS: usize = 20;
    let mut corners = Vec::new();
    for row in 0..=ROWS {
        let (down, wide) = (std::f64::consts::PI * row as f64 / ROWS as f64).sin_cos();
        for column in 0..=COLUMNS {
            let turn = std::f64::consts::TAU * column as f64 / COLUMNS as f64;
            let normal = [down * turn.cos(), wide, -down * turn.sin()];
            corners.push(Corner {
                position: normal.map(|part| part * radius),
                normal,
                tangent: [-turn.sin(), 0.0, -turn.cos(), 1.0],
                place: [column as f64 / COLUMNS as f64, row as f64 / ROWS as f64],
                color: [1.0; 4],
            });
        }
    }
    let mut indices = Vec::new();
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            let at = row * (COLUMNS + 1) + column;
            let below = at + COLUMNS + 1;
            indices.extend([at, below, below + 1, at, below + 1, at + 1]);
        }
    }
    Part {
        corners,
        indices,
        surface,
        world: IDENTITY,
    }
}

#[test]
fn balls_shine_as_the_brdf_says() {
    let of = |x: f64, metallic: f64, roughness: f64| {
        let surface = Surface {
            metallic,
            roughness,
            ..plain([0.8, 0.5, 0.2, 1.0])
        };
        Part {
            world: turned(0.4, [x, 0.1, 0.0]),
            ..ball(0.75, surface)
        }
    };
    check(
        &[of(-0.8, 0.0, 0.35), of(1.0, 1.0, 0.5)],
        FRONT,
        Without::default(),
    );
}

#[test]
fn flat_normals_are_made_where_there_are_none() {
    let mut part = ball(1.3, plain([0.7, 0.7, 0.9, 1.0]));
    let corners: Vec<Corner> = part
        .indices
        .iter()
        .map(|index| part.corners[*index])
        .collect();
    part.indices = (0..corners.len()).collect();
    part.corners = corners;
    for triangle in part.corners.as_chunks_mut::<3>().0 {
        let [a, b, c] = triangle.map(|corner| corner.position);
        let [ab, ac] = [b, c].map(|to| [0, 1, 2].map(|axis| to[axis] - a[axis]));
        let across = [
            ab[1] * ac[2] - ab[2] * ac[1],
            ab[2] * ac[0] - ab[0] * ac[2],
            ab[0] * ac[1] - ab[1] * ac[0],
        ];
        let long = across.iter().map(|part| part * part).sum::<f64>().sqrt();
        // Triangles at the poles have no area.
        if long > 1e-9 {
            for corner in triangle {
                corner.normal = across.map(|part| part / long);
            }
        }
    }
    let without = Without {
        normals: true,
        tangents: true,
        indices: true,
        colors: true,
    };
    check(&[part], FRONT, without);
}

#[test]
fn textures_colours_and_factors_are_multiplied() {
    let base = texels(4, 2, |x, y| {
        [60 + 60 * x as u8, 250 - 100 * y as u8, 90, 255]
    });
    let mut part = quad(
        [1.4, 1.0],
        1.5,
        Surface {
            base_texture: Some(base),
            ..plain([0.9, 0.8, 1.0, 1.0])
        },
    );
    part.corners[0].color = [1.0, 0.2, 0.2, 1.0];
    part.corners[2].color = [0.3, 1.0, 0.4, 1.0];
    part.world = turned(0.5, [0.1, 0.0, 0.3]);
    check(&[part], FRONT, Without::default());
}

#[test]
fn texels_are_mixed_and_edges_clamped() {
    let base = Texture {
        linear: true,
        repeat: false,
        ..texels(3, 3, |x, y| {
            [40 * x as u8 + 100, 80 * y as u8 + 40, 200, 255]
        })
    };
    let part = quad(
        [1.5, 1.1],
        1.0,
        Surface {
            base_texture: Some(base),
            unlit: true,
            ..plain([1.0; 4])
        },
    );
    check(&[part], FRONT, Without::default());
}

/// A surface with every texture.
fn rich() -> Surface {
    let bumps = texels(4, 4, |x, y| {
        [90 + 25 * x as u8, 160 - 30 * y as u8, 240, 255]
    });
    let metal = texels(2, 2, |x, y| [255, 120 + 100 * x as u8, 200 * y as u8, 255]);
    Surface {
        metallic: 0.9,
        roughness: 0.8,
        emissive: [0.2, 0.1, 0.4],
        base_texture: Some(texels(2, 1, |x, _| [200, 150 - 50 * x as u8, 120, 255])),
        metal_texture: Some(metal),
        normal_texture: Some((bumps, 0.7)),
        occlusion_texture: Some((texels(1, 4, |_, y| [60 * y as u8 + 20, 0, 0, 255]), 0.8)),
        emissive_texture: Some(texels(4, 1, |x, _| [60 * x as u8, 255, 30 * x as u8, 255])),
        ..plain([0.9, 0.9, 0.9, 1.0])
    }
}

#[test]
fn every_texture_has_its_part() {
    let part = Part {
        world: turned(-0.4, [0.0, 0.0, 0.2]),
        ..quad([1.4, 1.0], 1.0, rich())
    };
    check(&[part], FRONT, Without::default());
}

#[test]
fn tangents_are_made_where_there_are_none() {
    let part = Part {
        world: turned(-0.4, [0.0, 0.0, 0.2]),
        ..quad([1.4, 1.0], 1.0, rich())
    };
    let without = Without {
        tangents: true,
        ..Without::default()
    };
    check(&[part], FRONT, without);
}

#[test]
fn what_mirrors_keeps_its_front_and_its_bumps() {
    let mut world = turned(0.3, [0.1, 0.0, 0.2]);
    world[0] = world[0].map(|part| -part);
    let part = Part {
        world,
        ..quad([1.4, 1.0], 1.0, rich())
    };
    check(&[part], FRONT, Without::default());
}

#[test]
fn masks_cut_holes_and_backs_are_lit_from_behind() {
    let holes = texels(4, 4, |x, y| {
        [220, 200, 90, if (x + y) % 3 == 0 { 90 } else { 220 }]
    });
    let cut = Surface {
        alpha: Alpha::Mask(0.5),
        double_sided: true,
        base_texture: Some(holes),
        ..plain([1.0; 4])
    };
    let back = Part {
        world: turned(2.7, [-0.2, 0.0, 0.5]),
        ..quad([1.2, 0.9], 1.0, cut)
    };
    let behind = Part {
        world: turned(0.0, [0.0, 0.0, -0.5]),
        ..quad([1.8, 0.6], 1.0, plain([0.2, 0.4, 0.9, 1.0]))
    };
    // A back that is not double sided is not there.
    let hidden = Part {
        world: turned(std::f64::consts::PI, [0.3, 0.2, 0.9]),
        ..quad([0.9, 0.9], 1.0, plain([1.0, 0.0, 0.0, 1.0]))
    };
    check(&[back, behind, hidden], FRONT, Without::default());
}

#[test]
fn what_is_blended_is_drawn_from_back_to_front() {
    let glass = |color: [f64; 4], x: f64, z: f64| Part {
        world: turned(0.1, [x, 0.0, z]),
        ..quad(
            [0.8, 0.7],
            1.0,
            Surface {
                alpha: Alpha::Blend,
                ..plain(color)
            },
        )
    };
    let wall = Part {
        world: turned(0.0, [0.0, -0.3, -0.4]),
        ..quad([1.9, 0.6], 1.0, plain([0.9, 0.9, 0.8, 1.0]))
    };
    // The file has the nearest first, and what is opaque last.
    let parts = [
        glass([0.9, 0.2, 0.1, 0.4], 0.3, 0.8),
        glass([0.1, 0.8, 0.2, 0.6], -0.2, 0.4),
        wall,
    ];
    check(&parts, FRONT, Without::default());
}

#[test]
fn a_camera_may_see_in_parallel() {
    let camera = Camera {
        place: [0.5, 0.2, 3.0],
        turn: 0.2,
        half_height: 1.2,
        parallel: true,
    };
    let part = ball(
        1.0,
        Surface {
            metallic: 0.5,
            roughness: 0.4,
            ..plain([0.3, 0.7, 0.9, 1.0])
        },
    );
    check(&[part], camera, Without::default());
}

#[test]
fn nodes_stand_in_the_coordinates_of_their_parents() {
    // A turn of a right angle around y, a move, and scales; then another move inside.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let part = Part {
        world: [
            [0.0, 0.0, -1.5, 0.0],
            [0.0, 0.5, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0],
            // (0, 0.4, 0.6) scaled to (0, 0.2, 0.6), turned to (0.6, 0.2, 0), and moved.
            [0.2, 0.3, 0.1, 1.0],
        ],
        ..ball(1.0, plain([0.4, 0.9, 0.5, 1.0]))
    };
    let mut file = File::new();
    let mesh = file.mesh(&part, Without::default());
    let child = file.push(
        "nodes",
        json!({"mesh": mesh, "translation": [0.0, 0.4, 0.6]}),
    );
    file.root(json!({
        "translation": [-0.4, 0.1, 0.1], "rotation": [0.0, half, 0.0, half], "scale": [1.5, 0.5, 1.0], "children": [child],
    }));
    file.camera(&FRONT);
    compare(&draw(&file, &[]), &[part], FRONT, 0.06);
}

#[test]
fn several_samples_soften_sides_alone() {
    let part = ball(1.2, plain([0.9, 0.6, 0.3, 1.0]));
    let file = File::of(std::slice::from_ref(&part), &FRONT, Without::default());
    let smooth = draw(&file, &["--samples", "4"]);
    compare(&smooth, std::slice::from_ref(&part), FRONT, 0.5);
    let hard = draw(&file, &[]);
    let differ = smooth.iter().zip(&hard).filter(|(a, b)| a != b).count();
    assert!(
        differ > 20 && differ < SIZE[0] * SIZE[1] / 8,
        "{differ} pixels are softened"
    );
}

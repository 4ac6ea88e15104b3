//! The picture that a CPU makes of a scene: rays against triangles in double precision, materials by appendix B of glTF 2.0.
//!
//! It shares nothing with the command: neither readers nor matrices, neither the rasteriser nor the shader.

use super::scene::{
    Alpha, Camera, Corner, ENVIRONMENT, LIGHT, LIGHT_COLOR, Matrix, Part, Surface, Texture, Vector,
    mapped,
};
use std::f64::consts::PI;

/// What a ray finds: the colour in linear light, and the surfaces that it met, nearest first.
pub struct Seen {
    pub color: Vector,
    pub surfaces: Vec<usize>,
}

/// A triangle in the world.
struct Triangle<'s> {
    corners: [Corner; 3],
    surface: &'s Surface,
    number: usize,
    /// Whether its node mirrors: then the front is seen clockwise.
    mirrored: bool,
}

/// A scene, ready for rays.
pub struct World<'s> {
    triangles: Vec<Triangle<'s>>,
    camera: Camera,
    size: [usize; 2],
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn minus(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn normal(a: Vector) -> Vector {
    let length = dot(a, a).sqrt();
    a.map(|part| part / length)
}

/// The inverse of the linear part, transposed.
fn of_normals(map: &Matrix, vector: Vector) -> Vector {
    let [x, y, z] = [0, 1, 2].map(|column| [map[column][0], map[column][1], map[column][2]]);
    let determinant = dot(cross(x, y), z);
    let columns = [cross(y, z), cross(z, x), cross(x, y)];
    [0, 1, 2].map(|row| {
        let parts = columns.iter().zip(vector);
        parts.map(|(column, part)| column[row] * part).sum::<f64>() / determinant
    })
}

impl<'s> World<'s> {
    pub fn new(parts: &'s [Part], camera: Camera, size: [usize; 2]) -> World<'s> {
        let mut triangles = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let map = &part.world;
            let [a, b, c] = [0, 1, 2].map(|at| [map[at][0], map[at][1], map[at][2]]);
            let mirrored = dot(cross(a, b), c) < 0.0;
            for three in part.indices.as_chunks::<3>().0 {
                let corners = three.map(|index| {
                    let corner = part.corners[index];
                    let [x, y, z, sign] = corner.tangent;
                    let [x, y, z] = mapped(map, [x, y, z], 0.0);
                    // What mirrors turns the bitangent round.
                    let sign = if mirrored { -sign } else { sign };
                    Corner {
                        position: mapped(map, corner.position, 1.0),
                        normal: of_normals(map, corner.normal),
                        tangent: [x, y, z, sign],
                        ..corner
                    }
                });
                triangles.push(Triangle {
                    corners,
                    surface: &part.surface,
                    number,
                    mirrored,
                });
            }
        }
        World {
            triangles,
            camera,
            size,
        }
    }

    /// What is seen at a place of the picture, in pixels from the upper left.
    pub fn seen(&self, x: f64, y: f64) -> Seen {
        let [width, height] = self.size.map(|side| side as f64);
        let up = (1.0 - 2.0 * y / height) * self.camera.half_height;
        let right = (2.0 * x / width - 1.0) * self.camera.half_height * width / height;
        let turn = super::scene::turned(self.camera.turn, self.camera.place);
        let (from, along) = match self.camera.parallel {
            true => (
                mapped(&turn, [right, up, 0.0], 1.0),
                mapped(&turn, [0.0, 0.0, -1.0], 0.0),
            ),
            false => (
                self.camera.place,
                normal(mapped(&turn, [right, up, -1.0], 0.0)),
            ),
        };
        let mut hits: Vec<(f64, usize, Corner, bool)> = Vec::new();
        for (at, triangle) in self.triangles.iter().enumerate() {
            if let Some((distance, corner, front)) = hit(triangle, from, along) {
                hits.push((distance, at, corner, front));
            }
        }
        hits.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut seen = Seen {
            color: [0.0; 3],
            surfaces: Vec::new(),
        };
        let mut through = 1.0;
        for (_, at, corner, front) in hits {
            let triangle = &self.triangles[at];
            if !front && !triangle.surface.double_sided {
                continue;
            }
            let Some((color, alpha)) = shade(triangle.surface, &corner, along, front) else {
                continue;
            };
            seen.surfaces.push(triangle.number * 2 + usize::from(front));
            for (sum, part) in seen.color.iter_mut().zip(color) {
                // Each layer is stored in eight bits, which end at 1.
                *sum += through * alpha * part.min(1.0);
            }
            through *= 1.0 - alpha;
            if alpha >= 1.0 {
                return seen;
            }
        }
        for (sum, part) in seen.color.iter_mut().zip(ENVIRONMENT) {
            *sum += through * part;
        }
        seen
    }
}

/// Where a ray meets a triangle: how far away, the attributes there, and whether it is the front.
fn hit(triangle: &Triangle<'_>, from: Vector, along: Vector) -> Option<(f64, Corner, bool)> {
    let [a, b, c] = &triangle.corners;
    let (ab, ac) = (minus(b.position, a.position), minus(c.position, a.position));
    let across = cross(ab, ac);
    let facing = -dot(across, along);
    if facing.abs() < 1e-12 {
        return None;
    }
    let start = minus(from, a.position);
    let distance = dot(start, across) / facing;
    let moved = cross(start, along);
    let (v, w) = (dot(ac, moved) / facing, -dot(ab, moved) / facing);
    if distance <= 1e-6 || v < 0.0 || w < 0.0 || v + w > 1.0 {
        return None;
    }
    let weights = [1.0 - v - w, v, w];
    let mix = |of: &dyn Fn(&Corner) -> f64| -> f64 {
        let pairs = weights.iter().zip(&triangle.corners);
        pairs.map(|(weight, corner)| weight * of(corner)).sum()
    };
    let corner = Corner {
        position: [0, 1, 2].map(|at| mix(&|corner| corner.position[at])),
        normal: [0, 1, 2].map(|at| mix(&|corner| corner.normal[at])),
        tangent: [0, 1, 2, 3].map(|at| mix(&|corner| corner.tangent[at])),
        place: [0, 1].map(|at| mix(&|corner| corner.place[at])),
        color: [0, 1, 2, 3].map(|at| mix(&|corner| corner.color[at])),
    };
    Some((distance, corner, (facing > 0.0) != triangle.mirrored))
}

fn linear(code: f64) -> f64 {
    if code <= 0.04045 {
        code / 12.92
    } else {
        ((code + 0.055) / 1.055).powf(2.4)
    }
}

/// The code of linear light, from 0 to 255.
pub fn code(value: f64) -> f64 {
    let value = value.clamp(0.0, 1.0);
    255.0
        * if value <= 0.003_130_8 {
            value * 12.92
        } else {
            1.055 * value.powf(1.0 / 2.4) - 0.055
        }
}

impl Texture {
    fn texel(&self, x: i64, y: i64, srgb: bool) -> [f64; 4] {
        let height = self.texels.len() / self.width;
        let inside = |at: i64, side: usize| match self.repeat {
            true => at.rem_euclid(side as i64) as usize,
            false => at.clamp(0, side as i64 - 1) as usize,
        };
        let (x, y) = (inside(x, self.width), inside(y, height));
        let bytes = self.texels[y * self.width + x];
        [0, 1, 2, 3].map(|part| {
            let value = f64::from(bytes[part]) / 255.0;
            if srgb && part < 3 {
                linear(value)
            } else {
                value
            }
        })
    }

    fn read(&self, [u, v]: [f64; 2], srgb: bool) -> [f64; 4] {
        let height = self.texels.len() / self.width;
        let (x, y) = (u * self.width as f64, v * height as f64);
        if !self.linear {
            return self.texel(x.floor() as i64, y.floor() as i64, srgb);
        }
        let (x, y) = (x - 0.5, y - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let (right, down) = (x - left, y - top);
        let of = |dx: i64, dy: i64| self.texel(left as i64 + dx, top as i64 + dy, srgb);
        let (a, b, c, d) = (of(0, 0), of(1, 0), of(0, 1), of(1, 1));
        [0, 1, 2, 3].map(|part| {
            let upper = a[part] * (1.0 - right) + b[part] * right;
            let lower = c[part] * (1.0 - right) + d[part] * right;
            upper * (1.0 - down) + lower * down
        })
    }
}

/// Colour and alpha of a surface; `None` where it is cut out.
fn shade(surface: &Surface, at: &Corner, along: Vector, front: bool) -> Option<(Vector, f64)> {
    let read = |texture: &Option<Texture>, srgb| match texture {
        Some(texture) => texture.read(at.place, srgb),
        None => [1.0; 4],
    };
    let texel = read(&surface.base_texture, true);
    let base = [0, 1, 2, 3].map(|part| surface.base[part] * texel[part] * at.color[part]);
    let alpha = match surface.alpha {
        Alpha::Opaque => 1.0,
        Alpha::Mask(least) if base[3] < least => return None,
        Alpha::Mask(_) => 1.0,
        Alpha::Blend => base[3],
    };
    let base = [base[0], base[1], base[2]];
    if surface.unlit {
        return Some((base, alpha));
    }
    let texel = read(&surface.metal_texture, false);
    let (metallic, roughness) = (surface.metallic * texel[2], surface.roughness * texel[1]);
    let mut n = normal(at.normal);
    if let Some((texture, scale)) = &surface.normal_texture {
        let texel = texture.read(at.place, false);
        let [x, y, z, sign] = at.tangent;
        let t = normal([x, y, z]);
        let b = cross(n, t).map(|part| part * sign);
        let [x, y] = [0, 1].map(|part| (texel[part] * 2.0 - 1.0) * scale);
        let z = texel[2] * 2.0 - 1.0;
        n = normal([0, 1, 2].map(|axis| t[axis] * x + b[axis] * y + n[axis] * z));
    }
    if !front {
        n = n.map(|part| -part);
    }
    let (v, l) = (along.map(|part| -part), normal(LIGHT));
    let h = normal([0, 1, 2].map(|axis| v[axis] + l[axis]));
    let n_l = dot(n, l).clamp(0.0, 1.0);
    let n_v = dot(n, v).abs().clamp(1e-4, 1.0);
    let (n_h, v_h) = (dot(n, h).max(0.0), dot(v, h).max(0.0));
    let a = (roughness * roughness).max(0.002);
    let a2 = a * a;
    let d = a2 / (PI * (n_h * n_h * (a2 - 1.0) + 1.0).powi(2));
    // Smith's two terms, with the cosines of the denominator.
    let joint = 0.5
        / (n_l * (n_v * n_v * (1.0 - a2) + a2).sqrt() + n_v * (n_l * n_l * (1.0 - a2) + a2).sqrt())
            .max(1e-5);
    let occlusion = match &surface.occlusion_texture {
        Some((texture, strength)) => 1.0 + strength * (texture.read(at.place, false)[0] - 1.0),
        None => 1.0,
    };
    let glow = read(&surface.emissive_texture, true);
    let color = [0, 1, 2].map(|part| {
        let f0 = 0.04 * (1.0 - metallic) + base[part] * metallic;
        let diffuse = base[part] * (1.0 - metallic);
        let fresnel = f0 + (1.0 - f0) * (1.0 - v_h).powi(5);
        let direct = ((1.0 - fresnel) * diffuse / PI + fresnel * d * joint) * n_l;
        let grazing = (1.0 - roughness).max(f0);
        let around = f0 + (grazing - f0) * (1.0 - dot(n, v).abs().min(1.0)).powi(5);
        surface.emissive[part] * glow[part]
            + direct * LIGHT_COLOR[part] * PI
            + ENVIRONMENT[part] * ((1.0 - around) * diffuse + around) * occlusion
    });
    Some((color, alpha))
}

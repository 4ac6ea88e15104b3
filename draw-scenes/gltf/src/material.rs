//! Materials: their kind, which chooses a shader, and their numbers, which the shader reads.
//!
//! Facts: glTF 2.0, "Materials", KHR_materials_unlit, KHR_materials_emissive_strength, KHR_texture_transform.

use crate::error::Fault;
use gltf::material::{AlphaMode, Material};
use gltf::texture::{Info, Texture};
use serde_json::Value;

/// The extension that moves textures.
const TRANSFORM: &str = "KHR_texture_transform";
/// Textures of a material: base colour, metallic and roughness, normals, occlusion, emissive.
pub(crate) const TEXTURES: usize = 5;
/// What they are called in the shader's constants.
const NAMES: [&str; TEXTURES] = ["BASE", "METAL", "NORMAL", "OCCLUSION", "EMISSIVE"];
/// Those whose texels are colours in sRGB.
pub(crate) const SRGB: [bool; TEXTURES] = [true, false, false, false, true];
/// The place of the normal map among them.
const NORMAL: usize = 2;
/// Bytes of a material's numbers, as offsets of descriptors may be.
pub(crate) const MATERIAL_BYTES: usize = 256;

/// How alpha is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alpha {
    Opaque,
    Masked,
    Blended,
}

/// What materials of one shader have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    pub(crate) textures: [bool; TEXTURES],
    pub(crate) alpha: Alpha,
    pub(crate) unlit: bool,
}

impl Kind {
    /// The constants that stand before the shader.
    pub(crate) fn constants(&self) -> String {
        let textures = NAMES.iter().zip(self.textures);
        let textures = textures.map(|(name, has)| (format!("HAS_{name}"), has));
        let others = [
            ("MASKED".to_owned(), self.alpha == Alpha::Masked),
            ("BLENDED".to_owned(), self.alpha == Alpha::Blended),
            ("UNLIT".to_owned(), self.unlit),
        ];
        let lines = textures.chain(others);
        lines
            .map(|(name, value)| format!("const {name}: bool = {value};\n"))
            .collect()
    }
}

/// A texture of a material.
#[derive(Clone)]
pub(crate) struct Used<'d> {
    pub(crate) texture: Texture<'d>,
    set: u32,
    /// Rows of the map of coordinates.
    map: [[f32; 3]; 2],
}

/// A material.
pub(crate) struct Surface<'d> {
    pub(crate) kind: Kind,
    pub(crate) double_sided: bool,
    pub(crate) textures: [Option<Used<'d>>; TEXTURES],
    base: [f32; 4],
    emissive: [f32; 4],
    factors: [f32; 4],
}

impl<'d> Surface<'d> {
    /// Reads a material.
    pub(crate) fn read(material: &Material<'d>) -> Result<Surface<'d>, Fault> {
        let pbr = material.pbr_metallic_roughness();
        let unlit = material.unlit();
        let normal = material.normal_texture();
        let occlusion = material.occlusion_texture();
        let scale = normal.as_ref().map_or(1.0, |normal| normal.scale());
        let strength = occlusion.as_ref().map_or(1.0, |it| it.strength());
        let normal =
            normal.map(|it| used(it.texture(), it.tex_coord(), it.extension_value(TRANSFORM)));
        let occlusion =
            occlusion.map(|it| used(it.texture(), it.tex_coord(), it.extension_value(TRANSFORM)));
        let lit = [
            pbr.metallic_roughness_texture().map(of_info).transpose()?,
            normal.transpose()?,
            occlusion.transpose()?,
            material.emissive_texture().map(of_info).transpose()?,
        ];
        let [metal, normal, occlusion, emissive] = if unlit { [const { None }; 4] } else { lit };
        let base = pbr.base_color_texture().map(of_info).transpose()?;
        let textures = [base, metal, normal, occlusion, emissive];
        let alpha = match material.alpha_mode() {
            AlphaMode::Opaque => Alpha::Opaque,
            AlphaMode::Mask => Alpha::Masked,
            AlphaMode::Blend => Alpha::Blended,
        };
        let light = material.emissive_strength().unwrap_or(1.0);
        let [red, green, blue] = material.emissive_factor().map(|part| part * light);
        let cutoff = material.alpha_cutoff().unwrap_or(0.5);
        Ok(Surface {
            kind: Kind {
                textures: textures.each_ref().map(Option::is_some),
                alpha,
                unlit,
            },
            double_sided: material.double_sided(),
            textures,
            base: pbr.base_color_factor(),
            emissive: [red, green, blue, cutoff],
            factors: [
                pbr.metallic_factor(),
                pbr.roughness_factor(),
                scale,
                strength,
            ],
        })
    }

    /// The set of texture coordinates of the normal map, if there is one.
    pub(crate) fn normal_set(&self) -> Option<u32> {
        self.textures[NORMAL].as_ref().map(|used| used.set)
    }

    /// The numbers that the shader reads.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let placed = self.textures.iter().flat_map(|used| {
            let set = used.as_ref().map_or(0.0, |used| used.set as f32);
            let map = used.as_ref().map_or(IDENTITY, |used| used.map);
            map.map(|[x, y, moved]| [x, y, moved, set])
        });
        let all = [self.base, self.emissive, self.factors];
        let numbers = all.into_iter().chain(placed).flatten();
        let mut bytes: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
        bytes.resize(MATERIAL_BYTES, 0);
        bytes
    }
}

const IDENTITY: [[f32; 3]; 2] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

fn of_info<'d>(info: Info<'d>) -> Result<Used<'d>, Fault> {
    used(
        info.texture(),
        info.tex_coord(),
        info.extension_value(TRANSFORM),
    )
}

fn used<'d>(texture: Texture<'d>, set: u32, transform: Option<&Value>) -> Result<Used<'d>, Fault> {
    let bad = || Fault::invalid(format!("{TRANSFORM} with a member of another type"));
    let (mut set, mut map) = (set, IDENTITY);
    if let Some(transform) = transform {
        let other = numbers(transform, "texCoord", [f64::from(set)]).ok_or_else(bad)?;
        // Numbers of sets are small, and what is too large is refused below.
        set = other[0] as u32;
        let [angle] = numbers(transform, "rotation", [0.0]).ok_or_else(bad)?;
        let [x, y] = numbers(transform, "offset", [0.0; 2]).ok_or_else(bad)?;
        let [wide, high] = numbers(transform, "scale", [1.0; 2]).ok_or_else(bad)?;
        let (sin, cos) = angle.sin_cos();
        map = [[cos * wide, sin * high, x], [-sin * wide, cos * high, y]]
            .map(|row| row.map(|number| number as f32));
    }
    match set {
        0 | 1 => Ok(Used { texture, set, map }),
        _ => Err(Fault::unsupported(format!("TEXCOORD_{set}"))),
    }
}

/// The numbers of a member, or these if it is absent; `None` if it is something else.
fn numbers<const N: usize>(of: &Value, member: &str, or: [f64; N]) -> Option<[f64; N]> {
    match of.get(member) {
        None => Some(or),
        Some(Value::Array(all)) => {
            let all = all
                .iter()
                .map(Value::as_f64)
                .collect::<Option<Vec<f64>>>()?;
            all.try_into().ok()
        }
        Some(one) => Some([one.as_f64()?; N]).filter(|_| N == 1),
    }
}

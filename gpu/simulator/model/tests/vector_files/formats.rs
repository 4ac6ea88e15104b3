//! The formats of the facts, and what their texels are worth by formulas that stand here.
//!
//! Facts: data/formats.json; hardware/graphics-formats.md 1 to 3.

use super::{bits, number};
use serde_json::Value;

/// Texels of a format.
pub const TEXELS: usize = 16;

/// The formats of the facts with one of these uses.
pub fn formats(uses: &[&str]) -> Vec<Format> {
    let Some(text) = eitri_testdata::read_shared("hardware/data/formats.json") else {
        return Vec::new();
    };
    let file: Value = serde_json::from_str(&text).expect("the facts are JSON");
    let rows = file["formats"].as_array().expect("a list");
    assert!(rows.len() > 200, "formats.json is cut short");
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move || {
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            u128::from(state)
        };
        next() << 64 | next()
    };
    let all = rows.iter().filter_map(|row| Format::of(row, &mut random));
    all.filter(|format| format.allows(uses)).collect()
}

/// How a component is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Unorm,
    Srgb,
    Snorm,
    Uint,
    Sint,
    Float,
}

/// A component: its number (red first), its lowest bit and its width.
pub type Component = (usize, u32, u32, Kind);

/// A row of the facts.
pub struct Format {
    pub name: String,
    /// Code and order of components.
    pub word: u32,
    /// Code of the clump.
    pub clump: u64,
    pub bytes: usize,
    pub components: Vec<Component>,
    /// Texels of zeros, of ones, and others.
    pub texels: Vec<u128>,
    /// The row.
    pub row: Value,
}

impl Format {
    fn of(row: &Value, random: &mut impl FnMut() -> u128) -> Option<Format> {
        let bytes = number(&row["bytes"]) as usize;
        let components = row["components"].as_array()?.iter().filter_map(component);
        // What lies in a plane of its own, and integers of 64 bits, which are aliases, are left out.
        let components: Vec<Component> = components.filter(|it| it.2 <= 32).collect();
        let clump = row["clump"].as_u64().unwrap_or(0);
        let mask = u128::MAX >> (128 - 8 * bytes);
        (row["block"] == serde_json::json!([1, 1, 1]) && !components.is_empty()).then(|| Format {
            name: row["vk"].to_string(),
            word: bits(&row["mali"]["word"]),
            clump,
            bytes,
            components,
            texels: [0, u128::MAX]
                .into_iter()
                .chain(std::iter::repeat_with(random))
                .map(|texel| texel & mask)
                .take(TEXELS)
                .collect(),
            row: row.clone(),
        })
    }

    pub fn allows(&self, uses: &[&str]) -> bool {
        uses.iter().any(|name| self.row["use"][*name] == true)
    }

    pub fn is_depth_or_stencil(&self) -> bool {
        self.allows(&["depth_stencil"])
    }

    /// What registers hold of a texel.
    pub fn registers(&self, texel: u128) -> [u32; 4] {
        let one = if self.is_integer() {
            1
        } else {
            1.0_f32.to_bits()
        };
        let mut registers = [0, 0, 0, one];
        let shared = self.name.contains("E5B9G9R9");
        for (index, low, width, kind) in &self.components {
            let code = (texel >> low) as u32 & (u32::MAX >> (32 - width));
            registers[*index] = match shared {
                true => (f64::from(code) * 2_f64.powi((texel >> 27) as i32 - 24)) as f32,
                false => match component_value(*kind, code, *width) {
                    Ok(value) => value as f32,
                    Err(integer) => {
                        registers[*index] = integer;
                        continue;
                    }
                },
            }
            .to_bits();
        }
        registers
    }

    /// The same format with its components in the order red to alpha in memory.
    pub fn canonical(mut self) -> Format {
        self.components.sort_by_key(|(_, low, ..)| *low);
        let mut order: Vec<usize> = self.components.iter().map(|it| it.0).collect();
        order.sort_unstable();
        for (component, index) in self.components.iter_mut().zip(order) {
            component.0 = index;
        }
        self
    }

    /// Whether registers hold integers of it.
    pub fn is_integer(&self) -> bool {
        matches!(self.components[0].3, Kind::Uint | Kind::Sint)
    }

    /// The texel that is stored for what a texel is worth; `None` where several are.
    pub fn stored_again(&self, texel: u128) -> Option<u128> {
        if self.name.contains("E5B9G9R9") {
            return None;
        }
        let mut again = 0;
        for (_, low, width, kind) in &self.components {
            let mask = u32::MAX >> (32 - width);
            let code = (texel >> low) as u32 & mask;
            let code = match kind {
                // The least code is worth as much as the one above it.
                Kind::Snorm if code == 1 << (width - 1) => code + 1,
                Kind::Float if float(code, *width).is_nan() => return None,
                _ => code,
            };
            again |= u128::from(code) << low;
        }
        Some(again)
    }
}

fn component(row: &Value) -> Option<Component> {
    let name = row["c"].as_str()?;
    // Depth and stencil land in red; one of the two has another plane or another view.
    let index = "RGBA".find(name).or((name == "D").then_some(0));
    let index = index.or((name == "S" && row["plane"].is_null() && row["at"] == 0).then_some(0))?;
    let kind = match row["type"].as_str()? {
        "unorm" => Kind::Unorm,
        "srgb" => Kind::Srgb,
        "snorm" => Kind::Snorm,
        "uint" | "uscaled" => Kind::Uint,
        "sint" | "sscaled" => Kind::Sint,
        "sfloat" | "ufloat" => Kind::Float,
        _ => return None,
    };
    Some((index, number(&row["at"]), number(&row["bits"]), kind))
}

/// A number, or the bits of an integer.
pub fn component_value(kind: Kind, code: u32, width: u32) -> Result<f64, u32> {
    let signed = (code << (32 - width)) as i32 >> (32 - width);
    let all = |width: u32| (2_f64.powi(width as i32)) - 1.0;
    Ok(match kind {
        Kind::Unorm => f64::from(code) / all(width),
        Kind::Srgb => {
            let value = f64::from(code) / all(width);
            match value <= 0.04045 {
                true => value / 12.92,
                false => ((value + 0.055) / 1.055).powf(2.4),
            }
        }
        Kind::Snorm => (f64::from(signed) / all(width - 1)).max(-1.0),
        Kind::Uint => return Err(code),
        Kind::Sint => return Err(signed as u32),
        Kind::Float => float(code, width),
    })
}

/// A float of 32 or 16 bits, or one of 11 or 10 bits without a sign.
fn float(code: u32, width: u32) -> f64 {
    if width == 32 {
        return f32::from_bits(code).into();
    }
    let mantissa = if width == 16 { 10 } else { width - 5 };
    let sign = if width == 16 && code >> 15 != 0 {
        -1.0
    } else {
        1.0
    };
    let fraction = f64::from(code & ((1 << mantissa) - 1)) / 2_f64.powi(mantissa as i32);
    match code >> mantissa & 0x1f {
        0 => sign * fraction * 2_f64.powi(-14),
        0x1f if fraction == 0.0 => sign * f64::INFINITY,
        0x1f => f64::NAN,
        exponent => sign * (1.0 + fraction) * 2_f64.powi(exponent as i32 - 15),
    }
}

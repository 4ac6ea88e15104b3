//! Block-compressed formats: the texel of a block of ETC2, EAC, BC1 to BC7 and ASTC.
//!
//! A decoded texel is the bits of the interchange format that the texture's format word names: RGBA8, R16, RG16 or RGBA16F, first
//! component lowest. Order, sRGB and filtering come after and are the same as for formats that are not compressed.
//! Guarantees: every block decodes to something, whatever its bits.  Never: reads memory, or knows descriptors.
//!
//! Facts: hardware/graphics-compression.md; its tables are data/compression-tables.json.

mod astc;
mod bc;
mod bc6h;
mod bc7;
mod bits;
mod etc;
mod partitions;
#[cfg(test)]
mod vectors;

pub(crate) use astc::Astc;

/// How a block is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockFormat {
    /// ETC2 without alpha.
    Etc2Rgb,
    /// ETC2 with one bit of alpha.
    Etc2Rgba1,
    /// ETC2 with an EAC block for alpha.
    Etc2Rgba,
    EacR {
        signed: bool,
    },
    EacRg {
        signed: bool,
    },
    Bc1,
    Bc2,
    Bc3,
    Bc4 {
        signed: bool,
    },
    Bc5 {
        signed: bool,
    },
    Bc6h {
        signed: bool,
    },
    Bc7,
    Astc(Astc),
}

impl BlockFormat {
    /// The format of a clump format's number; `None` if its elements are not compressed.
    pub(crate) fn of_clump(clump: u32) -> Option<BlockFormat> {
        Some(match clump {
            32 => BlockFormat::Etc2Rgb,
            33 => BlockFormat::EacR { signed: false },
            34 => BlockFormat::EacR { signed: true },
            35 => BlockFormat::EacRg { signed: false },
            36 => BlockFormat::EacRg { signed: true },
            37 => BlockFormat::Etc2Rgba,
            38 => BlockFormat::Etc2Rgba1,
            48 => BlockFormat::Bc1,
            49 => BlockFormat::Bc2,
            50 => BlockFormat::Bc3,
            51 => BlockFormat::Bc4 { signed: false },
            52 => BlockFormat::Bc4 { signed: true },
            53 => BlockFormat::Bc5 { signed: false },
            54 => BlockFormat::Bc5 { signed: true },
            55 => BlockFormat::Bc6h { signed: false },
            56 => BlockFormat::Bc6h { signed: true },
            57 => BlockFormat::Bc7,
            _ => return None,
        })
    }

    /// Texels of a block along each axis.
    pub(crate) fn texels(&self) -> [u32; 3] {
        match self {
            BlockFormat::Astc(astc) => astc.footprint,
            _ => [4, 4, 1],
        }
    }

    /// Bytes of a block.
    pub(crate) fn bytes(&self) -> u8 {
        match self {
            BlockFormat::Etc2Rgb
            | BlockFormat::Etc2Rgba1
            | BlockFormat::EacR { .. }
            | BlockFormat::Bc1
            | BlockFormat::Bc4 { .. } => 8,
            _ => 16,
        }
    }

    /// Bytes of a texel of the interchange format.
    pub(crate) fn texel_bytes(&self) -> u8 {
        match self {
            BlockFormat::EacR { .. } | BlockFormat::Bc4 { .. } => 2,
            BlockFormat::Bc6h { .. } => 8,
            BlockFormat::Astc(astc) if astc.wide => 8,
            _ => 4,
        }
    }

    /// The bits of a texel in the interchange format. `at` is inside the block, whose first byte is the lowest of `block`.
    pub(crate) fn texel(&self, block: u128, at: [u32; 3]) -> u64 {
        let [x, y, _] = at;
        let (first, second) = (block as u64, (block >> 64) as u64);
        match *self {
            BlockFormat::Etc2Rgb => bytes(etc::colour(first.swap_bytes(), false, [x, y])),
            BlockFormat::Etc2Rgba1 => bytes(etc::colour(first.swap_bytes(), true, [x, y])),
            BlockFormat::Etc2Rgba => {
                let [red, green, blue, _] = etc::colour(second.swap_bytes(), false, [x, y]);
                let alpha = etc::alpha(first.swap_bytes(), [x, y]);
                bytes([red, green, blue, alpha])
            }
            BlockFormat::EacR { signed } => etc::eleven(first.swap_bytes(), signed, [x, y]).into(),
            BlockFormat::EacRg { signed } => {
                halves([first, second].map(|block| etc::eleven(block.swap_bytes(), signed, [x, y])))
            }
            BlockFormat::Bc1 => bytes(bc::colour(first, true, [x, y])),
            BlockFormat::Bc2 => {
                let [red, green, blue, _] = bc::colour(second, false, [x, y]);
                let alpha = (first >> (4 * (4 * y + x)) & 0xf) as u8 * 17;
                bytes([red, green, blue, alpha])
            }
            BlockFormat::Bc3 => {
                let [red, green, blue, _] = bc::colour(second, false, [x, y]);
                bytes([red, green, blue, bc::single(first, false, [x, y]).byte()])
            }
            BlockFormat::Bc4 { signed } => bc::single(first, signed, [x, y]).word(signed).into(),
            BlockFormat::Bc5 { signed } => {
                halves([first, second].map(|block| bc::single(block, signed, [x, y]).word(signed)))
            }
            BlockFormat::Bc6h { signed } => {
                let [red, green, blue] = bc6h::colour(block, signed, [x, y]);
                halves([red, green, blue, bc6h::ONE])
            }
            BlockFormat::Bc7 => bytes(bc7::colour(block, [x, y])),
            BlockFormat::Astc(astc) => {
                let colour = astc.colour(block, at);
                if astc.wide {
                    halves(colour)
                } else {
                    bytes(colour.map(|component| component as u8))
                }
            }
        }
    }
}

/// A texel of bytes, the first lowest.
fn bytes(components: [u8; 4]) -> u64 {
    u32::from_le_bytes(components).into()
}

/// A texel of components of 16 bits, the first lowest.
fn halves<const COUNT: usize>(components: [u16; COUNT]) -> u64 {
    let places = components.into_iter().enumerate();
    places.fold(0, |texel, (index, component)| {
        texel | u64::from(component) << (16 * index)
    })
}

//! Contents of the tile as a fragment shader reads them: what the model holds of a sample, in the words of the interpreter.

use super::attachments::Targets;
use eitri_model::{TileColor, TileContents};
use eitri_shaderc::interp::{Fragment, TexelFormat};

impl Targets<'_> {
    /// Gives a fragment what the tile holds of it.
    pub(super) fn show(&self, held: &TileContents, fragment: &mut Fragment) {
        let targets = fragment.tile.iter_mut().zip(&held.colors).zip(&self.colors);
        for ((words, color), target) in targets {
            *words = match color {
                TileColor::Floats(components) => components.map(f32::to_bits),
                TileColor::Integers(components) => *components,
                TileColor::Raw(bits) => {
                    let format = target.as_ref().map(|target| &target.view.format);
                    let format = format.and_then(|name| of_name(name));
                    format.map_or([0; 4], |format| of_raw(*bits, &format))
                }
            };
        }
        fragment.depth = held.depth;
        fragment.stencil = held.stencil;
    }
}

fn of_name(name: &str) -> Option<TexelFormat> {
    TexelFormat::of_name(&name.to_ascii_uppercase())
}

/// The words of a texel whose bits are in the tile as they will be in memory.
fn of_raw(bits: u128, format: &TexelFormat) -> [u32; 4] {
    let bytes = bits.to_le_bytes();
    bytes
        .get(..format.bytes())
        .map_or([0; 4], |bytes| format.load(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_bits_are_those_of_memory() {
        let two = of_name("r32g32_uint").unwrap();
        assert_eq!(of_raw(0x7_0000_0005, &two), [5, 7, 0, 1]);
        let halves = of_name("r16g16_sfloat").unwrap();
        let one = 1.0f32.to_bits();
        assert_eq!(of_raw(0x3c00_0000, &halves)[..2], [0, one]);
    }
}

//! What is packed unpacks, whatever the values; and no bytes make anything panic.

use eitri_descriptors::{
    AGGREGATES, Arch, Descriptor, DescriptorError, Kind, LAYOUTS, Layout, Modifier, Printed, Row,
    SUPPORTED, blend, framebuffer, plane, raster, resource, shader, target, texture, tiler,
};
use proptest::prelude::*;

/// Calls the macro with every typed structure.
macro_rules! every_structure {
    ($callback:ident) => {
        $callback! {
            resource::DescriptorHeader, resource::NullDescriptor, resource::Resource, resource::Buffer,
            resource::InternalConversion, resource::Attribute,
            shader::Preload, shader::ShaderProgram, shader::ShaderEnvironment, shader::FauPointer,
            shader::ComputeSizeWorkgroup, shader::LocalStorage,
            texture::Sampler, texture::Texture,
            plane::PlaneHeader, plane::NullPlane, plane::GenericPlane, plane::Astc2DPlane, plane::Astc3DPlane,
            plane::AfbcPlane, plane::Chroma2pPlane, plane::AfrcPlane, plane::AfrcChroma2pPlane,
            blend::BlendFunction, blend::BlendEquation, blend::BlendShader, blend::BlendFixedFunction,
            blend::InternalBlend, blend::Blend,
            raster::PrimitiveFlags, raster::PrimitiveFlags2, raster::Primitive, raster::PrimitiveSize, raster::Scissor,
            raster::Viewport, raster::VertexArray, raster::DepthStencil, raster::DcdFlags0, raster::DcdFlags1,
            raster::DcdFlags2, raster::Draw,
            framebuffer::FramebufferParameters, framebuffer::FramebufferPadding, framebuffer::FramebufferPointer,
            framebuffer::FragmentJobPayload, framebuffer::Crc, framebuffer::ZsTarget, framebuffer::AfbcZsTarget,
            framebuffer::STarget, framebuffer::AfbcSTarget, framebuffer::ZsCrcExtension, framebuffer::Framebuffer,
            target::RtBuffer, target::RtClear, target::RgbRenderTarget, target::YuvRenderTarget,
            target::AfbcRgbRenderTarget, target::AfbcYuvRenderTarget, target::AfrcRgbRenderTarget,
            target::AfrcYuvRenderTarget, target::RenderTarget,
            tiler::TilerHeap, tiler::TilerWeights, tiler::TilerState, tiler::TilerContext,
        }
    };
}

/// Unpacks words and packs them again.
type Repack = fn(Arch, &[u32], &mut [u32]) -> Result<usize, DescriptorError>;

/// A structure's functions, without its type.
struct Typed {
    layout: &'static Layout,
    repack: Repack,
}

macro_rules! typed {
    ($($type:path,)+) => {
        const TYPED: &[Typed] = &[ $( Typed {
            layout: <$type>::LAYOUT,
            repack: |arch, words, out| <$type>::unpack(arch, words)?.pack(arch, out),
        }, )+ ];
    };
}
every_structure!(typed);

const MOST_WORDS: usize = 32;

/// Random numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }
}

fn put(words: &mut [u32], start: u32, width: u32, value: u64) {
    for bit in (0..width).filter(|bit| value >> bit & 1 != 0) {
        words[((start + bit) / 32) as usize] |= 1 << ((start + bit) % 32);
    }
}

/// Fills a structure with legal values. Of alternatives that are structures one is chosen, others stay as they fall.
fn fill(layout: &Layout, arch: Arch, words: &mut [u32], base: u32, random: &mut Random) {
    let rows: Vec<Row> = layout.fields(arch).collect();
    let nested = |row: &&Row| row.alternative && matches!(row.kind, Kind::Struct(_));
    let choices: Vec<&Row> = rows.iter().filter(nested).collect();
    let chosen = choices.get(random.below(choices.len())).map(|row| row.name);
    for row in rows
        .iter()
        .filter(|row| !row.alternative || Some(row.name) == chosen)
    {
        if let Kind::Struct(inner) = row.kind {
            fill(inner, arch, words, base + row.start, random);
            continue;
        }
        let stored = match row.kind {
            _ if row.fixed => row.default,
            Kind::Enum(table) => {
                let count = table.values(arch).count();
                let fits = |value: u64| value <= row.mask();
                let value = table
                    .values(arch)
                    .nth(random.below(count))
                    .map_or(0, |value| value.value.into());
                if fits(value) {
                    value
                } else {
                    table
                        .values(arch)
                        .next()
                        .map_or(0, |value| value.value.into())
                }
            }
            // Addresses are aligned to the most that any field asks for.
            Kind::Address if row.store(4096).is_ok() => random.next() & row.mask() & !4095,
            Kind::Address => random.next() & row.mask(),
            // Not a number is not equal to itself; what is compared are words, but keep to numbers.
            Kind::Float => u64::from((random.next() as i16 as f32).to_bits()),
            _ => match row.modifier {
                Modifier::Align(multiple) => random.next() & row.mask() & !(multiple - 1),
                _ => random.next() & row.mask(),
            },
        };
        put(words, base + row.start, row.width, stored);
    }
}

#[test]
fn every_structure_is_in_the_list() {
    let mut known: Vec<_> = LAYOUTS
        .iter()
        .chain(AGGREGATES)
        .map(|layout| layout.name)
        .collect();
    let mut typed: Vec<_> = TYPED.iter().map(|typed| typed.layout.name).collect();
    known.sort_unstable();
    typed.sort_unstable();
    assert_eq!(typed, known);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn legal_words_survive_unpacking_and_packing(seed: u64) {
        for (typed, arch) in TYPED.iter().flat_map(|typed| SUPPORTED.iter().map(move |arch| (typed, arch))) {
            let Some(bytes) = typed.layout.size(arch) else { continue };
            let mut words = [0; MOST_WORDS];
            fill(typed.layout, arch, &mut words, 0, &mut Random(seed));
            let (name, used) = (typed.layout.name, bytes.div_ceil(4) as usize);
            let mut again = [0; MOST_WORDS];
            let done = (typed.repack)(arch, &words[..used], &mut again);
            prop_assert!(done == Ok(bytes as usize), "{name} on {arch}, seed {seed}: {done:?} of {:08x?}", &words[..used]);
            prop_assert_eq!(&again[..used], &words[..used], "{} on {}, seed {}", name, arch, seed);
        }
    }

    #[test]
    fn no_words_make_anything_panic(words: [u32; MOST_WORDS], length in 0..=MOST_WORDS) {
        for (typed, arch) in TYPED.iter().flat_map(|typed| SUPPORTED.iter().map(move |arch| (typed, arch))) {
            let mut again = [0; MOST_WORDS];
            let _ = (typed.repack)(arch, &words[..length], &mut again);
            if let Ok(printed) = Printed::new(typed.layout, arch, &words[..length]) {
                let _ = printed.to_string();
            }
        }
    }

    #[test]
    fn a_reserved_bit_is_named(seed: u64) {
        for (typed, arch) in TYPED.iter().flat_map(|typed| SUPPORTED.iter().map(move |arch| (typed, arch))) {
            let Some(bytes) = typed.layout.size(arch) else { continue };
            let mut random = Random(seed);
            let mut words = [0; MOST_WORDS];
            fill(typed.layout, arch, &mut words, 0, &mut random);
            let used = bytes.div_ceil(4);
            let word = random.below(used as usize) as u32;
            let bit = random.below(32) as u32;
            if typed.layout.covered(arch, word) >> bit & 1 == 0 {
                words[word as usize] |= 1 << bit;
                let error = (typed.repack)(arch, &words[..used as usize], &mut [0; MOST_WORDS]);
                let structure = typed.layout.name;
                let expected = DescriptorError::Reserved { structure, word, bits: 1 << bit };
                prop_assert_eq!(error, Err(expected));
            }
        }
    }
}

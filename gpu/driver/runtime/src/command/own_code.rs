//! Code of the runtime's own, which commands keep: kernels of copies, and frame shaders.

use super::recorder::{OWN_CODE, Recorder};
use crate::error::{Error, Thing};
use crate::handle::Space;
use crate::platform::Platform;
use crate::vm::{GpuAddress, Protection};

/// Bytes of an area for code: with what the instruction fetcher may read behind it.
const CODE_BYTES: u64 = 4096;
/// Where descriptors stand that belong to the code.
const DESCRIPTORS: u64 = 2048;
/// Bytes from one descriptor to the next.
const DESCRIPTOR_STRIDE: u64 = 64;

/// Kinds of code. Keys of a kind are below 2^20.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnCode {
    /// A frame shader that loads attachments.
    Load(u32),
    /// A kernel that copies elements.
    Copy(u32),
    /// A frame shader that blits or resolves.
    Texels(u32),
    /// A fragment shader that clears attachments within a pass.
    Clear(u32),
    /// A kernel that copies texels of a texture.
    Fetch(u32),
    /// A frame shader that loads colours, and clears some of them inside of a border. Keys are below 2^24.
    Border(u32),
}

impl OwnCode {
    const fn tag(self) -> u32 {
        let (kind, key) = match self {
            OwnCode::Load(key) => (0, key),
            OwnCode::Copy(key) => (1 << 20, key),
            OwnCode::Texels(key) => (1 << 21, key),
            OwnCode::Clear(key) => (1 << 22, key),
            OwnCode::Fetch(key) => (1 << 23, key),
            OwnCode::Border(key) => (1 << 24, key),
        };
        OWN_CODE | kind | key
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Where code stands that needs no descriptors of its own. The first time `words` are written there.
    pub(crate) fn bare_code(&mut self, code: OwnCode, words: &[u64]) -> Result<GpuAddress, Error> {
        self.own_code(code, words, |_| Ok([[0; 8]; 2]))
    }

    /// Where code stands. The first time `words` are written there, and behind them the descriptors that `describe` makes of its
    /// address.
    pub(crate) fn own_code(
        &mut self,
        code: OwnCode,
        words: &[u64],
        describe: impl FnOnce(GpuAddress) -> Result<[[u32; 8]; 2], Error>,
    ) -> Result<GpuAddress, Error> {
        let tag = code.tag();
        let object = self.device.objects.get(self.commands);
        let known = object.and_then(|object| self.device.links.tagged(object.list, tag));
        let what = Thing::CommandBuffer;
        if let Some(area) = known {
            return Ok(self.device.object(area, what)?.mapping.address());
        }
        let (commands, space) = (self.commands, Space(self.space));
        let device = &mut *self.device;
        let new = (tag, None);
        let area =
            device.create_area(commands, space, new, "code", CODE_BYTES, Protection::Code)?;
        let mapping = &device.object(area, what)?.mapping;
        let (memory, address) = (mapping.memory(), mapping.address());
        let descriptors = describe(address)?;
        device.hw.platform.write_words(memory, words);
        let places = (DESCRIPTORS..).step_by(DESCRIPTOR_STRIDE as usize);
        for (words, place) in descriptors.iter().zip(places) {
            for (word, at) in words.iter().zip((place..).step_by(4)) {
                device.hw.platform.store32(memory.offset(at), *word);
            }
        }
        device.hw.platform.clean(memory.span(CODE_BYTES));
        Ok(address)
    }
}

/// Where the descriptors of code at an address stand.
pub(crate) fn descriptors_of(code: GpuAddress) -> [GpuAddress; 2] {
    let first = code.offset(DESCRIPTORS);
    [first, first.offset(DESCRIPTOR_STRIDE)]
}

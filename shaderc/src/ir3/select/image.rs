//! Images and texel buffers: storage by typed accesses with coordinates, what is only read through the texture unit.
//!
//! A texel is four words of the type that the binding says. Images along one axis are images of one row to the texture unit.
//! Not here, since the facts lack it: cubes, samples of a texel, gradients, gathers, levels of an image, and storage images
//! along one axis.
//! Facts: hardware/ir3-isa.md 11 (textures), 12 (typed accesses, descriptors).

use super::index::Descriptor;
use super::{Selector, atomic};
use crate::ir::{self, BindingKind, Dim, ImageAction, ImageOp, InstData, Lod, Memory};
use crate::ir3::mir::{Class, Instr, Op, Operand, Source, Space, TextureFlags, Type, Word, Words};

/// Numbers of descriptors that a texture instruction encodes are less.
const ENCODED: u32 = 16;
/// Words of a texel.
const TEXEL_WORDS: usize = 4;

impl Selector<'_> {
    pub(super) fn image(&mut self, op: ImageOp, data: &InstData) {
        let Some(descriptor) = self.descriptor(data.args[0]) else {
            return;
        };
        let stored = matches!(
            descriptor.kind,
            BindingKind::StorageImage | BindingKind::StorageTexels
        );
        let lacks = op.shape.multisampled
            || op.shape.dim == Dim::Cube
            || (stored && op.shape.dim == Dim::D1);
        let known = match op.action {
            _ if lacks => false,
            ImageAction::Read | ImageAction::Write(_) | ImageAction::Atomic(_) => true,
            ImageAction::Fetch
            | ImageAction::Size
            | ImageAction::Sample(Lod::Zero | Lod::Level) => true,
            _ => false,
        };
        if !known {
            self.refuse(&format!("image.{}", op.show()));
            return;
        }
        let space = match op.memory {
            Memory::Constant => Space::Constant,
            Memory::Plain | Memory::Volatile | Memory::Atomic => Space::Buffer,
        };
        let base = |of: Op, ty: Type| Instr {
            set: Some(descriptor.set),
            types: Some((ty, ty)),
            space: Some(space),
            volatile: op.memory.is_volatile(),
            ..Instr::new(of)
        };
        let ty = descriptor.texel;
        match (op.action, stored) {
            (ImageAction::Read, true) => {
                let load = Instr {
                    dests: self.results(data),
                    coordinates: self.coordinates(op, data),
                    sources: [descriptor.number].as_slice().into(),
                    ..base(Op::LoadTexel, ty)
                };
                self.emit(load);
            }
            (ImageAction::Write(count), _) => {
                let store = Instr {
                    coordinates: self.coordinates(op, data),
                    data: self.texel(&data.args[data.args.len() - usize::from(count)..]),
                    sources: [descriptor.number].as_slice().into(),
                    ..base(Op::StoreTexel, ty)
                };
                self.emit(store);
            }
            (ImageAction::Atomic(atomic), _) => {
                let (kind, _) = atomic::kind(atomic);
                let operands = data.args[data.args.len() - op.words()..].iter();
                let change = Instr {
                    dests: self.results(data),
                    coordinates: self.coordinates(op, data),
                    data: operands.map(|&value| self.in_register(value)).collect(),
                    sources: [descriptor.number].as_slice().into(),
                    atomic: Some(kind),
                    ..base(Op::AtomicTexel, ty)
                };
                self.emit(change);
            }
            (ImageAction::Size, true) => self.storage_size(op, &descriptor, data),
            (ImageAction::Size, false) => self.texture_size(op, &descriptor, data),
            _ => {
                let fetch = base(Op::FetchTexel, ty);
                self.texture(op, &descriptor, data, fetch);
            }
        }
    }

    /// The operands that are coordinates and the layer, as a run of registers.
    fn coordinates(&mut self, op: ImageOp, data: &InstData) -> Words {
        let count = op.shape.dim.coordinates() + usize::from(op.shape.arrayed);
        let words = data.args[op.resources()..][..count].iter();
        words.map(|&value| self.in_register(value)).collect()
    }

    /// The words of a texel; those that aren't given are 0.
    fn texel(&mut self, values: &[ir::Value]) -> Words {
        let mut words: Words = values
            .iter()
            .map(|&value| self.in_register(value))
            .collect();
        while words.len() < TEXEL_WORDS {
            words.push(self.register(Source::constant(0)));
        }
        words
    }

    /// All three sizes of a storage image are written; what it lacks is left.
    fn storage_size(&mut self, op: ImageOp, descriptor: &Descriptor, data: &InstData) {
        let words: Words = (0..3).map(|_| self.new_word(Class::Full)).collect();
        self.emit(Instr {
            dests: words.clone(),
            set: Some(descriptor.set),
            space: Some(Space::Constant),
            offset: op.shape.dim.sizes() as i32 - 1,
            ..Instr::on(Op::ImageSize, &[descriptor.number])
        });
        // FACT: which of the three has the layers of an array is not stated (hardware/ir3-isa.md 16); the third, as coordinates have
        // them. Settled by resinfo of an image with layers on a device.
        let layers = op.shape.arrayed.then_some(2);
        self.define_sizes(op, data, &words, layers);
    }

    /// The sizes of a level of a texture, or the number of a buffer's texels.
    fn texture_size(&mut self, op: ImageOp, descriptor: &Descriptor, data: &InstData) {
        let buffer = op.shape.dim == Dim::Buffer;
        let count = match (buffer, op.shape.arrayed) {
            (true, _) => 1,
            (false, true) => TEXEL_WORDS,
            (false, false) => op.shape.dim.sizes(),
        };
        let words: Words = (0..count).map(|_| self.new_word(Class::Full)).collect();
        let Some(handle) = self.handle(descriptor, None) else {
            return;
        };
        let coordinates = match buffer {
            true => Words::new(),
            false => [self.in_register(data.args[op.resources()])]
                .as_slice()
                .into(),
        };
        self.emit(Instr {
            dests: words.clone(),
            coordinates,
            set: Some(descriptor.set),
            types: Some((Type::U32, Type::U32)),
            space: Some(Space::Constant),
            ..Instr::on(
                match buffer {
                    true => Op::TexelCount,
                    false => Op::TextureSize,
                },
                &[handle],
            )
        });
        let layers = op.shape.arrayed.then_some(3);
        self.define_sizes(op, data, &words, layers);
    }

    /// Results: the sizes, then the layers, which are the word of that number.
    fn define_sizes(&mut self, op: ImageOp, data: &InstData, words: &Words, layers: Option<usize>) {
        let sizes = (0..op.shape.dim.sizes()).chain(layers);
        for (result, number) in data.results.iter().zip(sizes) {
            self.define_as(*result, Source::word(words[number]));
        }
    }

    /// A fetch or a sample.
    fn texture(&mut self, op: ImageOp, descriptor: &Descriptor, data: &InstData, fetch: Instr) {
        let sampler = match op.has_sampler() {
            true => match self.sampler(data.args[1]) {
                Some(sampler) => Some(sampler),
                None => return,
            },
            false => None,
        };
        let Some(handle) = self.handle(descriptor, sampler.as_ref()) else {
            return;
        };
        let mut args = data.args[op.resources()..].iter().copied();
        let mut next = |selector: &mut Self, count: usize| -> Words {
            let values: Vec<ir::Value> = args.by_ref().take(count).collect();
            values
                .iter()
                .map(|&value| selector.in_register(value))
                .collect()
        };
        let mut coordinates = next(self, op.shape.dim.coordinates());
        // One row of a texture has the y 0, and its middle half of it.
        if coordinates.len() == 1 {
            let middle = match op.has_sampler() {
                true => 0.5f32.to_bits(),
                false => 0,
            };
            coordinates.push(self.register(Source::constant(middle)));
        }
        let layer = next(self, op.shape.arrayed.into());
        let reference = next(self, op.compare.into());
        coordinates.extend(reference);
        coordinates.extend(layer);
        let mut level = next(self, op.level_operands());
        let offsets = op.shape.dim.sizes();
        let mut extra = next(self, if op.offset { offsets } else { 0 });
        if op.offset && extra.len() == 1 {
            extra.push(self.register(Source::constant(0)));
        }
        // A buffer has no level, and the first one need not be said.
        let place = op.shape.dim.coordinates() + usize::from(op.shape.arrayed);
        let said = data.args.get(op.resources() + place);
        let first_level = match op.action {
            ImageAction::Fetch => said.and_then(|level| self.ir.as_word(*level)) == Some(0),
            action => action == ImageAction::Read,
        };
        let of = match op.action {
            ImageAction::Sample(lod) => {
                if lod == Lod::Zero {
                    level.push(self.register(Source::constant(0)));
                }
                Op::SampleLevel
            }
            _ if first_level => {
                level.clear();
                Op::FetchTexel
            }
            _ => Op::FetchLevel,
        };
        extra.extend(level);
        let dests = self.results(data);
        self.emit(Instr {
            op: of,
            dests,
            coordinates,
            data: extra,
            sources: [handle].as_slice().into(),
            texture: TextureFlags {
                three: op.shape.dim == Dim::D3,
                arrayed: op.shape.arrayed,
                compare: op.compare,
                offset: op.offset,
            },
            ..fetch
        });
    }

    /// The descriptor of a sampler, which may stand behind its image.
    fn sampler(&mut self, sampler: ir::Value) -> Option<Descriptor> {
        let found = self.descriptor(sampler)?;
        if found.kind != BindingKind::CombinedImageSampler {
            return Some(found);
        }
        let number = match found.number.operand {
            Operand::Constant(number) => Source::constant(number + 1),
            _ => self.compute(Op::AddU, &[found.number, Source::constant(1)]),
        };
        Some(Descriptor { number, ..found })
    }

    /// How an instruction names texture and sampler: both numbers in a byte, or a pair of registers. A fetch has no sampler.
    fn handle(&mut self, texture: &Descriptor, sampler: Option<&Descriptor>) -> Option<Source> {
        if sampler.is_some_and(|sampler| sampler.set != texture.set) {
            self.refuse("a sampler of another set than its image");
            return None;
        }
        let sampler = sampler.map_or(Source::constant(0), |sampler| sampler.number);
        let numbers = (texture.number.operand, sampler.operand);
        if let (Operand::Constant(texture), Operand::Constant(sampler)) = numbers
            && texture < ENCODED
            && sampler < ENCODED
        {
            return Some(Source::constant(texture << 4 | sampler));
        }
        let [texture, sampler]: [Word; 2] =
            [texture.number, sampler].map(|source| self.register(source));
        Some(Source::plain(Operand::Pair(texture, sampler)))
    }
}

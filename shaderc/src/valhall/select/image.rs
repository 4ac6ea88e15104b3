//! Images: texels of buffers, storage images, and the numbers of images. What goes through the texture unit is in `texture`.
//!
//! Needs: `texel_counts` has run; accesses of texel buffers and atomics lie inside.
//! A texel of a buffer is reached by its address and the conversion word that the descriptor holds; one of a storage
//! image by coordinates of 16 bits.
//! Facts: hardware/compiler-lowering.md 8; hardware/compiler-isel.md 11 and 12; hardware/valhall-isa.md 11.4 to 11.6, 11.10.

use super::Selector;
use super::memory::{Location, Reach};
use crate::ir::range::upper_bound;
use crate::ir::{self, Dim, ImageAction, ImageOp, ImageShape, InstData, Memory, Type};
use crate::valhall::error::Unsupported;
use crate::valhall::mir::{
    FauWord, Instr, Modifier, Op, Operand, Select, Source, Space, Word, Words,
};
use smallvec::smallvec;

/// Where a buffer descriptor of texels has the conversion word (hardware/compiler-abi.md 1.5).
const CONVERSION_OFFSET: u32 = 28;
/// Where a texture's descriptor has its numbers (the same; hardware/valhall-isa.md 11.10).
const WIDTH_OFFSET: u32 = 4;
pub(super) const LEVELS_OFFSET: u32 = 8;
const SAMPLES_OFFSET: u32 = 12;
const LAYERS_OFFSET: u32 = 24;
const DEPTH_OFFSET: u32 = 28;

impl Selector<'_> {
    pub(super) fn image(&mut self, op: ImageOp, data: &InstData) -> Result<(), Unsupported> {
        let space = match op.memory {
            Memory::Constant => Space::Constant,
            Memory::Plain | Memory::Volatile | Memory::Atomic => Space::Buffer,
        };
        let base = |of: Op| Instr {
            space: Some(space),
            volatile: op.memory.is_volatile(),
            atomic: op.memory == Memory::Atomic,
            ..Instr::new(of)
        };
        match (op.action, op.shape.dim) {
            (ImageAction::Read, Dim::Buffer) => {
                let (address, conversion) = self.texel_of_buffer(data);
                let (dests, size) = self.first_results(data);
                self.emit(
                    Instr {
                        dests,
                        sources: smallvec![address, conversion],
                        immediate: Some(0),
                        ..base(Op::LdCvt)
                    }
                    .with(size)
                    .with(Modifier::AutoFormat),
                );
                Ok(())
            }
            (ImageAction::Read, _) => {
                let [xy, zw] = self.image_coordinates(op.shape, &data.args[1..]);
                let handle = self.plain(data.args[0]);
                let (dests, size) = self.first_results(data);
                self.emit(
                    Instr {
                        dests,
                        sources: smallvec![xy, zw, handle],
                        ..base(Op::LdTex)
                    }
                    .with(size)
                    .with(Modifier::AutoFormat),
                );
                Ok(())
            }
            (ImageAction::Write(count), dim) => {
                let words = &data.args[data.args.len() - usize::from(count)..];
                let staging = words.iter().map(|&word| self.in_register(word)).collect();
                let (address, conversion) = match dim {
                    Dim::Buffer => self.texel_of_buffer(data),
                    _ => self.texel_of_image(op.shape, data),
                };
                self.emit(
                    Instr {
                        staging,
                        sources: smallvec![address, conversion],
                        immediate: Some(0),
                        ..base(Op::StCvt)
                    }
                    .with(vector_size(count.into()))
                    .with(Modifier::AutoFormat),
                );
                Ok(())
            }
            (ImageAction::Atomic(atomic), dim) => {
                let operands = &data.args[data.args.len() - op.words()..];
                let shape = op.shape;
                let locate = |this: &mut Self, _: Reach| {
                    let (address, _) = match dim {
                        Dim::Buffer => this.texel_of_buffer(data),
                        _ => this.texel_of_image(shape, data),
                    };
                    Ok(Location { address, offset: 0 })
                };
                self.atomic_at(
                    (atomic, Type::W32),
                    operands,
                    data.results[0],
                    Space::Buffer,
                    locate,
                )
            }
            (ImageAction::Fetch, _) => self.fetch(op, data),
            (ImageAction::Sample(lod), _) => self.sample(op, lod, data),
            (ImageAction::QueryLod, _) => {
                self.query_lod(op, data);
                Ok(())
            }
            (ImageAction::Gather(component), _) => self.gather(op, component, data),
            // A uniform word.
            (ImageAction::Size, Dim::Buffer) => Ok(()),
            (ImageAction::Size, _) => {
                self.size(op, data);
                Ok(())
            }
            (ImageAction::Levels, _) => {
                let load = self.descriptor_word(data.args[0], LEVELS_OFFSET);
                let word = self.loaded(load);
                let levels = self.field(word, 16, 0x1f);
                self.define_plus_one(data.results[0], levels);
                Ok(())
            }
            (ImageAction::Samples, _) => {
                let load = self.descriptor_word(data.args[0], SAMPLES_OFFSET);
                let word = self.loaded(load);
                let log2 = self.field(word, 13, 7);
                let sources = smallvec![
                    Source::constant(1),
                    log2.select(Select::B0),
                    Source::constant(0),
                ];
                self.define(
                    data.results[0],
                    Instr {
                        sources,
                        ..Instr::new(Op::LShiftOr)
                    },
                );
                Ok(())
            }
        }
    }

    /// Width, height and depth of a level, as many as there are, then layers: the descriptor has them less one.
    fn size(&mut self, op: ImageOp, data: &InstData) {
        let count = op.shape.dim.sizes();
        let level = data.args.get(1).copied();
        let level = level.filter(|&level| self.ir.as_word(level) != Some(0));
        let load = self.descriptor_word(data.args[0], WIDTH_OFFSET);
        let plane = self.loaded(load);
        for (axis, &result) in data.results.iter().enumerate() {
            let of_level = axis < count;
            let word = match axis {
                0 => self.field(plane, 0, 0xffff),
                1 if of_level => self.field(plane, 16, 0xffff),
                _ => {
                    let offset = if of_level {
                        DEPTH_OFFSET
                    } else {
                        LAYERS_OFFSET
                    };
                    let load = self.descriptor_word(data.args[0], offset);
                    let word = self.loaded(load);
                    self.field(word, 0, 0xffff)
                }
            };
            match level.filter(|_| of_level) {
                None => self.define_plus_one(result, word),
                Some(level) => {
                    // A shift takes its amount modulo 32; there are fewer levels.
                    let whole = self.compute(Op::IAdd, &[word, Source::constant(1)]);
                    let level = self.plain(level).select(Select::B0);
                    let smaller = self.compute(Op::RShiftOr, &[whole, level, Source::constant(0)]);
                    let one = Source::constant(1);
                    let most = Instr {
                        sources: smallvec![smaller, one, smaller, one],
                        ..Instr::new(Op::CselU)
                    };
                    self.define(result, most.with(Modifier::Gt));
                }
            }
        }
    }

    /// Bits of a word.
    pub(super) fn field(&mut self, word: Source, low: u32, mask: u32) -> Source {
        let low = Source::constant(low).select(Select::B0);
        self.compute(Op::RShiftAnd, &[word, low, Source::constant(mask)])
    }

    fn define_plus_one(&mut self, value: ir::Value, word: Source) {
        let sources = smallvec![word, Source::constant(1)];
        self.define(
            value,
            Instr {
                sources,
                ..Instr::new(Op::IAdd)
            },
        );
    }

    /// Words for the results up to the last that is read, and the size that says so.
    fn first_results(&mut self, data: &InstData) -> (Words, Modifier) {
        let last = data
            .results
            .iter()
            .rposition(|&result| self.users.are_there(result));
        let count = last.map_or(1, |last| last + 1);
        let results = &data.results[..count];
        let dests = results
            .iter()
            .map(|&result| Word::Value(self.word(result)))
            .collect();
        (dests, vector_size(count))
    }

    /// Words for the results that are read, and the mask that says so.
    pub(super) fn masked_results(&mut self, data: &InstData) -> (Words, Modifier) {
        let mut mask = 0;
        for (index, &result) in data.results.iter().enumerate() {
            mask |= usize::from(self.users.are_there(result)) << index;
        }
        let mask = mask.max(1);
        let dests = (0..4)
            .filter(|index| mask >> index & 1 != 0)
            .map(|index| Word::Value(self.word(data.results[index])))
            .collect();
        (dests, MASKS[mask - 1])
    }

    /// Address and conversion word of a texel of a buffer.
    fn texel_of_buffer(&mut self, data: &InstData) -> (Source, Source) {
        let (handle, index) = (self.plain(data.args[0]), self.plain(data.args[1]));
        let address = self.compute_pair(Op::LeaBuf, smallvec![index, handle], None);
        (address, self.conversion(data.args[0]))
    }

    /// The conversion word of a texel buffer: a uniform word, or read from its descriptor.
    fn conversion(&mut self, buffer: ir::Value) -> Source {
        if let Some(handle) = self.known_handle(buffer)
            && let Some(index) = self.uniform_word(FauWord::TexelFormat(handle))
        {
            return Source::plain(Operand::Fau(index));
        }
        let load = self.descriptor_word(buffer, CONVERSION_OFFSET);
        self.loaded(load)
    }

    /// What a load gives, in a word of its own.
    pub(super) fn loaded(&mut self, load: Instr) -> Source {
        let dest = self.function.new_value();
        self.emit(Instr {
            dests: smallvec![Word::Value(dest)],
            ..load
        });
        Source::value(dest)
    }

    /// The uniform word that holds something; none if there is no room for it.
    fn uniform_word(&mut self, word: FauWord) -> Option<u8> {
        let fau = &mut self.function.extra.fau;
        let index = match fau.iter().position(|other| *other == word) {
            Some(index) => index,
            None if fau.len() < self.target.limits.uniform_words as usize => {
                fau.push(word);
                fau.len() - 1
            }
            None => return None,
        };
        u8::try_from(index).ok()
    }

    /// Address and conversion word of a texel of an image. Outside of it a store by them does nothing.
    fn texel_of_image(&mut self, shape: ImageShape, data: &InstData) -> (Source, Source) {
        let [xy, zw] = self.image_coordinates(shape, &data.args[1..]);
        let handle = self.plain(data.args[0]);
        let [low, high, conversion] = [(); 3].map(|()| Word::Value(self.function.new_value()));
        self.emit(Instr {
            dests: smallvec![low, high, conversion],
            sources: smallvec![xy, zw, handle],
            ..Instr::new(Op::LeaTex)
        });
        (
            Source::plain(Operand::Pair(low, high)),
            Source::plain(Operand::Word(conversion)),
        )
    }

    /// The two words of coordinates: x below y, then depth or sample below the layer. Where a coordinate has more than 16
    /// bits, another that can't be inside takes its place, so that no texel is found.
    // FACT: whether the depth of a 3D image stands in the low or the high half of the second word differs between sources
    // (hardware/valhall-isa.md 11.5); newer material has it in the low half, which is taken. Settled by a store to a 3D
    // image on any board.
    fn image_coordinates(&mut self, shape: ImageShape, at: &[ir::Value]) -> [Source; 2] {
        let count = shape.dim.coordinates();
        let mut rest = at.iter().copied().skip(count);
        let layer = rest.next().filter(|_| shape.arrayed);
        let sample = match shape.arrayed {
            true => rest.next(),
            false => at.get(count).copied(),
        };
        let sample = sample.filter(|_| shape.multisampled);
        let depth = at.get(2).copied().filter(|_| count == 3);
        let (x, y) = (at[0], at.get(1).copied().filter(|_| count >= 2));
        let xy = match y {
            // What is above 16 bits makes a row that isn't there.
            None => self.plain(x),
            Some(y) => self.halves(Some(x), Some(y)),
        };
        let fits = |value: ir::Value| upper_bound(self.ir, value) <= 0xffff;
        let checked: Vec<ir::Value> = [y.map(|_| x), y, depth, layer, sample]
            .into_iter()
            .flatten()
            .filter(|&value| !fits(value))
            .collect();
        if checked.is_empty() {
            return [xy, self.halves(depth.or(sample), layer)];
        }
        let mut all = self.plain(checked[0]);
        for &value in &checked[1..] {
            let value = self.plain(value);
            let none = Source::constant(0).select(Select::B0);
            all = self.compute(Op::LShiftOr, &[all, none, value]);
        }
        let high = match layer {
            Some(_) => self.halves(None, layer),
            None => Source::constant(0),
        };
        let zw = match depth.or(sample) {
            None => {
                let shift = Source::constant(16).select(Select::B0);
                self.compute(Op::RShiftOr, &[all, shift, high])
            }
            Some(low) => {
                let most = Source::constant(0xffff);
                let low = self.plain(low);
                let dest = self.function.new_value();
                self.emit(
                    Instr {
                        dests: smallvec![Word::Value(dest)],
                        sources: smallvec![all, most, most, low],
                        ..Instr::new(Op::CselU)
                    }
                    .with(Modifier::Gt),
                );
                let none = Source::constant(0).select(Select::B0);
                match layer {
                    Some(_) => self.compute(Op::LShiftOr, &[Source::value(dest), none, high]),
                    None => Source::value(dest),
                }
            }
        };
        [xy, zw]
    }

    /// `high << 16 | low`.
    fn halves(&mut self, low: Option<ir::Value>, high: Option<ir::Value>) -> Source {
        let bits = |value: Option<ir::Value>| value.map_or(Some(0), |value| self.ir.as_word(value));
        match (bits(low), bits(high)) {
            (Some(low), Some(high)) => Source::constant(low | high << 16),
            (_, Some(0)) => match low {
                Some(low) => self.plain(low),
                None => Source::constant(0),
            },
            _ => {
                let low = low.map_or(Source::constant(0), |low| self.plain(low));
                let high = high.map_or(Source::constant(0), |high| self.plain(high));
                let shift = Source::constant(16).select(Select::B0);
                self.compute(Op::LShiftOr, &[high, shift, low])
            }
        }
    }
}

fn vector_size(count: usize) -> Modifier {
    match count {
        0 | 1 => Modifier::Vector1,
        2 => Modifier::Vector2,
        3 => Modifier::Vector3,
        _ => Modifier::Vector4,
    }
}

/// The masks of components, by their bits less one.
#[rustfmt::skip]
pub(super) const MASKS: [Modifier; 15] = [
    Modifier::MaskR,  Modifier::MaskG,  Modifier::MaskRg,  Modifier::MaskB,   Modifier::MaskRb,
    Modifier::MaskGb, Modifier::MaskRgb, Modifier::MaskA,  Modifier::MaskRa,  Modifier::MaskGa,
    Modifier::MaskRga, Modifier::MaskBa, Modifier::MaskRba, Modifier::MaskGba, Modifier::MaskRgba,
];

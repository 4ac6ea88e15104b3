//! Operations on images, texel buffers and samplers.
//!
//! Needs: nothing.  Guarantees: `signature` says which operands and results each has; the text form names all that an
//! operation is.
//!
//! A texel is four words, whatever its format has: missing components are 0, 0, 0, 1. Whether a word is a float or an
//! integer the format of the image says. The operands are, in this order, those that an operation has:
//! image; sampler, which may be one resource with the image; coordinates; layer; sample; reference; level, bias or gradients; least level; offsets; words. Coordinates are integers, or
//! for [`ImageAction::Sample`] and [`ImageAction::Gather`] floats, and of cubes then a direction.
//! Facts: hardware/compiler-ir.md 1.6; hardware/compiler-passes.md A.9.
use super::inst::{AtomicOp, Effects, Memory};
use super::{Kind, Type};

/// How many coordinates an image has, and what they are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dim {
    /// Texels of a buffer.
    Buffer,
    /// One.
    D1,
    /// Two.
    D2,
    /// Three.
    D3,
    /// A direction; only what is sampled is a cube, others see an array of six faces.
    Cube,
}

/// What an image looks like to an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageShape {
    /// Its coordinates.
    pub dim: Dim,
    /// Whether it has layers.
    pub arrayed: bool,
    /// Whether a texel has several samples.
    pub multisampled: bool,
}

/// What the words of a texel, of a vertex attribute or of a colour are: a format holds them in a form of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TexelKind {
    /// Floats.
    Float,
    /// Integers with a sign.
    Signed,
    /// Integers without one.
    Unsigned,
}

/// What the images of a binding are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageType {
    /// What they look like.
    pub shape: ImageShape,
    /// What their texels are.
    pub texel: TexelKind,
}

/// How the level of a sample is chosen. What has derivatives knows them from the lanes of its quad.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lod {
    /// The first.
    Zero,
    /// By a float.
    Level,
    /// By the derivatives that the coordinates have.
    Implicit,
    /// By those, and a float is added to it.
    Bias,
    /// By the derivatives of the coordinates along x, then along y; of a cube those of the two on the face that is sampled, 0 to 1.
    Gradients,
}

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ImageAction {
    /// Reads a texel of a storage image or of a texel buffer; outside it is 0.
    Read,
    /// Writes that many components of a texel; outside nothing. Components that the format has beyond them become 0.
    Write(u8),
    /// Changes a texel of one word; outside it gives 0.
    Atomic(AtomicOp),
    /// Reads a texel of a sampled image at a level; outside it is 0.
    Fetch,
    /// Filters.
    Sample(Lod),
    /// Takes that component of the four texels that a linear filter would mix.
    Gather(u8),
    /// Width, height and depth, as many as the image has, then the layers, of a level.
    Size,
    /// How many levels there are.
    Levels,
    /// How many samples a texel has.
    Samples,
    /// The level that [`Lod::Implicit`] would choose: among those that there are, then before it was clamped to them. The
    /// layer isn't an operand.
    QueryLod,
}

/// An operation on an image without its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ImageOp {
    /// What is done.
    pub action: ImageAction,
    /// To what.
    pub shape: ImageShape,
    /// Whether texels are compared with a reference before they are filtered.
    pub compare: bool,
    /// Whether there are offsets in texels, one a coordinate.
    pub offset: bool,
    /// Whether the level has a lower bound.
    pub min_lod: bool,
    /// What may be assumed of the texels.
    pub memory: Memory,
}

impl Dim {
    /// All, with their names in the text form.
    pub const ALL: &'static [(Dim, &'static str)] = &[
        (Dim::Buffer, "buffer"),
        (Dim::D1, "1d"),
        (Dim::D2, "2d"),
        (Dim::D3, "3d"),
        (Dim::Cube, "cube"),
    ];

    /// Number of coordinates.
    pub fn coordinates(self) -> usize {
        match self {
            Dim::Buffer | Dim::D1 => 1,
            Dim::D2 => 2,
            Dim::D3 | Dim::Cube => 3,
        }
    }

    /// Number of sizes, and of texel offsets.
    pub fn sizes(self) -> usize {
        match self {
            Dim::Buffer | Dim::D1 => 1,
            Dim::D2 | Dim::Cube => 2,
            Dim::D3 => 3,
        }
    }
}

impl TexelKind {
    /// All, with their names in the text form.
    pub const ALL: &'static [(TexelKind, &'static str)] = &[
        (TexelKind::Float, "float"),
        (TexelKind::Signed, "int"),
        (TexelKind::Unsigned, "uint"),
    ];

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        let mut all = TexelKind::ALL.iter();
        let row = all.find(|(kind, _)| *kind == self);
        row.map_or("?", |(_, name)| name)
    }

    pub(super) fn from_name(name: &str) -> Option<TexelKind> {
        let mut all = TexelKind::ALL.iter();
        Some(all.find(|(_, own)| *own == name)?.0)
    }
}

impl ImageType {
    /// The type in the text form: the shape, then what texels are unless they are floats.
    pub(super) fn show(self) -> String {
        match self.texel {
            TexelKind::Float => self.shape.show(),
            kind => format!("{}.{}", self.shape.show(), kind.name()),
        }
    }

    /// The type of such a text.
    pub(super) fn parse(text: &str) -> Option<ImageType> {
        let last = text
            .rsplit_once('.')
            .and_then(|(shape, word)| Some((shape, TexelKind::from_name(word)?)));
        let (shape, texel) = last.unwrap_or((text, TexelKind::Float));
        let shape = ImageShape::parse(shape)?;
        Some(ImageType { shape, texel })
    }
}

impl ImageShape {
    /// One image of one sample a texel.
    pub fn plain(dim: Dim) -> ImageShape {
        ImageShape {
            dim,
            arrayed: false,
            multisampled: false,
        }
    }

    /// The shape in the text form.
    pub(super) fn show(self) -> String {
        let dim = Dim::ALL.iter().find(|(dim, _)| *dim == self.dim);
        let mut text = dim.map_or("?", |(_, name)| name).to_owned();
        for (is, word) in [(self.arrayed, ".array"), (self.multisampled, ".samples")] {
            if is {
                text += word;
            }
        }
        text
    }

    /// The shape of such a text.
    pub(super) fn parse(text: &str) -> Option<ImageShape> {
        let mut words = text.split('.');
        let dim = words.next()?;
        let (dim, _) = Dim::ALL.iter().find(|(_, name)| *name == dim)?;
        let mut shape = ImageShape::plain(*dim);
        for word in words {
            shape.take(word)?;
        }
        Some(shape)
    }

    fn take(&mut self, word: &str) -> Option<()> {
        match word {
            "array" => self.arrayed = true,
            "samples" => self.multisampled = true,
            _ => return None,
        }
        Some(())
    }
}

impl ImageOp {
    /// An operation on texels that others may write.
    pub fn new(action: ImageAction, shape: ImageShape) -> ImageOp {
        ImageOp {
            action,
            shape,
            compare: false,
            offset: false,
            min_lod: false,
            memory: Memory::Plain,
        }
    }

    /// Whether the second operand is a sampler.
    pub fn has_sampler(self) -> bool {
        matches!(
            self.action,
            ImageAction::Sample(_) | ImageAction::Gather(_) | ImageAction::QueryLod
        )
    }

    /// Whether it compares the coordinates with those of the lanes beside it in the quad.
    pub fn needs_quad(self) -> bool {
        matches!(
            self.action,
            ImageAction::Sample(Lod::Implicit | Lod::Bias) | ImageAction::QueryLod
        )
    }

    /// Number of operands before the coordinates.
    pub fn resources(self) -> usize {
        1 + usize::from(self.has_sampler())
    }

    /// Whether it asks for what the image is, not for a texel.
    pub(super) fn is_query(self) -> bool {
        matches!(
            self.action,
            ImageAction::Size | ImageAction::Levels | ImageAction::Samples
        )
    }

    /// Number of operands of a sample before those that say how the level is chosen.
    pub(crate) fn before_level(self) -> usize {
        self.resources()
            + self.shape.dim.coordinates()
            + usize::from(self.shape.arrayed)
            + usize::from(self.compare)
    }

    /// Number of words that say how the level is chosen, without the least one.
    pub fn level_operands(self) -> usize {
        match self.action {
            ImageAction::Sample(Lod::Level | Lod::Bias) => 1,
            ImageAction::Sample(Lod::Gradients) => 2 * self.shape.dim.sizes(),
            ImageAction::Fetch => usize::from(!self.shape.multisampled),
            ImageAction::Size => {
                usize::from(self.shape.dim != Dim::Buffer && !self.shape.multisampled)
            }
            _ => 0,
        }
    }

    /// Number of words at the end that go into a texel.
    pub fn words(self) -> usize {
        match self.action {
            ImageAction::Write(count) => count.into(),
            ImageAction::Atomic(op) => op.operands(),
            _ => 0,
        }
    }

    /// Kinds of the operands and of the results.
    pub fn signature(self) -> (Vec<Kind>, Vec<Kind>) {
        let shape = self.shape;
        let count = |flag: bool| usize::from(flag);
        let float = self.has_sampler();
        let mut args = vec![Kind::R; self.resources()];
        let coordinate = if float { Kind::F32 } else { Kind::W32 };
        if !self.is_query() {
            let layers = count(shape.arrayed && self.action != ImageAction::QueryLod);
            args.extend(vec![coordinate; shape.dim.coordinates() + layers]);
            args.extend(vec![Kind::W32; count(shape.multisampled && !float)]);
            args.extend(vec![Kind::F32; count(self.compare)]);
        }
        args.extend(vec![coordinate; self.level_operands()]);
        args.extend(vec![Kind::F32; count(self.min_lod)]);
        args.extend(vec![Kind::W32; count(self.offset) * shape.dim.sizes()]);
        args.extend(vec![Kind::W32; self.words()]);
        let results = match self.action {
            ImageAction::Write(_) => 0,
            ImageAction::Read
            | ImageAction::Fetch
            | ImageAction::Sample(_)
            | ImageAction::Gather(_) => 4,
            ImageAction::Atomic(_) | ImageAction::Levels | ImageAction::Samples => 1,
            ImageAction::QueryLod => 2,
            ImageAction::Size => shape.dim.sizes() + count(shape.arrayed),
        };
        (args, vec![Type::W32.kind(); results])
    }

    /// What it does besides giving its results.
    pub fn effects(self) -> Effects {
        let none = Effects::default();
        match self.action {
            ImageAction::Size | ImageAction::Levels | ImageAction::Samples => Effects {
                speculatable: true,
                ..none
            },
            ImageAction::QueryLod => Effects {
                convergent: true,
                needs_quad: true,
                ..none
            },
            ImageAction::Read
            | ImageAction::Fetch
            | ImageAction::Sample(_)
            | ImageAction::Gather(_) => Effects {
                reads: self.memory != Memory::Constant,
                ordered: self.memory.is_volatile(),
                convergent: self.needs_quad(),
                needs_quad: self.needs_quad(),
                // A texel of a buffer has an address, which must be one.
                speculatable: self.memory == Memory::Constant
                    && self.shape.dim != Dim::Buffer
                    && !self.needs_quad(),
                ..none
            },
            ImageAction::Write(_) => Effects {
                writes: true,
                ordered: self.memory.is_volatile(),
                ..none
            },
            ImageAction::Atomic(_) => Effects {
                reads: true,
                writes: true,
                ordered: true,
                ..none
            },
        }
    }

    /// Whether it may touch what buffers hold: their texels lie in the same memory.
    pub fn touches_buffers(self) -> bool {
        let effects = self.effects();
        self.shape.dim == Dim::Buffer && (effects.reads || effects.writes)
    }

    /// The operation in the text form, without `image.`.
    pub(crate) fn show(self) -> String {
        let mut text = match self.action {
            ImageAction::Read => "read".to_owned(),
            ImageAction::Write(count) => format!("write{count}"),
            ImageAction::Atomic(op) => format!("atomic_{}", op.name()),
            ImageAction::Fetch => "fetch".to_owned(),
            ImageAction::Sample(Lod::Zero) => "sample".to_owned(),
            ImageAction::Sample(Lod::Level) => "sample_level".to_owned(),
            ImageAction::Sample(Lod::Implicit) => "sample_implicit".to_owned(),
            ImageAction::Sample(Lod::Bias) => "sample_bias".to_owned(),
            ImageAction::Sample(Lod::Gradients) => "sample_gradients".to_owned(),
            ImageAction::Gather(component) => format!("gather{component}"),
            ImageAction::Size => "size".to_owned(),
            ImageAction::Levels => "levels".to_owned(),
            ImageAction::Samples => "samples".to_owned(),
            ImageAction::QueryLod => "query_lod".to_owned(),
        };
        text += ".";
        text += &self.shape.show();
        let memory = match self.memory {
            Memory::Constant => ".constant",
            Memory::Plain => "",
            Memory::Volatile => ".volatile",
            Memory::Atomic => ".atomic",
        };
        for (is, word) in [
            (self.compare, ".compare"),
            (self.min_lod, ".min_lod"),
            (self.offset, ".offset"),
        ] {
            if is {
                text += word;
            }
        }
        text + memory
    }

    /// The operation of such a text.
    pub(super) fn parse(text: &str) -> Option<ImageOp> {
        let mut words = text.split('.');
        let name = words.next()?;
        let count = |digit: &str, most: u8| {
            let number: u8 = digit.parse().ok()?;
            (number <= most).then_some(number)
        };
        let action = match name {
            "read" => ImageAction::Read,
            "fetch" => ImageAction::Fetch,
            "sample" => ImageAction::Sample(Lod::Zero),
            "sample_level" => ImageAction::Sample(Lod::Level),
            "sample_implicit" => ImageAction::Sample(Lod::Implicit),
            "sample_bias" => ImageAction::Sample(Lod::Bias),
            "sample_gradients" => ImageAction::Sample(Lod::Gradients),
            "size" => ImageAction::Size,
            "levels" => ImageAction::Levels,
            "samples" => ImageAction::Samples,
            "query_lod" => ImageAction::QueryLod,
            _ => {
                if let Some(digit) = name.strip_prefix("write") {
                    ImageAction::Write(count(digit, 4).filter(|count| *count > 0)?)
                } else if let Some(digit) = name.strip_prefix("gather") {
                    ImageAction::Gather(count(digit, 3)?)
                } else {
                    let op = name.strip_prefix("atomic_")?;
                    let row = AtomicOp::ALL.iter().find(|(_, name)| *name == op)?;
                    ImageAction::Atomic(row.0)
                }
            }
        };
        let dim = words.next()?;
        let (dim, _) = Dim::ALL.iter().find(|(_, name)| *name == dim)?;
        let mut op = ImageOp::new(action, ImageShape::plain(*dim));
        for word in words {
            match word {
                "compare" => op.compare = true,
                "offset" => op.offset = true,
                "min_lod" => op.min_lod = true,
                "constant" => op.memory = Memory::Constant,
                "volatile" => op.memory = Memory::Volatile,
                "atomic" => op.memory = Memory::Atomic,
                _ => op.shape.take(word)?,
            }
        }
        Some(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_operation_says_all_of_it() {
        for text in [
            "read.2d",
            "read.buffer.constant",
            "write4.2d.array.volatile",
            "atomic_umax.3d",
            "fetch.2d.samples.constant",
            "sample_level.cube.array.compare.constant",
            "sample_gradients.2d.offset.constant",
            "sample_bias.2d.min_lod.offset.constant",
            "sample_implicit.cube.array.compare",
            "query_lod.2d.array.constant",
            "gather2.2d.constant",
            "size.3d",
        ] {
            let op = ImageOp::parse(text);
            assert_eq!(op.map(ImageOp::show).as_deref(), Some(text));
        }
        for text in ["read", "write5.2d", "read.4d", "gather4.2d", "read.2d.odd"] {
            assert_eq!(ImageOp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn operands_stand_in_one_order() {
        let op = ImageOp::parse("sample_gradients.2d.array.compare.offset").unwrap();
        // Image, sampler, two coordinates, layer, reference, two gradients, two offsets.
        assert_eq!(op.signature().0.len(), 2 + 2 + 1 + 1 + 4 + 2);
        assert_eq!(op.signature().1.len(), 4);
        let op = ImageOp::parse("atomic_compare_exchange.2d.samples").unwrap();
        assert_eq!(op.signature().0.len(), 1 + 2 + 1 + 2);
        let op = ImageOp::parse("size.cube.array").unwrap();
        assert_eq!((op.signature().0.len(), op.signature().1.len()), (2, 3));
    }
}

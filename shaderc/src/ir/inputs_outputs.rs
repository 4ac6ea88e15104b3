//! Inputs and outputs of vertex and fragment shaders: what a load or a store of one names.
//!
//! Needs: nothing.  Guarantees: operands, results, stages and the text form of each come from here.
//! An output is stored once, whole, at the end of its shader.
//! Facts: hardware/graphics-compiler.md 1.2 to 1.3, 2, 3, 4.
use smallvec::smallvec;

use super::inst::Kinds;
use super::stage::Stages;
use super::{Kind, TexelKind};

/// Components of a location.
const COMPONENTS: u8 = 4;
/// Colours that a fragment shader can write: targets, and the second of the first one.
pub const COLOR_TARGETS: u8 = 8;

/// Components of a vertex attribute. What its format lacks is 0, 0, 0, 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Attribute {
    /// Its location.
    pub location: u8,
    /// What its words are.
    pub kind: TexelKind,
    /// The first component that is loaded.
    pub first: u8,
    /// How many, 1 to 4.
    pub count: u8,
}

/// Components of what a vertex shader handed on, at a place of the primitive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Varying {
    /// Its location.
    pub location: u8,
    /// The first component that is loaded.
    pub first: u8,
    /// How many, 1 to 4.
    pub count: u8,
    /// At which place.
    pub sampling: Sampling,
    /// Without regard to perspective (NoPerspective). High: it is made of a product with [`super::Op::FragW`].
    pub noperspective: bool,
    /// 16 bits are enough (RelaxedPrecision, of floats). The results have 32 all the same.
    pub relaxed: bool,
    /// The results are words of two halves, rounded to nearest even after interpolation. The last half of an odd number is any.
    pub half: bool,
}

/// What is read of what the framebuffer holds at the pixel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TileLoad {
    /// The four components of a colour.
    Color {
        /// The number of the attachment, less than [`COLOR_TARGETS`].
        target: u8,
        /// What its components are.
        kind: TexelKind,
    },
    /// The depth, a float.
    Depth,
    /// The stencil value, 0 to 255.
    Stencil,
}

/// At which place of the primitive something is interpolated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sampling {
    /// Nowhere: it has the bits that the provoking vertex gave it.
    Flat,
    /// At the pixel's centre; with sample shading, at the sample.
    Center,
    /// At a place in the pixel that the primitive covers.
    Centroid,
    /// At the sample.
    Sample,
    /// At the sample whose number is the operand.
    AtSample,
    /// At the pixel's centre moved by the operands, x and y in pixels as floats.
    AtOffset,
}

/// What an output is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Output {
    /// x, y, z, w as the stage's [`super::PositionSpace`] says.
    Position,
    /// The side of a point in pixels, a float of 32 bits.
    PointSize,
    /// The layer that is drawn to.
    Layer,
    /// The number that the fragment shader finds as [`super::SysVal::PrimitiveId`].
    PrimitiveId,
    /// The first components of a location, for the fragment shader.
    Varying {
        /// The location.
        location: u8,
        /// How many components, 1 to 4.
        count: u8,
        /// 16 bits are enough (RelaxedPrecision, of floats). The operands have 32 all the same.
        relaxed: bool,
    },
    /// The four components of a colour.
    Color {
        /// The number of the attachment, less than [`COLOR_TARGETS`].
        target: u8,
        /// 1 for the second colour that a blend equation reads, else 0.
        index: u8,
        /// What the components are.
        kind: TexelKind,
        /// 16 bits are enough (RelaxedPrecision, of floats). The operands have 32 all the same.
        relaxed: bool,
        /// The operands are two words of two halves each, of a colour of floats.
        half: bool,
    },
    /// The depth, a float.
    Depth,
    /// The stencil reference, in the low 8 bits.
    Stencil,
    /// The samples that are left, a bit each.
    SampleMask,
    /// The alpha that becomes coverage, a float, where it is not that of colour 0.
    CoverageAlpha,
}

/// Outputs of a vertex shader that are stored together: where the machine runs it once for each, and what
/// [`super::SysVal::OutputMask`] asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum OutputGroup {
    /// The position: bit 0.
    Position,
    /// Point size, layer, primitive id: bit 1.
    Attributes,
    /// What the fragment shader reads: bit 2.
    Varyings,
}

impl OutputGroup {
    /// All of them, in the order of their bits.
    pub const ALL: [OutputGroup; 3] = [
        OutputGroup::Position,
        OutputGroup::Attributes,
        OutputGroup::Varyings,
    ];

    /// Its bit in [`super::SysVal::OutputMask`].
    pub fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl Sampling {
    /// All of them, with their names in the text form.
    pub const ALL: [(Sampling, &'static str); 6] = [
        (Sampling::Flat, "flat"),
        (Sampling::Center, "center"),
        (Sampling::Centroid, "centroid"),
        (Sampling::Sample, "sample"),
        (Sampling::AtSample, "at_sample"),
        (Sampling::AtOffset, "at_offset"),
    ];

    /// The operands that say where.
    pub fn operands(self) -> &'static [Kind] {
        match self {
            Sampling::Flat | Sampling::Center | Sampling::Centroid | Sampling::Sample => &[],
            Sampling::AtSample => &[Kind::W32],
            Sampling::AtOffset => &[Kind::F32, Kind::F32],
        }
    }

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        let mut all = Sampling::ALL.iter();
        let row = all.find(|(sampling, _)| *sampling == self);
        row.map_or("?", |(_, name)| name)
    }

    pub(super) fn from_name(name: &str) -> Option<Sampling> {
        let mut all = Sampling::ALL.iter();
        Some(all.find(|(_, own)| *own == name)?.0)
    }
}

/// Whether components of a location are some of those that it has.
fn fits(first: u8, count: u8) -> bool {
    count > 0
        && first
            .checked_add(count)
            .is_some_and(|end| end <= COMPONENTS)
}

impl Attribute {
    /// Whether it names components that there are.
    pub fn is_possible(self) -> bool {
        fits(self.first, self.count)
    }

    pub(super) fn show(self) -> String {
        let Attribute {
            location,
            kind,
            first,
            count,
        } = self;
        format!("{location}.{}.{first}.{count}", kind.name())
    }

    pub(super) fn parse(text: &str) -> Option<Attribute> {
        let [location, kind, first, count] = parts(text)?;
        Some(Attribute {
            location: location.parse().ok()?,
            kind: TexelKind::from_name(kind)?,
            first: first.parse().ok()?,
            count: count.parse().ok()?,
        })
    }
}

impl Varying {
    /// Whether it names components that there are, at a place where they can be had.
    pub fn is_possible(self) -> bool {
        let is_plain = self.sampling == Sampling::Flat || self.half;
        fits(self.first, self.count) && !(self.noperspective && is_plain)
    }

    /// Words that are loaded.
    pub fn words(self) -> u8 {
        match self.half {
            true => self.count.div_ceil(2),
            false => self.count,
        }
    }

    pub(super) fn show(self) -> String {
        let sampling = self.sampling.name();
        let mut text = format!("{}.{}.{}.{sampling}", self.location, self.first, self.count);
        for (is, word) in [
            (self.noperspective, ".noperspective"),
            (self.relaxed, ".relaxed"),
            (self.half, ".half"),
        ] {
            if is {
                text += word;
            }
        }
        text
    }

    pub(super) fn parse(text: &str) -> Option<Varying> {
        let (text, half) = flag(text, ".half");
        let (text, relaxed) = flag(text, ".relaxed");
        let (text, noperspective) = flag(text, ".noperspective");
        let [location, first, count, sampling] = parts(text)?;
        Some(Varying {
            location: location.parse().ok()?,
            first: first.parse().ok()?,
            count: count.parse().ok()?,
            sampling: Sampling::from_name(sampling)?,
            noperspective,
            relaxed,
            half,
        })
    }
}

impl TileLoad {
    /// Whether there is such a target.
    pub fn is_possible(self) -> bool {
        match self {
            TileLoad::Color { target, .. } => target < COLOR_TARGETS,
            TileLoad::Depth | TileLoad::Stencil => true,
        }
    }

    /// What is loaded.
    pub fn results(self) -> Kinds {
        match self {
            TileLoad::Color { kind, .. } => color_kinds(kind),
            TileLoad::Depth => smallvec![Kind::F32],
            TileLoad::Stencil => smallvec![Kind::W32],
        }
    }

    pub(super) fn show(self) -> String {
        match self {
            TileLoad::Color { target, kind } => format!("{target}.{}", kind.name()),
            TileLoad::Depth => "depth".to_owned(),
            TileLoad::Stencil => "stencil".to_owned(),
        }
    }

    pub(super) fn parse(text: &str) -> Option<TileLoad> {
        match text {
            "depth" => return Some(TileLoad::Depth),
            "stencil" => return Some(TileLoad::Stencil),
            _ => {}
        }
        let [target, kind] = parts(text)?;
        Some(TileLoad::Color {
            target: target.parse().ok()?,
            kind: TexelKind::from_name(kind)?,
        })
    }
}

/// The components of a colour.
fn color_kinds(kind: TexelKind) -> Kinds {
    let kind = match kind {
        TexelKind::Float => Kind::F32,
        TexelKind::Signed | TexelKind::Unsigned => Kind::W32,
    };
    smallvec![kind; COMPONENTS.into()]
}

impl Output {
    /// Outputs without parameters, with their names in the text form.
    const PLAIN: [(Output, &'static str); 8] = [
        (Output::Position, "position"),
        (Output::PointSize, "point_size"),
        (Output::Layer, "layer"),
        (Output::PrimitiveId, "primitive_id"),
        (Output::Depth, "depth"),
        (Output::Stencil, "stencil"),
        (Output::SampleMask, "sample_mask"),
        (Output::CoverageAlpha, "coverage_alpha"),
    ];

    /// The stages that have it.
    pub fn stages(self) -> Stages {
        match self.group() {
            Some(_) => Stages::VERTEX,
            None => Stages::FRAGMENT,
        }
    }

    /// With which others a vertex shader stores it; none of what a fragment shader stores.
    pub fn group(self) -> Option<OutputGroup> {
        match self {
            Output::Position => Some(OutputGroup::Position),
            Output::PointSize | Output::Layer | Output::PrimitiveId => {
                Some(OutputGroup::Attributes)
            }
            Output::Varying { .. } => Some(OutputGroup::Varyings),
            Output::Color { .. }
            | Output::Depth
            | Output::Stencil
            | Output::SampleMask
            | Output::CoverageAlpha => None,
        }
    }

    /// What is stored.
    pub fn operands(self) -> Kinds {
        match self {
            Output::Position => smallvec![Kind::F32; 4],
            Output::PointSize | Output::Depth | Output::CoverageAlpha => smallvec![Kind::F32],
            Output::Layer | Output::PrimitiveId | Output::Stencil | Output::SampleMask => {
                smallvec![Kind::W32]
            }
            Output::Varying { count, .. } => smallvec![Kind::W32; count.into()],
            Output::Color { half: true, .. } => smallvec![Kind::W32; 2],
            Output::Color { kind, .. } => color_kinds(kind),
        }
    }

    /// Whether there can be such an output.
    pub fn is_possible(self) -> bool {
        match self {
            Output::Varying { count, .. } => fits(0, count),
            Output::Color {
                target,
                index,
                kind,
                half,
                ..
            } => {
                let fits = !half || kind == TexelKind::Float;
                target < COLOR_TARGETS && (index == 0 || (index, target) == (1, 0)) && fits
            }
            _ => true,
        }
    }

    /// Whether both are one output, which is stored once.
    pub fn is_same(self, other: Output) -> bool {
        match (self, other) {
            (Output::Varying { location: a, .. }, Output::Varying { location: b, .. }) => a == b,
            (
                Output::Color {
                    target: a,
                    index: i,
                    ..
                },
                Output::Color {
                    target: b,
                    index: j,
                    ..
                },
            ) => (a, i) == (b, j),
            (a, b) => a == b,
        }
    }

    pub(super) fn show(self) -> String {
        let end = |relaxed: bool| if relaxed { ".relaxed" } else { "" };
        match self {
            Output::Varying {
                location,
                count,
                relaxed,
            } => format!("varying.{location}.{count}{}", end(relaxed)),
            Output::Color {
                target,
                index,
                kind,
                relaxed,
                half,
            } => {
                let width = if half { ".half" } else { "" };
                let kind = kind.name();
                format!("color.{target}.{index}.{kind}{}{width}", end(relaxed))
            }
            plain => {
                let mut all = Output::PLAIN.iter();
                let row = all.find(|(output, _)| *output == plain);
                row.map_or("?", |(_, name)| name).to_owned()
            }
        }
    }

    pub(super) fn parse(text: &str) -> Option<Output> {
        if let Some((output, _)) = Output::PLAIN.iter().find(|(_, name)| *name == text) {
            return Some(*output);
        }
        let (text, half) = flag(text, ".half");
        let (text, relaxed) = flag(text, ".relaxed");
        let (head, tail) = text.split_once('.')?;
        match head {
            "varying" => {
                let [location, count] = parts(tail)?;
                Some(Output::Varying {
                    location: location.parse().ok()?,
                    count: count.parse().ok()?,
                    relaxed,
                })
            }
            "color" => {
                let [target, index, kind] = parts(tail)?;
                Some(Output::Color {
                    target: target.parse().ok()?,
                    index: index.parse().ok()?,
                    kind: TexelKind::from_name(kind)?,
                    relaxed,
                    half,
                })
            }
            _ => None,
        }
    }
}

fn parts<const N: usize>(text: &str) -> Option<[&str; N]> {
    let parts: Vec<&str> = text.split('.').collect();
    parts.try_into().ok()
}

fn flag<'t>(text: &'t str, word: &str) -> (&'t str, bool) {
    match text.strip_suffix(word) {
        Some(rest) => (rest, true),
        None => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_input_or_output_says_all_of_it() {
        for text in ["0.float.0.4", "15.uint.2.1"] {
            let attribute = Attribute::parse(text);
            assert_eq!(attribute.map(Attribute::show).as_deref(), Some(text));
        }
        for text in [
            "3.0.4.center",
            "3.1.2.centroid.noperspective.relaxed",
            "0.0.1.flat",
            "1.0.2.at_offset.relaxed",
        ] {
            let varying = Varying::parse(text);
            assert_eq!(varying.map(Varying::show).as_deref(), Some(text));
        }
        for text in [
            "position",
            "sample_mask",
            "coverage_alpha",
            "varying.4.3.relaxed",
            "color.7.0.int",
            "color.0.1.float.relaxed",
        ] {
            let output = Output::parse(text);
            assert_eq!(output.map(Output::show).as_deref(), Some(text));
        }
        for text in ["7.uint", "depth", "stencil"] {
            let tile = TileLoad::parse(text);
            assert_eq!(tile.map(TileLoad::show).as_deref(), Some(text));
        }
        assert_eq!(Output::parse("color.0.float"), None, "it lacks its index");
        assert_eq!(Varying::parse("0.0.4.middle"), None);
    }
}

//! Preloads: what the hardware puts in registers before a thread's first instruction, by stage.
//!
//! A bit of the mask in a program's descriptor asks for each register: bit n is r(48 + n). No generation from v10 to v13 differs.
//!
//! ```
//! use eitri_isa::preload::{Preload, Stage};
//!
//! let row = Preload::PixelY.of(Stage::Fragment).expect("fragments have one");
//! assert_eq!((row.register, row.shift, row.bits), (59, 16, 16));
//! assert_eq!(row.mask(), 1 << 11);
//! assert!(Preload::PixelY.of(Stage::Vertex).is_none());
//! ```
//!
//! Facts: hardware/compiler-abi.md 3.1, graphics-compiler.md 3.

/// What a program's threads are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Invocations of a workgroup.
    Compute,
    /// Vertices, for their positions, their varyings or both.
    Vertex,
    /// Fragments.
    Fragment,
}

/// First register that can be filled.
const FIRST: u8 = 48;

/// Where a value arrives in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreloadRow {
    /// The stage.
    pub stage: Stage,
    /// The value.
    pub value: Preload,
    /// Number of the register: 48 to 63.
    pub register: u8,
    /// Its lowest bit in the register.
    pub shift: u8,
    /// Its bits. What the register has beside them is another value, or not known.
    pub bits: u8,
}

impl PreloadRow {
    /// The bit of the preload mask that asks for its register.
    pub const fn mask(&self) -> u16 {
        1 << (self.register - FIRST)
    }

    /// Whether it is a register alone.
    pub const fn is_whole(&self) -> bool {
        self.bits == 32
    }
}

macro_rules! preloads {
    ($( $value:ident $name:literal $stage:ident r $register:literal [$shift:literal; $bits:literal] $doc:literal; )*) => {
        /// A value that arrives in a register.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Preload { $( #[doc = $doc] $value, )* }

        impl Preload {
            /// All of them, with where they arrive. A stage has each once.
            pub const ALL: &[PreloadRow] = &[$( PreloadRow {
                stage: Stage::$stage,
                value: Preload::$value,
                register: $register,
                shift: $shift,
                bits: $bits,
            }, )*];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $( Preload::$value => $name, )* }
            }
        }
    };
}

#[rustfmt::skip]
preloads! {
    // value         name               stage       register  bits
    LocalIdX        "local_id.x"        Compute  r 55 [0; 16]  "Number of the invocation in its workgroup along x.";
    LocalIdY        "local_id.y"        Compute  r 55 [16; 16] "The same along y.";
    LocalIdZ        "local_id.z"        Compute  r 56 [0; 16]  "The same along z.";
    WorkgroupIdX    "workgroup_id.x"    Compute  r 57 [0; 32]  "Number of the workgroup along x.";
    WorkgroupIdY    "workgroup_id.y"    Compute  r 58 [0; 32]  "The same along y.";
    WorkgroupIdZ    "workgroup_id.z"    Compute  r 59 [0; 32]  "The same along z.";
    GlobalIdX       "global_id.x"       Compute  r 60 [0; 32]  "Number of the invocation in the dispatch along x.";
    GlobalIdY       "global_id.y"       Compute  r 61 [0; 32]  "The same along y.";
    GlobalIdZ       "global_id.z"       Compute  r 62 [0; 32]  "The same along z.";

    OutputIndex     "output_index"      Vertex   r 59 [0; 32]  "Element of the output buffers that the vertex writes.";
    VertexIndex     "vertex_index"      Vertex   r 60 [0; 32]  "Number of the vertex, with the draw's base.";
    InstanceIndex   "instance_index"    Vertex   r 61 [0; 32]  "Number of the instance in the draw, from 0.";
    DrawIndex       "draw_index"        Vertex   r 62 [0; 32]  "Number of the draw.";
    ViewIndex       "view_index"        Vertex   r 63 [0; 32]  "Number of the view.";

    PrimitiveId     "primitive_id"      Fragment r 57 [0; 32]  "Number of the primitive, if the draw provides it.";
    PrimitiveFlags  "primitive_flags"   Fragment r 58 [0; 32]  "0 if the primitive faces the front.";
    PixelX          "pixel.x"           Fragment r 59 [0; 16]  "Pixel in the framebuffer along x.";
    PixelY          "pixel.y"           Fragment r 59 [16; 16] "The same along y.";
    Coverage        "coverage"          Fragment r 60 [0; 32]  "Samples that are still covered, which ATEST and ZS_EMIT change.";
    SampleMask      "sample_mask"       Fragment r 61 [0; 16]  "Samples that the rasteriser covers.";
    SampleId        "sample_id"         Fragment r 61 [16; 5]  "Number of the sample, if the program runs per sample.";
    Layer           "layer"             Fragment r 62 [0; 8]   "Number of the layer: the lowest byte of the frame's argument.";
    FrameArgument   "frame_argument"    Fragment r 63 [0; 32]  "The upper word of the frame's argument.";
}

impl Preload {
    /// Where it arrives in a stage; `None` if it does not.
    pub fn of(self, stage: Stage) -> Option<&'static PreloadRow> {
        let mut rows = Preload::ALL.iter();
        rows.find(|row| row.stage == stage && row.value == self)
    }
}

/// The register that selects where varyings are interpolated, all of it: covered samples for the centroid, and the number of the
/// sample (hardware/compiler-abi.md 3.3).
pub const INTERPOLATION_REGISTER: u8 = 61;

/// The registers that a fragment program with BLEND is always given: coverage and samples, which a blend shader may read
/// (hardware/compiler-abi.md 3.1, 3.7).
pub const BLEND_MASK: u16 = 1 << 12 | 1 << 13;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_has_each_value_once_and_no_bit_twice() {
        for (number, row) in Preload::ALL.iter().enumerate() {
            assert!((FIRST..64).contains(&row.register), "{row:?}");
            assert!(row.shift + row.bits <= 32, "{row:?}");
            for other in &Preload::ALL[..number] {
                let apart = other.stage != row.stage
                    || other.register != row.register
                    || other.shift + other.bits <= row.shift
                    || row.shift + row.bits <= other.shift;
                assert!(apart, "{row:?} and {other:?}");
            }
            assert_eq!(row.value.of(row.stage), Some(row), "{row:?}");
        }
    }
}

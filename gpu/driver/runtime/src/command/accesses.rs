//! Accesses: what commands before a barrier do, and what those after it do.
//!
//! Names are those of Vulkan's synchronization. Each access is made by one stage, so stages are not named beside it, except for
//! what shaders read and write: [`Accesses::in_stage`] narrows that to vertex, fragment or compute shaders.
//! Facts: hardware/command-stream.md 1.10 and 6.8, graphics.md 1.7.

use core::fmt;
use core::ops::BitOr;

/// A stage that runs shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShaderStage {
    /// Vertex shaders.
    Vertex,
    /// Fragment shaders.
    Fragment,
    /// Compute shaders.
    Compute,
}

/// A set of accesses, each with its stage. Reads before a barrier only order.
///
/// ```
/// use eitri_runtime::{Accesses, ShaderStage};
///
/// let written = Accesses::SHADER_WRITE | Accesses::TRANSFER_WRITE;
/// assert!(written.any_of(Accesses::TRANSFER_WRITE));
/// assert!(!written.any_of(Accesses::HOST_READ));
///
/// let sampled = Accesses::SAMPLED_READ.in_stage(ShaderStage::Compute);
/// assert!(Accesses::SHADER_READ.any_of(sampled));
/// assert!(!sampled.any_of(Accesses::SAMPLED_READ.in_stage(ShaderStage::Fragment)));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Accesses(u32);

/// Accesses of shaders have a bit for each stage, in the order of [`ShaderStage`].
const EVERY_STAGE: u32 = 0b111;
const STAGES: u32 = EVERY_STAGE.count_ones();

const fn by_shaders(number: u32) -> Accesses {
    Accesses(EVERY_STAGE << (number * STAGES))
}

/// Accesses of a single stage, behind the four kinds of shaders' accesses.
const fn by_one_stage(number: u32) -> Accesses {
    Accesses(1 << (4 * STAGES + number))
}

macro_rules! accesses {
    ($($(#[$about:meta])* $name:ident = $value:expr;)*) => {
        impl Accesses {
            $($(#[$about])* pub const $name: Accesses = $value;)*
        }

        /// Names, for [`fmt::Debug`].
        const NAMES: &[(&str, Accesses)] = &[$((stringify!($name), Accesses::$name)),*];
    };
}

#[rustfmt::skip]
accesses! {
    /// Shaders read uniform buffers.
    UNIFORM_READ             = by_shaders(0);
    /// Shaders sample images, or fetch texels of them.
    SAMPLED_READ             = by_shaders(1);
    /// Shaders read storage buffers and storage images.
    STORAGE_READ             = by_shaders(2);
    /// Shaders write storage buffers and storage images.
    STORAGE_WRITE            = by_shaders(3);
    /// A dispatch or a draw reads its counts from a buffer.
    INDIRECT_READ            = by_one_stage(0);
    /// A draw reads indices.
    INDEX_READ               = by_one_stage(1);
    /// A draw reads attributes of vertices.
    VERTEX_READ              = by_one_stage(2);
    /// Fragment shaders read an input attachment.
    INPUT_ATTACHMENT_READ    = by_one_stage(3);
    /// A pass reads colours that it loads or blends with.
    COLOR_READ               = by_one_stage(4);
    /// A pass writes colours.
    COLOR_WRITE              = by_one_stage(5);
    /// A pass reads depth or stencil values.
    DEPTH_STENCIL_READ       = by_one_stage(6);
    /// A pass writes depth or stencil values.
    DEPTH_STENCIL_WRITE      = by_one_stage(7);
    /// A copy, a blit or a resolve reads.
    TRANSFER_READ            = by_one_stage(8);
    /// A copy, a fill, an update, a query, or a clear, blit or resolve of an image writes.
    TRANSFER_WRITE           = by_one_stage(9);
    /// The host reads, after the job.
    HOST_READ                = by_one_stage(10);
    /// The host writes, before the job: a submission makes that visible by itself.
    HOST_WRITE               = by_one_stage(11);
}

impl Accesses {
    /// None: a barrier with none on a side does nothing.
    pub const NONE: Accesses = Accesses(0);
    /// Whatever shaders read through their bindings: uniform, sampled and storage reads.
    pub const SHADER_READ: Accesses = Accesses::UNIFORM_READ
        .or(Accesses::SAMPLED_READ)
        .or(Accesses::STORAGE_READ);
    /// Whatever shaders write: storage writes.
    pub const SHADER_WRITE: Accesses = Accesses::STORAGE_WRITE;
    /// Whatever commands can do.
    pub const ALL: Accesses = Accesses((1 << (4 * STAGES + 12)) - 1);

    /// Writes of the GPU.
    pub(crate) const WRITES: Accesses = Accesses::STORAGE_WRITE
        .or(Accesses::COLOR_WRITE)
        .or(Accesses::DEPTH_STENCIL_WRITE)
        .or(Accesses::TRANSFER_WRITE);
    /// What jobs of the iterators do, as opposed to the stream's own loads and stores.
    pub(super) const OF_JOBS: Accesses = Accesses::SHADER_READ
        .or(Accesses::STORAGE_WRITE)
        .or(Accesses::INDEX_READ)
        .or(Accesses::VERTEX_READ)
        .or(Accesses::INPUT_ATTACHMENT_READ)
        .or(Accesses::COLOR_READ)
        .or(Accesses::COLOR_WRITE)
        .or(Accesses::DEPTH_STENCIL_READ)
        .or(Accesses::DEPTH_STENCIL_WRITE);
    /// What a pass does to its attachments.
    pub(crate) const OF_ATTACHMENTS: Accesses = Accesses::INPUT_ATTACHMENT_READ
        .or(Accesses::COLOR_READ)
        .or(Accesses::COLOR_WRITE)
        .or(Accesses::DEPTH_STENCIL_READ)
        .or(Accesses::DEPTH_STENCIL_WRITE);
    /// Reads through the texture unit, and so through caches that are not coherent with the L2. Attachments are loaded into a pass
    /// by texture reads, too.
    // FACT: which reads go through the read-only first-level caches is not published in full: "texture, descriptor and so on"
    // (hardware/command-stream.md 1.10). Messages of the load/store unit (buffers, LD_TEX, LD_ATTR, LD_CVT) are taken to go through
    // the load/store cache, which is coherent. Settled by the suite's `caches.texture` with each kind of read in its place, on
    // any board.
    pub(crate) const THROUGH_TEXTURES: Accesses = Accesses::SAMPLED_READ
        .or(Accesses::INPUT_ATTACHMENT_READ)
        .or(Accesses::COLOR_READ)
        .or(Accesses::DEPTH_STENCIL_READ);

    const fn or(self, other: Accesses) -> Accesses {
        Accesses(self.0 | other.0)
    }

    /// Whether one of these is among them.
    pub const fn any_of(self, others: Accesses) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether all of these are among others.
    pub(crate) const fn are_of(self, others: Accesses) -> bool {
        self.0 & !others.0 == 0
    }

    /// The same with those that shaders make narrowed to one stage; the others stay.
    #[must_use]
    pub const fn in_stage(self, stage: ShaderStage) -> Accesses {
        let of_stage = 0b001_001_001_001 << stage as u32;
        let of_shaders = (1 << (4 * STAGES)) - 1;
        Accesses(self.0 & (of_stage | !of_shaders))
    }
}

impl BitOr for Accesses {
    type Output = Accesses;

    fn bitor(self, other: Accesses) -> Accesses {
        self.or(other)
    }
}

/// The names of those that are among them in any stage, with a bar between each two.
impl fmt::Debug for Accesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = NAMES.iter().filter(|(_, it)| self.any_of(*it));
        let Some((first, _)) = names.next() else {
            return f.write_str("NONE");
        };
        f.write_str(first)?;
        names.try_for_each(|(name, _)| write!(f, "|{name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn every_access_has_bits_of_its_own() {
        let mut all = Accesses::NONE;
        for (name, access) in NAMES {
            assert!(!all.any_of(*access), "{name}");
            all = all | *access;
        }
        assert_eq!(all, Accesses::ALL);
    }

    #[test]
    fn a_stage_narrows_what_shaders_do_and_nothing_else() {
        let both = Accesses::STORAGE_WRITE | Accesses::TRANSFER_WRITE;
        let compute = both.in_stage(ShaderStage::Compute);
        assert!(compute.any_of(Accesses::TRANSFER_WRITE));
        let stages = [
            ShaderStage::Vertex,
            ShaderStage::Fragment,
            ShaderStage::Compute,
        ];
        let found = stages.map(|stage| Accesses::STORAGE_WRITE.in_stage(stage).any_of(compute));
        assert_eq!(found, [false, false, true]);
        assert_eq!(
            format!("{:?}", compute.in_stage(ShaderStage::Vertex)),
            "TRANSFER_WRITE"
        );
        assert_eq!(format!("{both:?}"), "STORAGE_WRITE|TRANSFER_WRITE");
        assert_eq!(format!("{:?}", Accesses::NONE), "NONE");
    }
}

//! Flushes of jobs: what a job begins with, and what it does to the caches by itself.
//!
//! Facts: hardware/command-stream.md 1.10 and 3.7 (FLUSH_CACHE2).

/// Which caches a flush is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// Those of the shader cores that are only read through: textures, descriptors.
    ReadOnly,
    /// Those of the shader cores: load/store caches, and whatever is only read through.
    Cores,
    /// All, the L2 too.
    All,
}

/// A flush that a job begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobFlush {
    /// Which caches.
    pub(crate) reach: Reach,
    /// The flush id when the host wrote last: a flush since then makes this one unnecessary. 0: none does.
    pub(crate) id: u32,
}

/// What a job begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begin {
    /// Which caches it flushes.
    pub(crate) reach: Option<Reach>,
    /// As [`JobFlush::id`].
    pub(crate) id: u32,
    /// When what it flushes for was written: a stamp of the device's caches.
    pub(crate) stamp: u64,
}

impl Begin {
    /// No flush.
    pub(crate) const NOTHING: Begin = Begin {
        reach: None,
        id: 0,
        stamp: 0,
    };
}

/// What a job does to the caches by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheUse {
    /// It may flush some of them.
    pub(crate) partial: bool,
    /// It flushes all of them when its last work is done.
    pub(crate) clean: bool,
    /// It samples images that were written before it.
    pub(crate) samples: bool,
    /// It may write texels of images.
    pub(crate) writes_texels: bool,
}

impl CacheUse {
    /// Whether the order of its flushes and samples to those of other jobs matters.
    pub(crate) const fn concerns_others(self) -> bool {
        self.partial || self.samples || self.writes_texels
    }

    /// Nothing.
    #[cfg(test)]
    pub(crate) const NONE: CacheUse = CacheUse {
        partial: false,
        clean: false,
        samples: false,
        writes_texels: false,
    };
    /// Whatever a stream of its owner's may do.
    pub(crate) const UNKNOWN: CacheUse = CacheUse {
        partial: true,
        clean: false,
        samples: true,
        writes_texels: true,
    };
}

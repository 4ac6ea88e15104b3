//! What is known of a shader of the graphics pipeline, beside what it reads and writes: yes or no each.
//!
//! Facts: hardware/graphics-compiler.md 10 (what a driver needs of them), graphics-raster.md 4.9 (draw-time rules).

macro_rules! facts {
    (
        $(#[$doc:meta])*
        pub struct $name:ident { $($(#[$of:meta])* $field:ident = $bit:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name { $($(#[$of])* pub $field: bool,)* }

        impl $name {
            /// The names of those that hold, in the order of their bits.
            pub fn names(self) -> impl Iterator<Item = &'static str> {
                let all = [$((self.$field, stringify!($field)),)*];
                all.into_iter().filter_map(|(holds, name)| holds.then_some(name))
            }

            /// Its bits.
            pub(crate) const fn to_bits(self) -> u32 {
                0 $(| (self.$field as u32) << $bit)*
            }

            /// The facts of some bits; `None` when a bit means nothing.
            pub(crate) const fn from_bits(bits: u32) -> Option<$name> {
                let facts = $name { $($field: bits >> $bit & 1 != 0,)* };
                if facts.to_bits() == bits { Some(facts) } else { None }
            }
        }
    };
}

facts! {
    /// Facts of a vertex shader.
    pub struct VertexFacts {
        /// It writes the size of points: to records of the extended format, by [`crate::EntryKind`] with points alone.
        writes_point_size = 0,
        /// It writes the layer, to records of the extended format.
        writes_layer = 1,
        /// It writes the number of the primitive, to records of the extended format.
        writes_primitive_id = 2,
    }
}

impl VertexFacts {
    /// Whether the records of positions have the extended format, of eight words and not four, in a draw of points or of
    /// something else (hardware/compiler-abi.md 3.2).
    pub const fn extended(self, points: bool) -> bool {
        self.writes_layer || self.writes_primitive_id || (self.writes_point_size && points)
    }
}

facts! {
    /// Facts of a fragment shader.
    pub struct FragmentFacts {
        /// It writes depth.
        writes_depth = 0,
        /// It writes the stencil reference.
        writes_stencil = 1,
        /// It writes coverage, the sample mask.
        writes_sample_mask = 2,
        /// It can discard fragments.
        can_discard = 3,
        /// It declares early fragment tests: depth and stencil that it computes are not used.
        early_tests = 4,
        /// It writes memory.
        side_effects = 5,
        /// It runs for each sample.
        sample_shading = 6,
        /// Helper lanes must be there: it looks at its neighbours.
        needs_helpers = 7,
        /// Its output has a second colour.
        dual_source = 8,
        /// It reads the number of the primitive: the draw must provide it.
        reads_primitive_id = 9,
        /// It reads the number of the sample.
        reads_sample_id = 10,
        /// It reads the position of the sample.
        reads_sample_position = 11,
        /// It reads the position of the fragment in the framebuffer.
        reads_position = 12,
        /// It reads the rasteriser's coverage.
        reads_coverage = 13,
        /// It evaluates an input at the centroid.
        reads_centroid = 14,
        /// It reads the depth of the tile.
        reads_tile_depth = 15,
        /// It reads the stencil value of the tile.
        reads_tile_stencil = 16,
        /// It loads a varying before its fragment is tested.
        varying_before_test = 17,
        /// It waits for the fragments below, or reads or writes the tile, before its fragment is tested.
        wait_before_test = 18,
    }
}

impl FragmentFacts {
    /// Whether a fragment above may stop this one before it runs to its end, as far as the shader says: nothing but colours comes of
    /// it (hardware/compiler-abi.md 3.4).
    pub const fn can_be_killed(self) -> bool {
        !(self.writes_depth
            || self.writes_stencil
            || self.writes_sample_mask
            || self.can_discard
            || self.reads_tile_depth
            || self.reads_tile_stencil)
    }
}

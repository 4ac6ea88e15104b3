//! State of draws: what is set and bound in a pass, what of it stands in memory, and what the next draw has to say again.

use super::conditional::Predicate;
use super::draw::IndexType;
use super::draw_words::DrawWords;
use super::dynamic::Dynamic;
use super::pass_bound::Bound;
use super::pipeline::GraphicsPipelined;
use super::queries::Counting;
use super::rendering::{Rect, Viewport};
use super::repeat::LastDraw;
use super::tiling::Tiling;
use super::uniforms::Values;
use crate::slab::Key;
use core::cell::RefCell;

/// Stages of a pipeline.
pub(super) const VERTEX: usize = 0;
pub(super) const FRAGMENT: usize = 1;
/// Uniforms: of positions or all of vertices, of varyings, of fragments.
pub(super) const VARYINGS: usize = 1;
pub(super) const FRAGMENTS: usize = 2;

/// What a draw has to say again: what registers of the lane don't hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stale(u8);

impl Stale {
    pub(super) const NOTHING: Stale = Stale(0);
    /// Uniforms of some program.
    pub(super) const UNIFORMS: Stale = Stale(1);
    /// Resource tables.
    pub(super) const RESOURCES: Stale = Stale(2);
    /// All else, the numbers of vertices and instances aside.
    pub(super) const STATE: Stale = Stale(4);
    pub(super) const ALL: Stale = Stale(7);
    /// What another pipeline than the last draw's decides, where nothing was set in its place.
    pub(super) const PIPELINE: Stale = Stale(8);
    /// The index buffer, of draws that have indices.
    pub(super) const INDICES: Stale = Stale(16);
    /// The tiler's context and the scissor, where nothing else of [`Stale::STATE`] is.
    pub(super) const CONTEXT: Stale = Stale(32);

    pub(super) const fn and(self, other: Stale) -> Stale {
        Stale(self.0 | other.0)
    }

    pub(super) const fn has(self, other: Stale) -> bool {
        self.0 & other.0 != 0
    }
}

/// What is set in a pass, and what of it and of what is bound stands in memory. It is large: a pass has a reference to it.
#[derive(Debug)]
pub(crate) struct DrawState {
    /// The tiling of the pass, once something is drawn.
    pub(super) tiler: Option<Tiling>,
    pub(super) stale: Stale,
    /// The last draw, if the registers hold all of it that is not stale.
    pub(super) last: Option<LastDraw>,
    /// Words of the uniforms' plan are said that depend on viewport and blend constants, and those that depend on sets.
    pub(super) says_state: bool,
    /// The version of viewport and blend constants, once it is known.
    pub(super) version: Option<u64>,
    pub(super) says_sets: bool,
    pub(super) pipeline: Option<Key>,
    pub(super) indices: Option<(Bound, IndexType)>,
    pub(super) values: Values,
    pub(super) scissor: Rect,
    /// Viewport and scissor are all of the attachments.
    pub(super) whole: bool,
    /// The scissor's register, for a first draw that goes on from another pass.
    pub(super) scissor_box: u64,
    pub(super) stencil_reference: Option<[u8; 2]>,
    pub(super) blend_constants: Option<[f32; 4]>,
    /// What stands in memory for what is bound: resources of each stage, uniforms of each program, tests, blending, local storage.
    pub(super) resources: [Option<u64>; 2],
    pub(super) uniforms: [Option<u64>; 3],
    pub(super) tests: Option<u64>,
    pub(super) blends: Option<u64>,
    pub(super) storage: Option<u64>,
    /// The query that counts.
    pub(super) query: Option<Counting>,
    /// What was set in place of what the pipeline says; and the words of draws with it.
    pub(super) dynamic: Dynamic,
    pub(super) words: Option<DrawWords>,
    /// What draws depend on.
    pub(super) predicate: Option<Predicate>,
    /// Draws run in turn, and are counted.
    pub(super) in_turn: bool,
}

/// Where the state of draws stands while commands are recorded, once they have a pass.
pub(crate) type DrawStatePlace = RefCell<Option<DrawState>>;

impl DrawState {
    /// State of no pass.
    pub(super) const NOTHING: DrawState = DrawState {
        tiler: None,
        stale: Stale::ALL,
        last: None,
        says_state: false,
        version: None,
        says_sets: false,
        pipeline: None,
        indices: None,
        values: Values {
            viewport: Viewport::of(0, 0),
            blend_constants: [0.0; 4],
            first_vertex: 0,
            base_instance: 0,
            view_index: 0,
        },
        scissor: Rect {
            x: 0,
            y: 0,
            width: 0,
            height: 0,
        },
        whole: false,
        scissor_box: 0,
        stencil_reference: None,
        blend_constants: None,
        resources: [None; 2],
        uniforms: [None; 3],
        tests: None,
        blends: None,
        storage: None,
        query: None,
        dynamic: Dynamic::NOTHING,
        words: None,
        predicate: None,
        in_turn: false,
    };

    /// Begins a pass to attachments of a size, in which a query may count: nothing is bound, and all of the attachments are the
    /// viewport and the scissor.
    pub(super) const fn begin(&mut self, (width, height): (u32, u32), query: Option<Counting>) {
        // Field by field: a copy of all of it costs more.
        (self.tiler, self.last, self.pipeline) = (None, None, None);
        self.stale = Stale::ALL;
        (self.says_state, self.says_sets) = (false, false);
        let viewport = Viewport::of(width, height);
        self.set_viewport(viewport);
        self.set_blend_constants([0.0; 4]);
        self.indices = None;
        (self.values.first_vertex, self.values.base_instance) = (0, 0);
        self.values.view_index = 0;
        (self.scissor.x, self.scissor.y) = (0, 0);
        self.query = query;
        (self.predicate, self.in_turn) = (None, false);
        (self.scissor.width, self.scissor.height) = (width, height);
        self.whole = true;
        // All else depends on a pipeline: the first one that is bound begins with none of it.
    }

    /// Sets where vertices go. Of the same viewport the words stay what they were.
    pub(super) const fn set_viewport(&mut self, viewport: Viewport) {
        if !self.values.viewport.is(&viewport) {
            self.values.viewport = viewport;
            (self.version, self.says_state) = (None, false);
        }
    }

    /// Sets what is blended with: the same of its words.
    pub(super) const fn set_blend_constants(&mut self, constants: [f32; 4]) {
        let [a, b, c, d] = self.values.blend_constants;
        let [e, f, g, h] = constants;
        let differ = a.to_bits() ^ e.to_bits()
            | b.to_bits() ^ f.to_bits()
            | c.to_bits() ^ g.to_bits()
            | d.to_bits() ^ h.to_bits();
        if differ != 0 {
            self.values.blend_constants = constants;
            (self.version, self.says_state) = (None, false);
        }
    }

    /// Whether the last draw has indices.
    pub(super) fn is_indexed(&self) -> bool {
        self.last
            .as_ref()
            .is_some_and(|last| last.kind.is_indexed())
    }

    /// Whether all that is set is what the pipeline says, and nothing is counted or depended on.
    pub(super) const fn is_of_pipeline(&self) -> bool {
        self.dynamic.is_nothing()
            && self.stencil_reference.is_none()
            && self.blend_constants.is_none()
            && self.query.is_none()
            && self.predicate.is_none()
    }

    /// What registers hold is another's, of all of them.
    pub(super) const fn forget_registers(&mut self) {
        self.stale = Stale::ALL;
        self.last = None;
    }

    /// Draws begin at a vertex and an instance from here on.
    pub(super) fn begin_at(&mut self, made: &GraphicsPipelined, first_vertex: u32, base: u32) {
        let values = &mut self.values;
        let (other_first, other_base) = (
            values.first_vertex != first_vertex,
            values.base_instance != base,
        );
        (values.first_vertex, values.base_instance) = (first_vertex, base);
        if made.is_instanced() && other_base {
            self.resources[VERTEX] = None;
            self.stale = self.stale.and(Stale::RESOURCES);
        }
        if made.reads_first && other_first || made.reads_base && other_base {
            self.forget_vertex_uniforms();
        }
    }

    pub(super) fn forget_vertex_uniforms(&mut self) {
        if let Some(uniforms) = self.uniforms.get_mut(..FRAGMENTS) {
            uniforms.fill(None);
        }
        self.stale = self.stale.and(Stale::UNIFORMS);
    }

    pub(super) const fn forget_uniforms(&mut self) {
        self.uniforms = [None; 3];
        self.stale = self.stale.and(Stale::UNIFORMS);
    }

    /// State that stands in memory or in words is set again.
    pub(super) const fn forget_state(&mut self) {
        self.stale = self.stale.and(Stale::STATE);
    }

    /// The words of draws are others.
    pub(super) const fn forget_words(&mut self) {
        self.words = None;
        self.forget_state();
    }

    /// Tests are others, and so the words of draws.
    pub(super) const fn forget_tests(&mut self) {
        self.tests = None;
        self.forget_words();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_constants_and_viewports_are_others() {
        let mut state = DrawState::NOTHING;
        state.begin((64, 64), None);
        let is_said = |state: &mut DrawState| {
            let said = state.version.is_some() && state.says_state;
            (state.version, state.says_state) = (Some(1), true);
            said
        };
        assert!(!is_said(&mut state), "a first pass");
        state.set_blend_constants([0.0; 4]);
        state.set_viewport(Viewport::of(64, 64));
        assert!(is_said(&mut state), "the same");
        for constants in [[0.0, 0.0, 0.0, 1.0], [-0.0, 0.0, 0.0, 1.0], [0.0; 4]] {
            state.set_blend_constants(constants);
            assert!(!is_said(&mut state), "{constants:?}");
        }
        state.set_viewport(Viewport::of(64, 32));
        assert!(!is_said(&mut state), "another viewport");
        let (version, says) = (state.version, state.says_state);
        state.begin((64, 32), None);
        assert_eq!((version, says), (Some(1), true));
        assert_eq!(state.version, Some(1), "a pass of the same size");
        state.begin((64, 64), None);
        assert_eq!(state.version, None, "a pass of another size");
    }
}

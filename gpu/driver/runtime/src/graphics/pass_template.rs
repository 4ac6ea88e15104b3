//! Templates of passes: what the pass before rendered to, so that another one with the same attachments does not find it out again.
//!
//! Objects stay what they are while commands are recorded: the same request means the same framebuffer.
//! Never: keeps anything from one recording to the next.

use super::framebuffer::{Framebuffer, MOST_COLORS};
use super::framebuffer_words::{Around, MOST_WORDS};
use super::incremental::Increments;
use super::rendering::{
    ClearColor, ColorAttachment, DepthAttachment, ImageView, LoadOp, Rect, RenderingInfo, Resolve,
    StencilAttachment,
};
use crate::platform::{PhysicalAddress, Platform};
use heapless::Vec;

/// What a pass renders to, and what it was asked for.
#[derive(Debug)]
pub(super) struct PassTarget {
    pub(super) framebuffer: Framebuffer,
    pub(super) template: PassTemplate,
}

impl PassTarget {
    const NOTHING: PassTarget = PassTarget {
        framebuffer: Framebuffer::NOTHING,
        template: PassTemplate::NOTHING,
    };
}

/// What the last pass renders to, and another that it was before: passes may go to two things in turn.
#[derive(Debug)]
pub(super) struct LastTargets {
    first: PassTarget,
    second: Option<PassTarget>,
    /// The second is the last.
    is_second: bool,
}

impl LastTargets {
    /// There was no pass.
    pub(super) const NOTHING: LastTargets = LastTargets {
        first: PassTarget::NOTHING,
        second: None,
        is_second: false,
    };

    /// What the last pass renders to.
    #[inline]
    pub(super) const fn last(&self) -> &PassTarget {
        match &self.second {
            Some(second) if self.is_second => second,
            _ => &self.first,
        }
    }

    /// The same, to be changed.
    #[inline]
    pub(super) const fn last_mut(&mut self) -> &mut PassTarget {
        match &mut self.second {
            Some(second) if self.is_second => second,
            _ => &mut self.first,
        }
    }

    /// Goes back to what a pass before rendered to, if the same is asked for again.
    #[inline]
    pub(super) fn recall(&mut self, info: &RenderingInfo<'_>) -> bool {
        if self.last().template.is_of(info) {
            return true;
        }
        self.is_second = !self.is_second;
        if self.last().template.is_of(info) {
            return true;
        }
        self.is_second = !self.is_second;
        false
    }

    /// The place for what another pass renders to: that of the pass before the last.
    pub(super) fn another(&mut self) -> &mut PassTarget {
        if self.last().template.known {
            self.is_second = !self.is_second;
            if self.is_second && self.second.is_none() {
                self.second = Some(PassTarget::NOTHING);
            }
        }
        let target = self.last_mut();
        target.template.forget();
        target
    }
}

/// What a pass was asked to render to, and the descriptor of one of its layers.
#[derive(Debug)]
pub(super) struct PassTemplate {
    /// There was such a pass.
    known: bool,
    colors: [Option<ColorAttachment>; MOST_COLORS],
    count: usize,
    area: Option<Rect>,
    /// Layers, views, samples.
    numbers: [u32; 3],
    depth: Option<DepthAttachment>,
    stencil: Option<StencilAttachment>,
    depth_resolve: Option<Resolve>,
    stencil_resolve: Option<Resolve>,
    /// The layer and what else the words were made of.
    made: Option<u32>,
    around: Around,
    words: Vec<u64, MOST_WORDS>,
    /// What such a pass does if the tiler's heap is exhausted.
    pub(super) increments: Option<Increments>,
}

impl PassTemplate {
    /// That of no pass.
    pub(super) const NOTHING: PassTemplate = PassTemplate {
        known: false,
        colors: [None; MOST_COLORS],
        count: 0,
        area: None,
        numbers: [0; 3],
        depth: None,
        stencil: None,
        depth_resolve: None,
        stencil_resolve: None,
        made: None,
        around: Around::NOTHING,
        words: Vec::new(),
        increments: None,
    };

    /// Whether a pass is asked for again.
    pub(super) fn is_of(&self, info: &RenderingInfo<'_>) -> bool {
        // Colours first: passes in turn mostly differ in what they render to.
        self.known
            && self.count == info.colors.len()
            && self.colors.iter().zip(info.colors).all(same_color)
            && self.numbers == numbers(info)
            && self.area == info.area
            && same_depth(&self.depth, &info.depth)
            && self.stencil == info.stencil
            && same_resolve(&self.depth_resolve, &info.depth_resolve)
            && same_resolve(&self.stencil_resolve, &info.stencil_resolve)
    }

    /// Nothing is known of a pass any more.
    pub(super) const fn forget(&mut self) {
        self.known = false;
        self.made = None;
        self.increments = None;
    }

    /// Keeps what a pass was asked to render to, which was found to be right.
    pub(super) fn keep(&mut self, info: &RenderingInfo<'_>) {
        self.count = info.colors.len();
        self.known = self.count <= MOST_COLORS;
        for (place, color) in self.colors.iter_mut().zip(info.colors) {
            *place = *color;
        }
        self.numbers = numbers(info);
        self.area = info.area;
        (self.depth, self.stencil) = (info.depth, info.stencil);
        (self.depth_resolve, self.stencil_resolve) = (info.depth_resolve, info.stencil_resolve);
        self.made = None;
        self.increments = None;
    }

    /// Writes the descriptor of a layer, if it is the one that was made last, or differs in its tiler context alone, which is a double
    /// word of its own.
    pub(super) fn write<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: PhysicalAddress,
        (layer, around): (u32, &Around),
        tiler_word: usize,
    ) -> bool {
        if self.made != Some(layer) {
            return false;
        }
        if let (Some(last), Some(tiler)) = (&mut self.around.tiler, around.tiler)
            && let Some(word) = self.words.get_mut(tiler_word)
        {
            (*last, *word) = (tiler, tiler.0);
        }
        let same = self.around == *around;
        if same {
            platform.write_words(memory, &self.words);
        } else {
            self.made = None;
        }
        same
    }

    /// Begins to keep the descriptor of a layer.
    pub(super) fn begin_words(&mut self) {
        self.words.clear();
        self.made = None;
    }

    /// Keeps the next words.
    pub(super) fn add_words(&mut self, words: &[u64]) {
        // There is room for the largest descriptor.
        let _ = self.words.extend_from_slice(words);
    }

    /// The words are those of this layer.
    pub(super) const fn end_words(&mut self, layer: u32, around: &Around) {
        let Around {
            locations,
            tiler,
            frame_shaders,
            last_provokes,
        } = around;
        self.made = Some(layer);
        (self.around.locations, self.around.tiler) = (*locations, *tiler);
        self.around.frame_shaders = *frame_shaders;
        self.around.last_provokes = *last_provokes;
    }
}

const fn numbers(info: &RenderingInfo<'_>) -> [u32; 3] {
    [info.layers, info.view_mask, info.samples]
}

/// Whether views are the same, by the rows of their formats.
fn same_view(own: &ImageView, other: &ImageView) -> bool {
    let same = match (own.format, other.format) {
        (None, None) => true,
        (Some(own), Some(other)) => core::ptr::eq(own, other),
        _ => false,
    };
    same && own.image == other.image && (own.level, own.layer) == (other.level, other.layer)
}

fn same_resolve(own: &Option<Resolve>, other: &Option<Resolve>) -> bool {
    match (own, other) {
        (None, None) => true,
        (Some(own), Some(other)) => own.mode == other.mode && same_view(&own.view, &other.view),
        _ => false,
    }
}

/// Whether depth is the same, a zero with another sign aside, which is another.
fn same_depth(own: &Option<DepthAttachment>, other: &Option<DepthAttachment>) -> bool {
    let bits = |it: &DepthAttachment| match it.load {
        LoadOp::Clear(depth) => depth.to_bits(),
        LoadOp::Load | LoadOp::DontCare => 0,
    };
    match (own, other) {
        (None, None) => true,
        (Some(own), Some(other)) => own == other && bits(own) == bits(other),
        _ => false,
    }
}

/// The same of a colour.
fn same_color((own, other): (&Option<ColorAttachment>, &Option<ColorAttachment>)) -> bool {
    let (Some(own), Some(other)) = (own, other) else {
        return own.is_none() && other.is_none();
    };
    if !same_view(&own.view, &other.view) {
        return false;
    }
    let same = match (own.load, other.load) {
        (LoadOp::Clear(ClearColor::Float(own)), LoadOp::Clear(ClearColor::Float(other))) => {
            own.map(f32::to_bits) == other.map(f32::to_bits)
        }
        (own, other) => own == other,
    };
    same && own.store == other.store && same_resolve(&own.resolve, &other.resolve)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphics::rendering::StoreOp;
    use crate::handle::Image;
    use crate::slab::Key;

    #[test]
    fn two_requests_in_turn_are_known() {
        let view = ImageView::of(Image(Key::NONE));
        let color = |value| {
            let color = ClearColor::Float([value; 4]);
            [Some(ColorAttachment::cleared(view, color))]
        };
        let colors = [color(0.0), color(1.0), color(2.0)];
        let mut targets = LastTargets::NOTHING;
        let mut is_known = |request: usize| {
            let info = RenderingInfo {
                colors: &colors[request],
                ..RenderingInfo::default()
            };
            let known = targets.recall(&info);
            if !known {
                targets.another().template.keep(&info);
            }
            assert!(targets.last().template.is_of(&info), "{request}");
            known
        };
        for (request, known) in [(0, false), (1, false), (0, true), (1, true), (0, true)] {
            assert_eq!(is_known(request), known, "{request}");
        }
        // A third takes the place of the one before the last.
        for (request, known) in [(2, false), (0, true), (2, true), (1, false)] {
            assert_eq!(is_known(request), known, "{request}");
        }
    }

    #[test]
    fn another_request_is_another_pass() {
        let view = ImageView::of(Image(Key::NONE));
        let color = |value| {
            Some(ColorAttachment::cleared(
                view,
                ClearColor::Float([value; 4]),
            ))
        };
        let colors = [color(0.0)];
        let first = RenderingInfo {
            colors: &colors,
            depth: Some(DepthAttachment::transient(view, 0.0)),
            ..RenderingInfo::default()
        };
        let mut template = PassTemplate::NOTHING;
        assert!(!template.is_of(&first), "there was no pass");
        template.keep(&first);
        assert!(template.is_of(&first));
        let another = |what: &str, info: RenderingInfo<'_>| {
            assert!(!template.is_of(&info), "{what}");
        };
        let others = [
            ("a zero with a sign", [color(-0.0)]),
            ("another colour", [color(1.0)]),
            ("no colour", [None]),
        ];
        for (what, colors) in others {
            let colors = &colors;
            another(what, RenderingInfo { colors, ..first });
        }
        let level = ImageView { level: 1, ..view };
        let colors = &[Some(ColorAttachment::cleared(
            level,
            ClearColor::Float([0.0; 4]),
        ))];
        another("another level", RenderingInfo { colors, ..first });
        let colors = &[color(0.0), color(0.0)];
        another("more colours", RenderingInfo { colors, ..first });
        for depth in [
            Some(DepthAttachment::transient(view, -0.0)),
            Some(DepthAttachment {
                store: StoreOp::Store,
                ..DepthAttachment::transient(view, 0.0)
            }),
            None,
        ] {
            another("another depth", RenderingInfo { depth, ..first });
        }
        let layers = 2;
        another("layers", RenderingInfo { layers, ..first });
        let view_mask = 1;
        another("views", RenderingInfo { view_mask, ..first });
        let area = Some(Rect::default());
        another("an area", RenderingInfo { area, ..first });
        let depth_resolve = Some(Resolve::average(view));
        another(
            "a resolve",
            RenderingInfo {
                depth_resolve,
                ..first
            },
        );
        template.forget();
        assert!(!template.is_of(&first), "it was forgotten");
    }
}

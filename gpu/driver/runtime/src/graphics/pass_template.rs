//! Templates of passes: what the pass before rendered to, so that another one with the same attachments does not find it out again.
//!
//! Objects stay what they are while commands are recorded: the same request means the same framebuffer.
//! Never: keeps anything from one recording to the next.

use super::framebuffer::MOST_COLORS;
use super::framebuffer_words::{Around, MOST_WORDS};
use super::rendering::{
    ClearColor, ColorAttachment, DepthAttachment, LoadOp, Rect, RenderingInfo, Resolve,
    StencilAttachment,
};
use crate::platform::{PhysicalAddress, Platform};
use heapless::Vec;

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
    resolves: [Option<Resolve>; 2],
    /// The layer and what else the words were made of.
    made: Option<u32>,
    around: Around,
    words: Vec<u64, MOST_WORDS>,
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
        resolves: [None; 2],
        made: None,
        around: Around::NOTHING,
        words: Vec::new(),
    };

    /// Whether a pass is asked for again.
    pub(super) fn is_of(&self, info: &RenderingInfo<'_>) -> bool {
        let cleared = |it: &Option<DepthAttachment>| match it.map(|depth| depth.load) {
            Some(LoadOp::Clear(depth)) => depth.to_bits(),
            _ => 0,
        };
        self.known
            && self.numbers == numbers(info)
            && self.area == info.area
            && same_colors(
                self.colors.get(..self.count).unwrap_or_default(),
                info.colors,
            )
            && self.depth == info.depth
            && cleared(&self.depth) == cleared(&info.depth)
            && self.stencil == info.stencil
            && self.resolves == [info.depth_resolve, info.stencil_resolve]
    }

    /// Nothing is known of a pass any more.
    pub(super) const fn forget(&mut self) {
        self.known = false;
        self.made = None;
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
        self.resolves = [info.depth_resolve, info.stencil_resolve];
        self.made = None;
    }

    /// Writes the descriptor of a layer, if it is the one that was made last.
    pub(super) fn write<P: Platform>(
        &self,
        platform: &mut P,
        memory: PhysicalAddress,
        (layer, around): (u32, &Around),
    ) -> bool {
        let same = self.made == Some(layer) && self.around == *around;
        if same {
            platform.write_words(memory, &self.words);
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

/// Whether colours are the same, zeros with another sign aside, which are others.
fn same_colors(own: &[Option<ColorAttachment>], other: &[Option<ColorAttachment>]) -> bool {
    let bits = |it: &Option<ColorAttachment>| match it.as_ref().map(|color| color.load) {
        Some(LoadOp::Clear(ClearColor::Float(color))) => color.map(f32::to_bits),
        _ => [0; 4],
    };
    let same = |(own, other)| bits(own) == bits(other);
    own == other && own.iter().zip(other).all(same)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphics::rendering::{ImageView, StoreOp};
    use crate::handle::Image;
    use crate::slab::Key;

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

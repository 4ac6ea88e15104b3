//! Vertex results in heap memory: positions, attribute records and varyings of a batch of vertices.
//!
//! Shaders address these through table 61 with an element number made from r59: positions and attribute records as elements of
//! 16 bytes in groups of four vertices, varyings by vertex and view. The layout is the one that graphics-model.md suggests.
//!
//! Facts: hardware/graphics-model.md 1.2, graphics-draw.md 3.9.

/// Bytes of a position and of an attribute record.
const ELEMENT: u64 = 16;
/// Vertices of a group.
const GROUP: u64 = 4;
/// Views of a draw, at most: bits of the view mask.
const MOST_VIEWS: u64 = 8;

/// Memory form of the vertices of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VertexLayout {
    /// Views that a vertex has results for: 1 without multiview.
    views: u64,
    /// Elements from one view's positions to the next: 8 where attribute records follow the positions, else 4.
    step: u64,
    /// Bytes of a vertex's varyings in one view, rounded up to 16.
    varying_bytes: u64,
}

impl VertexLayout {
    /// Views.
    pub(crate) fn views(&self) -> u8 {
        // At most eight.
        self.views as u8
    }

    /// The layout of a draw. `extended`: vertices have attribute records. `varying_bytes` is r48 (v12 and later: r51).
    pub(crate) fn new(views: u8, extended: bool, varying_bytes: u32) -> VertexLayout {
        VertexLayout {
            views: u64::from(views).clamp(1, MOST_VIEWS),
            step: if extended { 8 } else { 4 },
            varying_bytes: u64::from(varying_bytes).next_multiple_of(16),
        }
    }

    /// Elements from one group to the next.
    fn group_elements(&self) -> u64 {
        self.step * self.views
    }

    fn position_bytes(&self, vertices: u32) -> u64 {
        u64::from(vertices).div_ceil(GROUP) * self.group_elements() * ELEMENT
    }

    /// Bytes of a batch: below 2^32 * 2^4 * 8 * 2^4 + 2^32 * 8 * 2^33 would not fit, hence saturating.
    pub(super) fn bytes(&self, vertices: u32) -> u64 {
        let varying = u64::from(vertices).next_multiple_of(GROUP) * self.views;
        let varying = varying.saturating_mul(self.varying_bytes);
        self.position_bytes(vertices).saturating_add(varying)
    }
}

/// A batch of vertices with memory for their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VertexBatch {
    layout: VertexLayout,
    vertices: u32,
    positions: u64,
    varyings: u64,
}

impl VertexBatch {
    /// The batch whose memory starts at an address.
    pub(super) fn at(address: u64, layout: VertexLayout, vertices: u32) -> VertexBatch {
        VertexBatch {
            layout,
            vertices,
            positions: address,
            varyings: address.saturating_add(layout.position_bytes(vertices)),
        }
    }

    /// r59 of a vertex.
    pub(crate) fn index(&self, vertex: u32) -> u32 {
        let group = u64::from(vertex) / GROUP * self.layout.group_elements();
        (group + u64::from(vertex) % GROUP) as u32
    }

    /// Address of an element of the position buffer (positions and attribute records). None if the batch has no such element.
    pub(crate) fn position_element(&self, element: u32) -> Option<u64> {
        let bytes = self.layout.position_bytes(self.vertices);
        let offset = u64::from(element) * ELEMENT;
        (offset < bytes).then(|| self.positions.saturating_add(offset))
    }

    /// Address of an element of the varying buffer: r59 + 4 v names the varyings of a vertex in view v. None if the batch has
    /// no such vertex and view.
    pub(crate) fn varying_element(&self, element: u32) -> Option<u64> {
        let (group, rest) = (
            u64::from(element) / self.layout.group_elements(),
            u64::from(element) % self.layout.group_elements(),
        );
        let (vertex, view) = (group * GROUP + rest % GROUP, rest / GROUP);
        let inside =
            view < self.layout.views && vertex < u64::from(self.vertices).next_multiple_of(GROUP);
        inside.then(|| self.varying_address(vertex, view))
    }

    /// Address of a vertex's position in a view. None if the batch has no such vertex and view.
    pub(crate) fn position(&self, vertex: u32, view: u8) -> Option<u64> {
        let element = self.element(vertex, view)?;
        Some(self.positions.saturating_add(element * ELEMENT))
    }

    /// Address of a vertex's attribute record in a view: point size at 0, layer at 2, primitive id at 12. None as for
    /// [`VertexBatch::position`], and where the layout has no attribute records.
    pub(crate) fn attributes(&self, vertex: u32, view: u8) -> Option<u64> {
        let element = self.element(vertex, view)?;
        let extended = self.layout.step > GROUP;
        extended.then(|| self.positions.saturating_add((element + GROUP) * ELEMENT))
    }

    /// Address of a vertex's varyings in a view. None as for [`VertexBatch::position`].
    pub(crate) fn varyings(&self, vertex: u32, view: u8) -> Option<u64> {
        self.element(vertex, view)?;
        Some(self.varying_address(u64::from(vertex), u64::from(view)))
    }

    fn element(&self, vertex: u32, view: u8) -> Option<u64> {
        let inside = vertex < self.vertices && u64::from(view) < self.layout.views;
        inside.then(|| u64::from(self.index(vertex)) + u64::from(view) * self.layout.step)
    }

    fn varying_address(&self, vertex: u64, view: u64) -> u64 {
        let number = vertex / GROUP * GROUP * self.layout.views + view * GROUP + vertex % GROUP;
        self.varyings
            .saturating_add(number.saturating_mul(self.layout.varying_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

    /// Element numbers as shaders compute them give the addresses that the tiler reads, and no two results share bytes.
    #[test]
    fn results_of_shaders_lie_where_the_tiler_reads_them() {
        for (views, extended, varying) in
            [(1, false, 0), (1, true, 12), (3, true, 20), (8, false, 64)]
        {
            let layout = VertexLayout::new(views, extended, varying);
            let vertices = 11;
            let batch = VertexBatch::at(0x1000, layout, vertices);
            let end = 0x1000 + layout.bytes(vertices);
            let mut taken = BTreeSet::new();
            let mut take = |address: u64, bytes: u64| {
                for unit in (address..address + bytes).step_by(16) {
                    assert!(
                        unit >= 0x1000 && unit < end,
                        "{unit:#x} of {layout:?} beyond {end:#x}"
                    );
                    assert!(taken.insert(unit), "{unit:#x} of {layout:?} is taken twice");
                }
            };
            let step = if extended { 8 } else { 4 };
            for (vertex, view) in
                (0..vertices).flat_map(|vertex| (0..views).map(move |view| (vertex, view)))
            {
                let r59 = batch.index(vertex);
                let position = batch.position(vertex, view).expect("a vertex of the batch");
                assert_eq!(
                    batch.position_element(r59 + u32::from(view) * step),
                    Some(position)
                );
                take(position, 16);
                let attributes = batch.attributes(vertex, view);
                assert_eq!(attributes.is_some(), extended);
                if let Some(attributes) = attributes {
                    assert_eq!(
                        batch.position_element(r59 + u32::from(view) * step + 4),
                        Some(attributes)
                    );
                    take(attributes, 16);
                }
                let varyings = batch.varyings(vertex, view).expect("a vertex of the batch");
                assert_eq!(
                    batch.varying_element(r59 + u32::from(view) * 4),
                    Some(varyings)
                );
                take(varyings, u64::from(varying));
            }
        }
    }

    #[test]
    fn other_elements_have_no_address() {
        let batch = VertexBatch::at(0x1000, VertexLayout::new(2, true, 16), 5);
        assert_eq!(batch.position_element(31), Some(0x1000 + 31 * 16));
        assert_eq!(batch.position_element(32), None);
        assert_eq!(batch.varying_element(32), None);
        assert_eq!(batch.varying_element(8), None, "a third view");
        assert_eq!(batch.position(5, 0), None);
        assert_eq!(batch.position(0, 2), None);
        assert_eq!(batch.varyings(5, 0), None);
    }
}

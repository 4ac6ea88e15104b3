//! Recorded shading: what the model tells of one part of a drawing.

use eitri_model::{
    Event, FragmentWarp, JobKind, Nanoseconds, Sink, StartedFragment, TileContents, TileRead,
    VertexWarp,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// What was shaded since the last time it was taken.
#[derive(Debug, Default)]
pub(super) struct Shading {
    /// Draws in their order: number of the job, vertices and instances.
    pub(super) draws: Vec<(u64, [u32; 2])>,
    pub(super) vertices: Vec<VertexWarp>,
    pub(super) fragments: Vec<FragmentWarp>,
    pub(super) tile: TileReads,
}

/// What the tile held of the fragments that have read it: by primitive and its corners, pixel and sample.
#[derive(Debug, Default)]
pub(super) struct TileReads(HashMap<FragmentName, TileContents>);

/// Primitive, addresses of its corners, pixel, sample.
type FragmentName = (u32, Vec<u64>, [u32; 2], Option<u8>);

impl TileReads {
    /// What it held of a fragment of a warp; `None` if that has not read it.
    pub(super) fn of(&self, warp: &FragmentWarp, own: &StartedFragment) -> Option<&TileContents> {
        if self.0.is_empty() {
            return None;
        }
        let name = (warp.primitive, warp.corners.clone(), own.pixel, own.sample);
        self.0.get(&name)
    }
}

/// Records what the model shades.
#[derive(Debug, Default)]
pub(super) struct Recorder(Rc<RefCell<Shading>>);

impl Recorder {
    /// What the model is to tell.
    pub(super) fn sink(&self) -> Box<dyn Sink> {
        Box::new(Listener(Rc::clone(&self.0)))
    }

    /// What was recorded since the last call.
    pub(super) fn take(&self) -> Shading {
        self.0.take()
    }
}

/// The end of a recorder that the model holds.
struct Listener(Rc<RefCell<Shading>>);

impl Sink for Listener {
    fn event(&mut self, _: Nanoseconds, event: Event) {
        if let Event::JobStarted {
            kind: JobKind::Draw,
            number,
            size: [vertices, instances, _],
            ..
        } = event
        {
            self.0
                .borrow_mut()
                .draws
                .push((number, [vertices, instances]));
        }
    }

    fn wants_instructions(&self) -> bool {
        false
    }

    fn wants_shading(&self) -> bool {
        true
    }

    fn vertices(&mut self, warp: VertexWarp) {
        self.0.borrow_mut().vertices.push(warp);
    }

    fn fragments(&mut self, warp: FragmentWarp) {
        self.0.borrow_mut().fragments.push(warp);
    }

    fn tile_read(&mut self, read: TileRead) {
        let own = read.fragment;
        let name = (read.primitive, read.corners, own.pixel, own.sample);
        // What a fragment reads first older ones have left; later it may be its own.
        let mut shading = self.0.borrow_mut();
        shading.tile.0.entry(name).or_insert(read.contents);
    }
}

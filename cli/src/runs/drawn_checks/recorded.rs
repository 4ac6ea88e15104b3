//! Recorded shading: what the model tells of one part of a drawing.

use eitri_model::{Event, FragmentWarp, JobKind, Nanoseconds, Sink, VertexWarp};
use std::cell::RefCell;
use std::rc::Rc;

/// What was shaded since the last time it was taken.
#[derive(Debug, Default)]
pub(super) struct Shading {
    /// Draws in their order: number of the job, vertices and instances.
    pub(super) draws: Vec<(u64, [u32; 2])>,
    pub(super) vertices: Vec<VertexWarp>,
    pub(super) fragments: Vec<FragmentWarp>,
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
}

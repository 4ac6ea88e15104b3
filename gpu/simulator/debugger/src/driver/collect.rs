//! What happens at the device in a step, by its events.
use std::cell::RefCell;
use std::rc::Rc;

use eitri_model::{Event, FragmentWarp, Gpu, JobKind, Nanoseconds, Sink};

use crate::device::{DeviceEvent, FirmwareEvent};

/// What the device tells of in a step.
#[derive(Clone, Default)]
pub(super) struct Told(Rc<RefCell<Vec<What>>>);

enum What {
    Event(Event),
    Fragments(FragmentWarp),
}

/// The end that the device holds while it makes a step.
struct Listener(Told);

impl Sink for Listener {
    fn event(&mut self, _: Nanoseconds, event: Event) {
        self.0.0.borrow_mut().push(What::Event(event));
    }

    fn wants_instructions(&self) -> bool {
        false
    }

    fn wants_shading(&self) -> bool {
        true
    }

    fn fragments(&mut self, warp: FragmentWarp) {
        self.0.0.borrow_mut().push(What::Fragments(warp));
    }
}

/// What is remembered of earlier steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Collected {
    /// The jobs of draws, by the numbers of the draws.
    draws: Vec<u64>,
    /// Tile, layer, draw and primitive of the last warp of fragments.
    last: Option<([u32; 2], u32, usize, u32)>,
    began_pass: bool,
}

impl Collected {
    /// Has the device tell of the next step.
    pub(super) fn listen(&self, gpu: &mut Gpu) -> Told {
        let told = Told::default();
        gpu.trace_to(Some(Box::new(Listener(told.clone()))));
        told
    }

    /// What the device has told, which then tells no more.
    pub(super) fn take(&mut self, gpu: &mut Gpu, told: Told) -> Vec<DeviceEvent> {
        gpu.trace_to(None);
        self.began_pass = false;
        let told = told.0.take();
        let mut happened = vec![];
        for what in told {
            match what {
                What::Event(event) => self.event(event, &mut happened),
                What::Fragments(warp) => {
                    let tile = gpu.tile().map_or([0; 2], |tile| tile.origin());
                    happened.extend(self.fragments(warp, tile));
                }
            }
        }
        happened
    }

    /// Whether a render pass began in the last step.
    pub(super) fn began_pass(&self) -> bool {
        self.began_pass
    }

    /// The number of the draw with that job.
    pub(super) fn draw_of(&self, job: u64) -> Option<usize> {
        self.draws.iter().position(|own| *own == job)
    }

    fn event(&mut self, event: Event, happened: &mut Vec<DeviceEvent>) {
        let mut firmware = |word, place, bits| {
            happened.extend(FirmwareEvent::of(word, place, bits).map(DeviceEvent::Firmware));
        };
        match event {
            Event::Read { offset, value } => happened.push(DeviceEvent::Register {
                offset,
                value,
                writes: false,
            }),
            Event::Write { offset, value } => happened.push(DeviceEvent::Register {
                offset,
                value,
                writes: true,
            }),
            Event::Request { slot: None, bits } => firmware("GLB_REQ", (None, None), bits),
            Event::Answer { slot: None, bits } => firmware("GLB_ACK", (None, None), bits),
            Event::Request { slot, bits } => firmware("CSG_REQ", (slot, None), bits),
            Event::Answer { slot, bits } => firmware("CSG_ACK", (slot, None), bits),
            Event::StreamAnswer {
                group,
                stream,
                bits,
            } => firmware("CS_ACK", (Some(group), Some(stream)), bits),
            Event::JobStarted {
                number,
                kind: JobKind::Draw,
                size: [vertices, instances, _],
                ..
            } => {
                // A job that was suspended may begin again.
                let known = self.draw_of(number);
                let number = known.unwrap_or_else(|| {
                    self.draws.push(number);
                    self.draws.len() - 1
                });
                happened.push(DeviceEvent::Draw {
                    number,
                    vertices,
                    instances,
                });
            }
            Event::JobStarted {
                kind: JobKind::Fragment,
                ..
            } => {
                self.began_pass = true;
                self.last = None;
            }
            _ => {}
        }
    }

    /// The event of a warp of fragments; none of one of no draw.
    fn fragments(&mut self, warp: FragmentWarp, tile: [u32; 2]) -> Option<DeviceEvent> {
        let draw = self.draw_of(warp.job)?;
        let own = (tile, warp.layer, draw, warp.primitive);
        let last = self.last.replace(own);
        let same_draw = last.is_some_and(|last| (last.0, last.1, last.2) == (tile, own.1, draw));
        Some(DeviceEvent::Fragments {
            draw,
            primitive: warp.primitive,
            tile,
            begins_draw: !same_draw,
            begins_primitive: last != Some(own),
            lanes: warp.lanes,
        })
    }
}

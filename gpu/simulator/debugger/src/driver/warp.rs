//! What runs: the job whose turn is next, and its warps.
use eitri_model::{DispatchView, DrawLanes, DrawWarpView, Gpu, Shading, WarpView};

use super::DriverLevel;
use crate::execution::Object;

/// A piece of work, by which it is told from the one before.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Workgroup(u64, [u32; 3]),
    Draw(u64, DrawLanes),
}

/// The warp that runs next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Next {
    /// Its number among the warps of its job.
    pub(super) warp: usize,
    /// The lanes that run.
    pub(super) lanes: u64,
    /// Where they are.
    pub(super) address: u64,
}

impl Next {
    fn of(warp: usize, view: &WarpView<'_>) -> Option<Next> {
        let (lanes, address) = view.next()?;
        Some(Next {
            warp,
            lanes: lanes.into(),
            address,
        })
    }
}

/// Where the warp that runs next stands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Place {
    piece: Option<Piece>,
    /// Instructions and steps of its job.
    executed: u64,
    next: Option<Next>,
}

/// What runs next, and what has run.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    place: Place,
    /// Pieces of work so far.
    pieces: u64,
    /// The address space of the warp that ran last, or of the first that will.
    space: u8,
}

impl Standing {
    /// Nothing runs yet.
    pub(super) fn new(space: u8) -> Standing {
        Standing {
            place: Place::default(),
            pieces: 0,
            space,
        }
    }

    /// Takes note of what the device is about to do; whether that has changed.
    pub(super) fn update(&mut self, gpu: &Gpu) -> bool {
        let turn = gpu.next_turn();
        let mut place = Place::default();
        if let Some(turn) = turn {
            place.executed = turn.executed;
            match turn.shading {
                Some(Shading::Workgroup(view)) => {
                    self.space = view.space;
                    if let Some(group) = &view.workgroup {
                        place.piece = Some(Piece::Workgroup(turn.job, group.id));
                        let next = group.next;
                        place.next = next.and_then(|warp| Next::of(warp, group.warps.get(warp)?));
                    }
                }
                Some(Shading::Draw(view)) => {
                    self.space = view.space;
                    place.next = Next::of(0, &view.warp);
                    place.piece = Some(Piece::Draw(turn.job, view.lanes));
                }
                None => {}
            }
        }
        if place.piece != self.place.piece {
            self.pieces += 1;
        }
        let has_moved = place.piece.is_some() && place != self.place;
        self.place = place;
        has_moved
    }

    /// The warp that runs next.
    pub(super) fn next(&self) -> Option<Next> {
        self.place.next
    }

    /// The warps of the job whose turn is next.
    pub(super) fn warps<'g>(&self, gpu: &'g Gpu) -> Vec<WarpView<'g>> {
        match gpu.next_turn().and_then(|turn| turn.shading) {
            Some(Shading::Workgroup(view)) => view.workgroup.map_or(vec![], |group| group.warps),
            Some(Shading::Draw(view)) => vec![view.warp],
            None => vec![],
        }
    }

    pub(super) fn workgroup(&self) -> [u32; 3] {
        match &self.place.piece {
            Some(Piece::Workgroup(_, id)) => *id,
            _ => [0; 3],
        }
    }

    pub(super) fn work(&self) -> u64 {
        self.pieces
    }

    pub(super) fn space(&self) -> u8 {
        self.space
    }

    /// What the lanes of a draw shade; none of other work.
    pub(super) fn lanes(&self) -> Option<&DrawLanes> {
        match &self.place.piece {
            Some(Piece::Draw(_, lanes)) => Some(lanes),
            _ => None,
        }
    }
}

impl DriverLevel {
    pub(super) fn warp(&self, thread: usize) -> Option<WarpView<'_>> {
        let warps = self.standing.warps(&self.gpu);
        warps.get(thread.checked_sub(1)?).copied()
    }

    fn dispatch(&self) -> Option<DispatchView<'_>> {
        match self.gpu.next_turn()?.shading? {
            Shading::Workgroup(view) => Some(view),
            Shading::Draw(_) => None,
        }
    }

    fn draw(&self) -> Option<DrawWarpView<'_>> {
        match self.gpu.next_turn()?.shading? {
            Shading::Draw(view) => Some(view),
            Shading::Workgroup(_) => None,
        }
    }

    pub(super) fn uniforms(&self) -> &[u32] {
        let dispatch = self.dispatch().map(|view| view.uniforms);
        dispatch
            .or_else(|| self.draw().map(|view| view.uniforms))
            .unwrap_or_default()
    }

    /// Registers that a thread has, a bit each.
    pub(super) fn registers(&self) -> u64 {
        let dispatch = self.dispatch().map(|view| view.registers);
        dispatch
            .or_else(|| self.draw().map(|view| view.registers))
            .unwrap_or_default()
    }

    /// Threads of a workgroup in x, y, z.
    pub(super) fn group_size(&self) -> [u32; 3] {
        self.dispatch().map_or([1; 3], |view| view.size)
    }

    /// Address and bytes of the shared memory of the workgroup that runs, if it has some.
    pub(super) fn shared(&self) -> Option<(u64, u64)> {
        let view = self.dispatch()?;
        // One workgroup at a time is on the one core.
        let core = view.workgroup?.core;
        (core == 0 && view.shared.1 != 0).then_some(view.shared)
    }

    /// The address of a byte of an object.
    pub(super) fn address_of(&self, object: Object, start: u64) -> Option<u64> {
        match object {
            Object::Memory => Some(start),
            Object::Shared => self.shared()?.0.checked_add(start),
            Object::Buffer(..) | Object::Push | Object::Var(_) => None,
        }
    }
}

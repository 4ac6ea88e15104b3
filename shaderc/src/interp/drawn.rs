//! Shading under an observer: warps of vertices or of fragments, as whoever rasterises says.
//!
//! Needs: a function of that stage that `verify` accepts.  Guarantees: warps run one after the other and see what those before have
//! stored. The observer hears of each warp as of a workgroup of its own, and which of its lanes only help.
//! Never: rasterises.
use super::graphics::{Draw, Drawing, Fragment, Primitive, Shaded, Vertex};
use super::memory::{Bound, Resources};
use super::observer::{LaneSet, Observer};
use super::run::{At, Dispatch, LaneInput, Machine};
use super::trap::Trap;
use crate::ir::Function;

/// What a warp shades.
#[derive(Clone, Copy)]
pub enum ShadedWarp<'w> {
    /// Vertices.
    Vertices(&'w [Vertex]),
    /// Quads of fragments of one primitive.
    Fragments(&'w dyn Primitive, &'w [Fragment]),
}

impl<'w> ShadedWarp<'w> {
    fn primitive(self) -> Option<&'w dyn Primitive> {
        match self {
            ShadedWarp::Vertices(_) => None,
            ShadedWarp::Fragments(primitive, _) => Some(primitive),
        }
    }

    fn inputs(self) -> Vec<LaneInput> {
        match self {
            ShadedWarp::Vertices(vertices) => {
                vertices.iter().cloned().map(LaneInput::Vertex).collect()
            }
            ShadedWarp::Fragments(_, fragments) => {
                let fragments = fragments.iter().copied();
                fragments.map(LaneInput::Fragment).collect()
            }
        }
    }
}

/// Warps that are shaded, in their order.
#[derive(Clone, Copy)]
pub struct ShadedWarps<'w> {
    /// The warps; none has more lanes than a subgroup of the function.
    pub warps: &'w [ShadedWarp<'w>],
    /// The number that the observer is told of the first one.
    pub first: u32,
    /// Instructions that the lanes of one warp may execute; then the observer is told that it stalls, and nothing more runs.
    pub warp_limit: u64,
}

/// What came of warps.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ShadedDraw {
    /// By warp, its lanes.
    pub warps: Vec<Vec<Shaded>>,
    /// Instructions of all lanes.
    pub steps: u64,
}

/// Shades warps of a draw, and changes the resources as they do.
///
/// # Errors
/// The first trap; the resources are then as they were. With the limit of the draw the rest is not run, which is no trap.
pub fn interpret_warps<O: Observer>(
    function: &Function,
    draw: &Draw,
    shaded: &ShadedWarps<'_>,
    resources: &mut Resources,
    observer: O,
) -> Result<ShadedDraw, Trap> {
    let bound = Bound::new(function, resources)
        .map_err(|(set, binding, element)| Trap::Unbound(set, binding, element))?;
    let dispatch = Dispatch {
        groups: [1; 3],
        push_constants: draw.push_constants.clone(),
        step_limit: 0,
    };
    let together = function.lanes.count() as usize;
    let mut machine = Machine::new(function, &dispatch, bound, together, observer);
    let mut done = ShadedDraw::default();
    for (number, shaded_warp) in (shaded.first..).zip(shaded.warps) {
        if machine.steps > draw.step_limit {
            break;
        }
        machine.step_limit = machine.steps.saturating_add(shaded.warp_limit);
        machine.drawing = Some(Drawing::new(function, draw, shaded_warp.primitive()));
        let mut warp = machine.new_warp(&shaded_warp.inputs());
        machine.observer.begin(number, &[warp.lanes.len()]);
        let helpers = warp.lanes.iter().enumerate();
        let helpers = helpers.fold(0, |all, (lane, own)| all | u64::from(own.helper) << lane);
        machine.observer.help(0, LaneSet(helpers));
        match machine.run(&mut warp) {
            Ok(()) => {}
            Err(Trap::StepLimit(_)) => {
                let blocks = warp.lanes.iter().filter_map(|lane| match lane.at {
                    At::Inst(block, _) => Some(block),
                    At::Barrier(..) | At::Ended => None,
                });
                let blocks: Vec<_> = blocks.collect();
                machine.observer.stall(false, &blocks);
                break;
            }
            Err(trap) => return Err(trap),
        }
        done.warps.push(warp.into_shaded());
    }
    done.steps = machine.steps;
    machine.bound.save(resources);
    Ok(done)
}

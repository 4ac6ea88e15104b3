//! What a draw call gives its shaders: vertices and fragments as the model has told them.

use super::attachments::Targets;
use super::attributes::Attributes;
use super::corners::{Corner, Corners};
use super::recorded::TileReads;
use eitri_checks::Invocation;
use eitri_checks::draw::{Missing, MissingInputs};
use eitri_model::{FragmentWarp, VertexWarp};
use eitri_shaderc::interp::{Fragment, Vertex};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Vertices of a call in one view, in warps.
#[derive(Debug, Default)]
pub(super) struct Vertices {
    pub(super) warps: Vec<Vec<Vertex>>,
    pub(super) invocations: Vec<Vec<Invocation>>,
    pub(super) missing: MissingInputs,
    /// By warp and lane, the addresses of the vertex's position.
    pub(super) addresses: Vec<Vec<Vec<u64>>>,
}

/// The number of a draw in its pass, and the number among those of its command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) draw: u32,
    pub(super) within: u32,
}

impl Vertices {
    /// The vertices that the model has shaded, each once: how often one is shaded is the hardware's affair.
    pub(super) fn new(
        told: &[&VertexWarp],
        attributes: &Attributes<'_>,
        numbers: Numbers,
        (view, width): (usize, usize),
    ) -> Vertices {
        let mut places: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
        for vertex in told.iter().flat_map(|warp| &warp.vertices) {
            let own = places.entry((vertex.instance, vertex.vertex)).or_default();
            own.extend(vertex.positions.get(view));
        }
        let mut all = Vertices::default();
        let places: Vec<((u32, u32), Vec<u64>)> = places.into_iter().collect();
        for (number, chunk) in (0..).zip(places.chunks(width)) {
            let (mut warp, mut names, mut addresses) = (vec![], vec![], vec![]);
            for (lane, ((instance, index), own)) in chunk.iter().enumerate() {
                let fetched = attributes.of(*index, *instance);
                if !fetched.missing.is_empty() {
                    all.missing.insert((number, lane), fetched.missing);
                }
                warp.push(Vertex {
                    index: *index,
                    instance: *instance,
                    draw: numbers.within,
                    output_mask: 7,
                    attributes: fetched.words,
                });
                names.push(Invocation::Vertex {
                    draw: numbers.draw,
                    vertex: *index,
                    instance: *instance,
                });
                addresses.push(own.clone());
            }
            all.warps.push(warp);
            all.invocations.push(names);
            all.addresses.push(addresses);
        }
        all
    }
}

/// A vertex that was shaded, with the components of locations that hold nothing defined.
#[derive(Clone, Debug, Default)]
pub(super) struct ShadedVertex {
    pub(super) corner: Corner,
    pub(super) undefined: Vec<(u8, u8)>,
}

/// Fragments of a call in one view, in warps.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    pub(super) warps: Vec<(Rc<Corners>, Vec<Fragment>)>,
    pub(super) invocations: Vec<Vec<Invocation>>,
    pub(super) missing: MissingInputs,
    /// The layer of each warp.
    pub(super) layers: Vec<u32>,
}

/// What all fragments of a call have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfCall<'c> {
    pub(super) vertices: &'c BTreeMap<u64, Rc<ShadedVertex>>,
    pub(super) draw: u32,
    pub(super) noperspective: u64,
    /// How many distances there are that clip.
    pub(super) clip_distances: u8,
    /// The location of the first of them.
    pub(super) first_distance: u8,
}

impl Fragments {
    pub(super) fn new(
        told: &[&FragmentWarp],
        tile: (&TileReads, &Targets<'_>),
        call: OfCall<'_>,
    ) -> Fragments {
        let mut all = Fragments::default();
        let mut known: BTreeMap<(Vec<u64>, usize), Rc<Corners>> = BTreeMap::new();
        for warp in told {
            let vertices = warp.corners.iter().map(|at| call.vertices.get(at).cloned());
            let Some(vertices) = vertices.collect::<Option<Vec<Rc<ShadedVertex>>>>() else {
                continue;
            };
            let key = (warp.corners.clone(), warp.provoking);
            let corners = known.entry(key).or_insert_with(|| {
                Rc::new(Corners {
                    corners: vertices
                        .iter()
                        .map(|vertex| vertex.corner.clone())
                        .collect(),
                    provoking: warp.provoking,
                    noperspective: call.noperspective,
                })
            });
            let number = all.warps.len() as u32;
            let missing = missing(&vertices);
            let (mut lanes, mut names) = (vec![], vec![]);
            for (lane, own) in warp.lanes.iter().enumerate() {
                let mut fragment = fragment(warp, own, corners, call);
                if let Some(held) = tile.0.of(warp, own) {
                    tile.1.show(held, &mut fragment);
                }
                lanes.push(fragment);
                names.push(Invocation::Fragment {
                    draw: call.draw,
                    pixel: own.pixel,
                    sample: own.sample,
                });
                if !missing.is_empty() {
                    all.missing.insert((number, lane), missing.clone());
                }
            }
            all.warps.push((corners.clone(), lanes));
            all.invocations.push(names);
            all.layers.push(warp.layer);
        }
        all
    }
}

/// Components that a corner's shader has stored nothing defined to.
fn missing(vertices: &[Rc<ShadedVertex>]) -> Vec<(u8, Missing)> {
    let mut masks: BTreeMap<u8, u8> = BTreeMap::new();
    for (location, mask) in vertices.iter().flat_map(|vertex| &vertex.undefined) {
        *masks.entry(*location).or_default() |= mask;
    }
    let masks = masks.into_iter();
    masks
        .map(|(location, mask)| (location, Missing::NotStored(mask)))
        .collect()
}

fn fragment(
    warp: &FragmentWarp,
    own: &eitri_model::StartedFragment,
    corners: &Corners,
    call: OfCall<'_>,
) -> Fragment {
    let full = u32::MAX
        .checked_shr(32 - warp.samples.len().min(32) as u32)
        .unwrap_or(1);
    let coverage = u32::from(own.coverage);
    let first = coverage.trailing_zeros() as usize;
    // Where all samples are covered, and where none is, the centre is as good as any.
    let centroid = match warp.samples.get(first) {
        Some(place) if coverage != full => *place,
        _ => [0.5; 2],
    };
    let centre = own.pixel.map(|at| at as f32 + 0.5);
    let clipped = (0..call.clip_distances).any(|number| {
        let location = call.first_distance + number / 4;
        corners.value(location, number % 4, centre) < 0.0
    });
    Fragment {
        pixel: own.pixel,
        sample: own.sample.unwrap_or(0).into(),
        coverage,
        centroid,
        front_facing: !warp.back,
        point: match warp.corners.len() {
            1 => corners.point(own.pixel),
            _ => [0.5; 2],
        },
        primitive: warp.primitive,
        layer: warp.layer,
        helper: coverage == 0 || clipped,
        ..Fragment::default()
    }
}

/// Warps by the job that they are of.
pub(super) struct ByJob<'w, W>(BTreeMap<u64, Vec<&'w W>>);

impl<'w, W> ByJob<'w, W> {
    pub(super) fn new(warps: &'w [W], job: impl Fn(&W) -> u64) -> ByJob<'w, W> {
        let mut all: BTreeMap<u64, Vec<&'w W>> = BTreeMap::new();
        for warp in warps {
            all.entry(job(warp)).or_default().push(warp);
        }
        ByJob(all)
    }

    /// Those of a job.
    pub(super) fn of(&self, job: u64) -> impl Iterator<Item = &'w W> + '_ {
        self.0.get(&job).into_iter().flatten().copied()
    }
}

/// The jobs of calls: by call, the numbers of the jobs that carry it out.
pub(super) fn jobs_of(calls: &[[u32; 2]], draws: &[(u64, [u32; 2])]) -> Vec<BTreeSet<u64>> {
    let mut jobs = vec![BTreeSet::new(); calls.len()];
    let mut next = 0;
    for (number, size) in draws {
        // In their order; a pass of many layers is recorded several times.
        let behind = (next..calls.len()).find(|call| calls[*call] == *size);
        let found =
            behind.or_else(|| (0..next.min(calls.len())).find(|call| calls[*call] == *size));
        if let Some(call) = found {
            jobs[call].insert(*number);
            next = call + 1;
        }
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_those_of_calls_in_their_order() {
        let calls = [[3, 1], [0, 1], [3, 1], [6, 2]];
        let draws = [(4, [3, 1]), (5, [3, 1]), (6, [6, 2])];
        let jobs: Vec<Vec<u64>> = jobs_of(&calls, &draws)
            .into_iter()
            .map(|jobs| jobs.into_iter().collect())
            .collect();
        assert_eq!(jobs, [vec![4], vec![], vec![5], vec![6]]);
        // Twice, for the layers beyond the first ones.
        let draws = [(1, [3, 1]), (2, [3, 1]), (3, [6, 2]), (4, [3, 1])];
        assert_eq!(jobs_of(&calls, &draws)[0], BTreeSet::from([1, 4]));
    }
}

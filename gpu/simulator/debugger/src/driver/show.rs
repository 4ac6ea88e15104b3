//! What a person is shown of the machine and of the warps of draws.
use eitri_model::{DrawLanes, HostStep};

use super::DriverLevel;
use crate::device::{access, register_name};
use crate::execution::{LaneNumber, ScalarPlace};
use crate::value::Node;

impl DriverLevel {
    pub(super) fn name_of(&self, thread: usize) -> String {
        let Some(warp) = thread.checked_sub(1) else {
            return "the machine".to_owned();
        };
        match self.standing.lanes() {
            None => {
                let [x, y, z] = self.standing.workgroup();
                format!("warp {warp} of workgroup {x},{y},{z}")
            }
            Some(lanes @ DrawLanes::Vertices { .. }) => {
                format!("vertices of {}", self.draw_name(lanes))
            }
            Some(
                lanes @ DrawLanes::Fragments {
                    primitive,
                    tile: [x, y],
                    ..
                },
            ) => {
                let primitive =
                    primitive.map_or_else(String::new, |id| format!(", primitive {id}"));
                let draw = self.draw_name(lanes);
                format!("fragments of {draw}{primitive}, tile {x},{y}")
            }
        }
    }

    fn draw_name(&self, lanes: &DrawLanes) -> String {
        match self.draw_number(lanes) {
            Some(number) => format!("draw {number}"),
            None => "a rectangle of the driver".to_owned(),
        }
    }

    /// The number of the draw that lanes belong to.
    fn draw_number(&self, lanes: &DrawLanes) -> Option<usize> {
        let job = match lanes {
            DrawLanes::Vertices { .. } => self.gpu.next_turn()?.job,
            DrawLanes::Fragments { draw, .. } => *draw,
        };
        self.collected.draw_of(job)
    }

    pub(super) fn name_of_lane(&self, thread: usize, lane: usize) -> String {
        let shaded = self.standing.lanes();
        match shaded {
            None => {
                let first = self.warp(thread).map_or(0, |warp| warp.first_thread());
                let index = first + lane as u32;
                let [width, height, _] = self.group_size().map(|size| size.max(1));
                let (x, y, z) = (
                    index % width,
                    index / width % height,
                    index / width / height,
                );
                format!("lane {lane}: local {x},{y},{z}")
            }
            Some(DrawLanes::Vertices { vertices, instance }) => {
                let vertex = vertices.get(lane).copied().unwrap_or_default();
                format!("lane {lane}: vertex {vertex} of instance {instance}")
            }
            Some(DrawLanes::Fragments { fragments, .. }) => {
                let own = fragments.get(lane).copied().unwrap_or_default();
                let [x, y] = own.pixel;
                let sample = own
                    .sample
                    .map_or_else(String::new, |sample| format!(", sample {sample}"));
                let helps = if own.coverage == 0 {
                    ", covers nothing"
                } else {
                    ""
                };
                format!("lane {lane}: pixel {x},{y}{sample}{helps}")
            }
        }
    }

    /// A number of what a lane of a draw shades.
    pub(super) fn lane_number(&self, lane: usize, number: LaneNumber) -> Option<u32> {
        match (self.standing.lanes()?, number) {
            (DrawLanes::Vertices { vertices, .. }, LaneNumber::Vertex) => {
                vertices.get(lane).copied()
            }
            (DrawLanes::Vertices { instance, .. }, LaneNumber::Instance) => Some(*instance),
            (DrawLanes::Fragments { fragments, .. }, number) => {
                let own = fragments.get(lane)?;
                match number {
                    LaneNumber::X => Some(own.pixel[0]),
                    LaneNumber::Y => Some(own.pixel[1]),
                    LaneNumber::Sample => own.sample.map(u32::from),
                    LaneNumber::Coverage => Some(own.coverage.into()),
                    LaneNumber::Vertex | LaneNumber::Instance => None,
                }
            }
            _ => None,
        }
    }

    /// The draw, and what its lanes shade, as variables.
    pub(super) fn shading_nodes(&self) -> Vec<Node> {
        let Some(lanes) = self.standing.lanes() else {
            return vec![];
        };
        let known = |name: &str, value: u64| Node::word(name.to_owned(), ScalarPlace::Known(value));
        let lane = |name: &str, number| Node::word(name.to_owned(), ScalarPlace::Lane(number));
        let draw = self.draw_number(lanes);
        let mut nodes: Vec<Node> = draw
            .map(|number| known("draw", number as u64))
            .into_iter()
            .collect();
        match lanes {
            DrawLanes::Vertices { .. } => nodes.extend([
                lane("vertex", LaneNumber::Vertex),
                lane("instance", LaneNumber::Instance),
            ]),
            DrawLanes::Fragments { primitive, .. } => {
                nodes.extend(primitive.map(|id| known("primitive", id.into())));
                nodes.extend([
                    lane("x", LaneNumber::X),
                    lane("y", LaneNumber::Y),
                    lane("sample", LaneNumber::Sample),
                    lane("coverage", LaneNumber::Coverage),
                ]);
            }
        }
        nodes
    }

    /// What the machine does next, where no warp runs.
    pub(super) fn show_next(&self) -> Option<String> {
        let step = self.steps.get(self.next)?;
        Some(match step {
            HostStep::Read { offset, .. } => format!("the driver reads {}", register_name(*offset)),
            HostStep::Write { offset, value } => {
                format!("the driver writes {}", access(*offset, *value))
            }
            HostStep::Store { address, bytes } => {
                format!("the driver stores {} bytes at {address:#x}", bytes.len())
            }
            HostStep::Zero { address, bytes } => {
                format!("the driver clears {bytes} bytes at {address:#x}")
            }
            HostStep::Turns { .. } if self.standing.next().is_some() => return None,
            HostStep::Turns { .. } => "the device has a turn".to_owned(),
        })
    }
}

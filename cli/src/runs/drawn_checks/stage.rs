//! A stage of a draw under the checkers: what it is given, and what it leaves.

use super::Checker;
use super::contents::{bound, overlap, placed, range_of, view_of};
use super::written::WHOLE;
use crate::runs::checked::Bindings;
use eitri_checks::draw::{Kept, MissingInputs, PassChecks, Placed, ShadedStage, Shader, Stage};
use eitri_checks::{Invocation, Unwritten};
use eitri_drawing::{SetId, View};
use eitri_shaderc::interp::{Draw, Key, ShadedWarp};
use std::collections::{BTreeMap, BTreeSet};

/// Most texels of an image of which each is followed.
const MOST_FOLLOWED: u64 = 1 << 18;

/// A stage that is about to run.
pub(super) struct Given<'s, 'g> {
    pub(super) shader: &'s Shader,
    pub(super) sets: &'g [SetId],
    pub(super) draw: &'g Draw,
    pub(super) kept: Kept,
    /// Views that the draw renders to.
    pub(super) attached: &'g [&'g View],
}

impl<'s> Checker<'s> {
    /// Runs a stage under the checkers.
    pub(super) fn shade(
        &mut self,
        checks: &mut PassChecks<'s>,
        written_in_pass: &BTreeSet<u32>,
        given: &Given<'s, '_>,
        (warps, invocations, missing): (&[ShadedWarp<'_>], &[Vec<Invocation>], &MissingInputs),
    ) -> Result<ShadedStage, String> {
        let drawing = self.subject.drawing;
        let bindings = Bindings::of(given.shader.function());
        let mut resources = self
            .contents
            .resources(drawing, given.sets, |key| bindings.uses(key))?;
        let (mut places, mut unwritten) = (BTreeMap::new(), vec![]);
        for element in bound(drawing, given.sets) {
            let Some(place) = placed(drawing, element.bound) else {
                continue;
            };
            let view = view_of(drawing, element.bound);
            let attached = |view| given.attached.iter().any(|own| overlap(own, view));
            let mut place = Placed {
                written: written_in_pass.contains(&place.object),
                attached: view.is_some_and(attached),
                ..place
            };
            if let Some(range) = range_of(element.bound) {
                unwritten.extend(self.unwritten_of(element.key, range));
            }
            if let Some(view) = view {
                let (whole, parts) = self.unwritten_texels(element.key, view);
                place.unwritten = whole;
                unwritten.extend(parts);
            }
            places.insert(element.key, place);
        }
        let stage = Stage {
            shader: given.shader,
            draw: given.draw,
            warps,
            invocations,
            missing,
            places: &places,
            unwritten: &unwritten,
            kept: given.kept,
        };
        let draw_limit = self.subject.step_limit.saturating_sub(self.steps);
        let limited = Draw {
            step_limit: draw_limit,
            ..given.draw.clone()
        };
        let stage = Stage {
            draw: &limited,
            ..stage
        };
        let done = checks.shade(&stage, &mut resources);
        let done =
            done.map_err(|trap| format!("a draw that the interpreter does not run: {trap}"))?;
        self.steps += done.steps;
        let written: BTreeSet<Key> = bindings.written().collect();
        self.contents
            .take(drawing, given.sets, &written, &resources);
        self.mark_written(given.sets, &written, Some(&done.left));
        Ok(done)
    }

    /// Whether nobody has written any texel that a view shows; else, of one that is not large, the texels that nobody wrote.
    fn unwritten_texels(&self, key: Key, view: &View) -> (bool, Vec<Unwritten>) {
        let layers = view.layer..view.layer.saturating_add(view.layers);
        let levels = view.level..view.level.saturating_add(view.levels);
        let planes = layers.flat_map(|layer| levels.clone().map(move |level| (level, layer)));
        let mut known = 0u64;
        let mut some = false;
        for (level, layer) in planes {
            let texels = self.written.texels(view.image, level, layer);
            known += texels.map_or(0, |(_, texels)| texels.len() as u64);
            some |= texels.is_none_or(|(_, texels)| texels.contains(&true));
        }
        if !some || known > MOST_FOLLOWED {
            return (!some, vec![]);
        }
        let image = self.subject.drawing.images.get(view.image.index());
        let samples = image.map_or(1, |image| u64::from(image.samples.max(1)));
        let mut unwritten = vec![];
        let mut start = 0u64;
        // Of the first level alone: the others' numbers lie apart.
        for layer in view.layer..view.layer.saturating_add(view.layers) {
            let Some((_, texels)) = self.written.texels(view.image, view.level, layer) else {
                break;
            };
            for (number, texel) in (start..).zip(texels) {
                if !texel {
                    // Samples of a texel are written together, and have numbers side by side.
                    let bytes = 4 * samples * number..4 * samples * (number + 1);
                    unwritten.push(Unwritten { key, bytes });
                }
            }
            start += texels.len() as u64;
        }
        (false, unwritten)
    }

    /// Marks what shaders have written: all of it but what is known to be left.
    pub(super) fn mark_written(
        &mut self,
        sets: &[SetId],
        written: &BTreeSet<Key>,
        left: Option<&[Unwritten]>,
    ) {
        let drawing = self.subject.drawing;
        for element in bound(drawing, sets) {
            if !written.contains(&element.key) {
                continue;
            }
            if let Some(range) = range_of(element.bound) {
                let all = range.offset..range.offset.saturating_add(range.bytes);
                let parts = self.written.unwritten_bytes(range.buffer, &all);
                let of_element = |part: &&Unwritten| part.key == element.key;
                let left = left.unwrap_or_default().iter().filter(of_element);
                let left: Vec<_> = left
                    .map(|part| part.bytes.start + range.offset..part.bytes.end + range.offset)
                    .collect();
                for part in parts {
                    let mut at = part.start;
                    for kept in left
                        .iter()
                        .filter(|it| it.start < part.end && it.end > part.start)
                    {
                        self.written
                            .write_bytes(range.buffer, at..kept.start.max(at));
                        at = kept.end;
                    }
                    self.written.write_bytes(range.buffer, at..part.end.max(at));
                }
            }
            if let Some(view) = view_of(drawing, element.bound) {
                // A shader that writes to an image is taken to have written all of it.
                for layer in view.layer..view.layer.saturating_add(view.layers) {
                    self.written
                        .write_texels(view.image, view.level, layer, WHOLE);
                }
            }
        }
    }
}

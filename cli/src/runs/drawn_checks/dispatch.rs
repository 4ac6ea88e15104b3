//! Dispatches of a drawing under the checkers.

use super::Checker;
use super::contents::{bound, range_of};
use crate::runs::checked::Bindings;
use eitri_checks::{Request, Unwritten, check};
use eitri_drawing::{Pipeline, Using};
use eitri_shaderc::interp::{Dispatch, Key};
use std::collections::BTreeSet;

impl Checker<'_> {
    /// Checks a dispatch.
    pub(super) fn dispatch(&mut self, using: &Using<'_>, groups: [u32; 3]) {
        if !self.may_go_on() {
            return;
        }
        let drawing = self.subject.drawing;
        let pipeline = drawing.pipelines.get(using.pipeline.index());
        let Some(Pipeline::Compute(program)) = pipeline else {
            return;
        };
        let (Some(module), Some(Ok(shader))) = (
            self.subject.modules.get(program.index()),
            self.shaders.get(program.index()),
        ) else {
            return self.leave_out("a dispatch whose module can't be translated");
        };
        let bindings = Bindings::of(shader.function());
        let resources = self
            .contents
            .resources(drawing, &using.sets, |key| bindings.uses(key));
        let mut resources = match resources {
            Ok(resources) => resources,
            Err(why) => return self.leave_out(&why),
        };
        let mut unwritten = vec![];
        for element in bound(drawing, &using.sets) {
            if let Some(range) = range_of(element.bound) {
                unwritten.extend(self.unwritten_of(element.key, range));
            }
        }
        let dispatch = Dispatch {
            groups,
            push_constants: using.push.to_vec(),
            step_limit: self.subject.step_limit - self.steps,
        };
        let request = Request {
            spirv: &module.spirv,
            options: &module.options,
            dispatch: &dispatch,
            unwritten: &unwritten,
            addresses: &[],
        };
        match check(&request, &mut resources) {
            Ok(checked) => {
                self.steps += checked.steps;
                self.checked.findings.extend(checked.findings);
                if let Some(trap) = checked.stopped {
                    self.leave_out(&format!("the end of a dispatch: {trap}"));
                }
            }
            Err(error) => self.leave_out(&error.to_string()),
        }
        // The model has run it to its end: what it may write counts as written.
        let written: BTreeSet<Key> = bindings.written().collect();
        self.mark_written(&using.sets, &written, None);
    }

    /// What of a buffer's range nobody has written, as a shader sees it.
    pub(super) fn unwritten_of(
        &self,
        key: Key,
        range: &eitri_drawing::Range,
    ) -> impl Iterator<Item = Unwritten> + use<> {
        let bytes = range.offset..range.offset.saturating_add(range.bytes);
        let parts = self.written.unwritten_bytes(range.buffer, &bytes);
        let start = range.offset;
        parts.into_iter().map(move |part| Unwritten {
            key,
            bytes: part.start - start..part.end - start,
        })
    }
}

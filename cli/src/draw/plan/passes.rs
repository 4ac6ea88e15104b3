//! Passes of a scene: attachments, draws, clears within.

use super::super::lack::Lack;
use super::Pipelines;
use eitri_draw_scenes as scenes;
use eitri_drawing::Step;

/// What of a pass can't be done yet.
pub(super) fn lacking(_pass: &scenes::Pass) -> Option<Lack> {
    Some(Lack::not_yet("passes"))
}

pub(super) fn pass<'s>(
    _pipelines: &mut Pipelines<'s>,
    _pass: &'s scenes::Pass,
) -> Result<Step<'s>, Lack> {
    Err(Lack::not_yet("passes"))
}

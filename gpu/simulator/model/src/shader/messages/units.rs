//! Units that messages go to: who accesses memory for them, and who may fail by an injection.
//!
//! Facts: hardware/gpu-mmu.md 8.1 (source ids).

use super::super::environment::Place;
use super::super::message::Action;
use super::super::stopped::{JobFault, Stopped};
use super::Sender;
use crate::injection::GraphicsUnit;
use crate::mmu::Source as Requester;

impl Sender<'_> {
    /// Fails if an injection makes the unit fail that acts on the message.
    pub(super) fn strike(&mut self, action: &Action) -> Result<(), Stopped> {
        if self.fabric.injections.is_empty() {
            return Ok(());
        }
        let Some(unit) = graphics_unit(action) else {
            return Ok(());
        };
        match self.fabric.unit_fails(None, None, unit) {
            None => Ok(()),
            Some(exception) => Err(JobFault {
                exception,
                address: self.address,
            }
            .into()),
        }
    }
}

/// The unit that accesses memory for a message.
pub(super) fn requester(action: &Action, place: Place) -> Requester {
    match action {
        Action::FetchTexel(_) | Action::RequestTexture(_) => Requester::Texture(place.core),
        _ => Requester::Core(place.core),
    }
}

/// The unit of the graphics pipeline that acts on a message; `None`: another unit of the core.
fn graphics_unit(action: &Action) -> Option<GraphicsUnit> {
    Some(match action {
        Action::LoadAttribute { .. } => GraphicsUnit::Attributes,
        Action::LoadVarying(_) => GraphicsUnit::Varyings,
        Action::FetchTexel(_) | Action::RequestTexture(_) => GraphicsUnit::Textures,
        Action::Atest | Action::ZsEmit { .. } => GraphicsUnit::DepthStencil,
        Action::Blend { .. } => GraphicsUnit::Blending,
        Action::LoadTile(_) | Action::StoreTile(_) => GraphicsUnit::TileBuffer,
        _ => return None,
    })
}

//! Steps of a scene on images: copies, clears, blits, resolves.

use super::super::lack::Lack;
use super::{buffer_id, image_id};
use eitri_draw_scenes::{self as scenes, Aspect, SceneFile};
use eitri_drawing::{ImageStep, LevelRange};

/// A step on images, if it is one.
pub(super) fn image_step(
    scene: &SceneFile,
    step: &scenes::Step,
) -> Result<Option<ImageStep>, Lack> {
    Ok(Some(match step {
        scenes::Step::CopyBufferToImage(copy) => ImageStep::CopyBufferToImage {
            from: buffer_id(scene, &copy.buffer)?,
            to: image_id(scene, &copy.image)?,
            regions: copy.regions.clone(),
        },
        scenes::Step::CopyImageToBuffer(copy) => ImageStep::CopyImageToBuffer {
            from: image_id(scene, &copy.image)?,
            to: buffer_id(scene, &copy.buffer)?,
            regions: copy.regions.clone(),
        },
        scenes::Step::CopyImage(copy) => ImageStep::CopyImage {
            from: image_id(scene, &copy.src)?,
            to: image_id(scene, &copy.dst)?,
            regions: copy.regions.clone(),
        },
        scenes::Step::Resolve(copy) => ImageStep::Resolve {
            from: image_id(scene, &copy.src)?,
            to: image_id(scene, &copy.dst)?,
            regions: copy.regions.clone(),
        },
        scenes::Step::Blit(blit) => ImageStep::Blit {
            from: image_id(scene, &blit.src)?,
            to: image_id(scene, &blit.dst)?,
            filter: blit.filter,
            regions: blit.regions.clone(),
        },
        scenes::Step::ClearColor(clear) => ImageStep::ClearColor {
            image: image_id(scene, &clear.image)?,
            color: clear.clear,
            range: LevelRange {
                level: clear.level,
                levels: clear.levels,
                layer: clear.layer,
                layers: clear.layers,
            },
        },
        scenes::Step::ClearDepthStencil(clear) => {
            let is = |aspect: Aspect| match clear.aspect {
                None | Some(Aspect::DepthStencil) => true,
                Some(named) => named == aspect,
            };
            ImageStep::ClearDepthStencil {
                image: image_id(scene, &clear.image)?,
                depth: clear.depth.filter(|_| is(Aspect::Depth)),
                stencil: clear.stencil.filter(|_| is(Aspect::Stencil)),
                range: LevelRange {
                    level: clear.level,
                    levels: clear.levels,
                    layer: clear.layer,
                    layers: clear.layers,
                },
            }
        }
        _ => return Ok(None),
    }))
}

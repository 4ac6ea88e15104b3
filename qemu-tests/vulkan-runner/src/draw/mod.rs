//! Scenes: drawn through Vulkan, and compared with what they expect.
//!
//! A scene's steps are one command buffer. Images are filled before it and read after it through buffers; all are in the general
//! layout. A pass is dynamic rendering, but for one of several parts, which is a render pass of Vulkan 1.0.
//! Facts: shared/scenes/README.md.

mod formats;
mod objects;
mod pass;
mod pipelines;
mod recorder;
mod transfer;

use crate::Kept;
use crate::device::{Device, Error, Named};
use ash::vk;
use eitri_draw_scenes::{Expectation, Scene, Target};
use objects::{Buffer, Objects, named};
use recorder::{Recorder, layers};
use std::time::Duration;

/// Draws a scene, and compares; `timed`: draws it once more, and gives how long that took. What comes out is left in `kept`.
pub(crate) fn draw(
    device: &Device,
    scene: &Scene,
    optimised: bool,
    timed: bool,
    kept: Option<&Kept>,
) -> Result<Option<Duration>, Error> {
    if let Some(feature) = device.lacks(&scene.file.features) {
        return Err(Error::Lacks(feature));
    }
    let objects = Objects::make(device, scene)?;
    let mut recorder = Recorder::begin(device, scene, &objects, optimised)?;
    recorder.prepare();
    fill_images(&recorder)?;
    recorder.barrier();
    for step in &scene.file.steps {
        recorder.step(step)?;
    }
    let read: Result<Vec<Option<Buffer>>, Error> = scene
        .expect
        .iter()
        .map(|expectation| read_image(&recorder, expectation))
        .collect();
    let read = read?;
    recorder.barrier();
    recorder.run()?;
    let mut differs = Ok(());
    for (number, (expectation, image)) in scene.expect.iter().zip(&read).enumerate() {
        let got = match (&expectation.target, image) {
            (Target::Buffer { buffer, offset, .. }, _) => {
                named(&objects.buffers, buffer)?.read(device, *offset, expectation.bytes())?
            }
            (Target::Query { query }, _) => query_result(device, *named(&objects.queries, query)?)?,
            (Target::Image { .. }, Some(buffer)) => buffer.read(device, 0, expectation.bytes())?,
            (Target::Image { image, .. }, None) => {
                return Err(Error::Unknown(format!("the contents of {image}")));
            }
        };
        let all = kept.is_some_and(|kept| kept.all);
        let checked = if all {
            Ok(())
        } else {
            let checked = expectation.check(&got);
            checked.map_err(|difference| Error::Differs(difference.to_string()))
        };
        if let Some(kept) = kept
            && (all || checked.is_err())
        {
            kept.leave(&scene.file.name, number, &got)?;
        }
        differs = differs.and(checked);
    }
    differs?;
    timed.then(|| recorder.run_again()).transpose()
}

/// Records the first contents of images.
fn fill_images(recorder: &Recorder<'_>) -> Result<(), Error> {
    let scene = recorder.scene;
    for image in &scene.file.images {
        let to = named(&recorder.objects.images, &image.name)?.raw;
        for init in &image.init {
            let contents = scene.image_contents(image, init);
            let contents = contents.map_err(|error| Error::Module(error.to_string()))?;
            let from = Buffer::with(recorder.device, &contents)?;
            let extent = image.extent_of(init.level);
            let region = vk::BufferImageCopy {
                image_subresource: layers(init.aspect, init.level, init.layer, init.layers),
                image_extent: formats::extent(extent),
                ..vk::BufferImageCopy::default()
            };
            // SAFETY: see `objects`.
            unsafe {
                recorder.device.raw.cmd_copy_buffer_to_image(
                    recorder.buffer,
                    from.raw,
                    to,
                    vk::ImageLayout::GENERAL,
                    &[region],
                );
            }
        }
    }
    Ok(())
}

/// Records a copy of what is expected of an image to a buffer of its own.
fn read_image(recorder: &Recorder<'_>, expectation: &Expectation) -> Result<Option<Buffer>, Error> {
    let Target::Image {
        image: name,
        aspect,
        level,
        layer,
        layers: count,
    } = &expectation.target
    else {
        return Ok(None);
    };
    let image = recorder.scene.file.image(name);
    let Some(image) = image.filter(|image| image.samples == 1) else {
        return Ok(None);
    };
    let from = named(&recorder.objects.images, name)?.raw;
    let to = Buffer::new(recorder.device, expectation.bytes())?;
    let region = vk::BufferImageCopy {
        image_subresource: layers(*aspect, *level, *layer, *count),
        image_extent: formats::extent(image.extent_of(*level)),
        ..vk::BufferImageCopy::default()
    };
    // SAFETY: see `objects`.
    unsafe {
        recorder.device.raw.cmd_copy_image_to_buffer(
            recorder.buffer,
            from,
            vk::ImageLayout::GENERAL,
            to.raw,
            &[region],
        );
    }
    Ok(Some(to))
}

fn query_result(device: &Device, pool: vk::QueryPool) -> Result<Vec<u8>, Error> {
    let mut result = [0_u64];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    // SAFETY: see `objects`; the query has ended.
    let got = unsafe {
        device
            .raw
            .get_query_pool_results(pool, 0, &mut result, flags)
    };
    got.named("vkGetQueryPoolResults")?;
    Ok(result[0].to_le_bytes().to_vec())
}

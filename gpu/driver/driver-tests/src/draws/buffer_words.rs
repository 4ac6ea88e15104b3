//! Words of uniform buffers among the uniforms of draws: the stream puts them there each time it comes to the draw.

use super::bench::{BLUE_WORD, Bench, GREEN, GREEN_WORD, RED, RED_WORD, SIDE, check, rectangle};
use super::shaders;
use crate::bench::OrFail;
use alloc::vec::Vec;
use eitri_runtime::{
    Accesses, Buffer, Draw, GraphicsPipelineInfo, Image, RenderingInfo, Tiling, Topology,
};

/// The words of a table: a centre of vertices, whose words lie apart, and a colour.
pub(super) fn table(centre: [f32; 2], color: [f32; 4]) -> Vec<u32> {
    let [x, y] = centre;
    let all = [x, 0.0, y, 0.0].into_iter().chain(color);
    all.map(f32::to_bits).collect()
}

/// Two passes, between which a copy changes the table that both stages read; the host changes it between two submissions.
pub(crate) fn draws_have_the_words_of_buffers_of_their_moment() {
    let mut it = Bench::new();
    let images = [(); 2].map(|()| it.image("R8G8B8A8_UNORM", Tiling::Linear));
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let programs = (
        shaders::placed_vertices(it.arch()),
        shaders::table_color(it.arch()),
    );
    let pipeline = it.pipeline_of(&programs, &info);
    // A quarter of the picture, around its centre.
    let quarter = it.buffer(&rectangle([-0.5, -0.5], [0.5, 0.5], 0.5, GREEN));
    let high = (SIDE * 3 / 4) as f32;
    let words = it.buffer(&table([0.0; 2], [0.0; 4]));
    let others = it.buffer(&table([high, high], RED));
    let set = it.device.create_graphics_set(pipeline, 0);
    let set = set.or_fail("there is memory");
    let bound = it
        .device
        .bind_in_stages(set, |device, set| device.bind_buffer(set, 0, words));
    bound.or_fail("it fits");
    it.record(|recorder| {
        for (number, image) in images.into_iter().enumerate() {
            if number > 0 {
                let shaders = Accesses::SHADER_READ;
                recorder.barrier(shaders, Accesses::TRANSFER_WRITE)?;
                recorder.copy_buffer((others, 0), (words, 0), 32)?;
                recorder.barrier(Accesses::TRANSFER_WRITE, shaders)?;
            }
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(Bench::blue(image))],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_descriptor_set(set)?
                .bind_vertex_buffer(0, quarter, 0)?
                .draw(Draw::of(4))?;
            pass.end_rendering()?;
        }
        Ok(())
    });
    check_quarters(&mut it, words, images);
}

/// Runs what was recorded, each time with another place and colour in the table: the first image has them, and the second what the
/// copy between the passes has put there.
pub(super) fn check_quarters(it: &mut Bench, words: Buffer, images: [Image; 2]) {
    let [low, high] = [SIDE / 4, SIDE * 3 / 4].map(|it| it as f32);
    for (x, color, word) in [(low, GREEN, GREEN_WORD), (high, RED, RED_WORD)] {
        let new: Vec<u8> = table([x, low], color)
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        it.device.write_buffer(words, 0, &new).or_fail("it fits");
        it.run();
        let texels = it.texels(images[0]);
        let is_right = x == high;
        check(&texels, 0, |x, y| {
            if (x >= SIDE / 2) == is_right && y < SIDE / 2 {
                word
            } else {
                BLUE_WORD
            }
        });
        let texels = it.texels(images[1]);
        check(&texels, 0, |x, y| {
            if x >= SIDE / 2 && y >= SIDE / 2 {
                RED_WORD
            } else {
                BLUE_WORD
            }
        });
    }
}

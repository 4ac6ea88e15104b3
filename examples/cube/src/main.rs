//! A cube that turns on the board's display: a swapchain and a render pass, with no operating system.
//!
//! Words of the command line: `frames=N` ends after so many and leaves the last one on the display; `copy` copies frames to the display
//! where it could read them as they lie.
#![no_std]
#![no_main]
#![allow(clippy::result_large_err)] // The runtime's errors carry what was seen.

extern crate alloc;

use alloc::{boxed::Box, vec::Vec};
use core::{error::Error, time::Duration};
use eitri_boards::Exit;
use eitri_kernel::{Kernel, display::Display, interrupts, println};
use eitri_on_board::{LINE_BYTES, MmioPlatform, PresentMode, Swapchain, SwapchainInfo, start_gpu};
use eitri_program::GraphicsProgram;
use eitri_runtime::{
    ClearColor, ColorAttachment, DepthAttachment, DepthState, Device, Draw, GraphicsPipeline,
    GraphicsPipelineInfo, Image, ImageInfo, ImageView, Options, QueueConfig, RenderingInfo, Space,
    Storage, TilerHeapConfig, VertexAttribute, VertexBinding, VkFormat,
};

eitri_kernel::image! {
    main: main,
}

const FIRMWARE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/firmware"));
const VERTEX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/vertex"));
const FRAGMENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fragment"));
const SIDE: u32 = 256;
/// Twenty frames a second, and how far the cube turns from one to the next.
const INTERVAL: Duration = Duration::from_millis(50);
const STEP: f32 = 0.05;
const VERTICES: u32 = 36;

fn main(kernel: Kernel) -> Exit {
    let mut buffer = [0; LINE_BYTES];
    let line = kernel.command_line(&mut buffer);
    let mut words = line.split_ascii_whitespace();
    let copies = words.clone().any(|word| word == "copy");
    let mode = [PresentMode::Direct, PresentMode::Copy][usize::from(copies)];
    let frames = words.find_map(|word| word.strip_prefix("frames=")?.parse().ok());
    let platform = match start_gpu(&kernel, line) {
        Ok(platform) => platform,
        Err(exit) => return exit,
    };
    if let Err(error) = turn(&kernel, platform, mode, frames.unwrap_or(u64::MAX)) {
        println!("no cube: {error}");
        return Exit::Failed;
    }
    loop {
        interrupts::sleep();
    }
}

fn turn(
    kernel: &Kernel,
    gpu: MmioPlatform,
    mode: PresentMode,
    frames: u64,
) -> Result<(), Box<dyn Error>> {
    let mut storage = Storage::<1, 16, 64>::default();
    let device = Device::bring_up(gpu, FIRMWARE, &mut storage, Options::default(), &mut ());
    let mut device = device.map_err(eitri_runtime::Error::from)?;
    let queue = device.create_queue(QueueConfig::default())?;
    let space = device.space(queue)?;
    let heap = device.create_tiler_heap(space, TilerHeapConfig::default())?;
    device.bind_tiler_heap(queue, heap)?;
    let info = SwapchainInfo {
        interval: INTERVAL,
        mode,
        ..SwapchainInfo::of(SIDE, SIDE)
    };
    let mut swapchain = Swapchain::new(&mut device, space, Display::open(kernel)?, info)?;
    let images: Vec<Image> = swapchain.images().collect();
    let depths = VkFormat::of_name(device.properties().arch, "D32_SFLOAT").ok_or("no depth")?;
    let depth = ImageView::of(device.create_image(space, ImageInfo::two_d(depths, SIDE, SIDE))?);
    let pipeline = pipeline(&mut device, space)?;
    let vertices = device.create_buffer(space, u64::from(VERTICES) * 24)?;
    device.write_buffer(vertices, 0, &cube())?;
    let commands = images.iter().map(|_| device.create_command_buffer(space));
    let commands = commands.collect::<Result<Vec<_>, _>>()?;
    for frame in 0..frames {
        let index = swapchain.acquire(&mut device)?;
        let (view, angle) = (ImageView::of(images[index]), frame as f32 * STEP);
        let angles = [angle, 0.5].map(|angle| [libm::cosf(angle), libm::sinf(angle)]);
        let turn: Vec<u8> = angles
            .as_flattened()
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        device.record(commands[index], |recorder| {
            let clear = ClearColor::Float([0.1, 0.1, 0.15, 1.0]);
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(ColorAttachment::cleared(view, clear))],
                depth: Some(DepthAttachment::transient(depth, 1.0)),
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, vertices, 0)?
                .push_constants(0, &turn)?
                .draw(Draw::of(VERTICES))?;
            pass.end_rendering()
        })?;
        let fence = device.submit(queue, commands[index])?;
        swapchain.present(index, fence)?;
    }
    swapchain.drain(&mut device)?;
    println!("display: shown {}", swapchain.shown());
    Ok(())
}

fn pipeline(
    device: &mut Device<'_, '_, MmioPlatform>,
    space: Space,
) -> Result<GraphicsPipeline, Box<dyn Error>> {
    let arch = device.properties().arch;
    let format = VkFormat::of_name(arch, "R32G32B32_SFLOAT").ok_or("no vertices of floats")?;
    let attribute = |location, offset| VertexAttribute {
        location,
        binding: 0,
        offset,
        format,
    };
    let info = GraphicsPipelineInfo {
        bindings: &[VertexBinding::vertices(0, 24)],
        attributes: &[attribute(0, 0), attribute(1, 12)],
        depth: Some(DepthState::NEAREST),
        has_depth: true,
        colors: &[Some(Swapchain::format(device)?)],
        ..GraphicsPipelineInfo::default()
    };
    let (vertex, fragment) = (
        GraphicsProgram::parse(VERTEX)?,
        GraphicsProgram::parse(FRAGMENT)?,
    );
    Ok(device.create_graphics_pipeline(space, &vertex, Some(&fragment), &info)?)
}

/// The corners of twelve triangles, two a side: position and colour, three floats each.
fn cube() -> Vec<u8> {
    const CORNERS: [[f32; 2]; 6] = [
        [-1., -1.],
        [1., -1.],
        [1., 1.],
        [-1., -1.],
        [1., 1.],
        [-1., 1.],
    ];
    let sides = (0..6).flat_map(|side| {
        CORNERS.map(|[across, down]| {
            let mut place = [if side % 2 == 0 { -1.0 } else { 1.0 }; 3];
            (place[(side / 2 + 1) % 3], place[(side / 2 + 2) % 3]) = (across, down);
            [place, place.map(|it| 0.5 + 0.4 * it)]
        })
    });
    sides
        .flatten()
        .flatten()
        .flat_map(f32::to_le_bytes)
        .collect()
}

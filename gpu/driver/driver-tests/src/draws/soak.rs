//! Soak: frames of random passes, several in flight, with random faults and resets. Each frame's picture is right or its failure has
//! a name, and memory returns to its start.

use super::bench::{
    BLUE, BLUE_WORD, Bench, GREEN, GREEN_WORD, RED, RED_WORD, SIDE, check, rectangle,
};
use crate::bench::{LIMIT, OrFail, inject, long, machine, queue_in, up_on};
use crate::machine::bench;
use crate::shapes::Random;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use eitri_model::Injection;
use eitri_runtime::{
    Buffer, ColorAttachment, CommandBuffer, Draw, Error, ErrorKind, Fence, GraphicsPipeline,
    GraphicsPipelineInfo, Image, ImagePart, ImageView, LoadOp, Options, RenderingInfo, Status,
    Tiling, Topology,
};

/// Frames in flight at most.
const FRAMES: usize = 3;
/// Rectangles of a pass at most.
const MOST: u64 = 6;
/// Words of a rectangle's vertices.
const RECTANGLE_BYTES: u64 = 4 * 32;
/// Colours that are drawn, and their texels.
const COLORS: [([f32; 4], u32); 3] = [(RED, RED_WORD), (GREEN, GREEN_WORD), (BLUE, BLUE_WORD)];

/// What a frame draws with, and what its picture is to be.
struct Frame {
    image: Image,
    corners: Buffer,
    commands: CommandBuffer,
    picture: Vec<u32>,
    /// The pass goes on with what is there.
    loads: bool,
    fence: Option<Fence>,
}

/// What became of frames.
#[derive(Debug, Default)]
struct Tally {
    right: u32,
    failed: u32,
    /// The picture was lost with the caches of a GPU that had to be reset.
    lost: u32,
    /// What has struck last, and before which frame.
    struck: Option<(u32, Injection)>,
}

/// An odd thing that happens to the GPU.
fn strike(it: &Bench, random: &mut Random) -> Injection {
    let space = 1 + random.roll(3) as u8;
    let injection = match random.roll(10) {
        0 => Injection::JobFault { exception: 0x58 },
        1 => Injection::StreamFault { exception: 0x4B },
        2 => Injection::StreamFatal { exception: 0x49 },
        3 => Injection::PageFault { space },
        4 => Injection::BusError { space },
        5 => Injection::JobInterruptLost,
        6 => Injection::GpuFault { exception: 0x80 },
        7 => Injection::StreamFatal { exception: 0x41 },
        8 => Injection::McuCrash,
        _ => Injection::SpuriousSyncUpdate,
    };
    inject(&it.machine, injection);
    injection
}

impl Frame {
    fn new(it: &mut Bench) -> Frame {
        let made = it.device.create_buffer(it.space, MOST * RECTANGLE_BYTES);
        let corners = made.or_fail("there is memory");
        let made = it.device.create_command_buffer(it.space);
        let commands = made.or_fail("there is memory");
        let mut frame = Frame {
            image: it.image("R8G8B8A8_UNORM", Tiling::UInterleaved),
            corners,
            commands,
            picture: Vec::new(),
            loads: false,
            fence: None,
        };
        frame.forget(it);
        frame
    }

    /// The picture is what the host writes.
    fn forget(&mut self, it: &mut Bench) {
        self.picture = vec![0; (SIDE * SIDE) as usize];
        let bytes = vec![0; (SIDE * SIDE * 4) as usize];
        let written = it
            .device
            .write_image(self.image, ImagePart::default(), &bytes);
        written.or_fail("no job of it is in flight");
    }

    /// Records a pass: it clears or goes on, and draws rectangles over each other.
    fn record(&mut self, it: &mut Bench, pipeline: GraphicsPipeline, random: &mut Random) {
        let (color, texel) = COLORS[random.roll(3) as usize];
        let loads = random.roll(3) == 0;
        self.loads = loads;
        if !loads {
            self.picture.fill(texel);
        }
        let rectangles = random.roll(MOST + 1) as u32;
        for number in 0..rectangles {
            let (color, texel) = COLORS[random.roll(3) as usize];
            let mut span = || {
                let from = random.roll(u64::from(SIDE)) as u32;
                (from, from + 1 + random.roll(u64::from(SIDE - from)) as u32)
            };
            let ((left, right), (top, bottom)) = (span(), span());
            for y in top..bottom {
                let row = (y * SIDE) as usize;
                self.picture[row + left as usize..row + right as usize].fill(texel);
            }
            let clip = |pixels: u32| pixels as f32 / (SIDE / 2) as f32 - 1.0;
            let words = rectangle(
                [clip(left), clip(top)],
                [clip(right), clip(bottom)],
                0.5,
                color,
            );
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let offset = u64::from(number) * RECTANGLE_BYTES;
            let written = it.device.write_buffer(self.corners, offset, &bytes);
            written.or_fail("it fits");
        }
        let clear = eitri_runtime::ClearColor::Float(color);
        let attachment = ColorAttachment::cleared(ImageView::of(self.image), clear);
        let attachment = ColorAttachment {
            load: if loads { LoadOp::Load } else { attachment.load },
            ..attachment
        };
        let recorded = it.device.record(self.commands, |recorder| {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(attachment)],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, self.corners, 0)?;
            for number in 0..rectangles {
                pass.draw(Draw {
                    first: 4 * number,
                    ..Draw::of(4)
                })?;
            }
            pass.end_rendering()
        });
        recorded.or_fail("it can be recorded");
    }

    /// Waits for the frame that is in flight: its picture is right, or its failure has a name.
    fn finish(&mut self, it: &mut Bench, tally: &mut Tally) {
        let Some(fence) = self.fence.take() else {
            return;
        };
        match it.device.wait(fence, LIMIT) {
            Status::Done => {}
            Status::Failed(fault) => {
                assert!(!fault.to_string().is_empty());
                it.device.discard(fence);
                tally.failed += 1;
                return self.forget(it);
            }
            // A failure at or after it was discarded.
            status => panic!("{fence} is {status:?}"),
        }
        let mut bytes = vec![0; (SIDE * SIDE * 4) as usize];
        match it
            .device
            .read_image(self.image, ImagePart::default(), &mut bytes)
        {
            Ok(()) => {
                let (words, _) = bytes.as_chunks::<4>();
                let texels: Vec<u32> = words.iter().map(|it| u32::from_le_bytes(*it)).collect();
                if texels != self.picture {
                    let losses = it.device.recoveries();
                    bench().say(format_args!(
                        "{fence} drew something else: {tally:?}, {losses} losses, loads {}",
                        self.loads
                    ));
                }
                check(&texels, 0, |x, y| self.picture[(y * SIDE + x) as usize]);
                tally.right += 1;
            }
            Err(Error::ContentsLost { .. }) => {
                tally.lost += 1;
                self.forget(it);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Ends the queue, and makes another that has the heap.
fn renew(it: &mut Bench, frames: &mut [Frame], tally: &mut Tally) {
    let _ = it.device.cancel(it.queue);
    it.device.settle();
    for frame in frames {
        frame.finish(it, tally);
    }
    it.device.destroy_queue(it.queue).or_fail("it is dead");
    it.queue = queue_in(&mut it.device, it.space);
    let bound = it.device.bind_tiler_heap(it.queue, it.heap);
    bound.or_fail("its queue has gone");
}

pub(crate) fn random_passes_with_random_faults_are_right_or_fail_by_name() {
    let count = match (long(), bench().brief()) {
        (true, _) => 10_000,
        (false, false) => 150,
        (false, true) => 30,
    };
    let seed = 0x5EED_0029;
    let mut random = Random(seed);
    let machine = machine();
    let options = Options {
        seed,
        // Faults come faster than frames end.
        recoveries: 32,
        ..Options::default()
    };
    let device = up_on(machine.platform(), options);
    let mut it = Bench::usual(machine, device);
    let info = GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..it.info()
    };
    let pipeline = it.pipeline(&info);
    let mut frames: Vec<Frame> = (0..FRAMES).map(|_| Frame::new(&mut it)).collect();
    let mut tally = Tally::default();
    let mut start = None;
    for number in 0..count {
        let own = number as usize % FRAMES;
        let mut frame = frames.swap_remove(own);
        frame.finish(&mut it, &mut tally);
        frame.record(&mut it, pipeline, &mut random);
        match it.device.submit(it.queue, frame.commands) {
            Ok(fence) => frame.fence = Some(fence),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::QueueFailed, "{error}");
                tally.failed += 1;
                frame.forget(&mut it);
                renew(&mut it, &mut frames, &mut tally);
            }
        }
        frames.push(frame);
        frames.swap(own, FRAMES - 1);
        if random.roll(12) == 0 {
            tally.struck = Some((number, strike(&it, &mut random)));
        }
        // Each command buffer has grown to what it needs.
        if number == 30.min(count - 1) {
            start = Some(it.device.memory_in_use());
        }
        assert_eq!(it.device.lost(), None);
    }
    for frame in &mut frames {
        frame.finish(&mut it, &mut tally);
    }
    bench().say(format_args!(
        "{count} frames: {tally:?}, {} losses",
        it.device.recoveries()
    ));
    assert_eq!(tally.right + tally.failed + tally.lost, count, "{tally:?}");
    assert!(tally.right > count / 3, "{tally:?}");
    let (start, end) = (start.or_fail("it was noted"), it.device.memory_in_use());
    assert!(end <= start + 16 * 4096, "{start} {end}");
    it.device
        .shutdown(&mut ())
        .or_fail("it shuts down in order");
    assert_eq!(it.machine.memory_in_use(), 0);
}

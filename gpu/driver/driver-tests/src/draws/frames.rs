//! Frames on a screen, of which some fail: what is shown, what is named, and which images come back.

use super::bench::{Bench, SIDE};
use crate::bench::{OrFail, inject, withdraw};
use crate::machine::Host;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_frames::{FrameError, Frames, Pace, Screen, Shown};
use eitri_model::Injection;
use eitri_runtime::{
    ClearColor, ColorAttachment, Device, Error, Image, ImagePart, ImageView, RenderingInfo, Tiling,
};

const INTERVAL: Duration = Duration::from_millis(16);
const LIMIT: Duration = Duration::from_millis(500);
/// What a step of the pass fails with: DATA_INVALID_FAULT, which its stream survives.
const EXCEPTION: u8 = 0x58;

/// A screen that keeps the first texel of each frame, and when it was shown; by copies or where they lie.
struct Kept {
    shown: Vec<(u32, Duration)>,
    how: Shown,
    time: Duration,
}

impl Screen<Host> for Kept {
    type Error = Error;

    fn show(&mut self, device: &mut Device<'_, '_, Host>, image: Image) -> Result<Shown, Error> {
        let mut texels = vec![0; (SIDE * SIDE * 4) as usize];
        device.read_image(image, ImagePart::default(), &mut texels)?;
        let (words, _) = texels.as_chunks::<4>();
        let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
        let first = words.next().unwrap_or(0);
        assert!(words.all(|word| word == first), "a frame is of one colour");
        self.shown.push((first, self.time));
        Ok(self.how)
    }

    fn now(&self) -> Duration {
        self.time
    }

    fn sleep_until(&mut self, time: Duration) {
        self.time = self.time.max(time);
    }
}

/// The colour of a frame, and its texels.
fn color(frame: u32) -> (ClearColor, u32) {
    let red = frame + 1;
    (
        ClearColor::Float([red as f32 / 255.0, 0.0, 1.0, 1.0]),
        0xFFFF_0000 | red,
    )
}

/// Ten frames, of which the fourth is struck by a fault, and with it those that are in flight on its queue; each that was handed over is
/// shown or named by its number, in order; the next ones are right, and all images are there to the end.
pub(crate) fn a_frame_that_fails_is_named_and_the_next_is_shown() {
    for (images, how) in [
        (2, Shown::Copied),
        (2, Shown::InPlace),
        (3, Shown::Copied),
        (3, Shown::InPlace),
    ] {
        frames_with_a_fault(images, how);
    }
}

fn frames_with_a_fault(count: usize, how: Shown) {
    const STRUCK: u32 = 3;
    const ALL: u32 = 10;
    let mut it = Bench::new();
    let images: Vec<Image> = (0..count)
        .map(|_| it.image("R8G8B8A8_UNORM", Tiling::Linear))
        .collect();
    let made = images
        .iter()
        .map(|_| it.device.create_command_buffer(it.space));
    let commands: Vec<_> = made.map(|made| made.or_fail("there is memory")).collect();
    let pace = Pace {
        interval: INTERVAL,
        limit: LIMIT,
    };
    let mut frames = Frames::new(&images, pace).or_fail("there are enough images");
    let mut screen = Kept {
        shown: Vec::new(),
        how,
        time: Duration::ZERO,
    };
    let (mut failed, mut handed_over, mut last) = (Vec::new(), Vec::new(), None);
    let named = |error: FrameError<Error>| match error {
        FrameError::Failed { number, fault } => {
            assert!(!fault.to_string().is_empty());
            number
        }
        error => panic!("{error:?}"),
    };
    let injection = Injection::DrawStepFault {
        exception: EXCEPTION,
    };
    for frame in 0..ALL {
        let index = loop {
            match frames.acquire(&mut it.device, &mut screen) {
                Ok(index) => break index,
                Err(error) => failed.push(named(error)),
            }
        };
        if frame == STRUCK {
            // Those before are drawn: it is the next that is struck.
            if let Some(last) = last {
                it.device.wait(last, LIMIT);
            }
            inject(&it.machine, injection);
        }
        let view = ImageView::of(images[index]);
        let (clear, word) = color(frame);
        let recorded = it.device.record(commands[index], |recorder| {
            let pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(ColorAttachment::cleared(view, clear))],
                ..RenderingInfo::default()
            })?;
            pass.end_rendering()
        });
        recorded.or_fail("nothing uses the commands");
        let fence = match it.device.submit(it.queue, commands[index]) {
            Ok(fence) => fence,
            Err(Error::QueueFailed { .. }) => {
                it.renew_queue();
                let again = it.device.submit(it.queue, commands[index]);
                again.or_fail("it is new")
            }
            Err(error) => panic!("{error}"),
        };
        handed_over.push(word);
        last = Some(fence);
        frames
            .present::<Error>(index, fence)
            .or_fail("it was acquired");
        let twice = frames.present::<Error>(index, fence);
        assert_eq!(twice, Err(FrameError::NotAcquired(index)));
    }
    while let Err(error) = frames.drain(&mut it.device, &mut screen) {
        failed.push(named(error));
    }
    withdraw(&it.machine, injection);
    assert!(failed.contains(&u64::from(STRUCK)), "{failed:?}");
    assert!(
        failed.iter().all(|number| (3..6).contains(number)),
        "{failed:?}: the others have nothing to do with it"
    );
    let expected: Vec<u32> = (0..)
        .zip(&handed_over)
        .filter(|(number, _)| !failed.contains(number))
        .map(|(_, word)| *word)
        .collect();
    let shown: Vec<u32> = screen.shown.iter().map(|(word, _)| *word).collect();
    assert_eq!(shown, expected, "{count} images, {how:?}");
    assert_eq!(frames.shown(), shown.len() as u64);
    let times = screen.shown.windows(2);
    for pair in times {
        assert!(pair[1].1 - pair[0].1 >= INTERVAL, "{:?}", screen.shown);
    }
    images_are_back(&mut frames, &mut it, &mut screen, how);
}

/// All images can be had but one that is shown where it lies.
fn images_are_back(frames: &mut Frames, it: &mut Bench, screen: &mut Kept, how: Shown) {
    let count = frames.images().count();
    let free = match how {
        Shown::Copied => count,
        Shown::InPlace => count - 1,
    };
    for _ in 0..free {
        let acquired = frames.acquire(&mut it.device, screen);
        acquired.or_fail("an image is free");
    }
    let none = frames.acquire(&mut it.device, screen);
    assert_eq!(none, Err(FrameError::NothingPresented));
    let given = (0..count).filter(|index| frames.give_back::<Error>(*index).is_ok());
    assert_eq!(given.count(), free);
    let acquired = frames.acquire(&mut it.device, screen);
    acquired.or_fail("it was given back");
}

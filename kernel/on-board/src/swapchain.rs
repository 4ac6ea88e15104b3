//! Swapchain: images that are drawn by turns, and shown one after the other in time with a clock.
//!
//! [`Swapchain::acquire`] gives the next image that neither a frame nor the display uses; [`Swapchain::present`] hands it over with the
//! fence of what draws it. Frames are shown in the order in which they were handed over, each when it is done and its time has come:
//! on the display's own memory by a copy, or where they lie, if the display can read there.
//!
//! Guarantees: an image is not given out while it is shown or drawn; a frame whose commands failed is not shown, and told by name.
//! Nothing is allocated once it is made, but for errors.

use crate::platform::sleep_until;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use eitri_frames::{FrameError, Frames, LEAST_IMAGES, MOST_IMAGES, Pace, Screen, Shown};
use eitri_kernel::display::{DirectDisplay, Display, DisplayError};
use eitri_kernel::time;
use eitri_picture::{LayoutError, Picture, PixelFormat};
use eitri_runtime::{
    Device, Error, Fence, Image, ImageInfo, ImagePart, JobFault, Platform, Space, Tiling, VkFormat,
};

/// Longest that a frame may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How frames get to the display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresentMode {
    /// The CPU copies each, enlarged by a whole factor, to where the display reads.
    Copy,
    /// The display reads where the GPU has drawn. A display that a boot loader has left can't: its frames are copied.
    Direct,
}

/// What a swapchain is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwapchainInfo {
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Images: 2 or 3. With two the GPU waits while one is shown and the next is ready; with three it goes on.
    pub images: usize,
    /// Time from one frame to the next at least.
    pub interval: Duration,
    /// How they get to the display.
    pub mode: PresentMode,
}

impl SwapchainInfo {
    /// Three images of a size, sixty frames a second, read by the display as they lie if it can.
    pub const fn of(width: u32, height: u32) -> SwapchainInfo {
        SwapchainInfo {
            width,
            height,
            images: 3,
            interval: Duration::from_nanos(16_666_667),
            mode: PresentMode::Direct,
        }
    }
}

/// Why there is no swapchain, or no frame is shown.
#[derive(Debug)]
pub enum SwapchainError {
    /// It has two or three images.
    Images(usize),
    /// The GPU has no such images.
    Format,
    /// What the device says.
    Device(Box<Error>),
    /// What the display says.
    Display(DisplayError),
    /// The picture has no such size.
    Layout(LayoutError),
    /// All images have been given out, and none was presented.
    NothingPresented,
    /// The image was not given out.
    NotAcquired(usize),
    /// The commands of a frame have failed: it is not shown.
    Frame {
        /// Its number, from 0 on.
        number: u64,
        /// What was wrong.
        fault: Box<JobFault>,
    },
    /// A frame's commands are not known any more, or don't end.
    Lost {
        /// Its number, from 0 on.
        number: u64,
    },
}

impl fmt::Display for SwapchainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwapchainError::Images(count) => {
                write!(f, "a swapchain has 2 or 3 images, not {count}")
            }
            SwapchainError::Format => f.write_str("the GPU does not draw what displays show"),
            SwapchainError::Device(error) => error.fmt(f),
            SwapchainError::Display(error) => error.fmt(f),
            SwapchainError::Layout(error) => write!(f, "the picture: {error}"),
            SwapchainError::NothingPresented => {
                f.write_str("all images have been acquired, and none was presented")
            }
            SwapchainError::NotAcquired(index) => write!(f, "image {index} was not acquired"),
            SwapchainError::Frame { number, fault } => write!(f, "frame {number}: {fault}"),
            SwapchainError::Lost { number } => {
                write!(
                    f,
                    "frame {number} does not end within {} s",
                    LIMIT.as_secs()
                )
            }
        }
    }
}

impl core::error::Error for SwapchainError {}

impl From<FrameError<SwapchainError>> for SwapchainError {
    fn from(error: FrameError<SwapchainError>) -> SwapchainError {
        match error {
            FrameError::NothingPresented => SwapchainError::NothingPresented,
            FrameError::NotAcquired(index) => SwapchainError::NotAcquired(index),
            FrameError::Failed { number, fault } => SwapchainError::Frame {
                number,
                fault: Box::new(fault),
            },
            FrameError::Lost { number } => SwapchainError::Lost { number },
            FrameError::Screen(error) => error,
        }
    }
}

impl From<Error> for SwapchainError {
    fn from(error: Error) -> SwapchainError {
        SwapchainError::Device(Box::new(error))
    }
}

/// What a swapchain has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presented {
    /// Frames.
    pub frames: u64,
    /// Those that were not done when their time had come.
    pub late: u64,
    /// The display reads where the GPU draws.
    pub direct: bool,
}

impl fmt::Display for Presented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.direct {
            "read where they lie"
        } else {
            "copied"
        };
        write!(
            f,
            "{} frames, {way}, {} of them late",
            self.frames, self.late
        )
    }
}

/// Where frames go.
enum Target {
    /// To the display's memory, by way of these bytes.
    Copy(Display, Vec<u8>),
    Direct(DirectDisplay),
}

/// Images that are drawn by turns.
pub struct Swapchain {
    size: (u32, u32),
    target: Target,
    frames: Frames,
}

impl Swapchain {
    /// Makes one, with images in an address space.
    ///
    /// # Errors
    /// If the device can't make such images.
    pub fn new<P: Platform>(
        device: &mut Device<'_, '_, P>,
        space: Space,
        display: Display,
        info: SwapchainInfo,
    ) -> Result<Swapchain, SwapchainError> {
        if !(LEAST_IMAGES..=MOST_IMAGES).contains(&info.images) {
            return Err(SwapchainError::Images(info.images));
        }
        let bytes = info.width as usize * info.height as usize * PixelFormat::X8R8G8B8.bytes();
        let copied = |display| Target::Copy(display, vec![0; bytes]);
        let target = match info.mode {
            PresentMode::Copy => copied(display),
            PresentMode::Direct => display.into_direct().map_or_else(copied, Target::Direct),
        };
        let format = Swapchain::format(device)?;
        let image = ImageInfo {
            tiling: Tiling::Linear,
            ..ImageInfo::two_d(format, info.width, info.height)
        };
        let mut images = Vec::with_capacity(info.images);
        for _ in 0..info.images {
            images.push(device.create_image(space, image)?);
        }
        let pace = Pace {
            interval: info.interval,
            limit: LIMIT,
        };
        let frames = Frames::new(&images, pace).ok_or(SwapchainError::Images(info.images))?;
        Ok(Swapchain {
            size: (info.width, info.height),
            target,
            frames,
        })
    }

    /// The format of the images, for pipelines.
    ///
    /// # Errors
    /// If the GPU does not have it.
    pub fn format<P: Platform>(
        device: &Device<'_, '_, P>,
    ) -> Result<&'static VkFormat, SwapchainError> {
        let arch = device.properties().arch;
        VkFormat::of_name(arch, DirectDisplay::FORMAT).ok_or(SwapchainError::Format)
    }

    /// The images, by index.
    pub fn images(&self) -> impl Iterator<Item = Image> {
        self.frames.images()
    }

    /// What has been shown so far.
    pub fn shown(&self) -> Presented {
        Presented {
            frames: self.frames.shown(),
            late: self.frames.late(),
            direct: matches!(self.target, Target::Direct(_)),
        }
    }

    /// Gives the index of an image to draw on; shows meanwhile what is to be shown, and waits until an image is free.
    ///
    /// # Errors
    /// If a frame that was handed over failed, or can't be shown; that frame's image is free then. A frame that does not end stays in the queue: the next call waits
    /// for it again.
    pub fn acquire<P: Platform>(
        &mut self,
        device: &mut Device<'_, '_, P>,
    ) -> Result<usize, SwapchainError> {
        let (target, size) = (&mut self.target, self.size);
        Ok(self.frames.acquire(device, &mut Shows { target, size })?)
    }

    /// Hands an image over, with the fence of what draws on it.
    ///
    /// # Errors
    /// If the image was not acquired.
    pub fn present(&mut self, index: usize, fence: Fence) -> Result<(), SwapchainError> {
        let presented: Result<(), FrameError<SwapchainError>> = self.frames.present(index, fence);
        Ok(presented?)
    }

    /// Gives an image back that was acquired, and that nothing draws on: commands for it were refused.
    ///
    /// # Errors
    /// If the image was not acquired.
    pub fn give_back(&mut self, index: usize) -> Result<(), SwapchainError> {
        let given: Result<(), FrameError<SwapchainError>> = self.frames.give_back(index);
        Ok(given?)
    }

    /// Shows all that was handed over.
    ///
    /// # Errors
    /// As [`Swapchain::acquire`].
    pub fn drain<P: Platform>(
        &mut self,
        device: &mut Device<'_, '_, P>,
    ) -> Result<(), SwapchainError> {
        let (target, size) = (&mut self.target, self.size);
        Ok(self.frames.drain(device, &mut Shows { target, size })?)
    }
}

/// Shows frames of a size on their target.
struct Shows<'t> {
    target: &'t mut Target,
    size: (u32, u32),
}

impl<P: Platform> Screen<P> for Shows<'_> {
    type Error = SwapchainError;

    fn show(
        &mut self,
        device: &mut Device<'_, '_, P>,
        image: Image,
    ) -> Result<Shown, SwapchainError> {
        let (width, height) = self.size;
        match &mut self.target {
            Target::Copy(display, pixels) => {
                device.read_image(image, ImagePart::default(), pixels)?;
                let (width, height) = (width as usize, height as usize);
                let format = PixelFormat::X8R8G8B8;
                let stride = width * format.bytes();
                let picture = Picture::new(width, height, stride, format, pixels);
                display.show(&picture.map_err(SwapchainError::Layout)?);
                Ok(Shown::Copied)
            }
            Target::Direct(display) => {
                let lies = device.scan_out(image)?.ok_or(SwapchainError::Format)?;
                let row = lies.row_bytes as u32;
                display
                    .read_from(lies.memory.0, (width, height), row)
                    .map_err(SwapchainError::Display)?;
                Ok(Shown::InPlace)
            }
        }
    }

    fn now(&self) -> Duration {
        time::now()
    }

    fn sleep_until(&mut self, time: Duration) {
        let nothing = || None::<()>;
        sleep_until(time, nothing);
    }
}

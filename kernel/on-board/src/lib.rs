//! What images that drive a GPU share: the runtime's platform on bare metal, a job's run, the way of its result.
#![no_std]
#![warn(missing_docs)]

extern crate alloc;

mod job;
mod part;
mod platform;
mod result_file;
mod show;
mod swapchain;

pub use job::{LINE_BYTES, firmware, run_job, start_gpu, start_gpu_with};
pub use part::{ATTACHED, part, part_or};
pub use platform::{Caching, Counter, GicLines, MmioPlatform, PlatformError, take_gpu};
pub use result_file::ResultFile;
pub use show::{Shown, run_job_and_show};
pub use swapchain::{PresentMode, Presented, Swapchain, SwapchainError, SwapchainInfo};

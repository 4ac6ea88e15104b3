//! What an image adds to the suite: a second CPU, and the scripts that it was given.

use crate::second_cpu;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter;
use eitri_amber_device::Scripts;
use eitri_on_board::MmioPlatform;
use eitri_validation::{Extra, SECOND_CPU, Trouble, Verdict};

/// Both, with the firmware that they run the GPU with.
pub(crate) struct OnBoard {
    pub(crate) scripts: Scripts<'static>,
    pub(crate) firmware: &'static [u8],
}

impl Extra<MmioPlatform> for OnBoard {
    fn names(&self) -> Vec<String> {
        let second = iter::once(SECOND_CPU.to_owned());
        second.chain(self.scripts.names()).collect()
    }

    fn run(&mut self, number: usize, platform: MmioPlatform) -> (MmioPlatform, Verdict) {
        let Some(script) = number.checked_sub(1) else {
            return second_cpu::run(platform, self.firmware);
        };
        let (platform, verdict) = self.scripts.run(script, platform);
        (platform, verdict.result(Trouble::Skipped, Trouble::Failed))
    }
}

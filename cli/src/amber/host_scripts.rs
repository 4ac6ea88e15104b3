//! Scripts as tests of the validation suite, on the model: what `kernel/validation` does with them on a board.

use super::suite::unreadable;
use crate::outcome::Failure;
use eitri_amber_device::Scripts;
use eitri_on_model::Machine as Model;
use eitri_validation::{Extra, Trouble, Verdict};

/// The scripts.
pub(crate) struct HostScripts<'f>(Scripts<'f>);

impl<'f> HostScripts<'f> {
    /// Those of a suite, if there is one.
    pub(crate) fn read(
        bytes: Option<&[u8]>,
        firmware: &'f [u8],
    ) -> Result<HostScripts<'f>, Failure> {
        let scripts = Scripts::read(bytes.unwrap_or(&[]), firmware);
        scripts.map(HostScripts).map_err(unreadable)
    }
}

impl Extra<Model> for HostScripts<'_> {
    fn names(&self) -> Vec<String> {
        self.0.names().collect()
    }

    fn run(&mut self, number: usize, platform: Model) -> (Model, Verdict) {
        let (platform, verdict) = self.0.run(number, platform);
        (platform, verdict.result(Trouble::Skipped, Trouble::Failed))
    }
}

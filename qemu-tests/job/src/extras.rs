//! What is wanted of a job besides its buffers: a core dump, taken before the driver answers what went wrong.

use crate::job::CoreDump;
use crate::session::StepWriter;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::time::Duration;
use eitri_dump::{Region, WriteError};
use eitri_runtime::{Device, Fence, Platform, Status};

/// Runs of memory that a dump of a job may have.
const REGIONS: usize = 2048;
/// Notes come in words: so many bytes are gathered before they go into the stream.
const GATHERED: usize = 64 * 1024;

/// Waits for a job, and writes a dump of the GPU when a failure is reported, or the limit has come; if it is wanted always,
/// behind a job that ended well too.
pub(crate) fn wait_and_dump<P: Platform>(
    device: &mut Device<'_, '_, P>,
    fence: Fence,
    limit: Duration,
    when: CoreDump,
    steps: &mut StepWriter<'_>,
) -> Status {
    match device.wait_or_fault(fence, limit) {
        None => {
            dump(device, None, steps);
            device.wait(fence, limit)
        }
        Some(Status::Pending) => {
            dump(device, Some(fence), steps);
            Status::Pending
        }
        Some(status) => {
            // A failure that nobody has seen coming: better late than never.
            if when == CoreDump::Always || matches!(status, Status::Failed(_)) {
                dump(device, None, steps);
            }
            status
        }
    }
}

fn dump<P: Platform>(
    device: &mut Device<'_, '_, P>,
    overdue: Option<Fence>,
    steps: &mut StepWriter<'_>,
) {
    let mut room = alloc::vec![Region::default(); REGIONS];
    let mut gathered = Gathered {
        steps,
        bytes: Vec::new(),
    };
    let dumped = device.dump(overdue, &mut room, &mut gathered);
    gathered.flush();
    match dumped {
        Ok(summary) if summary.incomplete.no_room == 0 => {}
        Ok(summary) => {
            let lost = summary.incomplete.no_room;
            steps.write(|writer| {
                writer.no_dump(format_args!("no room for {lost:#x} bytes of memory"))
            });
        }
        Err(WriteError::Sink(never)) => match never {},
        Err(error) => steps.write(|writer| writer.no_dump(format_args!("{error}"))),
    }
}

/// A dump on its way into the stream.
struct Gathered<'w, 'p> {
    steps: &'w mut StepWriter<'p>,
    bytes: Vec<u8>,
}

impl Gathered<'_, '_> {
    fn flush(&mut self) {
        let bytes = &self.bytes;
        if !bytes.is_empty() {
            self.steps.write(|writer| writer.dump(bytes));
        }
        self.bytes.clear();
    }
}

impl eitri_dump::Sink for Gathered<'_, '_> {
    /// What the stream refuses is kept there.
    type Error = Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        if self.bytes.len().saturating_add(bytes.len()) > GATHERED {
            self.flush();
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

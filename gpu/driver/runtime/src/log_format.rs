//! Logging by `defmt`: everything public that is a value can be logged, with the feature `defmt`.
//!
//! What has a text for people is logged as that text, everything else as its fields. Texts are made on the target: an error says what
//! registers and interface words mean, and the tables that know are there.

use crate::{
    Access, Accesses, AsCommandStuck, BootError, Bound, BringUpError, Buffer, Cause, CommandBuffer,
    CommandError, Condition, CountersError, Counts, DescriptorSet, DeviceLost, DevicePower,
    DmaRegion, DomainState, Done, DynamicOffset, Error, ErrorKind, Event, Failed, Fence,
    FirmwareCrash, GpuAddress, GpuFault, HaltError, Image, ImageError, ImageInfo, ImagePart,
    ImageUses, Instant, InterfaceError, Invocations, JobFault, Limit, Lines, LoadError, MapError,
    MmuError, MmuFault, Neighbour, Next, OperatingPoint, Options, OutOfMemory, PhysicalAddress,
    Pipeline, Placement, PowerChange, PowerState, PowerStuck, Priority, ProbeError, Properties,
    QueryPool, Queue, QueueConfig, Recovery, RequestIgnored, ResetError, SamplerInfo, Semaphore,
    SemaphorePoint, Side, Space, Status, Step, StreamException, StreamStatus, SubmitInfo,
    SystemCoherency, Table, Thing, Tiling, TimedOut, TimerClock, UnusableStream, VmError, Warning,
};
use defmt::{Debug2Format, Display2Format, Format, Formatter};

macro_rules! format {
    ($how:ident: $($type:ty),* $(,)?) => { $(
        impl Format for $type {
            fn format(&self, to: Formatter<'_>) {
                $how(self).format(to);
            }
        }
    )* };
}

format! { Display2Format:
    AsCommandStuck, BootError, BringUpError, CommandError, Condition, CountersError, DeviceLost, Error, Fence, FirmwareCrash,
    GpuAddress, GpuFault, HaltError, ImageError, InterfaceError, JobFault, Limit, LoadError, MapError, MmuError, MmuFault,
    Neighbour, OutOfMemory, PhysicalAddress, PowerChange, PowerState, PowerStuck, ProbeError, Properties, Queue, Recovery,
    RequestIgnored, ResetError, Side, Step, StreamStatus, SystemCoherency, Table, Thing, TimedOut, UnusableStream, VmError, Warning,
}

format! { Debug2Format:
    Access, Accesses, Bound<'_>, Buffer, Cause, CommandBuffer, Counts, DescriptorSet, DevicePower, DmaRegion, DomainState, Done<'_>,
    DynamicOffset, ErrorKind, Event, Image, ImageInfo, ImagePart, ImageUses, Instant, Invocations, Lines, Next, OperatingPoint, Options,
    Pipeline, Placement, Priority, QueryPool, QueueConfig, SamplerInfo, Semaphore, SemaphorePoint, Space, Status, StreamException,
    SubmitInfo<'_>, Tiling, TimerClock,
}

#[cfg(feature = "draw")]
format! { Debug2Format: crate::TilerHeap, crate::TilerHeapConfig, crate::TilerHeapInfo }

/// A failed bring-up, without its platform.
impl<P> Format for Failed<P> {
    fn format(&self, to: Formatter<'_>) {
        self.error.format(to);
    }
}

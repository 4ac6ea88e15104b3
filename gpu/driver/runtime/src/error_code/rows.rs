//! Rows: the numbers of all that an error can be, and its values in order.
//!
//! A number that was given stays: a variant that goes leaves its number free, and a new one gets the next. Whoever changes the values
//! of a variant raises the edition. A variant or a value that has no row does not compile. Those of graphics have theirs in
//! `graphics/error_rows.rs`.

use super::{Coded, Source, Words};
use crate::command::{CommandError, Limit};
use crate::device::{BringUpError, CountersError, DeviceLost, FirmwareCrash};
use crate::error::{Error, Table, Thing};
use crate::fault::{Cause, GpuFault, JobFault, Neighbour, Recovery, StreamException};
use crate::firmware::{BootError, InterfaceError, LoadError, RequestIgnored};
use crate::gpu::{DomainState, HaltError, PowerState, PowerStuck, ProbeError, ResetError};
use crate::handle::{Fence, Queue};
use crate::memory::OutOfMemory;
use crate::mmu::{AsCommandStuck, MapError, MmuError, MmuFault};
use crate::platform::{PhysicalAddress, PowerChange, SystemCoherency};
use crate::queue::UnusableStream;
use crate::resource::{Aspect, ImageError};
use crate::slab::Key;
use crate::vm::{GpuAddress, VmError};
use crate::wait::{Condition, TimedOut};
use core::time::Duration;
use eitri_cs::builder::BuildFault;
use eitri_cs::{ArchSet, EncodeError, Reg, Slot, SubQueue};
use eitri_csf::command::AsCommand;
use eitri_csf::explain;
use eitri_csf::fault::fault_access::AccessKind;
use eitri_csf::fault::{Exception, FaultSource};
use eitri_csf::image::Problem;
use eitri_csf::page_table::{EntryError, Level};
use eitri_csf::product::GpuId;
use eitri_csf::registers::power::Domain;
use eitri_csf::table::Register;
use eitri_csf::{Arch, image};
use eitri_descriptors::{DescriptorError, FieldError, FieldProblem};
use eitri_program::ProgramError;

/// An enumeration: a number and the values of each variant.
macro_rules! variants {
    ($($of:ty { $($number:literal $variant:ident $(($place:ident))? $({$($value:ident),+})?;)* })*) => { $(
        impl Coded for $of {
            fn put(&self, to: &mut Words<'_, '_>) {
                match self { $(
                    Self::$variant $(($place))? $({ $($value),+ })? => {
                        to.number($number);
                        $($place.put(to);)?
                        $($($value.put(to);)+)?
                    }
                )* }
            }

            fn take(from: &mut dyn Source) -> Option<Self> {
                Some(match from.number()? {
                    $($number => {
                        $(let $place = Coded::take(from)?;)?
                        $($(let $value = Coded::take(from)?;)+)?
                        Self::$variant $(($place))? $({ $($value),+ })?
                    })*
                    _ => return None,
                })
            }
        }
    )* };
}

/// A structure: its values.
macro_rules! values {
    ($($of:ty { $($value:ident),+ })*) => { $(
        impl Coded for $of {
            fn put(&self, to: &mut Words<'_, '_>) {
                let Self { $($value),+ } = self;
                $($value.put(to);)+
            }

            fn take(from: &mut dyn Source) -> Option<Self> {
                $(let $value = Coded::take(from)?;)+
                Some(Self { $($value),+ })
            }
        }
    )* };
}

/// What is one number already.
macro_rules! numbers {
    ($($of:ty: |$value:ident| $number:expr, |$read:ident| $take:expr;)*) => { $(
        impl Coded for $of {
            fn put(&self, to: &mut Words<'_, '_>) {
                let $value = *self;
                to.number($number);
            }

            fn take(from: &mut dyn Source) -> Option<Self> {
                let $read = from.number()?;
                $take
            }
        }
    )* };
}

pub(crate) use {values, variants};

#[rustfmt::skip]
variants! {
    Error {
        0x01 Lost(lost);
        0x02 Suspended;
        0x03 BringUp(error);
        0x04 Program(error);
        0x05 Vm(error);
        0x06 Full { table, places };
        0x07 Gone { what };
        0x08 InUse { what, by };
        0x09 NotEmpty { queues, objects };
        0x0A ContentsLost { what };
        0x0B OtherSpace { what };
        0x0C ReadOnly { what };
        0x0D Occupied { what, number };
        0x0E TimedOut { fence, limit };
        0x0F TooMany { most };
        0x10 RingFull { queue };
        0x11 QueueFailed { queue, fault };
        0x12 Job(fault);
        0x13 Command(error);
        0x14 Image(error);
        0x15 NotRecorded;
        0x16 Stream(error);
        0x17 Cores { wanted, usable };
        0x18 StreamPriority { priority };
        0x19 TilerHeap(config);
        0x1A Counters(error);
        0x1C Outside { offset, bytes, size };
        0x1D Misaligned { offset };
        0x1E Reserved { from };
        0x1F NotLarger { value, reached };
        0x20 Empty { what };
        0x21 TilerHeapServes { heap, queue };
    }
    DeviceLost {
        0 Firmware(crash);
        1 Silent(request);
        2 Gpu(fault);
        3 Mmu(error);
        4 Stream(fault);
        5 Restart(error);
    }
    BringUpError {
        0 Probe(error);
        1 Reset(error);
        2 Power(error);
        3 Load(error);
        4 Mmu(error);
        5 Boot(error);
        6 Interface(error);
        7 Silent(request);
        8 Halt(error);
        9 NoSupply { limit };
        0xA Lost;
    }
    ProbeError {
        0 NoDevice { id };
        1 Unsupported { id };
        2 NotCoherent { system, features };
        3 Nonsense { register, value };
    }
    LoadError {
        0 Image(error);
        1 TooManySections;
        2 SharedTooLarge { end };
        3 OutOfMemory(error);
        4 Mmu { address, error };
    }
    Problem {
        0 Truncated { length, needed };
        1 Magic(found);
        2 FormatMajor(found);
        3 TableEnd(end);
        4 EntrySize { size, left };
        5 UnknownEntry(kind);
        6 SectionFlags(flags);
        7 DataRange { start, end };
        8 AddressRange { start, end };
        9 DataTooLong { data, section };
        0xA SectionsOverlap { other };
        0xB NoSharedSection;
        0xC TooManySections;
    }
    InterfaceError {
        0 NotBooted;
        1 Count { register, value, least, most };
        2 Outside { block, address, section };
        3 Stride { register, value, least };
        4 Shared { block, address };
        // 5 was two slots that differ, which is a warning now.
    }
    MmuError {
        0 Map(error);
        1 Stuck(command);
        2 Flush(timed_out);
        3 Width(bits);
    }
    MapError {
        0 OutOfMemory(error);
        1 BadRange { start, end, bits };
        2 AlreadyMapped { address };
        3 Entry(error);
    }
    EntryError {
        0 NotAtLevel(level);
        1 Misaligned { address, alignment };
    }
    VmError {
        0 OutOfMemory(error);
        1 OutOfAddresses { what, bytes };
        2 Mmu(error);
    }
    Cause {
        0 Exception(exception);
        1 Mmu(fault);
        2 Gpu(fault);
        3 NoProgress;
        4 Cancelled;
        5 NotSuspended;
        6 TilerMemory;
        7 ProtectedMode;
        8 Lost;
        9 LostWithGpu;
        0xA Unreported { status };
    }
    CommandError {
        0 Arch { program, gpu };
        1 Vm(error);
        2 Limit { what, wanted, most };
        3 Set { set };
        4 NoBinding { set, binding, element };
        5 Missing { set, binding, element };
        6 TooSmall { set, binding, bytes, needed };
        7 Range { offset, bytes, size };
        8 PushConstants { given, wanted };
        9 NoPipeline;
        0xA Descriptor(error);
        0xB Secondary;
        0xC NotSecondary;
        0xD TooDeep { most };
        0xE NotCounted;
        0xF NoQuery { first, count, size };
        0x10 Build(fault);
        0x11 NoTilerHeap;
        0x12 Graphics(error);
    }
    BuildFault {
        0 Encode(error);
        1 NoSuchRegister { register, count };
        2 NotWritable { register };
        3 NoSuchSlot { slot, slots };
        4 WaitsForItself { slot };
        5 OtherSlotChanged { expected };
        6 ChunkFull { capacity };
        7 ChunkTooSmall { capacity };
        8 ChunkMisaligned { address };
        9 BlockTooLong { length, capacity };
        0xA InsideBlock;
        0xB LabelOutsideBlock;
        0xC LabelBoundTwice;
        0xD UnresolvedLabel { labels };
        0xE BranchOutOfRange { offset };
        0xF CaseAfterDefault;
    }
    EncodeError {
        0 NoSuchInstruction { instruction, exists, arch };
        1 NoSuchField { instruction, field, arch };
        2 OutOfRange { instruction, field, value, min, max };
    }
    DescriptorError {
        0 NotInArch { structure, arch };
        1 Length { structure, needed, found };
        2 Field { structure, error };
        3 Reserved { structure, word, bits };
    }
    FieldProblem {
        0 TooLarge { value, most };
        1 BelowLeast { value, least };
        2 OutOfRange { value, width };
        3 NotMultiple { value, multiple };
        4 NotPowerOfTwo { value };
        5 NotTheOnlyValue { value, only };
        6 NotInEnum { value, of };
        7 NoMeaning { stored };
        8 NotInArch { arch };
    }
    ImageError {
        0 Format { format };
        1 Number { what, value };
        2 NoPart { level, layer, slice };
        3 Bytes { given, wanted };
        4 Kind { set, binding, what };
        5 Family { format };
        6 NoAspect { aspect, format };
        7 Region { what, first, count, size, level };
        8 Incompatible { from, to };
        9 View { format, what };
        10 Layout { format, what };
    }
    Aspect {
        0 Color;
        1 Depth;
        2 Stencil;
    }
    CountersError {
        0 Size { found, firmware, hardware, wanted };
        1 Ignored(request);
        2 Off;
        3 Failed { status };
    }
    ProgramError {
        0 Magic { found, wanted };
        1 Version { found, wanted };
        2 Length { found, wanted };
        3 Sum { found, wanted };
        4 Header { offset, value };
        5 WorkgroupSize { x, y, z };
        6 NoCode;
        7 Record { table, index, kind, value };
        8 Contradiction { what };
        9 DuplicateBinding { set, binding };
        0xA EntryName { valid };
    }
    Thing {
        0 Space;
        1 Queue;
        2 Buffer;
        3 Image;
        4 Pipeline;
        5 DescriptorSet;
        6 CommandBuffer;
        7 Event;
        8 Semaphore;
        9 QueryPool;
        0xA TilerHeap;
    }
    Table {
        0 Queues;
        1 Spaces;
        2 Jobs;
        3 Objects;
        4 References;
    }
    Limit {
        0 WorkgroupThreads;
        1 Workgroups;
        2 SharedMemory;
        3 ScratchMemory;
        4 CommandBufferData;
        5 ResourceTables;
    }
    Recovery {
        0 Continue;
        1 NewQueue;
        2 Reset;
        3 Restart;
    }
    SubQueue {
        0 VertexTiler;
        1 Fragment;
        2 Compute;
    }
    Domain {
        0 L2;
        1 Tiler;
        2 Shader;
    }
    PowerChange {
        0 On;
        1 Off;
    }
    SystemCoherency {
        0 None;
        1 AceLite;
    }
    Level {
        0 L0;
        1 L1;
        2 L2;
        3 L3;
    }
}

#[rustfmt::skip]
values! {
    FirmwareCrash   { mcu_status, halt_status, fault }
    RequestIgnored  { what, timed_out, mcu_status }
    TimedOut        { register, offset, address, value, wanted, limit }
    Condition       { mask, wanted }
    ResetError      { timed_out, power }
    PowerStuck      { domain, change, timed_out, state }
    PowerState      { domains, mcu_status }
    DomainState     { domain, ready, transition, active }
    BootError       { timed_out, mcu_status, fault }
    HaltError       { what, timed_out }
    AsCommandStuck  { space, command, timed_out }
    OutOfMemory     { what, bytes }
    image::ImageError { offset, problem }
    JobFault        { queue, sub_queue, job, cause, mmu, near, recovery, pass }
    StreamException { exception, data, info, fatal }
    MmuFault        { space, exception, access, address, unit }
    GpuFault        { exception, access, address, space, unit, protected }
    FaultSource     { arch, id, access }
    Neighbour       { what, number, address, bytes, fault }
    Fence           { queue, sub_queue, point }
    FieldError      { field, problem }
    UnusableStream  { registers, scoreboards }
}

#[rustfmt::skip]
numbers! {
    u64:        |number| number,                        |number| Some(number);
    u32:        |number| number.into(),                 |number| number.try_into().ok();
    u16:        |number| number.into(),                 |number| number.try_into().ok();
    u8:         |number| number.into(),                 |number| number.try_into().ok();
    usize:      |number| number as u64,                 |number| number.try_into().ok();
    i64:        |number| number as u64,                 |number| Some(number as i64);
    bool:       |is| is.into(),                         |number| (number < 2).then_some(number == 1);
    Key:        |key| key.number(),                     |number| Key::of_number(number);
    Queue:      |queue| queue.0.number(),               |number| Key::of_number(number).map(Queue);
    Exception:  |exception| exception.0.into(),         |number| number.try_into().ok().map(Exception);
    GpuId:      |id| id.0.into(),                       |number| number.try_into().ok().map(GpuId);
    GpuAddress: |address| address.0,                    |number| Some(GpuAddress(number));
    PhysicalAddress: |address| address.0,               |number| Some(PhysicalAddress(number));
    Reg:        |register| register.number().into(),    |number| number.try_into().ok().map(Reg::new);
    Slot:       |slot| slot.number().into(),            |number| number.try_into().ok().and_then(Slot::new);
    Arch:       |arch| arch.major().into(),             |major| Arch::ALL.into_iter().find(|arch| u64::from(arch.major()) == major);
    AsCommand:  |command| command.number().into(),      |number| AsCommand::from_number(number);
    AccessKind: |kind| kind.number().into(),            |number| AccessKind::from_number(number);
}

impl Coded for &'static str {
    fn put(&self, to: &mut Words<'_, '_>) {
        to.name(self);
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        from.name()
    }
}

impl Coded for &'static Register {
    fn put(&self, to: &mut Words<'_, '_>) {
        to.name(self.name);
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        explain::register(from.name()?)
    }
}

impl Coded for Duration {
    fn put(&self, to: &mut Words<'_, '_>) {
        self.as_secs().put(to);
        self.subsec_nanos().put(to);
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        let (seconds, nanoseconds) = (Coded::take(from)?, u32::take(from)?);
        (nanoseconds < 1_000_000_000).then(|| Duration::new(seconds, nanoseconds))
    }
}

impl Coded for i128 {
    fn put(&self, to: &mut Words<'_, '_>) {
        to.number((*self >> u64::BITS) as u64);
        to.number(*self as u64);
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        let (high, low) = (from.number()?, from.number()?);
        Some(i128::from(high as i64) << u64::BITS | i128::from(low))
    }
}

impl Coded for ArchSet {
    fn put(&self, to: &mut Words<'_, '_>) {
        let majors = self.iter().map(|arch| 1 << arch.major());
        to.number(majors.sum());
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        let majors = from.number()?;
        let absent = Arch::ALL
            .into_iter()
            .filter(|arch| majors >> arch.major() & 1 == 0);
        Some(absent.fold(ArchSet::ALL, ArchSet::without))
    }
}

impl<T: Coded> Coded for Option<T> {
    fn put(&self, to: &mut Words<'_, '_>) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        if bool::take(from)? {
            T::take(from).map(Some)
        } else {
            Some(None)
        }
    }
}

impl<T: Coded + Copy, const N: usize> Coded for [T; N] {
    fn put(&self, to: &mut Words<'_, '_>) {
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut dyn Source) -> Option<Self> {
        let mut all = [T::take(from)?; N];
        for place in all.iter_mut().skip(1) {
            *place = T::take(from)?;
        }
        Some(all)
    }
}

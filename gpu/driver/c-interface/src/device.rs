//! The device: opened in memory of the caller's, polled, closed.

use crate::handles::{EitriFence, EitriQueue, EitriSpace, Handle, give};
use crate::memory::array;
use crate::platform::{CPlatform, EitriPlatform, bits, nanoseconds};
use crate::status::{EitriStatus, Refusal};
use core::ffi::{c_char, c_void};
use core::fmt::Write;
use core::mem::MaybeUninit;
use core::ptr;
use core::time::Duration;
use eitri_runtime::{
    Device, Error, Instant, Options, PageAllocator, Priority, QueueConfig, Status, Storage,
};

/// Queues, jobs in flight or failed, and objects that a device has room for. Of objects a graphics pipeline takes three, everything
/// else one or two.
type CStorage = Storage<'static, 4, 32, 128>;
pub(crate) type CDevice = Device<'static, 'static, CPlatform>;

/// Bytes of an error text, its zero included.
const TEXT_BYTES: usize = 1024;

/// Bytes of the memory that eitri_open() takes, but for a map of the GPU's memory: see EITRI_DEVICE_BYTES().
pub const EITRI_DEVICE_FIXED_BYTES: usize = 98304;

const _: () = assert!(size_of::<EitriDevice>() <= EITRI_DEVICE_FIXED_BYTES);
const _: () = assert!(align_of::<EitriDevice>() <= 16);

/// Whether calls are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// A call is on the stack: what its callbacks call is refused.
    InCall,
    Closed,
}

/// A device: a GPU that is driven.
pub struct EitriDevice {
    stage: Stage,
    text: heapless::CString<TEXT_BYTES>,
    device: MaybeUninit<CDevice>,
    /// Lent to the device for as long as it is open.
    storage: MaybeUninit<CStorage>,
}

/// What there is of a device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriInfo {
    /// Its name, such as "Mali-G610", with a zero behind it; empty if it is not known.
    pub name: [c_char; 32],
    /// GPU_ID.
    pub gpu_id: u32,
    /// Architecture: 10 to 13.
    pub architecture: u32,
    /// Usable shader cores, a bit each.
    pub cores: u64,
    /// Bytes of the GPU's memory that are taken now.
    pub memory_in_use: u64,
    /// How often the GPU was lost, and started again by eitri_poll() or eitri_wait().
    pub recoveries: u64,
}

/// Writes a text into another, as far as there is room.
struct Text<'t>(&'t mut heapless::CString<TEXT_BYTES>);

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for character in text.chars() {
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            // A character that does not fit ends the text.
            self.0
                .extend_from_bytes(bytes)
                .map_err(|_| core::fmt::Error)?;
        }
        Ok(())
    }
}

/// The status of what a call came to; its text, if it has one, is kept.
#[inline(never)]
fn answer(
    text: &mut heapless::CString<TEXT_BYTES>,
    result: Result<EitriStatus, Refusal>,
) -> EitriStatus {
    let refusal = match result {
        Ok(status) => return status,
        Err(refusal) => refusal,
    };
    *text = heapless::CString::new();
    // A text that is too long ends early.
    match &refusal {
        Refusal::Driver(error) => {
            let _ = write!(Text(text), "{error}");
            EitriStatus::from(error)
        }
        Refusal::Argument(what) => {
            let _ = Text(text).write_str(what);
            EitriStatus::Argument
        }
        Refusal::CannotBe(why) => {
            let _ = Text(text).write_str(why);
            EitriStatus::Refused
        }
    }
}

/// Does a call's work on the device, and answers.
///
/// # Safety
/// `device` is null, or what `eitri_open` gave.
pub(crate) unsafe fn call(
    device: *mut EitriDevice,
    work: impl FnOnce(&mut CDevice) -> Result<EitriStatus, Refusal>,
) -> EitriStatus {
    if device.is_null() {
        return EitriStatus::Argument;
    }
    // SAFETY: the caller's promise. Each field is reached by itself: of a call that is on the stack only `device` is borrowed.
    let (stage, text) = unsafe { (&raw mut (*device).stage, &raw mut (*device).text) };
    // SAFETY: as above.
    if unsafe { *stage } != Stage::Open {
        const CLOSED: &str =
            "the device is not open, or the call comes from inside of another call's callback";
        // SAFETY: as above.
        answer(unsafe { &mut *text }, Err(Refusal::Argument(CLOSED)));
        return EitriStatus::State;
    }
    // SAFETY: an open device is there, and no call is on the stack that has it.
    let it = unsafe {
        *stage = Stage::InCall;
        let held = &mut (*device).device;
        held.assume_init_mut()
    };
    let result = work(it);
    // SAFETY: as above.
    let text = unsafe {
        *stage = Stage::Open;
        &mut *text
    };
    answer(text, result)
}

/// The same for work that gives nothing.
///
/// # Safety
/// As [`call`].
pub(crate) unsafe fn done(
    device: *mut EitriDevice,
    work: impl FnOnce(&mut CDevice) -> Result<(), Refusal>,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { call(device, |it| work(it).map(|()| EitriStatus::Ok)) }
}

/// The same for work that makes something, whose handle goes to `made`.
///
/// # Safety
/// As [`call`]; and `made` is null, which is refused, or may be written to.
pub(crate) unsafe fn make<H: Handle>(
    device: *mut EitriDevice,
    made: *mut H,
    work: impl FnOnce(&mut CDevice) -> Result<H::Own, Refusal>,
) -> EitriStatus {
    let work = |it: &mut CDevice| match made.is_null() {
        true => Err(Refusal::Argument("there is nowhere to write the handle to")),
        // SAFETY: the caller's promise.
        false => work(it).and_then(|own| unsafe { give(made, Ok(own)) }),
    };
    // SAFETY: the caller's promise.
    unsafe { done(device, work) }
}

/// Brings the GPU up, and opens a device in `memory`, which is aligned to 16 and has EITRI_DEVICE_BYTES(memory of the platform) bytes.
/// `firmware` is the vendor's mali_csffw.bin for this GPU. Memory and firmware stay until the device is closed.
///
/// `*device` is written whenever `memory` is good: if the GPU does not come up, eitri_error_text() says why.
///
/// # Safety
/// What `platform` says is true; `memory` and `firmware` have these sizes, and nothing else writes to them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_open(
    memory: *mut c_void,
    bytes: usize,
    platform: *const EitriPlatform,
    firmware: *const c_void,
    firmware_bytes: usize,
    device: *mut *mut EitriDevice,
) -> EitriStatus {
    let it = memory.cast::<EitriDevice>();
    let fits = bytes >= EITRI_DEVICE_FIXED_BYTES && memory.addr().is_multiple_of(16);
    if it.is_null() || !fits || device.is_null() || platform.is_null() {
        return EitriStatus::Argument;
    }
    // SAFETY: there is room for it, and the caller lends the memory.
    unsafe {
        device.write(it);
        (&raw mut (*it).stage).write(Stage::Closed);
        (&raw mut (*it).text).write(heapless::CString::new());
    }
    let words = (bytes - EITRI_DEVICE_FIXED_BYTES) / size_of::<u64>();
    // SAFETY: as above; the map is behind the device. What is read of the platform is as the caller says.
    let (result, text) = unsafe {
        let map = memory.byte_add(EITRI_DEVICE_FIXED_BYTES).cast::<u64>();
        map.write_bytes(0, words);
        let map = core::slice::from_raw_parts_mut(map, words);
        let result = array(firmware.cast::<u8>(), firmware_bytes, "firmware is null")
            .and_then(|firmware| open(it, &*platform, map, firmware));
        (result, &mut (*it).text)
    };
    answer(text, result.map(|()| EitriStatus::Ok))
}

/// Opens it in place.
///
/// # Safety
/// As [`eitri_open`], which has written its stage.
unsafe fn open(
    it: *mut EitriDevice,
    platform: &EitriPlatform,
    map: &'static mut [u64],
    firmware: &'static [u8],
) -> Result<(), Refusal> {
    let wanted = PageAllocator::words(platform.memory_bytes as u64);
    let map = map.get_mut(..wanted).ok_or(Refusal::Argument(
        "device_bytes is less than EITRI_DEVICE_BYTES says",
    ))?;
    // SAFETY: the caller's promise.
    let platform = unsafe { platform.platform(map) }.map_err(Refusal::Argument)?;
    // SAFETY: the memory is lent until the device is closed, and nothing but the device refers to its storage.
    let storage: &'static mut CStorage = unsafe {
        let storage = &raw mut (*it).storage;
        (*storage).write(CStorage::default())
    };
    let options = Options::default();
    match Device::bring_up(platform, firmware, storage, options, &mut ()) {
        Ok(made) => {
            // SAFETY: as above.
            unsafe {
                (&raw mut (*it).device).cast::<CDevice>().write(made);
                (&raw mut (*it).stage).write(Stage::Open);
            }
            Ok(())
        }
        Err(failed) => Err(Refusal::Driver(Error::from(failed))),
    }
}

/// Stops the GPU and closes the device. What was made of it is gone; its memory, and the GPU's, are the caller's again.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_close(device: *mut EitriDevice) -> EitriStatus {
    let work = |it: &mut CDevice| {
        // SAFETY: the device is not used any more: its stage says so below.
        let it = unsafe { ptr::read(it) };
        match it.shutdown(&mut ()) {
            Ok(_) => Ok(()),
            Err(failed) => Err(Refusal::Driver(Error::from(failed))),
        }
    };
    // SAFETY: the caller's promise.
    let status = unsafe { done(device, work) };
    if !matches!(status, EitriStatus::State | EitriStatus::Argument) {
        // SAFETY: it was open.
        unsafe { (&raw mut (*device).stage).write(Stage::Closed) };
    }
    status
}

/// Says why the last call that answered neither EITRI_STATUS_OK nor EITRI_STATUS_PENDING did not, in one sentence or a few lines of
/// UTF-8. The text stays until the next such call.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_error_text(device: *const EitriDevice) -> *const c_char {
    if device.is_null() {
        return c"there is no device".as_ptr();
    }
    // SAFETY: the caller's promise; the text is there from the first write of `eitri_open` on.
    let text = unsafe { &(*device).text };
    text.as_ptr()
}

/// Says what the GPU is, and how it is.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `info` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_get_info(
    device: *mut EitriDevice,
    info: *mut EitriInfo,
) -> EitriStatus {
    let work = |it: &mut CDevice| {
        if info.is_null() {
            return Err(Refusal::Argument("info is null"));
        }
        let properties = it.properties();
        let mut name = [0; 32];
        let bytes = properties.name().unwrap_or_default().bytes().take(31);
        for (to, from) in name.iter_mut().zip(bytes) {
            *to = from as c_char;
        }
        let found = EitriInfo {
            name,
            gpu_id: properties.id.0,
            architecture: properties.arch.major(),
            cores: properties.cores,
            memory_in_use: it.memory_in_use(),
            recoveries: it.recoveries(),
        };
        // SAFETY: the caller's promise.
        unsafe { info.write(found) };
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { done(device, work) }
}

/// Looks at what the GPU reports, and does what is to be done; never waits. To be called when one of `*lines` (EITRI_LINE_…) is high
/// or `*until`, by the platform's clock, has come (all ones: never), whichever is first. eitri_wait() does it by itself.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `lines` and `until` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_poll(
    device: *mut EitriDevice,
    now: u64,
    lines: *mut u32,
    until: *mut u64,
) -> EitriStatus {
    let work = |it: &mut CDevice| {
        let next = it.poll(Instant(Duration::from_nanos(now)));
        let at = next.at.map_or(u64::MAX, |at| nanoseconds(at.0));
        // SAFETY: the caller's promise.
        unsafe {
            if !lines.is_null() {
                lines.write(bits(next.lines));
            }
            if !until.is_null() {
                until.write(at);
            }
        }
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { done(device, work) }
}

/// Makes a queue with an address space of its own. `priority`: 0 low, 1 medium, 2 high, 3 before everything.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `queue` and `space` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_queue(
    device: *mut EitriDevice,
    priority: u32,
    queue: *mut EitriQueue,
    space: *mut EitriSpace,
) -> EitriStatus {
    let work = |it: &mut CDevice| {
        let priority = match priority {
            0 => Priority::Low,
            1 => Priority::Medium,
            2 => Priority::High,
            3 => Priority::RealTime,
            _ => return Err(Refusal::Argument("priority is not 0 to 3")),
        };
        if space.is_null() {
            return Err(Refusal::Argument("space is null"));
        }
        let made = it.create_queue(QueueConfig {
            priority,
            ..QueueConfig::default()
        })?;
        // SAFETY: the caller's promise.
        unsafe { give(space, it.space(made)) }?;
        Ok(made)
    };
    // SAFETY: the caller's promise.
    unsafe { make(device, queue, work) }
}

/// Destroys a queue, with its address space. What was made in the space must be gone before, and no job of the queue be in flight.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_queue(
    device: *mut EitriDevice,
    queue: EitriQueue,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.destroy_queue(queue.own()?)?)) }
}

/// Ends the jobs of a queue that are in flight, and the queue with them.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cancel(device: *mut EitriDevice, queue: EitriQueue) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.cancel(queue.own()?)?)) }
}

pub(crate) fn of_status(status: Status) -> Result<EitriStatus, Refusal> {
    match status {
        Status::Pending => Ok(EitriStatus::Pending),
        Status::Done => Ok(EitriStatus::Ok),
        Status::Failed(fault) => Err(Refusal::Driver(fault.into())),
        Status::Unknown => Ok(EitriStatus::Gone),
    }
}

/// Waits for a job, for so many nanoseconds at most: EITRI_STATUS_OK if it is done, EITRI_STATUS_PENDING if it is not yet,
/// EITRI_STATUS_JOB_FAILED with a text, EITRI_STATUS_GONE if nothing is known of it.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_wait(
    device: *mut EitriDevice,
    fence: EitriFence,
    limit: u64,
) -> EitriStatus {
    let limit = Duration::from_nanos(limit);
    // SAFETY: the caller's promise.
    unsafe { call(device, |it| of_status(it.wait(fence.own()?, limit))) }
}

/// Says what became of a job, as eitri_wait() does, without waiting.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_get_status(
    device: *mut EitriDevice,
    fence: EitriFence,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { call(device, |it| of_status(it.status(fence.own()?))) }
}

/// Forgets a job that has failed: until then its failure takes the place of a job.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_discard(device: *mut EitriDevice, fence: EitriFence) -> EitriStatus {
    let work = |it: &mut CDevice| {
        it.discard(fence.own()?);
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { done(device, work) }
}

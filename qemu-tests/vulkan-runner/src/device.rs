//! The device: the first Mali, or whatever there is; one queue for compute.

use crate::features::Features;
use ash::{Entry, Instance, vk};
use std::fmt;
use std::path::PathBuf;

/// Longest that a submission may take: the model computes it on the CPU.
const LIMIT_NANOSECONDS: u64 = 600_000_000_000;

/// Arm's number among vendors.
const ARM: u32 = 0x13B5;

/// Why something did not work.
#[derive(Debug)]
pub(crate) enum Error {
    /// The Vulkan loader is not there.
    Loader(ash::LoadingError),
    /// A call failed.
    Call(&'static str, vk::Result),
    /// No driver has a device for compute.
    NoDevice,
    /// No memory of the kind that is needed.
    NoMemory,
    /// A case asks for something that this program does not know.
    Unknown(String),
    /// The shader can't be read.
    Module(String),
    /// What was written is not what is expected.
    Differs(String),
    /// A file that what differs was to be left in.
    Unkept(PathBuf, std::io::Error),
    /// The case ended, and should not have.
    NotLost,
    /// The device does not have a feature that a scene needs.
    Lacks(String),
}

impl std::error::Error for Error {}

impl Error {
    /// Whether the device is good for nothing any more.
    pub(crate) fn is_loss(&self) -> bool {
        matches!(self, Error::Call(_, vk::Result::ERROR_DEVICE_LOST))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Loader(error) => write!(f, "no Vulkan: {error}"),
            Error::Call(what, result) => write!(f, "{what}: {result}"),
            Error::NoDevice => f.write_str("no device for compute"),
            Error::NoMemory => f.write_str("no memory that the CPU sees too"),
            Error::Unknown(what) => write!(f, "not supported here: {what}"),
            Error::Lacks(feature) => f.write_str(feature),
            Error::Unkept(file, error) => write!(f, "{}: {error}", file.display()),
            Error::NotLost => f.write_str("it ended, and the device is not lost"),
            Error::Module(what) | Error::Differs(what) => f.write_str(what),
        }
    }
}

/// Names the call that failed.
pub(crate) trait Named<T> {
    fn named(self, call: &'static str) -> Result<T, Error>;
}

impl<T> Named<T> for Result<T, vk::Result> {
    fn named(self, call: &'static str) -> Result<T, Error> {
        self.map_err(|result| Error::Call(call, result))
    }
}

/// The device. Lives as long as the program: what is made on it is given back with the process.
pub(crate) struct Device {
    pub(crate) raw: ash::Device,
    pub(crate) queue: vk::Queue,
    pub(crate) family: u32,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    /// Calls for passes.
    pub(crate) rendering: ash::khr::dynamic_rendering::Device,
    features: Features,
    properties: vk::PhysicalDeviceProperties,
    _instance: Instance,
    _entry: Entry,
}

impl Device {
    pub(crate) fn open() -> Result<Device, Error> {
        // SAFETY: the loader is the system's.
        let entry = unsafe { Entry::load() }.map_err(Error::Loader)?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: what is pointed to outlives the call; so in all that follows.
        let instance = unsafe { entry.create_instance(&create, None) }.named("vkCreateInstance")?;
        // SAFETY: see above.
        let devices = unsafe { instance.enumerate_physical_devices() };
        let devices = devices.named("vkEnumeratePhysicalDevices")?;
        // SAFETY: the devices are the instance's.
        let properties = |device: &vk::PhysicalDevice| unsafe {
            instance.get_physical_device_properties(*device)
        };
        let arm = devices
            .iter()
            .find(|device| properties(device).vendor_id == ARM);
        let physical = *arm.or(devices.first()).ok_or(Error::NoDevice)?;
        // SAFETY: see above.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let family = families
            .iter()
            .position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
        let family = family.ok_or(Error::NoDevice)? as u32;
        let mut features = Features::of(&instance, physical).named("features")?;
        let names = features.names();
        let mut chain = features.chain();
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0])];
        let create = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut chain);
        // SAFETY: see above.
        let raw =
            unsafe { instance.create_device(physical, &create, None) }.named("vkCreateDevice")?;
        // SAFETY: the family has one queue, which was asked for.
        let (queue, memory) = unsafe {
            (
                raw.get_device_queue(family, 0),
                instance.get_physical_device_memory_properties(physical),
            )
        };
        Ok(Device {
            queue,
            family,
            memory,
            properties: properties(&physical),
            rendering: ash::khr::dynamic_rendering::Device::new(&instance, &raw),
            features,
            raw,
            _instance: instance,
            _entry: entry,
        })
    }

    /// Its name, as the driver says it.
    pub(crate) fn name(&self) -> String {
        let name = self.properties.device_name_as_c_str().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The first of these features that the device does not have.
    pub(crate) fn lacks(&self, features: &[String]) -> Option<String> {
        if !self.features.draws() {
            return Some("dynamicRendering".to_owned());
        }
        let lacks = |name: &&String| self.features.has(name) != Some(true);
        features.iter().find(lacks).cloned()
    }

    /// Memory for something; `for_cpu`: that the CPU sees too.
    pub(crate) fn allocate(
        &self,
        needs: vk::MemoryRequirements,
        for_cpu: bool,
    ) -> Result<vk::DeviceMemory, Error> {
        let wanted = if for_cpu {
            vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT
        } else {
            vk::MemoryPropertyFlags::empty()
        };
        let types = self.memory.memory_types_as_slice();
        let fitting = types.iter().enumerate().find(|(index, kind)| {
            needs.memory_type_bits >> index & 1 == 1 && kind.property_flags.contains(wanted)
        });
        let (index, _) = fitting.ok_or(Error::NoMemory)?;
        let allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index as u32);
        // SAFETY: what is pointed to outlives the call.
        unsafe { self.raw.allocate_memory(&allocate, None) }.named("vkAllocateMemory")
    }

    /// Runs a command buffer, and waits for its end.
    pub(crate) fn run(&self, buffer: vk::CommandBuffer) -> Result<(), Error> {
        let buffers = [buffer];
        let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
        // SAFETY: all handles are this device's, and live until the program ends.
        unsafe {
            let fence = self
                .raw
                .create_fence(&vk::FenceCreateInfo::default(), None)
                .named("vkCreateFence")?;
            self.raw
                .queue_submit(self.queue, &submit, fence)
                .named("vkQueueSubmit")?;
            self.raw
                .wait_for_fences(&[fence], true, LIMIT_NANOSECONDS)
                .named("vkWaitForFences")
        }
    }
}

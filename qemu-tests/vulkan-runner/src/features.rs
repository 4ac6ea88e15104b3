//! Features: all that the driver has of what compute shaders may need.

use ash::{Instance, vk};
use std::ffi::CStr;
use std::ptr::null_mut;

/// Extensions with features, each with the version of Vulkan that took it in.
#[rustfmt::skip]
const EXTENSIONS: &[(&CStr, u32)] = &[
    (ash::khr::_8bit_storage::NAME,                     vk::API_VERSION_1_2),
    (ash::khr::shader_float16_int8::NAME,               vk::API_VERSION_1_2),
    (ash::khr::shader_subgroup_extended_types::NAME,    vk::API_VERSION_1_2),
    (ash::khr::vulkan_memory_model::NAME,               vk::API_VERSION_1_2),
    (ash::khr::shader_integer_dot_product::NAME,        vk::API_VERSION_1_3),
];

/// The features that a device is made with.
#[derive(Default)]
pub(crate) struct Features {
    basic: vk::PhysicalDeviceFeatures,
    storage_16: vk::PhysicalDevice16BitStorageFeatures<'static>,
    pointers: vk::PhysicalDeviceVariablePointersFeatures<'static>,
    storage_8: vk::PhysicalDevice8BitStorageFeatures<'static>,
    arithmetic: vk::PhysicalDeviceShaderFloat16Int8Features<'static>,
    subgroups: vk::PhysicalDeviceShaderSubgroupExtendedTypesFeatures<'static>,
    memory_model: vk::PhysicalDeviceVulkanMemoryModelFeatures<'static>,
    dot_product: vk::PhysicalDeviceShaderIntegerDotProductFeatures<'static>,
    /// Which rows of [`EXTENSIONS`] the driver has, and which of these by their names alone.
    there: [bool; EXTENSIONS.len()],
    by_name: [bool; EXTENSIONS.len()],
}

impl Features {
    /// What the device has.
    pub(crate) fn of(
        instance: &Instance,
        physical: vk::PhysicalDevice,
    ) -> Result<Features, vk::Result> {
        let mut features = Features::default();
        // SAFETY: the device is one of the instance's.
        let (version, extensions) = unsafe {
            (
                instance
                    .get_physical_device_properties(physical)
                    .api_version,
                instance.enumerate_device_extension_properties(physical)?,
            )
        };
        for (index, (name, since)) in EXTENSIONS.iter().enumerate() {
            let named = |found: &vk::ExtensionProperties| {
                found
                    .extension_name_as_c_str()
                    .is_ok_and(|found| found == *name)
            };
            features.by_name[index] = version < *since && extensions.iter().any(named);
            features.there[index] = version >= *since || features.by_name[index];
        }
        let mut all = features.chain();
        // SAFETY: the chain is of structures that this device knows, and outlives the call.
        unsafe { instance.get_physical_device_features2(physical, &mut all) };
        let basic = all.features;
        features.basic = basic;
        Ok(features)
    }

    /// The structures that the device knows, as one chain.
    pub(crate) fn chain(&mut self) -> vk::PhysicalDeviceFeatures2<'_> {
        // What an earlier chain left behind may point to where this was before.
        self.storage_16.p_next = null_mut();
        self.pointers.p_next = null_mut();
        self.storage_8.p_next = null_mut();
        self.arithmetic.p_next = null_mut();
        self.subgroups.p_next = null_mut();
        self.memory_model.p_next = null_mut();
        self.dot_product.p_next = null_mut();
        let [storage_8, arithmetic, subgroups, memory_model, dot_product] = self.there;
        let mut chain = vk::PhysicalDeviceFeatures2::default()
            .features(self.basic)
            .push_next(&mut self.storage_16)
            .push_next(&mut self.pointers);
        if storage_8 {
            chain = chain.push_next(&mut self.storage_8);
        }
        if arithmetic {
            chain = chain.push_next(&mut self.arithmetic);
        }
        if subgroups {
            chain = chain.push_next(&mut self.subgroups);
        }
        if memory_model {
            chain = chain.push_next(&mut self.memory_model);
        }
        if dot_product {
            chain = chain.push_next(&mut self.dot_product);
        }
        chain
    }

    /// The extensions to ask for by name.
    pub(crate) fn names(&self) -> Vec<*const std::ffi::c_char> {
        let rows = EXTENSIONS.iter().zip(self.by_name);
        rows.filter(|(_, by_name)| *by_name)
            .map(|((name, _), _)| name.as_ptr())
            .collect()
    }
}

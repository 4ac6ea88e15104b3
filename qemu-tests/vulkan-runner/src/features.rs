//! Features: all that the driver has of what shaders and draws may need.

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
    (ash::khr::multiview::NAME,                         vk::API_VERSION_1_1),
    (ash::khr::shader_draw_parameters::NAME,            vk::API_VERSION_1_1),
    (ash::khr::dynamic_rendering::NAME,                 NEVER),
    (ash::ext::custom_border_color::NAME,               NEVER),
    (ash::ext::line_rasterization::NAME,                NEVER),
    (ash::ext::index_type_uint8::NAME,                  NEVER),
    (ash::khr::sampler_mirror_clamp_to_edge::NAME,      NEVER),
    (ash::ext::shader_stencil_export::NAME,             NEVER),
];

/// Asked for by name, whatever the version.
const NEVER: u32 = u32::MAX;

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
    multiview: vk::PhysicalDeviceMultiviewFeatures<'static>,
    draw_parameters: vk::PhysicalDeviceShaderDrawParametersFeatures<'static>,
    rendering: vk::PhysicalDeviceDynamicRenderingFeatures<'static>,
    border_color: vk::PhysicalDeviceCustomBorderColorFeaturesEXT<'static>,
    lines: vk::PhysicalDeviceLineRasterizationFeaturesEXT<'static>,
    index_uint8: vk::PhysicalDeviceIndexTypeUint8FeaturesEXT<'static>,
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
        let (properties, extensions) = unsafe {
            (
                instance.get_physical_device_properties(physical),
                instance.enumerate_device_extension_properties(physical)?,
            )
        };
        let version = properties.api_version;
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
        self.multiview.p_next = null_mut();
        self.draw_parameters.p_next = null_mut();
        self.rendering.p_next = null_mut();
        self.border_color.p_next = null_mut();
        self.lines.p_next = null_mut();
        self.index_uint8.p_next = null_mut();
        let [
            storage_8,
            arithmetic,
            subgroups,
            memory_model,
            dot_product,
            graphics @ ..,
        ] = self.there;
        let [
            multiview,
            draw_parameters,
            rendering,
            border_color,
            lines,
            index_uint8,
            ..,
        ] = graphics;
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
        if multiview {
            chain = chain.push_next(&mut self.multiview);
        }
        if draw_parameters {
            chain = chain.push_next(&mut self.draw_parameters);
        }
        if rendering {
            chain = chain.push_next(&mut self.rendering);
        }
        if border_color {
            chain = chain.push_next(&mut self.border_color);
        }
        if lines {
            chain = chain.push_next(&mut self.lines);
        }
        if index_uint8 {
            chain = chain.push_next(&mut self.index_uint8);
        }
        chain
    }

    /// Whether passes can be drawn.
    pub(crate) fn draws(&self) -> bool {
        self.rendering.dynamic_rendering == vk::TRUE
    }

    /// Whether the device has a feature of Vulkan's name; `None` for a name that this program does not know.
    #[rustfmt::skip]
    pub(crate) fn has(&self, name: &str) -> Option<bool> {
        let by_name = |wanted: &CStr| {
            let mut rows = EXTENSIONS.iter().zip(self.there);
            rows.any(|((name, _), there)| *name == wanted && there)
        };
        let basic = &self.basic;
        let has = match name {
            "alphaToOne"                  => basic.alpha_to_one,
            "depthClamp"                  => basic.depth_clamp,
            "drawIndirectFirstInstance"   => basic.draw_indirect_first_instance,
            "dualSrcBlend"                => basic.dual_src_blend,
            "fillModeNonSolid"            => basic.fill_mode_non_solid,
            "fragmentStoresAndAtomics"    => basic.fragment_stores_and_atomics,
            "fullDrawIndexUint32"         => basic.full_draw_index_uint32,
            "imageCubeArray"              => basic.image_cube_array,
            "independentBlend"            => basic.independent_blend,
            "largePoints"                 => basic.large_points,
            "logicOp"                     => basic.logic_op,
            "multiDrawIndirect"           => basic.multi_draw_indirect,
            "multiViewport"               => basic.multi_viewport,
            "occlusionQueryPrecise"       => basic.occlusion_query_precise,
            "pipelineStatisticsQuery"     => basic.pipeline_statistics_query,
            "robustBufferAccess"          => basic.robust_buffer_access,
            "sampleRateShading"           => basic.sample_rate_shading,
            "samplerAnisotropy"           => basic.sampler_anisotropy,
            "shaderClipDistance"          => basic.shader_clip_distance,
            "shaderCullDistance"          => basic.shader_cull_distance,
            "shaderImageGatherExtended"   => basic.shader_image_gather_extended,
            "textureCompressionASTC_LDR"  => basic.texture_compression_astc_ldr,
            "textureCompressionBC"        => basic.texture_compression_bc,
            "textureCompressionETC2"      => basic.texture_compression_etc2,
            "vertexPipelineStoresAndAtomics" => basic.vertex_pipeline_stores_and_atomics,
            "wideLines"                   => basic.wide_lines,
            "multiview"                   => self.multiview.multiview,
            "shaderDrawParameters"        => self.draw_parameters.shader_draw_parameters,
            "customBorderColors"          => self.border_color.custom_border_colors,
            "customBorderColorWithoutFormat" => self.border_color.custom_border_color_without_format,
            "bresenhamLines"              => self.lines.bresenham_lines,
            "rectangularLines"            => self.lines.rectangular_lines,
            "indexTypeUint8"              => self.index_uint8.index_type_uint8,
            "samplerMirrorClampToEdge"    => by_name(ash::khr::sampler_mirror_clamp_to_edge::NAME).into(),
            "stencilExport"               => by_name(ash::ext::shader_stencil_export::NAME).into(),
            _ => return None,
        };
        Some(has != 0)
    }

    /// The extensions to ask for by name.
    pub(crate) fn names(&self) -> Vec<*const std::ffi::c_char> {
        let rows = EXTENSIONS.iter().zip(self.by_name);
        rows.filter(|(_, by_name)| *by_name)
            .map(|((name, _), _)| name.as_ptr())
            .collect()
    }
}

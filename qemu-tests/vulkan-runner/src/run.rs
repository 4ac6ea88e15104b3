//! One case: pipeline, descriptors, the dispatch, and the comparison.

use crate::Kept;
use crate::device::{Device, Error, Named};
use crate::resources::{Bound, Handle, descriptor, whole};
use ash::vk;
use eitri_compute_cases::{Case, Module, Place};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::time::{Duration, Instant};

/// Runs a case and compares. What comes out is left in `kept`.
pub(crate) fn run(
    device: &Device,
    case: &Case,
    module: Module,
    kept: Option<&Kept>,
) -> Result<(), Error> {
    let prepared = Prepared::of(device, case, module)?;
    run_prepared(device, case, &prepared, kept).map(|_| ())
}

/// Runs a case and compares; then measures a dispatch of it: dispatches are repeated in one submission, each with its inputs restored,
/// as often as takes `together` and more. What the copies take is measured by as many of them alone, and is not in it. Of `times`
/// measurements the shortest counts. The first run is not timed: drivers compile in it.
pub(crate) fn run_timed(
    device: &Device,
    case: &Case,
    module: Module,
    (times, together): (usize, Duration),
) -> Result<Duration, Error> {
    let prepared = Prepared::of(device, case, module)?;
    let bound = run_prepared(device, case, &prepared, None)?;
    let sets = sets(device, case, &prepared.layouts, &bound)?;
    let mut kept = Vec::new();
    for bound in &bound {
        if let Some(copy) = bound.keep(device)? {
            kept.push((bound, copy));
        }
    }
    let time = |commands| -> Result<Duration, Error> {
        let mut shortest = Duration::MAX;
        for _ in 0..times {
            let started = Instant::now();
            device.run(commands)?;
            shortest = shortest.min(started.elapsed());
        }
        Ok(shortest)
    };
    let mut count = 1;
    loop {
        let repeat = |what| prepared.record(device, case, &sets, Recorded::Again(what, &kept));
        let with = time(repeat(Repeated {
            count,
            dispatches: true,
        })?)?;
        if with >= together || count >= MOST_DISPATCHES {
            let without = time(repeat(Repeated {
                count,
                dispatches: false,
            })?)?;
            return Ok(with.saturating_sub(without) / count);
        }
        // A third more than it seems to take.
        let times = together.as_secs_f64() / with.as_secs_f64().max(1e-9) * 1.3;
        count = ((f64::from(count) * times) as u32).clamp(count + 1, MOST_DISPATCHES);
    }
}

/// Most dispatches of one submission.
const MOST_DISPATCHES: u32 = 1 << 14;

/// Restored inputs, and dispatches behind them if that is said.
#[derive(Clone, Copy)]
struct Repeated {
    count: u32,
    dispatches: bool,
}

/// What is recorded.
enum Recorded<'b, 'c> {
    /// The dispatch, with resources that have not been used.
    First(&'b [Bound<'c>]),
    /// The dispatch many times, each time behind copies of what resources held at first.
    Again(Repeated, &'b [(&'b Bound<'c>, vk::Buffer)]),
}

/// What all runs of a case share.
struct Prepared {
    layouts: Vec<vk::DescriptorSetLayout>,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl Prepared {
    fn of(device: &Device, case: &Case, module: Module) -> Result<Prepared, Error> {
        let layouts = set_layouts(device, case)?;
        let (layout, pipeline) = pipeline(device, case, module, &layouts)?;
        Ok(Prepared {
            layouts,
            layout,
            pipeline,
        })
    }

    /// Records dispatches.
    fn record(
        &self,
        device: &Device,
        case: &Case,
        sets: &[vk::DescriptorSet],
        recorded: Recorded<'_, '_>,
    ) -> Result<vk::CommandBuffer, Error> {
        let Prepared {
            layout, pipeline, ..
        } = *self;
        let pool = vk::CommandPoolCreateInfo::default().queue_family_index(device.family);
        // SAFETY: see `set_layouts`.
        let pool =
            unsafe { device.raw.create_command_pool(&pool, None) }.named("vkCreateCommandPool")?;
        let allocate = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(1);
        // SAFETY: see `set_layouts`.
        let buffers = unsafe { device.raw.allocate_command_buffers(&allocate) }
            .named("vkAllocateCommandBuffers")?;
        let buffer = *buffers.first().ok_or(Error::NoMemory)?;
        let begin = vk::CommandBufferBeginInfo::default();
        let fresh = match recorded {
            Recorded::First(fresh) => fresh,
            Recorded::Again(..) => &[],
        };
        let to_general: Vec<_> = fresh
            .iter()
            .filter_map(|bound| match bound.handle {
                Handle::Image { image, .. } => Some(
                    vk::ImageMemoryBarrier::default()
                        .src_access_mask(vk::AccessFlags::HOST_WRITE)
                        .dst_access_mask(
                            vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE,
                        )
                        .old_layout(vk::ImageLayout::PREINITIALIZED)
                        .new_layout(vk::ImageLayout::GENERAL)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .image(image)
                        .subresource_range(whole()),
                ),
                _ => None,
            })
            .collect();
        let to_host = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ);
        let (compute, host) = (
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::PipelineStageFlags::HOST,
        );
        let transfer = vk::PipelineStageFlags::TRANSFER;
        let copied = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE);
        let written = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE);
        let none = vk::DependencyFlags::empty();
        let [x, y, z] = case.groups;
        let raw = &device.raw;
        // SAFETY: all handles are this device's, and live until the program ends.
        unsafe {
            raw.begin_command_buffer(buffer, &begin)
                .named("vkBeginCommandBuffer")?;
            if !to_general.is_empty() {
                raw.cmd_pipeline_barrier(buffer, host, compute, none, &[], &[], &to_general);
            }
            raw.cmd_bind_pipeline(buffer, vk::PipelineBindPoint::COMPUTE, pipeline);
            if !sets.is_empty() {
                raw.cmd_bind_descriptor_sets(
                    buffer,
                    vk::PipelineBindPoint::COMPUTE,
                    layout,
                    0,
                    sets,
                    &[],
                );
            }
            if !case.push_constants.is_empty() {
                let mut bytes = case.push_constants.clone();
                bytes.resize(bytes.len().next_multiple_of(4), 0);
                raw.cmd_push_constants(buffer, layout, vk::ShaderStageFlags::COMPUTE, 0, &bytes);
            }
            match recorded {
                Recorded::First(_) => raw.cmd_dispatch(buffer, x, y, z),
                Recorded::Again(Repeated { count, dispatches }, kept) => {
                    for _ in 0..count {
                        for (bound, copy) in kept {
                            bound.restore(device, buffer, *copy);
                        }
                        let (from, to) = (transfer, compute);
                        raw.cmd_pipeline_barrier(buffer, from, to, none, &[copied], &[], &[]);
                        if dispatches {
                            raw.cmd_dispatch(buffer, x, y, z);
                        }
                        let (from, to) = (compute, transfer);
                        raw.cmd_pipeline_barrier(buffer, from, to, none, &[written], &[], &[]);
                    }
                }
            }
            raw.cmd_pipeline_barrier(buffer, compute, host, none, &[to_host], &[], &[]);
            raw.end_command_buffer(buffer).named("vkEndCommandBuffer")?;
        }
        Ok(buffer)
    }
}

/// Runs a case with fresh resources, compares, and returns them.
fn run_prepared<'c>(
    device: &Device,
    case: &'c Case,
    prepared: &Prepared,
    kept: Option<&Kept>,
) -> Result<Vec<Bound<'c>>, Error> {
    let bound: Vec<Bound<'_>> = case
        .resources
        .iter()
        .map(|resource| Bound::make(device, resource))
        .collect::<Result<_, _>>()?;
    let sets = sets(device, case, &prepared.layouts, &bound)?;
    let buffer = prepared.record(device, case, &sets, Recorded::First(&bound))?;
    device.run(buffer)?;
    let mut after = BTreeMap::new();
    for bound in &bound {
        after.insert(bound.of.place, bound.read(device)?);
    }
    let checked = case.check(|place: Place| after.get(&place).map(Vec::as_slice));
    let all = kept.is_some_and(|kept| kept.all);
    if let Some(kept) = kept
        && (all || checked.is_err())
    {
        for (number, resource) in case.resources.iter().enumerate() {
            let got = after.get(&resource.place);
            if let (Some(_), Some(got)) = (&resource.output, got) {
                kept.leave(&case.name, number, got)?;
            }
        }
    }
    match checked {
        Err(difference) if !all => Err(Error::Differs(difference.to_string())),
        _ => Ok(bound),
    }
}

/// Runs a case that never ends: the driver must say that the device is lost.
pub(crate) fn lose(device: &Device, case: &Case, module: Module) -> Result<(), Error> {
    match run(device, case, module, None) {
        Err(Error::Call(_, vk::Result::ERROR_DEVICE_LOST)) => Ok(()),
        Err(error) => Err(error),
        Ok(()) => Err(Error::NotLost),
    }
}

/// A layout for each set up to the last: those between may be empty.
fn set_layouts(device: &Device, case: &Case) -> Result<Vec<vk::DescriptorSetLayout>, Error> {
    let sets = case
        .resources
        .iter()
        .map(|resource| resource.place.set + 1)
        .max()
        .unwrap_or(0);
    let mut layouts = Vec::new();
    for set in 0..sets {
        let mut bindings: BTreeMap<u32, vk::DescriptorSetLayoutBinding<'_>> = BTreeMap::new();
        for resource in case
            .resources
            .iter()
            .filter(|resource| resource.place.set == set)
        {
            let place = resource.place;
            let row = bindings.entry(place.binding).or_insert_with(|| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(place.binding)
                    .descriptor_type(descriptor(resource.kind))
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            });
            row.descriptor_count = row.descriptor_count.max(place.element + 1);
        }
        let bindings: Vec<_> = bindings.into_values().collect();
        let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: what is pointed to outlives the call; so in all of this file.
        let layout = unsafe { device.raw.create_descriptor_set_layout(&create, None) };
        layouts.push(layout.named("vkCreateDescriptorSetLayout")?);
    }
    Ok(layouts)
}

fn pipeline(
    device: &Device,
    case: &Case,
    module: Module,
    layouts: &[vk::DescriptorSetLayout],
) -> Result<(vk::PipelineLayout, vk::Pipeline), Error> {
    let unreadable = |error: &dyn std::fmt::Display| Error::Module(error.to_string());
    let bytes = case.module(module).map_err(|error| unreadable(&error))?;
    let words = ash::util::read_spv(&mut std::io::Cursor::new(bytes))
        .map_err(|error| unreadable(&error))?;
    let entry = CString::new(case.entry.as_str()).map_err(|error| unreadable(&error))?;
    let range = [vk::PushConstantRange::default()
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
        .size(case.push_constants.len().next_multiple_of(4) as u32)];
    let ranges = if case.push_constants.is_empty() {
        &[][..]
    } else {
        &range[..]
    };
    let create = vk::PipelineLayoutCreateInfo::default()
        .set_layouts(layouts)
        .push_constant_ranges(ranges);
    let shader = vk::ShaderModuleCreateInfo::default().code(&words);
    // SAFETY: the words are SPIR-V that a front end wrote; see `set_layouts`.
    let (layout, shader) = unsafe {
        (
            device
                .raw
                .create_pipeline_layout(&create, None)
                .named("vkCreatePipelineLayout")?,
            device
                .raw
                .create_shader_module(&shader, None)
                .named("vkCreateShaderModule")?,
        )
    };
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (id, value) in &case.spec_constants {
        let entry = vk::SpecializationMapEntry::default()
            .constant_id(*id)
            .offset(data.len() as u32)
            .size(4);
        entries.push(entry);
        data.extend_from_slice(&value.to_le_bytes());
    }
    let constants = vk::SpecializationInfo::default()
        .map_entries(&entries)
        .data(&data);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(shader)
        .name(&entry)
        .specialization_info(&constants);
    let create = vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(layout);
    // SAFETY: see above.
    let made = unsafe {
        device
            .raw
            .create_compute_pipelines(vk::PipelineCache::null(), &[create], None)
    };
    let pipelines = made.map_err(|(_, result)| Error::Call("vkCreateComputePipelines", result))?;
    pipelines
        .first()
        .map(|pipeline| (layout, *pipeline))
        .ok_or(Error::Call(
            "vkCreateComputePipelines",
            vk::Result::INCOMPLETE,
        ))
}

/// The sets, with the case's resources in them.
fn sets(
    device: &Device,
    case: &Case,
    layouts: &[vk::DescriptorSetLayout],
    bound: &[Bound<'_>],
) -> Result<Vec<vk::DescriptorSet>, Error> {
    if layouts.is_empty() {
        return Ok(Vec::new());
    }
    let kinds: BTreeSet<_> = case
        .resources
        .iter()
        .map(|resource| descriptor(resource.kind))
        .collect();
    let sizes: Vec<_> = kinds
        .into_iter()
        .map(|kind| {
            let count = case.resources.len() as u32;
            vk::DescriptorPoolSize::default()
                .ty(kind)
                .descriptor_count(count)
        })
        .collect();
    let create = vk::DescriptorPoolCreateInfo::default()
        .max_sets(layouts.len() as u32)
        .pool_sizes(&sizes);
    // SAFETY: see `set_layouts`.
    let pool = unsafe { device.raw.create_descriptor_pool(&create, None) }
        .named("vkCreateDescriptorPool")?;
    let allocate = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(layouts);
    // SAFETY: the pool has room for all sets.
    let sets = unsafe { device.raw.allocate_descriptor_sets(&allocate) }
        .named("vkAllocateDescriptorSets")?;
    for bound in bound {
        let place = bound.of.place;
        let write = vk::WriteDescriptorSet::default()
            .dst_set(sets[place.set as usize])
            .dst_binding(place.binding)
            .dst_array_element(place.element)
            .descriptor_type(descriptor(bound.of.kind));
        let (buffer, image, view);
        let write = match bound.handle {
            Handle::Buffer(raw) => {
                buffer = [vk::DescriptorBufferInfo::default()
                    .buffer(raw)
                    .range(vk::WHOLE_SIZE)];
                write.buffer_info(&buffer)
            }
            Handle::Texels { view: raw, .. } => {
                view = [raw];
                write.texel_buffer_view(&view)
            }
            Handle::Image { view, sampler, .. } => {
                image = [vk::DescriptorImageInfo::default()
                    .image_view(view)
                    .sampler(sampler)
                    .image_layout(vk::ImageLayout::GENERAL)];
                write.image_info(&image)
            }
        };
        // SAFETY: set and binding are those of the layouts, which the same case made.
        unsafe { device.raw.update_descriptor_sets(&[write], &[]) };
    }
    Ok(sets)
}

//! Images, views, samplers and sets of a scene.

use super::super::lack::Lack;
use super::{buffer_id, image_id, place};
use eitri_descriptors::Arch;
use eitri_draw_scenes::{self as scenes, DescriptorKind, ImageType, SceneFile, Usage, ViewType};
use eitri_drawing::{
    Binding, BorderColor, Bound, Image, Range, Sampler, SamplerId, Set, View, ViewId,
};

/// What of the resources can't be made.
pub(super) fn lacking(scene: &SceneFile, arch: Arch) -> Option<Lack> {
    let mut images = scene.images.iter();
    images.find_map(|image| image_lacking(image, arch))
}

fn image_lacking(image: &scenes::Image, arch: Arch) -> Option<Lack> {
    let named = |what: &dyn std::fmt::Display| Some(Lack::not_yet(what.to_string()));
    let Some(info) = eitri_player::image_info(arch, &self::image(image)) else {
        return named(&format!("images of format {}", image.format));
    };
    info.check_for(arch).err().and_then(|error| named(&error))
}

/// An image without its first contents.
pub(super) fn image(image: &scenes::Image) -> Image<'static> {
    Image {
        kind: image.kind,
        format: image.format.clone(),
        extent: image.extent,
        levels: image.levels,
        layers: image.layers,
        samples: image.samples,
        mutable: image.mutable,
        attachment: image.usage.contains(&Usage::Color),
        init: Vec::new(),
    }
}

/// What a view makes of its image if it does not say.
fn kind_of(image: &scenes::Image) -> ViewType {
    match image.kind {
        ImageType::D1 => ViewType::D1,
        ImageType::D2 => ViewType::D2,
        ImageType::D3 => ViewType::D3,
    }
}

pub(super) fn view(scene: &SceneFile, view: &scenes::View) -> Result<View, Lack> {
    let id = image_id(scene, &view.image)?;
    let image = scene.image(&view.image);
    let image = image.ok_or_else(|| Lack::not_yet("a view of nothing"))?;
    Ok(View {
        image: id,
        kind: view.kind.unwrap_or_else(|| kind_of(image)),
        format: view.format.clone().unwrap_or_else(|| image.format.clone()),
        aspect: view.aspect,
        level: view.level,
        levels: view.levels,
        layer: view.layer,
        layers: view.layers,
        swizzle: view.swizzle,
    })
}

pub(super) fn view_id(scene: &SceneFile, name: &str) -> Result<ViewId, Lack> {
    place(&scene.views, |it| it.name == name, "view", name).map(ViewId)
}

pub(super) fn sampler(sampler: &scenes::Sampler) -> Sampler {
    Sampler {
        mag: sampler.mag,
        min: sampler.min,
        mip: sampler.mip,
        address: [sampler.u, sampler.v, sampler.w],
        border: match sampler.custom_border {
            Some(color) => BorderColor::Custom(color),
            None => BorderColor::Named(sampler.border),
        },
        lod_bias: sampler.lod_bias,
        min_lod: sampler.min_lod,
        max_lod: sampler.max_lod,
        compare: sampler.compare,
        unnormalised: sampler.unnormalised,
        max_anisotropy: sampler.max_anisotropy,
    }
}

pub(super) fn set(scene: &SceneFile, set: &scenes::Set) -> Result<Set, Lack> {
    let bindings = set.bindings.iter();
    let bindings = bindings.map(|it| binding(scene, it));
    Ok(Set {
        bindings: bindings.collect::<Result<_, _>>()?,
    })
}

fn binding(scene: &SceneFile, binding: &scenes::Binding) -> Result<Binding, Lack> {
    use DescriptorKind as Kind;
    let view = || view_id(scene, binding.view.as_deref().unwrap_or_default());
    let sampler = || {
        let name = binding.sampler.as_deref().unwrap_or_default();
        place(&scene.samplers, |it| it.name == name, "sampler", name).map(SamplerId)
    };
    let bound = match binding.kind {
        Kind::Sampler => Bound::Sampler(sampler()?),
        Kind::CombinedImageSampler => Bound::Both(view()?, sampler()?),
        Kind::SampledImage | Kind::StorageImage | Kind::InputAttachment => Bound::View(view()?),
        Kind::UniformTexelBuffer | Kind::StorageTexelBuffer => {
            let name = binding.texels.as_deref().unwrap_or_default();
            let found = scene.texel_views.iter().find(|it| it.name == name);
            let texels = found.ok_or_else(|| Lack::not_yet("a view of no texels"))?;
            Bound::Texels {
                range: Range {
                    buffer: buffer_id(scene, &texels.buffer)?,
                    offset: texels.offset,
                    bytes: texels.bytes,
                },
                format: texels.format.clone(),
            }
        }
        Kind::UniformBuffer | Kind::StorageBuffer => {
            let name = binding.buffer.as_deref().unwrap_or_default();
            let size = scene.buffer(name).map_or(0, |buffer| buffer.bytes);
            let rest = size.saturating_sub(binding.offset);
            Bound::Buffer(Range {
                buffer: buffer_id(scene, name)?,
                offset: binding.offset,
                bytes: binding.bytes.unwrap_or(rest),
            })
        }
    };
    Ok(Binding {
        binding: binding.binding,
        element: binding.element,
        kind: binding.kind,
        bound,
    })
}

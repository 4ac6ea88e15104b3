//! Members that one of several must be there for, which the crate that reads documents takes for granted.
//!
//! Facts: glTF 2.0, "Images" and "Cameras".

use crate::error::Fault;
use gltf::json::Root;
use gltf::json::camera::Type;
use gltf::json::validation::Checked;

/// Says what is missing.
pub(crate) fn check(root: &Root) -> Result<(), Fault> {
    for (index, image) in root.images.iter().enumerate() {
        let lacks = match (&image.buffer_view, &image.uri) {
            (None, None) => "neither `uri` nor `bufferView`",
            (Some(_), _) if image.mime_type.is_none() => "a `bufferView` and no `mimeType`",
            _ => continue,
        };
        return Err(Fault::invalid(format!("images[{index}] has {lacks}")));
    }
    for (index, camera) in root.cameras.iter().enumerate() {
        let lacks = match camera.type_ {
            Checked::Valid(Type::Perspective) if camera.perspective.is_none() => "perspective",
            Checked::Valid(Type::Orthographic) if camera.orthographic.is_none() => "orthographic",
            _ => continue,
        };
        return Err(Fault::invalid(format!("cameras[{index}] lacks `{lacks}`")));
    }
    Ok(())
}

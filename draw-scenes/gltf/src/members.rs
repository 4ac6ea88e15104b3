//! Checks that the crate `gltf` does not make before it unwraps: images have a source, cameras their projection, attributes an accessor.
//!
//! Facts: glTF 2.0, "Images", "Cameras" and "Meshes".

use crate::error::Fault;
use gltf::json::Root;
use gltf::json::camera::Type;
use gltf::json::mesh::Primitive;
use gltf::json::validation::Checked;

/// Refuses a document that the crate would panic on.
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
    for (mesh, primitive) in primitives(root) {
        let mut accessors = primitive.attributes.values().map(|index| index.value());
        if let Some(number) = accessors.find(|index| *index >= root.accessors.len()) {
            let what = format!("meshes[{mesh}] has an attribute in accessors[{number}]");
            return Err(Fault::invalid(format!("{what}, which is not there")));
        }
    }
    Ok(())
}

/// The primitives of all meshes, with the mesh's number.
fn primitives(root: &Root) -> impl Iterator<Item = (usize, &Primitive)> {
    let meshes = root.meshes.iter().enumerate();
    meshes.flat_map(|(index, mesh)| mesh.primitives.iter().map(move |it| (index, it)))
}

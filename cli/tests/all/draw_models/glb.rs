//! Files of glTF, written by hand: a binary chunk that accessors are added to, and JSON.

use super::scene::{Alpha, Camera, Part, Surface, Texture, turned};
use serde_json::{Value, json};

/// A file that is being written.
pub struct File {
    pub json: Value,
    pub binary: Vec<u8>,
}

/// What is left out of a part, for the reader to make.
#[derive(Clone, Copy, Default)]
pub struct Without {
    pub normals: bool,
    pub tangents: bool,
    pub colors: bool,
    pub indices: bool,
}

impl File {
    pub fn new() -> File {
        File {
            json: json!({
                "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": []}], "nodes": [], "meshes": [], "materials": [],
                "accessors": [], "bufferViews": [], "images": [], "samplers": [], "textures": [], "cameras": [],
            }),
            binary: Vec::new(),
        }
    }

    /// A file of these parts, each at a node with a matrix, and a camera.
    pub fn of(parts: &[Part], camera: &Camera, without: Without) -> File {
        let mut file = File::new();
        for part in parts {
            let mesh = file.mesh(part, without);
            let matrix: Vec<f64> = part.world.iter().flatten().copied().collect();
            file.root(json!({"mesh": mesh, "matrix": matrix}));
        }
        file.camera(camera);
        file
    }

    /// Adds an entry to a list; gives its number.
    pub fn push(&mut self, list: &str, entry: Value) -> usize {
        let list = self.json[list].as_array_mut().unwrap();
        list.push(entry);
        list.len() - 1
    }

    /// Adds a node to the scene.
    pub fn root(&mut self, node: Value) -> usize {
        let node = self.push("nodes", node);
        self.json["scenes"][0]["nodes"]
            .as_array_mut()
            .unwrap()
            .push(json!(node));
        node
    }

    pub fn view(&mut self, bytes: &[u8]) -> usize {
        while !self.binary.len().is_multiple_of(4) {
            self.binary.push(0);
        }
        let offset = self.binary.len();
        self.binary.extend(bytes);
        self.push(
            "bufferViews",
            json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()}),
        )
    }

    /// An accessor of floats.
    pub fn floats<const N: usize>(&mut self, elements: &[[f64; N]]) -> usize {
        let numbers = elements.iter().flatten();
        let bytes: Vec<u8> = numbers
            .flat_map(|number| (*number as f32).to_le_bytes())
            .collect();
        let view = self.view(&bytes);
        let least: Vec<f64> = (0..N).map(|at| extreme(elements, at, f64::min)).collect();
        let most: Vec<f64> = (0..N).map(|at| extreme(elements, at, f64::max)).collect();
        let kind = ["SCALAR", "VEC2", "VEC3", "VEC4"][N - 1];
        self.push(
            "accessors",
            json!({"bufferView": view, "componentType": 5126, "count": elements.len(), "type": kind, "min": least, "max": most}),
        )
    }

    /// An accessor of indices of 16 bits.
    pub fn indices(&mut self, indices: &[usize]) -> usize {
        let bytes: Vec<u8> = indices
            .iter()
            .flat_map(|index| (*index as u16).to_le_bytes())
            .collect();
        let view = self.view(&bytes);
        self.push(
            "accessors",
            json!({"bufferView": view, "componentType": 5123, "count": indices.len(), "type": "SCALAR"}),
        )
    }

    /// A mesh of one part; gives its number.
    pub fn mesh(&mut self, part: &Part, without: Without) -> usize {
        let corners: Vec<_> = match without.indices {
            true => part
                .indices
                .iter()
                .map(|index| part.corners[*index])
                .collect(),
            false => part.corners.clone(),
        };
        let of3 = |of: &dyn Fn(&super::scene::Corner) -> [f64; 3]| {
            corners.iter().map(of).collect::<Vec<_>>()
        };
        let mut attributes = json!({"POSITION": self.floats(&of3(&|corner| corner.position))});
        if !without.normals {
            attributes["NORMAL"] = json!(self.floats(&of3(&|corner| corner.normal)));
        }
        if !without.tangents {
            let tangents: Vec<[f64; 4]> = corners.iter().map(|corner| corner.tangent).collect();
            attributes["TANGENT"] = json!(self.floats(&tangents));
        }
        let places: Vec<[f64; 2]> = corners.iter().map(|corner| corner.place).collect();
        attributes["TEXCOORD_0"] = json!(self.floats(&places));
        if !without.colors {
            let colors: Vec<[f64; 4]> = corners.iter().map(|corner| corner.color).collect();
            attributes["COLOR_0"] = json!(self.floats(&colors));
        }
        let material = self.material(&part.surface);
        let mut primitive = json!({"attributes": attributes, "material": material});
        if !without.indices {
            primitive["indices"] = json!(self.indices(&part.indices));
        }
        self.push("meshes", json!({"primitives": [primitive]}))
    }

    /// A texture; gives its number.
    pub fn texture(&mut self, texture: &Texture) -> usize {
        let view = self.view(&png(texture));
        let image = self.push(
            "images",
            json!({"bufferView": view, "mimeType": "image/png"}),
        );
        let filter = if texture.linear { 9729 } else { 9728 };
        let wrap = if texture.repeat { 10497 } else { 33071 };
        let sampler = self.push(
            "samplers",
            json!({"magFilter": filter, "minFilter": filter, "wrapS": wrap, "wrapT": wrap}),
        );
        self.push("textures", json!({"source": image, "sampler": sampler}))
    }

    pub fn material(&mut self, surface: &Surface) -> usize {
        let mut pbr = json!({
            "baseColorFactor": surface.base, "metallicFactor": surface.metallic, "roughnessFactor": surface.roughness,
        });
        if let Some(texture) = &surface.base_texture {
            pbr["baseColorTexture"] = json!({"index": self.texture(texture)});
        }
        if let Some(texture) = &surface.metal_texture {
            pbr["metallicRoughnessTexture"] = json!({"index": self.texture(texture)});
        }
        let mut material = json!({"pbrMetallicRoughness": pbr, "emissiveFactor": surface.emissive});
        if let Some((texture, scale)) = &surface.normal_texture {
            material["normalTexture"] = json!({"index": self.texture(texture), "scale": scale});
        }
        if let Some((texture, strength)) = &surface.occlusion_texture {
            material["occlusionTexture"] =
                json!({"index": self.texture(texture), "strength": strength});
        }
        if let Some(texture) = &surface.emissive_texture {
            material["emissiveTexture"] = json!({"index": self.texture(texture)});
        }
        match surface.alpha {
            Alpha::Opaque => {}
            Alpha::Mask(least) => {
                material["alphaMode"] = json!("MASK");
                material["alphaCutoff"] = json!(least);
            }
            Alpha::Blend => material["alphaMode"] = json!("BLEND"),
        }
        material["doubleSided"] = json!(surface.double_sided);
        if surface.unlit {
            material["extensions"] = json!({"KHR_materials_unlit": {}});
        }
        self.push("materials", material)
    }

    pub fn camera(&mut self, camera: &Camera) {
        let projection = match camera.parallel {
            true => json!({"type": "orthographic", "orthographic": {
                "xmag": camera.half_height, "ymag": camera.half_height, "znear": 0.1, "zfar": 100.0}}),
            false => json!({"type": "perspective", "perspective": {
                "yfov": 2.0 * camera.half_height.atan(), "znear": 0.1}}),
        };
        let number = self.push("cameras", projection);
        let matrix: Vec<f64> = turned(camera.turn, camera.place)
            .iter()
            .flatten()
            .copied()
            .collect();
        self.root(json!({"camera": number, "matrix": matrix}));
    }

    /// The document without lists that are empty, which glTF does not allow.
    fn document(&self) -> Value {
        let mut json = self.json.clone();
        let members = json.as_object_mut().unwrap();
        members.retain(|_, member| member.as_array().is_none_or(|list| !list.is_empty()));
        json
    }

    /// A binary file.
    pub fn glb(&self) -> Vec<u8> {
        let mut binary = self.binary.clone();
        binary.resize(binary.len().next_multiple_of(4), 0);
        let mut json = self.document();
        json["buffers"] = json!([{"byteLength": self.binary.len().max(1)}]);
        let mut text = json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend((28 + text.len() as u32 + binary.len() as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &binary)] {
            bytes.extend((chunk.len() as u32).to_le_bytes());
            bytes.extend(kind);
            bytes.extend(chunk);
        }
        bytes
    }

    /// A text file whose buffer is at this URI.
    pub fn gltf(&self, uri: &str) -> String {
        let mut json = self.document();
        json["buffers"] = json!([{"byteLength": self.binary.len(), "uri": uri}]);
        json.to_string()
    }
}

fn extreme<const N: usize>(elements: &[[f64; N]], at: usize, of: fn(f64, f64) -> f64) -> f64 {
    let numbers = elements.iter().map(|element| f64::from(element[at] as f32));
    numbers.reduce(of).unwrap()
}

/// A texture as a PNG file.
pub fn png(texture: &Texture) -> Vec<u8> {
    let height = texture.texels.len() / texture.width;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, texture.width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&texture.texels.concat()).unwrap();
    writer.finish().unwrap();
    bytes
}

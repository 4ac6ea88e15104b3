//! Forms of files: external and embedded parts, types of numbers, sparse accessors, modes, cameras.

use super::glb::{File, Without, png};
use super::scene::{Camera, IDENTITY, Part, Surface, Texture, plain, quad};
use super::{FRONT, SIZE, compare, draw, drawn};
use serde_json::json;

/// Four colours.
fn texture() -> Texture {
    Texture {
        width: 2,
        texels: vec![
            [250, 30, 40, 255],
            [40, 200, 60, 255],
            [50, 60, 220, 255],
            [240, 230, 60, 255],
        ],
        linear: false,
        repeat: true,
    }
}

fn unlit() -> Surface {
    Surface {
        unlit: true,
        base_texture: Some(texture()),
        ..plain([1.0; 4])
    }
}

#[test]
fn buffers_and_pictures_may_lie_beside_the_file_or_in_it() {
    let part = quad([1.4, 1.0], 1.0, unlit());
    let mut file = File::of(std::slice::from_ref(&part), &FRONT, Without::default());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("my picture.png"), png(&texture())).unwrap();
    std::fs::write(folder.path().join("data.bin"), &file.binary).unwrap();
    file.json["images"][0] = json!({"uri": "my%20picture.png"});
    let path = folder.path().join("model.gltf");
    std::fs::write(&path, file.gltf("data.bin")).unwrap();
    compare(&drawn(&path, &[]), std::slice::from_ref(&part), FRONT, 0.06);
    // "AAAA..." of a picture and a buffer, in the file itself.
    let encoded = |kind: &str, bytes: &[u8]| format!("data:{kind};base64,{}", base64(bytes));
    file.json["images"][0] = json!({"uri": encoded("image/png", &png(&texture()))});
    let uri = encoded("application/octet-stream", &file.binary);
    std::fs::write(&path, file.gltf(&uri)).unwrap();
    compare(&drawn(&path, &[]), &[part], FRONT, 0.06);
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks(3).map(|group| {
        let mut word = [0; 3];
        word[..group.len()].copy_from_slice(group);
        let word = u32::from(word[0]) << 16 | u32::from(word[1]) << 8 | u32::from(word[2]);
        let digit = |at: usize| match at <= group.len() {
            true => char::from(DIGITS[(word >> (18 - 6 * at) & 63) as usize]),
            false => '=',
        };
        (0..4).map(digit).collect::<String>()
    });
    groups.collect()
}

#[test]
fn jpeg_pictures_are_read() {
    // 8 by 8 texels, all of one grey: a file of one block whose only coefficient says how light it is.
    let mut jpeg = b"\xFF\xD8\xFF\xDB\x00\x43\x00".to_vec();
    jpeg.extend([8; 64]);
    jpeg.extend(b"\xFF\xC0\x00\x0B\x08\x00\x08\x00\x08\x01\x01\x11\x00");
    // One code of one bit for a difference of six bits, and one for the end of the block.
    jpeg.extend(b"\xFF\xC4\x00\x14\x00\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x06");
    jpeg.extend(b"\xFF\xC4\x00\x14\x10\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x00");
    jpeg.extend(b"\xFF\xDA\x00\x08\x01\x01\x00\x00\x3F\x00");
    // 0, 101000 (40), 0: 40 * 8 / 8 above 128 is 168.
    jpeg.extend([0b0101_0000, 0xFF, 0xD9]);
    let grey = Texture {
        width: 1,
        texels: vec![[168, 168, 168, 255]],
        ..texture()
    };
    let part = quad(
        [1.4, 1.0],
        1.0,
        Surface {
            base_texture: Some(grey),
            ..unlit()
        },
    );
    let mut file = File::of(std::slice::from_ref(&part), &FRONT, Without::default());
    let view = file.view(&jpeg);
    file.json["images"][0] = json!({"bufferView": view, "mimeType": "image/jpeg"});
    compare(&draw(&file, &[]), &[part], FRONT, 0.06);
}

#[test]
fn numbers_may_be_small_integers_with_gaps_between_them() {
    let mut part = quad([1.4, 1.0], 1.0, unlit());
    part.corners[1].color = [0.2, 1.0, 0.6, 1.0];
    let mut file = File::of(std::slice::from_ref(&part), &FRONT, Without::default());
    let mut bytes = Vec::new();
    for corner in &part.corners {
        bytes.extend(
            corner
                .place
                .map(|part| (part * 65535.0) as u16)
                .iter()
                .flat_map(|it| it.to_le_bytes()),
        );
        bytes.extend(corner.color.map(|part| (part * 255.0) as u8));
        bytes.extend([77; 4]);
    }
    let view = file.view(&bytes);
    file.json["bufferViews"][view]["byteStride"] = json!(12);
    let places = file.push(
        "accessors",
        json!({
        "bufferView": view, "componentType": 5123, "normalized": true, "count": 4, "type": "VEC2"}),
    );
    let colors = file.push("accessors", json!({
        "bufferView": view, "byteOffset": 4, "componentType": 5121, "normalized": true, "count": 4, "type": "VEC4"}));
    let view = file.view(&[0, 1, 2, 0, 2, 3]);
    let indices = file.push(
        "accessors",
        json!({
        "bufferView": view, "componentType": 5121, "count": 6, "type": "SCALAR"}),
    );
    let primitive = &mut file.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["TEXCOORD_0"] = json!(places);
    primitive["attributes"]["COLOR_0"] = json!(colors);
    primitive["indices"] = json!(indices);
    compare(&draw(&file, &[]), &[part], FRONT, 0.06);
}

#[test]
fn sparse_elements_take_the_place_of_others() {
    let mut part = quad([1.4, 1.0], 1.0, unlit());
    let mut file = File::of(std::slice::from_ref(&part), &FRONT, Without::default());
    let moved = [[-0.9, 0.4, 0.2], [1.2, -0.5, 0.3]];
    part.corners[3].position = moved[0];
    part.corners[1].position = moved[1];
    let values: Vec<u8> = moved
        .iter()
        .flatten()
        .flat_map(|it| (*it as f32).to_le_bytes())
        .collect();
    let (places, values) = (file.view(&[3, 1]), file.view(&values));
    file.json["accessors"][0]["sparse"] = json!({
        "count": 2, "indices": {"bufferView": places, "componentType": 5121}, "values": {"bufferView": values}});
    compare(&draw(&file, &[]), &[part], FRONT, 0.06);
}

#[test]
fn strips_are_triangles() {
    let part = quad([1.4, 1.0], 1.0, unlit());
    let mut file = File::of(std::slice::from_ref(&part), &FRONT, Without::default());
    let indices = file.indices(&[0, 1, 3, 2]);
    let primitive = &mut file.json["meshes"][0]["primitives"][0];
    primitive["mode"] = json!(5);
    primitive["indices"] = json!(indices);
    compare(&draw(&file, &[]), &[part], FRONT, 0.06);
}

#[test]
fn a_texture_may_be_turned_and_moved() {
    let mut part = quad([1.4, 1.0], 1.0, unlit());
    let mut file = File::of(std::slice::from_ref(&part), &FRONT, Without::default());
    file.json["extensionsUsed"] = json!(["KHR_texture_transform", "KHR_materials_unlit"]);
    file.json["extensionsRequired"] = json!(["KHR_texture_transform"]);
    let angle = 0.6_f64;
    file.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"]["extensions"] = json!({
        "KHR_texture_transform": {"offset": [0.25, -0.1], "rotation": angle, "scale": [1.5, 0.75]}});
    for corner in &mut part.corners {
        let [u, v] = [corner.place[0] * 1.5, corner.place[1] * 0.75];
        // Counter-clockwise, where v points down.
        let (sin, cos) = angle.sin_cos();
        corner.place = [u * cos + v * sin + 0.25, v * cos - u * sin - 0.1];
    }
    compare(&draw(&file, &[]), &[part], FRONT, 0.06);
}

#[test]
fn lines_have_their_colour() {
    let mut file = File::new();
    let places = file.floats(&[[-1.0, 0.013, 0.0], [1.0, 0.013, 0.0]]);
    let surface = Surface {
        base_texture: None,
        ..plain([1.0, 0.0, 0.0, 1.0])
    };
    let material = file.material(&surface);
    let mesh = file.push(
        "meshes",
        json!({"primitives": [{
        "attributes": {"POSITION": places}, "mode": 1, "material": material}]}),
    );
    file.root(json!({"mesh": mesh}));
    let camera = Camera {
        place: [0.0, 0.0, 4.0],
        turn: 0.0,
        ..FRONT
    };
    file.camera(&camera);
    let red = draw(&file, &[])
        .iter()
        .filter(|pixel| **pixel == [255, 0, 0, 255])
        .count();
    // Half of the width of what is seen there: 72 * 2 / 4.8.
    assert!((28..=32).contains(&red), "{red} pixels are red");
}

#[test]
fn a_camera_is_chosen_by_name_or_fitted() {
    let part = quad([1.4, 1.0], 1.0, unlit());
    let parts = std::slice::from_ref(&part);
    let mut file = File::of(parts, &FRONT, Without::default());
    let other = Camera {
        place: [-0.5, 0.3, 3.5],
        turn: -0.2,
        ..FRONT
    };
    file.camera(&other);
    file.json["cameras"][1]["name"] = json!("side");
    compare(&draw(&file, &["--camera", "side"]), parts, other, 0.06);
    compare(&draw(&file, &["--camera", "1"]), parts, other, 0.06);
    compare(&draw(&file, &[]), parts, FRONT, 0.06);
    // A fitted one sees nothing of the model at the rim, and the model in the middle.
    let fitted = draw(&file, &["--camera", "fit:-20,10"]);
    let around = fitted[0];
    let rim = (0..SIZE[0]).chain(SIZE[0] * (SIZE[1] - 1)..SIZE[0] * SIZE[1]);
    assert!(
        rim.clone().all(|at| fitted[at] == around),
        "the rim is not empty"
    );
    assert_ne!(fitted[SIZE[0] * SIZE[1] / 2 + SIZE[0] / 2], around);
}

#[test]
fn a_file_without_a_camera_is_drawn_whole() {
    let mut file = File::new();
    let part = Part {
        world: IDENTITY,
        ..quad([1.0, 1.0], 1.0, unlit())
    };
    let mesh = file.mesh(&part, Without::default());
    file.root(
        json!({"mesh": mesh, "translation": [100.0, -50.0, 7.0], "scale": [30.0, 30.0, 30.0]}),
    );
    let drawn = draw(&file, &[]);
    let model = drawn.iter().filter(|pixel| **pixel != drawn[0]).count();
    assert!(model > drawn.len() / 8, "{model} pixels show the model");
}

#[test]
fn levels_are_read_where_a_texture_is_small() {
    // Black and white texels, of which about eight fall on a pixel: half of the light, which is code 188.
    let chess = Texture {
        width: 64,
        texels: (0..64 * 64)
            .map(|at| [if (at / 64 + at % 64) % 2 == 0 { 255 } else { 0 }; 3])
            .map(|[a, b, c]| [a, b, c, 255])
            .collect(),
        linear: true,
        repeat: true,
    };
    let part = quad(
        [1.4, 1.0],
        8.0,
        Surface {
            base_texture: Some(chess),
            ..unlit()
        },
    );
    let mut file = File::of(&[part], &FRONT, Without::default());
    file.json["samplers"][0]["minFilter"] = json!(9987);
    let drawn = draw(&file, &[]);
    let middle = drawn[SIZE[0] * SIZE[1] / 2 + SIZE[0] / 2];
    assert!(
        middle[..3].iter().all(|part| part.abs_diff(188) <= 2),
        "{middle:?}"
    );
}

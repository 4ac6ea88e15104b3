//! Families of compressed formats, and planes of depth and stencil, against the data of the facts.

use eitri_descriptors::Arch;
use eitri_descriptors::attachment_formats::DEPTH_STENCIL_FORMATS;
use eitri_descriptors::formats::VkFormat;
use serde_json::Value as Json;

/// The rows of `formats.json`; `None` where the facts are missing.
fn rows() -> Option<Vec<Json>> {
    let text = eitri_testdata::read_shared("hardware/data/formats.json")?;
    let json: Json = serde_json::from_str(&text).expect("JSON");
    Some(json["formats"].as_array().expect("a list").clone())
}

fn name(row: &Json) -> &str {
    let name = row["vk"].as_str().expect("a name");
    name.strip_prefix("VK_FORMAT_").unwrap_or(name)
}

#[test]
fn blocks_and_feature_bits_are_as_the_facts_say() {
    let Some(rows) = rows() else { return };
    let mut compressed = 0;
    for row in &rows {
        let Some(format) = VkFormat::of_name(Arch::V10, name(row)) else {
            continue;
        };
        let [width, height] = [0, 1].map(|axis| row["block"][axis].as_u64());
        let found = format.block().map(u64::from).map(Some);
        assert_eq!(found, [width, height], "{}", format.name);
        let bit = format
            .compressed()
            .map(|family| u64::from(family.feature_bit));
        assert_eq!(bit, row["feature_bit"].as_u64(), "{}", format.name);
        // The top byte of the plane's first word: 3-bit codes of the sides above the decoding modes.
        if let Some([width, height]) = format.compressed().and_then(|family| family.astc()) {
            let sides = row["plane"]["w0_top_byte"].as_u64().expect("a byte") >> 2;
            let codes = u64::from(width.number() | height.number() << 3);
            assert_eq!(codes, sides, "{}", format.name);
        }
        compressed += u32::from(bit.is_some());
    }
    assert!(compressed > 50, "only {compressed} compressed formats");
}

#[test]
fn depth_and_stencil_have_the_planes_that_the_facts_say() {
    let Some(rows) = rows() else { return };
    for format in DEPTH_STENCIL_FORMATS {
        let row = rows.iter().find(|row| name(row) == format.name);
        let row = row.unwrap_or_else(|| panic!("{} is in the facts", format.name));
        let planes = [format.depth_plane(), format.stencil_plane()];
        let planes: Vec<&str> = planes.into_iter().flatten().collect();
        let expected: Vec<&str> = match row["zs"]["plane_formats"].as_array() {
            Some(names) => names.iter().filter_map(Json::as_str).collect(),
            None => vec![format.name],
        };
        assert_eq!(planes, expected, "{}", format.name);
    }
}

/// Modes have the channels of the formats, in whatever order, and hold as many bits as a texel.
#[test]
fn compressed_attachments_have_the_channels_of_their_modes() {
    let bits = |name: &str| -> u32 {
        let numbers = name.split(|letter: char| !letter.is_ascii_digit());
        numbers
            .filter_map(|number| number.parse::<u32>().ok())
            .sum()
    };
    let mut found = 0;
    for format in VkFormat::all(Arch::V10) {
        let Some(compression) = format.compression() else {
            continue;
        };
        let mode = format!("{:?}", compression.mode);
        assert_eq!(bits(&mode), format.block_bytes * 8, "{}", format.name);
        found += 1;
    }
    assert!(found > 40, "only {found} formats");
    for none in [
        "R32_SFLOAT",
        "R8G8B8_UNORM",
        "A8_UNORM",
        "E5B9G9R9_UFLOAT_PACK32",
        "D32_SFLOAT",
        "D24_UNORM_S8_UINT",
        "BC1_RGB_UNORM_BLOCK",
    ] {
        let format = VkFormat::of_name(Arch::V10, none).expect("a format");
        assert_eq!(format.compression(), None, "{none}");
    }
}

/// What hardware/worked has: which formats are rendered with the transform.
#[test]
fn the_transform_is_on_where_drivers_have_it() {
    for (name, transform) in [
        ("R8G8B8A8_UNORM", true),
        ("R16G16B16A16_UINT", true),
        ("S8_UINT", false),
        ("D16_UNORM", false),
    ] {
        let format = VkFormat::of_name(Arch::V10, name).expect("a format");
        let found = format.compression().map(|it| it.transform);
        assert_eq!(found, Some(transform), "{name}");
    }
}

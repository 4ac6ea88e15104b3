//! Formats of attachments against the facts' own table.

use eitri_descriptors::attachment_formats::{
    DEPTH_STENCIL_FORMATS, DepthStencilFormat, INTERNAL_FORMATS, TARGET_FORMATS, TargetFormat,
};
use eitri_descriptors::formats::VkFormat;
use eitri_descriptors::{Arch, SUPPORTED};
use serde_json::Value as Json;

/// The rows of `formats.json`, each with its Vulkan name; `None` where the facts are missing.
fn rows() -> Option<Vec<(String, Json)>> {
    let text = eitri_testdata::read_shared("hardware/data/formats.json")?;
    let json: Json = serde_json::from_str(&text).expect("the table is JSON");
    let rows = json["formats"].as_array().expect("a list").clone();
    let name = |row: &Json| row["vk"].as_str().expect("a name")["VK_FORMAT_".len()..].to_string();
    Some(rows.into_iter().map(|row| (name(&row), row)).collect())
}

fn number(json: &Json) -> Option<u32> {
    json.as_u64().map(|number| number as u32)
}

fn word(json: &Json) -> Option<u32> {
    let digits = json.as_str()?.strip_prefix("0x")?;
    u32::from_str_radix(digits, 16).ok()
}

/// What averaging a row allows, in the words of the facts.
fn average(target: &TargetFormat) -> &'static str {
    let archs = target.internal_format().expect("a sized format").average;
    match SUPPORTED
        .iter()
        .map(|arch| archs.contains(arch))
        .collect::<Vec<_>>()[..]
    {
        [false, false, false, false] => "no",
        [false, true, true, true] => "v11+",
        [true, true, true, true] => "always",
        ref other => panic!("{}: {other:?}", target.name),
    }
}

#[test]
fn every_colour_target_is_as_the_facts_say() {
    let Some(rows) = rows() else { return };
    let mut found = 0;
    for (name, row) in &rows {
        let tile = &row["tile"];
        let Some(target) = TargetFormat::of_name(name) else {
            assert!(tile.is_null(), "{name} is a colour target");
            continue;
        };
        assert!(!tile.is_null(), "{name} is no colour target");
        found += 1;
        let internal = target.internal_format().expect("a sized format");
        assert_eq!(tile["internal"], target.internal_name(Arch::V10), "{name}");
        assert_eq!(
            number(&tile["internal_code"]),
            Some(target.internal.number()),
            "{name}"
        );
        assert_eq!(
            tile["writeback"],
            target.writeback_name(Arch::V10),
            "{name}"
        );
        assert_eq!(
            number(&tile["writeback_code"]),
            Some(target.writeback.number()),
            "{name}"
        );
        assert_eq!(number(&tile["bytes"]), Some(internal.bytes), "{name}");
        let blends = tile["fixed_function_blend"].as_bool();
        assert_eq!(blends, Some(internal.blendable.is_some()), "{name}");
        assert_eq!(tile["average_resolve"], average(target), "{name}");
        assert_eq!(
            word(&tile["blend_word"]),
            Some(target.conversion.0),
            "{name}"
        );
        let dithered = target.dithered_conversion().map(|word| word.0);
        assert_eq!(word(&tile["blend_word_dithered"]), dithered, "{name}");
        if let Some(blendable) = internal.blendable {
            assert_eq!(target.conversion.0 >> 12 & 0xff, blendable.code, "{name}");
        }
    }
    assert_eq!(found, TARGET_FORMATS.len(), "each row has a format");
}

#[test]
fn every_depth_and_stencil_format_is_as_the_facts_say() {
    let Some(rows) = rows() else { return };
    let mut found = 0;
    for (name, row) in &rows {
        let zs = &row["zs"];
        let Some(format) = DepthStencilFormat::of_name(name) else {
            assert!(zs.is_null(), "{name} is a depth or stencil format");
            continue;
        };
        found += 1;
        let depth = format.depth.map(|depth| depth.number());
        assert_eq!(number(&zs["z"]), depth, "{name}");
        let compressed = format.afbc_depth.map(|depth| depth.number());
        assert_eq!(number(&zs["z_afbc"]).or(depth), compressed, "{name}");
        let stencil = format.stencil.map(|stencil| stencil.number());
        assert_eq!(number(&zs["s"]), stencil, "{name}");
        let internal = format.internal.map(|internal| internal.number());
        assert_eq!(number(&zs["z_internal"]), internal, "{name}");
    }
    assert_eq!(found, DEPTH_STENCIL_FORMATS.len(), "each row has a format");
}

#[test]
fn attachments_are_formats_of_the_general_table() {
    let colour = TARGET_FORMATS.iter().map(|row| row.name);
    for name in colour.chain(DEPTH_STENCIL_FORMATS.iter().map(|row| row.name)) {
        assert!(VkFormat::of_name(Arch::V10, name).is_some(), "{name}");
    }
}

#[test]
fn components_fill_their_bytes() {
    for row in INTERNAL_FORMATS {
        if let Some(blendable) = row.blendable {
            let bits = blendable.bits.iter().chain(&blendable.fraction);
            let bits: u32 = bits.map(|bits| u32::from(*bits)).sum();
            assert_eq!(bits, 8 * row.bytes, "{:?}", row.format);
        }
    }
}

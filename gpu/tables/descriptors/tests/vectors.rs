//! Packed examples and tables that come from elsewhere.

use eitri_descriptors::formats::{FORMATS, VkFormat};
use eitri_descriptors::names::NAMES;
use eitri_descriptors::ycbcr::{YCBCR_FORMATS, YcbcrFormat};
use eitri_descriptors::{
    AGGREGATES, Arch, Dynamic, ENUMS, Kind, LAYOUTS, Layout, Modifier, Printed, Row, SUPPORTED,
    Value, layout, same_name,
};
use serde_json::Value as Json;

fn arch(json: &Json) -> Arch {
    json.as_u64().unwrap().to_string().parse().unwrap()
}

fn value(json: &Json) -> Value {
    match json {
        Json::Bool(flag) => Value::Number((*flag).into()),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => Value::Number(number),
            (None, Some(number)) => Value::Signed(number),
            (None, None) => Value::Real(number.as_f64().unwrap()),
        },
        other => panic!("no value: {other}"),
    }
}

fn set_fields(target: &mut Dynamic<'_>, prefix: &str, fields: &Json) {
    for (name, field) in fields.as_object().unwrap() {
        let path = format!("{prefix}{name}");
        match field {
            Json::Object(_) => set_fields(target, &format!("{path}."), field),
            _ => target
                .set(&path, value(field))
                .unwrap_or_else(|error| panic!("{path}: {error}")),
        }
    }
}

/// The bytes of a vector, from its parts: a field that is not listed has all-zero stored bits
/// (hardware/descriptors.md 22).
fn packed(vector: &Json) -> Vec<u32> {
    let arch = arch(&vector["arch"]);
    let mut words = vec![0; vector["size"].as_u64().unwrap() as usize / 4];
    for part in vector["parts"].as_array().unwrap() {
        let name = part["struct"].as_str().unwrap();
        let layout = layout(name).unwrap_or_else(|| panic!("no structure `{name}`"));
        let mut own = [0; 64];
        let mut target = Dynamic::zeroed(layout, arch, &mut own).unwrap();
        set_fields(&mut target, "", &part["fields"]);
        let start = part["offset"].as_u64().unwrap() as usize / 4;
        for (to, from) in words[start..].iter_mut().zip(target.words()) {
            *to |= from;
        }
    }
    words
}

fn hex(words: &[u32]) -> String {
    words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The packed examples: the copy kept here, and those beside the clone, which may be more.
fn vectors() -> Vec<Json> {
    let kept = eitri_testdata::kept("descriptor-vectors.json");
    let kept = std::fs::read_to_string(kept).expect("the copy is part of the clone");
    let shared = eitri_testdata::read_shared("hardware/data/descriptor-vectors.json");
    let files = std::iter::once(kept).chain(shared);
    let lists = files.map(|text| serde_json::from_str::<Json>(&text).unwrap());
    lists
        .flat_map(|json| json["vectors"].as_array().unwrap().clone())
        .collect()
}

#[test]
fn every_vector_packs_to_its_bytes() {
    for vector in &vectors() {
        let words = packed(vector);
        assert_eq!(
            hex(&words),
            vector["hex"].as_str().unwrap(),
            "vector {}",
            vector["id"]
        );
    }
}

#[test]
fn every_vector_prints_without_reserved_bits() {
    for vector in &vectors() {
        let words = packed(vector);
        for part in vector["parts"].as_array().unwrap() {
            let layout = layout(part["struct"].as_str().unwrap()).unwrap();
            let start = part["offset"].as_u64().unwrap() as usize / 4;
            let printed = Printed::new(layout, arch(&vector["arch"]), &words[start..]);
            assert!(printed.unwrap().to_string().starts_with(layout.name));
        }
    }
}

/// What a field reads as, against what a vector says; fixed point may have been rounded, or clamped to 5 integer bits.
fn reads_back(layout: &Layout, arch: Arch, words: &[u32], path: &str, expected: &Json) {
    if let Json::Object(fields) = expected {
        for (name, field) in fields {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            reads_back(layout, arch, words, &path, field);
        }
        return;
    }
    let found = eitri_descriptors::value(layout, arch, words, path)
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    let real = |value| match value {
        Value::Number(number) => number as f64,
        Value::Signed(number) => number as f64,
        Value::Real(number) => number,
    };
    let wanted = match layout.field(arch, path).map(|row| row.kind) {
        Some(Kind::Ulod) => real(value(expected)).min(8191.0 / 256.0),
        _ => real(value(expected)),
    };
    let near = (real(found) - wanted).abs() <= 1.0 / 256.0;
    // What is given as a fraction to a raw field reads back as its bits.
    let raw = matches!((found, value(expected)), (Value::Number(bits), Value::Real(number)) if f32::from_bits(bits as u32) == number as f32);
    assert!(
        near || raw,
        "{} {path} in {arch}: {found:?}, expected {expected}",
        layout.name
    );
}

#[test]
fn every_vector_reads_back_as_its_fields() {
    for vector in &vectors() {
        let bytes = vector["hex"].as_str().unwrap().as_bytes().chunks(8);
        let word = |digits: &[u8]| {
            u32::from_str_radix(std::str::from_utf8(digits).unwrap(), 16)
                .unwrap()
                .swap_bytes()
        };
        let words: Vec<u32> = bytes.map(word).collect();
        for part in vector["parts"].as_array().unwrap() {
            let layout = layout(part["struct"].as_str().unwrap()).unwrap();
            let start = part["offset"].as_u64().unwrap() as usize / 4;
            reads_back(
                layout,
                arch(&vector["arch"]),
                &words[start..],
                "",
                &part["fields"],
            );
        }
    }
}

fn data(number: u32) -> Option<Json> {
    let path = format!("hardware/data/descriptors-v{number}.json");
    Some(serde_json::from_str(&eitri_testdata::read_shared(&path)?).unwrap())
}

fn each_arch(check: impl Fn(Arch, &Json)) {
    for number in 10..=13 {
        let Some(data) = data(number) else { return };
        check(number.to_string().parse().unwrap(), &data);
    }
}

fn kind_matches(kind: &Kind, json: &Json) -> bool {
    match (kind, json["type"].as_str().unwrap()) {
        (Kind::Uint, "uint") | (Kind::Int, "int") | (Kind::Bool, "bool") => true,
        (Kind::Float, "float") | (Kind::Address, "address") => true,
        (Kind::UintOrFloat, "uint_or_float") | (Kind::Ulod, "ulod") | (Kind::Slod, "slod") => true,
        (Kind::PixelFormat, "pixel_format") | (Kind::Swizzle, "component_swizzle") => true,
        (Kind::Enum(table), "enum") => json["enum"] == table.name,
        (Kind::Struct(layout), "struct") => json["struct"] == layout.name,
        _ => false,
    }
}

fn modifier_of(json: &Json) -> Modifier {
    let argument = json["arg"].as_u64().unwrap_or(0);
    match json["op"].as_str() {
        None => Modifier::Plain,
        Some("minus") => Modifier::Minus(argument),
        Some("shr") => Modifier::Shr(argument as u32),
        Some("log2") => Modifier::Log2,
        Some("align") => Modifier::Align(argument),
        Some(other) => panic!("modifier {other}"),
    }
}

fn default_of(json: &Json) -> u64 {
    let width = json["width"].as_u64().unwrap();
    let real = json["default"].as_f64().unwrap_or(0.0);
    match json["type"].as_str().unwrap() {
        "float" => (real as f32).to_bits().into(),
        "ulod" | "slod" => ((real * 256.0).round() as i64 as u64) & ((1 << width) - 1),
        "bool" => json["default"].as_bool().unwrap_or(false).into(),
        _ => json["default"].as_u64().unwrap_or(0),
    }
}

#[test]
fn every_field_of_every_structure_is_as_the_facts_say() {
    each_arch(|arch, data| {
        let structures = data["structs"].as_array().unwrap();
        let ours = LAYOUTS
            .iter()
            .filter(|layout| layout.size(arch).is_some())
            .count();
        assert_eq!(ours, structures.len(), "number of structures in {arch}");
        for structure in structures {
            let name = structure["name"].as_str().unwrap();
            let layout: &Layout = layout(name).unwrap_or_else(|| panic!("no `{name}` in {arch}"));
            assert_eq!(
                layout.size(arch).map(u64::from),
                structure["size"].as_u64(),
                "size of {name} in {arch}"
            );
            assert_eq!(
                layout.align.map(u64::from),
                structure["align"].as_u64(),
                "alignment of {name}"
            );
            let fields = structure["fields"].as_array().unwrap();
            assert_eq!(
                layout.fields(arch).count(),
                fields.len(),
                "fields of {name} in {arch}"
            );
            for field in fields {
                let label = field["name"].as_str().unwrap();
                let row = layout.field(arch, label);
                let row = row.unwrap_or_else(|| panic!("no {name}.{label} in {arch}"));
                let at = format!("{name}.{label} in {arch}");
                assert_eq!(
                    u64::from(row.start),
                    field["start"].as_u64().unwrap(),
                    "start of {at}"
                );
                assert_eq!(
                    u64::from(row.width),
                    field["width"].as_u64().unwrap(),
                    "width of {at}"
                );
                assert!(
                    kind_matches(&row.kind, field),
                    "kind of {at}: {:?}",
                    row.kind
                );
                assert_eq!(
                    row.modifier,
                    modifier_of(&field["modifier"]),
                    "modifier of {at}"
                );
                assert_eq!(row.default, default_of(field), "default of {at}");
                assert_eq!(row.fixed, !field["fixed"].is_null(), "fixed of {at}");
            }
            let masks = structure["reserved_masks"].as_array();
            for (word, mask) in (0..).zip(masks.into_iter().flatten()) {
                let digits = mask.as_str().unwrap().trim_start_matches("0x");
                let reserved = u32::from_str_radix(digits, 16).unwrap();
                assert_eq!(
                    !layout.covered(arch, word),
                    reserved,
                    "reserved bits of word {word} of {name} in {arch}"
                );
            }
        }
    });
}

/// The pairs of fields of a structure that share bits.
fn overlaps(layout: &'static Layout, arch: Arch) -> Vec<(Row, Row)> {
    let rows: Vec<Row> = layout.fields(arch).collect();
    let shares = |a: &Row, b: &Row| a.start < b.start + b.width && b.start < a.start + a.width;
    let pairs = rows
        .iter()
        .enumerate()
        .flat_map(|(index, a)| rows[..index].iter().map(move |b| (*a, *b)));
    pairs.filter(|(a, b)| shares(a, b)).collect()
}

#[test]
fn only_alternatives_share_bits_and_every_alternative_does() {
    for (layout, arch) in LAYOUTS
        .iter()
        .flat_map(|layout| SUPPORTED.iter().map(move |arch| (layout, arch)))
    {
        let overlaps = overlaps(layout, arch);
        for (a, b) in &overlaps {
            let (name, a_name, b_name) = (layout.name, a.name, b.name);
            assert!(
                a.alternative || b.alternative,
                "{name} in {arch}: {a_name} and {b_name} share bits"
            );
        }
    }
    for layout in LAYOUTS {
        for row in layout.rows.iter().filter(|row| row.alternative) {
            let shared = SUPPORTED.iter().flat_map(|arch| overlaps(layout, arch));
            let used = shared
                .into_iter()
                .any(|(a, b)| a.name == row.name || b.name == row.name);
            assert!(
                used,
                "{}.{} is marked as an alternative but has its bits for itself",
                layout.name, row.name
            );
        }
    }
}

#[test]
fn the_facts_name_the_same_overlaps() {
    each_arch(|arch, data| {
        for structure in data["structs"].as_array().unwrap() {
            let layout = layout(structure["name"].as_str().unwrap()).unwrap();
            let ours = overlaps(layout, arch).len();
            let fields = structure["fields"].as_array().unwrap().iter();
            let theirs: usize = fields
                .map(|field| field["overlaps"].as_array().map_or(0, Vec::len))
                .sum();
            assert_eq!(2 * ours, theirs, "overlaps of {} in {arch}", layout.name);
        }
    });
}

#[test]
fn every_aggregate_is_as_the_facts_say() {
    each_arch(|arch, data| {
        let aggregates = data["aggregates"].as_array().unwrap();
        assert_eq!(AGGREGATES.len(), aggregates.len(), "aggregates of {arch}");
        for json in aggregates {
            let name = json["name"].as_str().unwrap();
            let layout = layout(name).unwrap_or_else(|| panic!("no `{name}` in {arch}"));
            let of = |json: &Json, key: &str| json[key].as_u64();
            assert_eq!(
                layout.size(arch).map(u64::from),
                of(json, "size"),
                "size of {name} in {arch}"
            );
            assert_eq!(
                layout.align.map(u64::from),
                of(json, "align"),
                "alignment of {name} in {arch}"
            );
            for section in json["sections"].as_array().unwrap() {
                let label = section["name"].as_str().unwrap();
                let row = layout
                    .field(arch, label)
                    .unwrap_or_else(|| panic!("no {name}.{label} in {arch}"));
                let Kind::Struct(inner) = row.kind else {
                    panic!("{name}.{label} is no structure")
                };
                assert_eq!(section["struct"], inner.name, "{name}.{label} in {arch}");
                assert_eq!(
                    Some(u64::from(row.start / 8)),
                    of(section, "offset"),
                    "offset of {name}.{label} in {arch}"
                );
                assert_eq!(
                    Some(u64::from(row.width / 8)),
                    of(section, "size"),
                    "size of {name}.{label} in {arch}"
                );
            }
        }
    });
}

#[test]
fn every_enumeration_is_as_the_facts_say() {
    each_arch(|arch, data| {
        for json in data["enums"].as_array().unwrap() {
            let name = json["name"].as_str().unwrap();
            let table = ENUMS.iter().chain(NAMES).find(|table| table.name == name);
            let table = table.unwrap_or_else(|| panic!("no enumeration `{name}`"));
            let values = json["values"].as_array().unwrap();
            assert_eq!(
                table.values(arch).count(),
                values.len(),
                "values of {name} in {arch}"
            );
            for value in values {
                let (label, number) = (
                    value["name"].as_str().unwrap(),
                    value["value"].as_u64().unwrap(),
                );
                let found = table
                    .values(arch)
                    .find(|row| same_name(row.name, label) && u64::from(row.value) == number);
                assert!(found.is_some(), "no {name}.{label} = {number} in {arch}");
            }
        }
    });
}

#[test]
fn every_format_is_as_the_facts_say() {
    each_arch(|arch, data| {
        let formats = data["vk_formats"].as_array().unwrap();
        assert_eq!(
            VkFormat::all(arch).count(),
            formats.len(),
            "formats of {arch}"
        );
        for json in formats {
            let name = json["vk"].as_str().unwrap();
            let format =
                VkFormat::of_name(arch, name).unwrap_or_else(|| panic!("no {name} in {arch}"));
            let hardware = format!("{:#08x}", format.pixel_format().0);
            assert_eq!(json["hw"], hardware.as_str(), "{name}");
            assert_eq!(json["code_name"], format.code_name(arch), "{name}");
            assert_eq!(json["order_name"], format.order_name(arch), "{name}");
            assert_eq!(
                json["bytes_per_block"].as_u64(),
                Some(format.block_bytes.into()),
                "{name}"
            );
            assert_eq!(json["clump"].as_str().unwrap_or(""), format.clump, "{name}");
            assert_eq!(
                json["clump_code"].as_u64(),
                format.clump_code.map(u64::from),
                "{name}"
            );
            let tile = format.target().map(|target| {
                let internal = target.internal_format().expect(name);
                (
                    target.internal_name(arch),
                    target.writeback_name(arch),
                    internal.blendable.is_none(),
                )
            });
            let expected = json["tile"].as_object().map(|tile| {
                let text = |key: &str| tile[key].as_str().unwrap();
                let raw = tile.get("raw").and_then(Json::as_bool).unwrap_or(false);
                (text("internal"), text("writeback"), raw)
            });
            assert_eq!(tile, expected, "{name}");
            let second = json["stencil_plane"].as_object().map(|plane| {
                let own = VkFormat::of_name(arch, format.stencil_plane.unwrap_or("")).expect(name);
                let hardware = format!("{:#08x}", own.pixel_format().0);
                assert_eq!(plane["hw"], hardware.as_str(), "second plane of {name}");
                assert_eq!(plane["clump"], own.clump, "second plane of {name}");
                own.name
            });
            assert_eq!(format.stencil_plane, second, "second plane of {name}");
            let found =
                VkFormat::of_pixel_format(arch, format.pixel_format()).any(|other| other == format);
            assert!(found, "{name} is not found by its own code");
        }
    });
    assert!(!FORMATS.is_empty());
}

#[test]
fn every_ycbcr_format_is_as_the_facts_say() {
    each_arch(|arch, data| {
        let formats = data["ycbcr_formats"].as_array().unwrap();
        assert_eq!(
            YCBCR_FORMATS.len(),
            formats.len(),
            "YCbCr formats of {arch}"
        );
        for (format, json) in YCBCR_FORMATS.iter().zip(formats) {
            let planes = format.planes;
            assert_eq!(json["planes"], planes, "order of rows");
            let hardware = format!("{:#08x}", format.pixel_format().0);
            assert_eq!(json["hw"], hardware.as_str(), "{planes}");
            assert_eq!(json["clump_code"], format.clump_code, "{planes}");
            let vulkan = json["vk"]
                .as_str()
                .unwrap_or("")
                .trim_start_matches("VK_FORMAT_");
            assert_eq!(vulkan, format.vulkan, "{planes}");
            assert!(
                YcbcrFormat::of_pixel_format(format.pixel_format()).any(|other| other == format),
                "{planes}"
            );
        }
    });
}

//! Formats by their names: Vulkan's, and GLSL's for those of storage images.

use eitri_descriptors::formats::VkFormat;

/// GLSL's letters, and what they are in a Vulkan name; a row a letter after the bits.
#[rustfmt::skip]
const KINDS: &[(&str, &str)] = &[
    ("ui",     "UINT"),
    ("i",      "SINT"),
    ("f",      "SFLOAT"),
    ("_snorm", "SNORM"),
    ("",       "UNORM"),
];

/// The format of a Vulkan name; `None` where images can't have it.
pub(crate) fn of_vulkan(name: &str) -> Option<&'static VkFormat> {
    eitri_job::texel_format(name)
}

/// The format of a GLSL name such as `rgba8` or `r32ui`.
pub(crate) fn of_glsl(name: &str) -> Option<&'static VkFormat> {
    match name {
        "r11f_g11f_b10f" => return of_vulkan("B10G11R11_UFLOAT_PACK32"),
        "rgb10_a2" => return of_vulkan("A2B10G10R10_UNORM_PACK32"),
        "rgb10_a2ui" => return of_vulkan("A2B10G10R10_UINT_PACK32"),
        _ => {}
    }
    let digits = name.find(|letter: char| letter.is_ascii_digit())?;
    let (letters, rest) = name.split_at(digits);
    let end = rest.find(|letter: char| !letter.is_ascii_digit());
    let (bits, kind) = rest.split_at(end.unwrap_or(rest.len()));
    let (_, kind) = KINDS.iter().find(|(suffix, _)| *suffix == kind)?;
    let components: String = letters
        .chars()
        .map(|letter| format!("{}{bits}", letter.to_ascii_uppercase()))
        .collect();
    of_vulkan(&format!("{components}_{kind}"))
}

/// The format that a user names: either way.
pub(crate) fn of_name(name: &str) -> Option<&'static VkFormat> {
    of_vulkan(name).or_else(|| of_glsl(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_names_are_understood() {
        for (name, expected) in [
            ("rgba8", "R8G8B8A8_UNORM"),
            ("r32ui", "R32_UINT"),
            ("rg16f", "R16G16_SFLOAT"),
            ("rgba8_snorm", "R8G8B8A8_SNORM"),
            ("r11f_g11f_b10f", "B10G11R11_UFLOAT_PACK32"),
            ("VK_FORMAT_R8G8B8A8_SRGB", "R8G8B8A8_SRGB"),
            ("b8g8r8a8_unorm", "B8G8R8A8_UNORM"),
        ] {
            assert_eq!(of_name(name).map(|format| format.name), Some(expected));
        }
        for name in ["", "rgba", "rgba7", "BC1_RGB_UNORM_BLOCK", "r64ui"] {
            assert_eq!(of_name(name), None, "{name}");
        }
    }
}

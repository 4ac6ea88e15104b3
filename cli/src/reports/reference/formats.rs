//! Pixel formats as pages.

use super::{Family, Page, arch_text};
use eitri_descriptors::formats::{FORMATS, Uses, VkFormat};
use eitri_descriptors::ycbcr::{YCBCR_FORMATS, YcbcrFormat};
use eitri_descriptors::{Arch, SUPPORTED};

pub(super) fn pages() -> Vec<Page> {
    let ycbcr = YCBCR_FORMATS.iter().map(ycbcr);
    FORMATS.iter().map(page).chain(ycbcr).collect()
}

fn page(format: &VkFormat) -> Page {
    let arch = SUPPORTED
        .iter()
        .find(|arch| format.archs.contains(*arch))
        .unwrap_or(Arch::V10);
    let about = format!(
        "{} in {} bytes a block, usable as {}.",
        format.code_name(arch),
        format.block_bytes,
        uses(format.uses)
    );
    let mut page = Page::new(Family::Format, format.name, about)
        .fact("pixel format", format!("{:#08x}", format.pixel_format().0))
        .fact(
            "code",
            format!("{} ({})", format.code, format.code_name(arch)),
        )
        .fact(
            "component order",
            format!("{} ({})", format.order, format.order_name(arch)),
        )
        .fact("sRGB", if format.srgb { "yes" } else { "" })
        .fact("bytes of a block", format.block_bytes.to_string())
        .fact("usable as", uses(format.uses))
        .fact("clump format", format.clump)
        .fact("stencil plane", format.stencil_plane.unwrap_or(""))
        .fact(
            "exists on",
            arch_text(SUPPORTED.iter(), |arch| format.archs.contains(arch)),
        );
    if let Some(target) = format.target() {
        let blendable = target.internal_format().and_then(|row| row.blendable);
        let raw = if blendable.is_some() {
            ""
        } else {
            ", not blendable by fixed function"
        };
        let name = target.writeback_name(Arch::V10);
        page = page
            .fact("in the tile buffer", target.internal_name(Arch::V10))
            .fact("written back as", format!("{name}{raw}"));
    }
    page.aliases = vec![format!("VK_FORMAT_{}", format.name)];
    page
}

fn ycbcr(format: &YcbcrFormat) -> Page {
    let name = if format.vulkan.is_empty() {
        format.planes
    } else {
        format.vulkan
    };
    let mut page = Page::new(
        Family::Format,
        name,
        "YCbCr, with chroma smaller than luma; read without conversion.",
    )
    .fact("pixel format", format!("{:#08x}", format.pixel_format().0))
    .fact("code", format.code.to_string())
    .fact("planes", format.planes)
    .fact("swaps U and V", if format.swap { "yes" } else { "" })
    .fact("clump format", format.clump_code.to_string());
    page.aliases = vec![format.planes.to_owned(), format!("VK_FORMAT_{name}")];
    page
}

/// What a format can be used for, in words.
pub(super) fn uses(uses: Uses) -> String {
    let all = [
        (Uses::VERTEX, "vertex attribute"),
        (Uses::TEXTURE, "texture"),
        (Uses::COLOUR_TARGET, "colour target"),
        (Uses::DEPTH_STENCIL, "depth or stencil target"),
        (Uses::IMAGE, "storage image"),
    ];
    let words: Vec<_> = all
        .into_iter()
        .filter(|(one, _)| uses.contains(*one))
        .map(|(_, word)| word)
        .collect();
    words.join(", ")
}

//! Handles and payloads of texture messages: IR as text, and the machine IR that it becomes.
//!
//! Facts: hardware/valhall-isa.md 11.10 (the payload); hardware/compiler-lowering.md 3.3 (handles).

use super::select::after;
use crate::machine::parse as machine;

/// Compares what each line became after legalisation: the texts after `; expect:` must occur in this order, with `%` standing
/// for any value. Bindings: images with their samplers between two others, an image of several samples.
#[track_caller]
fn check(body: &str) {
    let text = format!(
        "function main
workgroup 64 1 1
binding 0 0 sampled_image image 2d count 3
binding 0 1 combined_image_sampler image 2d count 4
binding 0 2 sampled_image image 2d.samples
b0:
  %x = global_id.x
  %y = global_id.y
  %z = global_id.z
{body}
  %rg = ixor %r, %g
  %ba = ixor %b, %a
  %rgba = ixor %rg, %ba
  store.shared 0, %rgba
  return
"
    );
    let got = after(&text, "share_moves");
    machine::expect(body, &machine::without_numbers(&got));
}

#[test]
fn an_image_with_its_sampler_has_two_descriptors() {
    // Three images come first. Then each element has two descriptors, the sampler behind its image: 0x1000003 + 2 * 2 and one more.
    check(
        "
      %r, %g, %b, %a = image.sample_level.2d.constant @0.1.2, @0.1.2, 1.0, 1.0, 1.0
                                    ; expect: % = IADD_IMM.i32 t0, imm:16777224
                                    ; expect: % = IADD_IMM.i32 t0, imm:16777223
    ",
    );
    // The number of the element is shifted by 1, which is in t4.b3.
    check(
        "
      %i = resource.0.1 %z          ; expect: % = LSHIFT_OR.i32 %, t4.b3, t0
                                    ; expect: % = IADD_IMM.i32 %, imm:16777219
      %r, %g, %b, %a = image.sample_level.2d.constant %i, %i, 1.0, 1.0, 1.0
                                    ; expect: % = IADD_IMM.i32 %, imm:1
    ",
    );
    // The next binding begins behind all of them, at 0x1000003 + 4 * 2.
    check(
        "
      %r, %g, %b, %a = image.fetch.2d.samples.constant @0.2, %x, %y, 0
                                    ; expect: % = IADD_IMM.i32 t0, imm:16777227
    ",
    );
}

/// A byte each: the offsets from the lowest on, the sample in the third, the level in the highest. The shifts by 16 and 24 are in
/// t12.b0 and t14.b0.
#[test]
fn a_fetch_has_its_offsets_sample_and_level_in_a_word() {
    let fetch = |operands: &str, expected: &str| {
        check(&format!(
            "
      %r, %g, %b, %a = image.fetch.{operands}  ; expect: {expected}
                                    ; expect: TEX_FETCH.2d.format.32.texel_offset"
        ));
    };
    fetch(
        "2d.constant @0.0, %x, %y, 3",
        "IADD_IMM.i32 t0, imm:50331648",
    );
    fetch(
        "2d.constant @0.0, %x, %y, %z",
        "LSHIFT_OR.i32 %, t14.b0, t0",
    );
    fetch(
        "2d.offset.constant @0.0, %x, %y, 0, 1, -2",
        "IADD_IMM.i32 t0, imm:65025",
    );
    fetch(
        "2d.samples.constant @0.2, %x, %y, 3",
        "IADD_IMM.i32 t0, imm:196608",
    );
    fetch(
        "2d.samples.constant @0.2, %x, %y, %z",
        "LSHIFT_OR.i32 %, t12.b0, t0",
    );
}

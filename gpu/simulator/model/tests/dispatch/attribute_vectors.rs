//! Attributes of instances against vectors that were computed elsewhere: divisors that are no powers of two.
//!
//! Facts: hardware/graphics-draw.md 3.6.

use super::BUFFER;
use super::format_vectors::{TEXELS, dispatched, put_attribute};
use super::texture_vectors::{LOAD, STORE};
use super::vector_files::{FIRST, list, number};
use eitri_descriptors::PixelFormat;
use eitri_descriptors::resource::{Attribute, AttributeFrequency, AttributeType};

#[test]
fn instances_are_divided_as_every_vector() {
    let text = format!(
        "{LOAD}
        LD_ATTR_IMM.v4.u32.slot0.wait0 @r8:r9:r10:r11, r60, r4, index:0x2, table:0x1
        {STORE}"
    );
    for vector in list(FIRST, "attribute_npot_divisor") {
        let [divisor, r, d, e] =
            ["divisor", "r", "d_stored", "e"].map(|name| number(&vector[name]));
        let last = u32::MAX / divisor;
        for quotient in [0, 1, 2, last / 3, last / 2, last - 1, last] {
            // Instances around the first and the last of this quotient; those that do not exist are left out.
            let first = quotient * divisor;
            let instances: Vec<u32> = [
                Some(first),
                first.checked_add(1),
                first.checked_add(divisor - 1),
                first.checked_sub(1),
                first.checked_add(divisor),
            ]
            .into_iter()
            .flatten()
            .collect();
            let payloads: Vec<[u32; 4]> = instances.iter().map(|it| [*it, 0, 0, 0]).collect();
            // Elements are bytes that hold their place behind `first`'s: 16 for its own.
            let bytes: Vec<u8> = (0..32).collect();
            let results = dispatched(&text, [0; 2], &payloads, |bench| {
                let attribute = Attribute {
                    attribute_type: AttributeType::OneDNpotDivisor,
                    // R8 UINT.
                    format: PixelFormat(0x08_3010),
                    table: 1,
                    frequency: AttributeFrequency::Instance,
                    divisor_r: r,
                    divisor_e: e,
                    divisor_d: d,
                    offset: ((TEXELS - BUFFER) as i64 + 16 - i64::from(quotient)) as i32,
                    stride: 1,
                    ..Attribute::default()
                };
                put_attribute(bench, &attribute);
                bench.put(1, TEXELS, &bytes);
            });
            for (instance, [element, ..]) in instances.iter().zip(results) {
                let wanted = 16 + i64::from(instance / divisor) - i64::from(quotient);
                assert_eq!(i64::from(element), wanted, "instance {instance}: {vector}");
            }
        }
    }
}

//! How results are compared without a host.

use eitri_drawing::{Nearness, Verdict, Wanted};

const EXACT: Nearness = Nearness::Steps {
    steps: 0,
    texels: 0,
};

/// Two texels of two bytes in a row.
fn wanted(bytes: &[u8], rule: Nearness) -> Wanted<'_> {
    Wanted {
        bytes,
        mask: &[],
        texel_bytes: 2,
        row_texels: 2,
        rule,
    }
}

#[test]
fn rows_that_differ_are_named() {
    let bytes = [0; 32];
    let mut got = bytes;
    // Texels 2 and 3 of row 1, one of row 2, one of row 6.
    for at in [4, 7, 10, 25] {
        got[at] = 9;
    }
    let found = wanted(&bytes, EXACT).compare(&got).unwrap();
    assert_eq!(found.verdict, Verdict::Different);
    assert_eq!(
        found.to_string(),
        "4 of 16 texels differ, in rows 1 to 2, 6"
    );
    let last = found.rows[2];
    assert_eq!((last.row, last.first, last.off), (6, 0, 1));
    assert_eq!(wanted(&bytes, EXACT).texel(&got, 6, 0), [0, 9]);
}

#[test]
fn rules_allow_what_they_say() {
    let bytes = [10, 10, 10, 10];
    let of = |steps, texels, got: [u8; 4]| {
        let rule = Nearness::Steps { steps, texels };
        wanted(&bytes, rule).compare(&got).unwrap().verdict
    };
    assert_eq!(of(0, 0, bytes), Verdict::Equal);
    assert_eq!(of(1, 0, [11, 9, 10, 10]), Verdict::Near);
    assert_eq!(of(1, 0, [12, 10, 10, 10]), Verdict::Different);
    assert_eq!(of(1, 1, [12, 10, 10, 10]), Verdict::Near);
    assert_eq!(of(1, 1, [12, 10, 10, 13]), Verdict::Different);
    let other = wanted(&bytes, Nearness::Other);
    assert_eq!(other.compare(&bytes).unwrap().verdict, Verdict::Equal);
    assert_eq!(other.compare(&[0; 4]).unwrap().verdict, Verdict::Unknown);
    assert_eq!(other.compare(&[0; 3]), None);
}

#[test]
fn a_mask_leaves_texels_out() {
    let bytes = [1, 1, 2, 2];
    let wanted = Wanted {
        mask: &[1, 0],
        ..wanted(&bytes, EXACT)
    };
    assert_eq!(
        wanted.compare(&[1, 1, 9, 9]).unwrap().verdict,
        Verdict::Equal
    );
    assert_eq!(
        wanted.compare(&[1, 0, 2, 2]).unwrap().verdict,
        Verdict::Different
    );
}

#[test]
fn many_rows_are_counted() {
    let bytes = [0; 160];
    let got: Vec<u8> = (0..160).map(|at| u8::from(at % 8 == 0)).collect();
    let text = wanted(&bytes, EXACT).compare(&got).unwrap().to_string();
    assert!(text.ends_with(", 28, 30 and 4 rows more"), "{text}");
}

//! What is said of drawings on the console where no host takes results: TAP, a checksum for each result, and on request the rows that
//! are not as they should be.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use eitri_amber_device::{Verdict, tap};
use eitri_drawing::suite::{self, Suite, SuiteError};
use eitri_drawing::{Comparison, Drawing, Verdict as Nearness, Wanted};
use eitri_job::Saved;
use eitri_job::result::FailureKind;
use eitri_kernel::{print, println};
use eitri_on_board::MmioPlatform;

/// Plays drawings and reports each; gives the number of those that failed. `rows` asks for the rows that differ.
pub(crate) fn play_all(
    mut platform: MmioPlatform,
    bytes: &'static [u8],
    numbers: &RangeInclusive<usize>,
    rows: bool,
) -> Result<usize, SuiteError> {
    let Suite { firmware, entries } = suite::read::<Drawing<'_>>(bytes)?;
    print!("{}", tap::start(entries.len()));
    let (mut passed, mut failed, mut skipped) = (0_usize, 0_usize, 0_usize);
    for (number, drawing) in (1..).zip(entries) {
        if !numbers.contains(&number) {
            continue;
        }
        let drawing = drawing?;
        let (after, played) = eitri_player::play_here(platform, firmware, &drawing, &mut ());
        platform = after;
        let verdict = match played {
            Ok(results) => judge(&drawing, &results, rows),
            Err(failure) if failure.kind == FailureKind::Unsupported => Verdict::Skip(failure.text),
            Err(failure) => Verdict::Fail(failure.text),
        };
        match &verdict {
            Verdict::Pass => passed += 1,
            Verdict::Fail(_) => failed += 1,
            Verdict::Skip(_) => skipped += 1,
        }
        print!("{}", tap::result(number, drawing.name, &verdict));
    }
    let summary = format!("{passed} passed, {failed} failed, {skipped} skipped");
    print!("{}", tap::end(&summary));
    Ok(failed)
}

/// Compares the results of a drawing, and says the checksum of each.
fn judge(drawing: &Drawing<'_>, results: &[Saved], rows: bool) -> Verdict {
    let mut wrong: Vec<String> = Vec::new();
    let mut unknown = None;
    for (number, result) in results.iter().enumerate() {
        let checksum = crc32fast::hash(&result.bytes);
        let Some(wanted) = drawing.wanted.get(number) else {
            println!("# {} result {number}: crc32 {checksum:08x}", drawing.name);
            continue;
        };
        let other = crc32fast::hash(wanted.bytes);
        println!(
            "# {} result {number}: crc32 {checksum:08x}, wanted {other:08x}",
            drawing.name
        );
        let Some(found) = wanted.compare(&result.bytes) else {
            let (found, wanted) = (result.bytes.len(), wanted.bytes.len());
            wrong.push(format!("result {number} has {found} bytes, not {wanted}"));
            continue;
        };
        if rows && found.verdict != Nearness::Equal {
            print_rows(wanted, &result.bytes, &found);
        }
        match found.verdict {
            Nearness::Equal | Nearness::Near => {}
            Nearness::Unknown => {
                let why = "is not equal, and a board does not know its rule";
                unknown = unknown.or(Some(format!("result {number} {why}: {found}")));
            }
            Nearness::Different => wrong.push(format!("result {number}: {found}")),
        }
    }
    match (wrong.is_empty(), unknown) {
        (false, _) => Verdict::Fail(wrong.join("\n")),
        (true, Some(why)) => Verdict::Skip(why),
        (true, None) => Verdict::Pass,
    }
}

/// Prints the rows with texels that are off, and the first of these.
fn print_rows(wanted: &Wanted<'_>, got: &[u8], found: &Comparison) {
    for row in &found.rows {
        let texel = |contents| hexadecimal(wanted.texel(contents, row.row, row.first));
        println!(
            "# row {}: {} texels off, at {} {}, wanted {}",
            row.row,
            row.off,
            row.first,
            texel(got),
            texel(wanted.bytes)
        );
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match digits.is_empty() {
        true => "nothing".to_string(),
        false => digits,
    }
}

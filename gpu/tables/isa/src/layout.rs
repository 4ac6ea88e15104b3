//! Where modifiers and immediates lie in the words of a generation that has a layout of its own.
//!
//! An [`Instr`](crate::Instr) keeps them at the places of its row, whatever the generation; here they move to the word's
//! places and back. Facts: hardware/valhall-isa.md sections 5 and 11.12.

use crate::arch::Arch;
use crate::error::{EncodeError, Rule};
use crate::field::{Field, Immediate};
use crate::row::{Layout, Row};
use crate::values::FieldId;

/// The bits of `fields` as `arch` lays them out. `count` is the number of staging registers.
pub(crate) fn place(
    row: &'static Row,
    fields: u64,
    count: u8,
    arch: Arch,
) -> Result<u64, EncodeError> {
    let Some(layout) = row.layout(arch) else {
        return Ok(fields);
    };
    let mut word = 0;
    for (from, to) in fields_of(row, layout) {
        let value = from.extract(fields);
        let fits = to.width == from.width || (value >> to.width != 0) == (count > 1);
        if !fits {
            let op = row.op;
            return Err(Rule::CheckedWidth { op, count, arch }.into());
        }
        word |= (u64::from(value) << to.pos) & to.mask();
    }
    for (from, to) in immediates_of(row, layout) {
        let value = from.extract(fields);
        let (least, greatest) = to.range();
        word |= to.insert(value).ok_or(EncodeError::Immediate {
            op: row.op,
            name: to.id.name(),
            value,
            least,
            greatest,
        })?;
    }
    Ok(word)
}

/// The modifiers and immediates of a word of `arch`, at the places of the row.
pub(crate) fn gather(row: &'static Row, layout: &Layout, word: u64, count: u8) -> u64 {
    let mut fields = 0;
    for (to, from) in fields_of(row, layout) {
        let mut value = from.extract(word);
        // The one field that lost a bit, the width of a checked access: more than one register means the wide ones.
        if from.width < to.width && count > 1 {
            value |= 1 << from.width;
        }
        fields |= u64::from(value) << to.pos;
    }
    for (to, from) in immediates_of(row, layout) {
        fields |= to.insert(from.extract(word)).unwrap_or(0);
    }
    fields
}

/// The modifiers, each as the row and as the layout have it.
fn fields_of<'a>(
    row: &'static Row,
    layout: &'a Layout,
) -> impl Iterator<Item = (&'static Field, &'a Field)> {
    let same = |id: FieldId| layout.fields.iter().find(move |field| field.id == id);
    row.fields
        .iter()
        .filter_map(move |field| Some((field, same(field.id)?)))
}

/// The immediates, each as the row and as the layout have it.
fn immediates_of<'a>(
    row: &'static Row,
    layout: &'a Layout,
) -> impl Iterator<Item = (&'static Immediate, &'a Immediate)> {
    let rows = row.immediates.iter();
    rows.zip(layout.immediates)
}

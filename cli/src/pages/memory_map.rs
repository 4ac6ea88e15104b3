//! The memory map of a dump as a picture: a bar a mapping, and a mark where an access failed.

use super::anchor;
use serde_json::{Value, json};
use std::ops::Range;

/// Units of the picture's own between mappings that don't touch.
const GAP: u64 = 12;

/// A mapping as the picture needs it.
struct Mapping<'v> {
    space: u64,
    start: u64,
    end: u64,
    of: &'v Value,
}

/// The mappings of a dump's JSON.
fn mappings(dump: &Value) -> Vec<Mapping<'_>> {
    let all = dump["mappings"].as_array().into_iter().flatten();
    let mapping = |of: &'_ Value| -> Option<(u64, u64, u64)> {
        Some((
            of["space"].as_u64()?,
            of["start"].as_u64()?,
            of["end"].as_u64()?,
        ))
    };
    all.filter_map(|of| {
        let (space, start, end) = mapping(of)?;
        Some(Mapping {
            space,
            start,
            end,
            of,
        })
    })
    .collect()
}

/// The anchor of a mapping's row.
fn row_id(space: u64, start: u64) -> String {
    anchor("mapping", &format!("{space}-{start:x}"))
}

/// What addresses are linked to.
pub(super) struct Links(Vec<Link>);

struct Link {
    space: u64,
    range: Range<u64>,
    row: String,
}

impl Links {
    /// The mappings of a dump's JSON.
    pub(super) fn of(dump: &Value) -> Links {
        let all = mappings(dump).into_iter().map(|it| Link {
            space: it.space,
            range: it.start..it.end,
            row: row_id(it.space, it.start),
        });
        Links(all.collect())
    }

    /// The row of the one mapping that an address lies in. Streams, jobs and shaders have addresses of their group's space: the
    /// firmware's, number 0 (`hardware/csf-mmio.md`), counts where no other has the address.
    pub(super) fn row(&self, address: u64) -> Option<&str> {
        let only = |firmware: bool| {
            let mut rows = self
                .0
                .iter()
                .filter(|link| (link.space == 0) == firmware && link.range.contains(&address));
            match (rows.next(), rows.next()) {
                (Some(link), None) => Ok(Some(link.row.as_str())),
                (None, _) => Ok(None),
                (Some(_), Some(_)) => Err(()),
            }
        };
        match only(false) {
            Ok(Some(row)) => Some(row),
            Ok(None) => only(true).ok().flatten(),
            Err(()) => None,
        }
    }
}

/// How wide a mapping is drawn: by the number of digits of its pages, so that a page can be seen beside a heap.
fn width(bytes: u64) -> u64 {
    10 + 6 * u64::from((bytes >> 12).max(1).ilog2())
}

/// For each address space its bars, its marks, and its rows as a table.
pub(super) fn spaces(dump: &Value) -> Vec<Value> {
    let mappings = mappings(dump);
    let mut numbers: Vec<u64> = mappings.iter().map(|it| it.space).collect();
    numbers.dedup();
    numbers
        .into_iter()
        .map(|number| {
            let own: Vec<&Mapping<'_>> = mappings.iter().filter(|it| it.space == number).collect();
            space(number, &own, dump)
        })
        .collect()
}

fn space(number: u64, mappings: &[&Mapping<'_>], dump: &Value) -> Value {
    let (mut bars, mut rows, mut places) = (vec![], vec![], vec![]);
    let (mut x, mut before) = (GAP, None);
    for it in mappings {
        if before.is_some_and(|end| end != it.start) {
            x += GAP;
        }
        before = Some(it.end);
        let may = may(it.of);
        let bytes = it.end - it.start;
        let width = width(bytes);
        let id = row_id(number, it.start);
        let label = it.of["label"]
            .as_str()
            .map_or(String::new(), |label| format!(", {label}"));
        let title = format!(
            "{:#x} to {:#x}, {may}, {bytes:#x} bytes{label}",
            it.start, it.end
        );
        bars.push(
            json!({ "x": x, "width": width, "class": class(it.of), "title": title, "id": id }),
        );
        rows.push(json!({
            "id": id, "start": it.start, "end": it.end, "may": may, "physical": it.of["physical"], "label": it.of["label"],
        }));
        places.push((it.start, it.end, x, width));
        x += width;
    }
    let faults = dump["faults"].as_array().into_iter().flatten().enumerate();
    let marks = faults.filter_map(|(index, fault)| {
        let address = fault["address"].as_u64()?;
        (fault["space"].as_u64() == Some(number)).then(|| {
            let id = format!("fault-{}", index + 1);
            json!({ "x": place(&places, address, x + GAP), "title": format!("{address:#x}"), "id": id })
        })
    });
    let marks: Vec<Value> = marks.collect();
    json!({ "space": number, "width": x + GAP * 2, "bars": bars, "marks": marks, "rows": rows })
}

/// Where an address is drawn: in its mapping in proportion, else in the gap before the next one.
fn place(places: &[(u64, u64, u64, u64)], address: u64, behind_all: u64) -> u64 {
    let next = places.iter().find(|(_, end, ..)| address < *end);
    next.map_or(behind_all, |&(start, end, x, width)| {
        match address.checked_sub(start) {
            Some(inside) => {
                let share = u128::from(inside) * u128::from(width) / u128::from(end - start);
                // At most the width.
                x + share as u64
            }
            None => x.saturating_sub(GAP / 2),
        }
    })
}

/// `r-x` and its like.
fn may(mapping: &Value) -> String {
    let letters = [("readable", 'r'), ("writable", 'w'), ("executable", 'x')];
    let letter = |(name, letter): (&str, char)| match mapping[name] == true {
        true => letter,
        false => '-',
    };
    letters.map(letter).into_iter().collect()
}

/// How a mapping is coloured.
fn class(mapping: &Value) -> &'static str {
    match [
        &mapping["executable"],
        &mapping["writable"],
        &mapping["readable"],
    ] {
        [executable, ..] if *executable == true => "x",
        [_, writable, _] if *writable == true => "w",
        [.., readable] if *readable == true => "r",
        _ => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump() -> Value {
        let mapping = |start: u64, end: u64, writable: bool| {
            json!({ "space": 1, "start": start, "end": end, "readable": true, "writable": writable, "executable": false,
                "physical": null, "label": null })
        };
        json!({
            "mappings": [mapping(0x1000, 0x2000, true), mapping(0x2000, 0x4000, false), mapping(0x10000, 0x11000, true)],
            "faults": [{ "space": 1, "address": 0x3000 }, { "space": 1, "address": 0x8000 }, { "space": 2, "address": 0 }],
        })
    }

    #[test]
    fn marks_lie_in_their_mapping_or_in_the_gap() {
        let spaces = spaces(&dump());
        let [space] = &spaces[..] else {
            panic!("one address space: {spaces:?}")
        };
        let bar = |number: usize| {
            let bar = &space["bars"][number];
            let (x, width) = (
                bar["x"].as_u64().unwrap_or(0),
                bar["width"].as_u64().unwrap_or(0),
            );
            (x, x + width)
        };
        let mark = |number: usize| space["marks"][number]["x"].as_u64().unwrap_or(0);
        assert_eq!(bar(0).1, bar(1).0, "mappings that touch are drawn so");
        assert!(bar(1).1 < bar(2).0, "a gap is one");
        assert!(
            bar(1).0 < mark(0) && mark(0) < bar(1).1,
            "in the middle of its mapping"
        );
        assert!(bar(1).1 < mark(1) && mark(1) < bar(2).0, "in the gap");
        assert_eq!(
            space["marks"].as_array().map(Vec::len),
            Some(2),
            "another space's fault is not here"
        );
    }

    #[test]
    fn addresses_lead_to_the_one_mapping_that_has_them() {
        let mut dump = dump();
        let links = Links::of(&dump);
        assert_eq!(links.row(0x2FFF), Some("mapping-1-2000"));
        assert_eq!(links.row(0x5000), None);
        for space in [0, 2] {
            let mut other = dump["mappings"][1].clone();
            other["space"] = json!(space);
            dump["mappings"].as_array_mut().expect("a list").push(other);
            // Of the firmware's space and another one it is the other; of two others it can't be told.
            let expected = (space == 0).then_some("mapping-1-2000");
            assert_eq!(Links::of(&dump).row(0x2FFF), expected, "space {space}");
        }
    }
}

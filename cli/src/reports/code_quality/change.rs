//! What changed between two tables: helped, hurt, lost, gained, with the worst by name.

use super::column::{COLUMNS, Column, Good, LOOPS};
use super::table::Table;
use std::fmt;

/// Kernels that are named of each figure.
const NAMED: usize = 5;

/// One kernel's figure, before and after.
struct Affected<'a> {
    name: &'a str,
    before: f64,
    after: f64,
}

impl Affected<'_> {
    /// Growth, as a factor above 0; of nothing to something it is without bound.
    fn factor(&self) -> f64 {
        match (self.before, self.after) {
            (0.0, 0.0) => 1.0,
            (0.0, _) => f64::INFINITY,
            (before, after) => after / before,
        }
    }
}

/// The difference of two tables, to be shown.
pub(crate) struct Change<'a> {
    before: &'a Table,
    after: &'a Table,
}

impl<'a> Change<'a> {
    pub(crate) fn between(before: &'a Table, after: &'a Table) -> Change<'a> {
        Change { before, after }
    }

    /// Kernels whose figure is another one now; those whose loops changed are left out where that matters.
    fn affected(&self, column: &Column) -> Vec<Affected<'a>> {
        let kernels = self.after.kernels.iter();
        let pairs = kernels.filter_map(|after| {
            let before = self.before.kernel(&after.name)?;
            let same_loops = before.figure(LOOPS) == after.figure(LOOPS);
            if column.depends_on_loops() && !same_loops {
                return None;
            }
            Some(Affected {
                name: &after.name,
                before: before.figure(column.name)?,
                after: after.figure(column.name)?,
            })
        });
        pairs.filter(|pair| pair.before != pair.after).collect()
    }

    /// Names of kernels that are good in one table and known but not good in the other.
    fn good_only_in(one: &'a Table, other: &Table) -> Vec<&'a str> {
        let good = one.kernels.iter().filter(|kernel| kernel.is_good());
        let lost = good.filter(|kernel| {
            let there = other.kernel(&kernel.name);
            there.is_some_and(|there| !there.is_good())
        });
        lost.map(|kernel| kernel.name.as_str()).collect()
    }

    fn loops_changed(&self) -> Vec<&'a str> {
        let column = COLUMNS.iter().find(|column| column.name == LOOPS);
        let affected = column.map_or(Vec::new(), |column| self.affected(column));
        affected.iter().map(|pair| pair.name).collect()
    }
}

impl fmt::Display for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<16} {:>14} {:>14} {:>8} {:>7} {:>5}",
            "figure", "before", "after", "change", "helped", "hurt"
        )?;
        let mut changed = false;
        for column in COLUMNS {
            let mut affected = self.affected(column);
            if affected.is_empty() {
                continue;
            }
            changed = true;
            affected.sort_by(|a, b| a.factor().total_cmp(&b.factor()).then(a.name.cmp(b.name)));
            row(f, column, &affected)?;
        }
        if !changed {
            writeln!(f, "(no figure has changed)")?;
        }
        let lists = [
            ("lost", Change::good_only_in(self.before, self.after)),
            ("gained", Change::good_only_in(self.after, self.before)),
            (
                "other number of loops, set aside in static figures",
                self.loops_changed(),
            ),
        ];
        for (what, names) in lists {
            if !names.is_empty() {
                writeln!(f, "{what}: {}", names.join(", "))?;
            }
        }
        Ok(())
    }
}

/// One figure: totals of the affected kernels, how many of them went which way, and the first of each side by name.
fn row(f: &mut fmt::Formatter<'_>, column: &Column, affected: &[Affected<'_>]) -> fmt::Result {
    let sum = |part: fn(&Affected<'_>) -> f64| affected.iter().map(part).sum::<f64>();
    let (before, after) = (sum(|pair| pair.before), sum(|pair| pair.after));
    let less = affected.iter().filter(|pair| pair.after < pair.before);
    let (less, all) = (less.count(), affected.len());
    let counts = match column.good {
        Good::Less => [less.to_string(), (all - less).to_string()],
        Good::More => [(all - less).to_string(), less.to_string()],
        Good::Neither => ["-", "-"].map(str::to_owned),
    };
    let percent = match before {
        0.0 => "new".to_owned(),
        before => format!("{:+.2} %", 100.0 * (after / before - 1.0)),
    };
    writeln!(
        f,
        "{:<16} {before:>14.2} {after:>14.2} {percent:>8} {:>7} {:>5}",
        column.name, counts[0], counts[1]
    )?;
    if column.good == Good::Neither {
        return Ok(());
    }
    let side = |what: &str, pairs: &mut dyn Iterator<Item = &Affected<'_>>| {
        let named = pairs.take(NAMED).map(|pair| match pair.before {
            0.0 => format!("{} 0 to {}", pair.name, pair.after),
            _ => format!("{} {:+.1} %", pair.name, 100.0 * (pair.factor() - 1.0)),
        });
        let named: Vec<String> = named.collect();
        match named.as_slice() {
            [] => String::new(),
            named => format!("    {what}: {}\n", named.join(", ")),
        }
    };
    let smaller = side(
        if column.good == Good::Less {
            "helped most"
        } else {
            "hurt most"
        },
        &mut affected.iter().filter(|pair| pair.after < pair.before),
    );
    let larger = side(
        if column.good == Good::Less {
            "hurt most"
        } else {
            "helped most"
        },
        &mut affected
            .iter()
            .rev()
            .filter(|pair| pair.after > pair.before),
    );
    write!(f, "{smaller}{larger}")
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::kernel;
    use super::super::table::{Kernel, Result};
    use super::*;

    fn bare(name: &str, result: Result) -> Kernel {
        Kernel {
            name: name.to_owned(),
            result,
        }
    }

    #[test]
    fn helped_hurt_lost_and_gained() {
        let before = Table {
            kernels: vec![
                kernel(
                    "a",
                    &[("cycles", 10.0), ("threads", 2.0), ("ran-cycles", 100.0)],
                ),
                kernel("b", &[("cycles", 10.0), ("threads", 1.0)]),
                kernel("c", &[("cycles", 1.0), ("loops", 2.0), ("ran-cycles", 8.0)]),
                kernel("d", &[]),
                bare("e", Result::Refused),
                kernel("dropped", &[]),
            ],
        };
        let after = Table {
            kernels: vec![
                kernel(
                    "a",
                    &[("cycles", 5.0), ("threads", 1.0), ("ran-cycles", 150.0)],
                ),
                kernel("b", &[("cycles", 10.0), ("threads", 2.0), ("spills", 3.0)]),
                kernel("c", &[("cycles", 9.0), ("loops", 0.0), ("ran-cycles", 4.0)]),
                bare("d", Result::Failed),
                kernel("e", &[]),
                kernel("new", &[]),
            ],
        };
        let text = Change::between(&before, &after).to_string();
        let wanted = "\
figure                   before          after   change  helped  hurt
cycles                    10.00           5.00 -50.00 %       1     0
    helped most: a -50.0 %
threads                    3.00           3.00  +0.00 %       1     1
    hurt most: a -50.0 %
    helped most: b +100.0 %
loops                      2.00           0.00 -100.00 %       -     -
spills                     0.00           3.00      new       0     1
    hurt most: b 0 to 3
ran-cycles               108.00         154.00 +42.59 %       1     1
    helped most: c -50.0 %
    hurt most: a +50.0 %
lost: d
gained: e
other number of loops, set aside in static figures: c
";
        assert_eq!(text, wanted);
        let same = Change::between(&after, &after).to_string();
        assert!(same.ends_with("(no figure has changed)\n"), "{same}");
    }
}

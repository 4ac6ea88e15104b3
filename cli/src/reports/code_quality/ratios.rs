//! Ratios of one figure of many kernels, and what they have in common.

use super::table::Table;
use std::fmt;

/// One kernel's figure over that of something else.
pub(crate) struct Ratio<'a> {
    pub(crate) name: &'a str,
    pub(crate) factor: f64,
}

/// The ratios of many kernels, largest first.
pub(crate) struct Ratios<'a>(pub(crate) Vec<Ratio<'a>>);

impl<'a> Ratios<'a> {
    /// Of a column over what `other` gives for a kernel of that name; kernels that lack either are left out.
    pub(crate) fn of(
        table: &'a Table,
        column: &str,
        other: impl Fn(&str) -> Option<f64>,
    ) -> Ratios<'a> {
        let ratios = table.kernels.iter().filter_map(|kernel| {
            let (ours, theirs) = (kernel.figure(column)?, other(&kernel.name)?);
            (ours > 0.0 && theirs > 0.0).then(|| Ratio {
                name: &kernel.name,
                factor: ours / theirs,
            })
        });
        let mut ratios: Vec<Ratio<'a>> = ratios.collect();
        ratios.sort_by(|a, b| b.factor.total_cmp(&a.factor).then(a.name.cmp(b.name)));
        Ratios(ratios)
    }

    fn geometric_mean(&self) -> f64 {
        let logarithms: f64 = self.0.iter().map(|ratio| ratio.factor.ln()).sum();
        (logarithms / self.0.len() as f64).exp()
    }

    fn median(&self) -> f64 {
        let count = self.0.len();
        let middle = [(count - 1) / 2, count / 2].map(|at| self.0[at].factor);
        f64::midpoint(middle[0], middle[1])
    }

    /// How many are above a limit.
    pub(crate) fn above(&self, limit: f64) -> usize {
        self.0.iter().filter(|ratio| ratio.factor > limit).count()
    }

    /// The largest by name.
    pub(crate) fn worst(&self, count: usize) -> String {
        let worst = self.0.iter().take(count);
        let worst = worst.map(|ratio| format!("{} {:.2}", ratio.name, ratio.factor));
        worst.collect::<Vec<String>>().join(", ")
    }
}

impl fmt::Display for Ratios<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.first() {
            None => write!(f, "no kernel in both"),
            Some(worst) => write!(
                f,
                "{:.3}  (median {:.3}, worst {:.3}, {} kernels)",
                self.geometric_mean(),
                self.median(),
                worst.factor,
                self.0.len()
            ),
        }
    }
}

/// What accesses that do no harm cost: the figures with `--robust on` over those without, as text.
pub(crate) fn robust_cost(robust: &Table, trusted: &Table) -> String {
    let mut text = "robust access / none, executed on the model\n".to_owned();
    for (column, title) in [
        ("ran-cycles", "cycles"),
        ("ran-clocks", "clocks"),
        ("ran-instructions", "instructions"),
        ("instructions", "static"),
    ] {
        let other = |name: &str| {
            let mut kernels = trusted.kernels.iter();
            kernels.find(|kernel| kernel.name == name)?.figure(column)
        };
        let ratios = Ratios::of(robust, column, other);
        text += &format!("  {title:<13} {ratios}\n");
        if !ratios.0.is_empty() {
            text += &format!("    the worst: {}\n", ratios.worst(5));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::kernel;
    use super::*;

    #[test]
    fn robust_access_is_compared_kernel_by_kernel() {
        let table = |a: f64, b: f64| Table {
            kernels: vec![
                kernel("a", &[("ran-cycles", a)]),
                kernel("b", &[("ran-cycles", b)]),
            ],
        };
        assert_eq!(
            robust_cost(&table(10.0, 90.0), &table(10.0, 10.0)),
            "robust access / none, executed on the model
  cycles        3.000  (median 5.000, worst 9.000, 2 kernels)
    the worst: b 9.00, a 1.00
  clocks        no kernel in both
  instructions  no kernel in both
  static        no kernel in both
"
        );
    }
}

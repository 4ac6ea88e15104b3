//! Figures of other compilers, and ours against them (`shared/kernels/README.md`, "Figures of peers").

use super::ratios::Ratios;
use super::table::Table;
use eitri_compute_cases::Module;
use miette::Diagnostic;
use serde_json::Value;
use std::fmt::Write as _;
use thiserror::Error;

/// Kernels that are named of each figure.
const NAMED: usize = 5;
/// The most that a kernel may cost of what the peer's code does before it is counted as worse.
const LIMIT: f64 = 1.0;

/// Why a file has no figures of peers.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum PeersError {
    #[error("{path}:{}:{}: {cause}", cause.line(), cause.column())]
    Json {
        path: String,
        cause: serde_json::Error,
    },
    #[error("{path}: there is no `{member}`: this is no file of peers' figures")]
    Member { path: String, member: &'static str },
}

/// The figures of other compilers.
pub(crate) struct Peers {
    names: Vec<String>,
    kernels: Value,
    executed: Value,
}

/// What is compared: our column, and how the peer's figure is found.
struct Figure {
    column: &'static str,
    title: &'static str,
    peer: fn(&Value) -> Option<f64>,
}

#[rustfmt::skip]
const EXECUTED: &[Figure] = &[
    Figure { column: "ran-cycles",       title: "cycles",       peer: |it| it["cycles"].as_f64() },
    Figure { column: "ran-clocks",       title: "clocks",       peer: |it| it["clocks"].as_f64() },
    Figure { column: "ran-instructions", title: "instructions", peer: |it| it["instructions"].as_f64() },
    Figure { column: "ran-messages",     title: "messages",     peer: messages },
];

#[rustfmt::skip]
const STATIC: &[Figure] = &[
    Figure { column: "cycles",       title: "cycles",       peer: |it| it["cycles"].as_f64() },
    Figure { column: "instructions", title: "instructions", peer: |it| it["instructions"].as_f64() },
];

/// Messages of all kinds.
fn messages(executed: &Value) -> Option<f64> {
    let kinds = executed["messages"].as_object()?.values();
    kinds.map(Value::as_f64).sum()
}

impl Peers {
    /// Reads a file; `path` is for messages.
    pub(crate) fn read(path: &str, text: &[u8]) -> Result<Peers, PeersError> {
        let path = path.to_owned();
        let mut file: Value = match serde_json::from_slice(text) {
            Ok(file) => file,
            Err(cause) => return Err(PeersError::Json { path, cause }),
        };
        let mut take = |member: &'static str| match file.get_mut(member).map(Value::take) {
            Some(value) => Ok(value),
            None => {
                let path = path.clone();
                Err(PeersError::Member { path, member })
            }
        };
        let (names, kernels, executed) = (
            take("peers")?,
            take("kernels")?,
            take("panvk_26_2_executed")?,
        );
        let names = names.as_array().map_or(&[][..], Vec::as_slice).iter();
        Ok(Peers {
            names: names.filter_map(Value::as_str).map(str::to_owned).collect(),
            kernels,
            executed,
        })
    }

    /// Our figures over the peers', as text.
    pub(crate) fn compare(&self, table: &Table, module: Module) -> String {
        let key = key(module);
        let mut text = String::new();
        let executed = |name: &str| &self.executed[name][key];
        let title = "executed on the model / Mesa PanVK 26.2.6, Mali-G610";
        let ratios = section(&mut text, title, EXECUTED, table, &executed);
        for (figure, ratios) in EXECUTED.iter().zip(&ratios).take(3) {
            let worse = ratios.above(LIMIT);
            push(
                &mut text,
                format_args!(
                    "  {worse} above {LIMIT} in {}; the worst: {}",
                    figure.title,
                    ratios.worst(NAMED)
                ),
            );
        }
        self.occupancy(&mut text, table, key);
        for peer in &self.names {
            let counted = |name: &str| &self.kernels[name][key][peer.as_str()];
            section(
                &mut text,
                &format!("static / {peer}"),
                STATIC,
                table,
                &counted,
            );
        }
        text
    }

    /// What the model executed of our code over what it executed of PanVK's, by figure and kernel.
    pub(crate) fn json(&self, table: &Table, module: Module) -> Value {
        let executed = |name: &str| &self.executed[name][key(module)];
        let figures = EXECUTED.iter().map(|figure| {
            let ratios = Ratios::of(table, figure.column, |name| (figure.peer)(executed(name)));
            let by_name = ratios.0.iter();
            let by_name = by_name.map(|ratio| (ratio.name.to_owned(), Value::from(ratio.factor)));
            let by_name: serde_json::Map<_, _> = by_name.collect();
            (figure.title.to_owned(), Value::Object(by_name))
        });
        Value::Object(figures.collect())
    }

    /// Kernels of which fewer invocations run at once than of the first peer's code, by the registers that a thread has.
    fn occupancy(&self, text: &mut String, table: &Table, key: &str) {
        let Some(peer) = self.names.first() else {
            return;
        };
        let lower = table.kernels.iter().filter(|kernel| {
            let theirs = self.kernels[&kernel.name][key][peer.as_str()]["threads"].as_f64();
            let ours = kernel.figure("threads");
            ours.zip(theirs).is_some_and(|(ours, theirs)| ours < theirs)
        });
        let lower: Vec<&str> = lower.map(|kernel| kernel.name.as_str()).collect();
        let names = lower.join(", ");
        push(
            text,
            format_args!("occupancy below {peer}: {} kernels {names}", lower.len()),
        );
    }
}

/// How a file of peers names one of a kernel's modules.
fn key(module: Module) -> &'static str {
    match module {
        Module::Plain => "spv",
        Module::Optimised => "opt.spv",
    }
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string can't fail.
    let _ = writeln!(text, "{line}");
}

/// Some figures over a peer's.
fn section<'a, 'p>(
    text: &mut String,
    title: &str,
    figures: &[Figure],
    table: &'a Table,
    peer: &dyn Fn(&str) -> &'p Value,
) -> Vec<Ratios<'a>> {
    push(text, format_args!("{title}"));
    let ratios = figures.iter().map(|figure| {
        let ratios = Ratios::of(table, figure.column, |name| (figure.peer)(peer(name)));
        push(text, format_args!("  {:<13} {ratios}", figure.title));
        ratios
    });
    ratios.collect()
}

#[cfg(test)]
mod tests {
    use super::super::table::tests::kernel;
    use super::*;

    #[test]
    fn geometric_means_and_the_worst_by_name() {
        let file = r#"{"peers": ["P"], "kernels": {"a": {"spv": {"P": {"cycles": 2, "instructions": 10, "threads": 2}}}},
            "panvk_26_2_executed": {
                "a": {"spv": {"cycles": 100, "clocks": 10, "instructions": 5, "messages": {"load": 1, "store": 1}}},
                "b": {"spv": {"cycles": 100, "clocks": 10, "instructions": 5, "messages": {"load": 4, "store": 0}}}}}"#;
        let peers = Peers::read("peers.json", file.as_bytes()).unwrap();
        let table = Table {
            kernels: vec![
                kernel(
                    "a",
                    &[
                        ("ran-cycles", 50.0),
                        ("ran-clocks", 10.0),
                        ("ran-messages", 4.0),
                        ("cycles", 3.0),
                        ("threads", 1.0),
                    ],
                ),
                kernel(
                    "b",
                    &[
                        ("ran-cycles", 200.0),
                        ("ran-clocks", 40.0),
                        ("ran-messages", 8.0),
                    ],
                ),
                kernel("c", &[("ran-cycles", 1.0)]),
            ],
        };
        let wanted = "\
executed on the model / Mesa PanVK 26.2.6, Mali-G610
  cycles        1.000  (median 1.250, worst 2.000, 2 kernels)
  clocks        2.000  (median 2.500, worst 4.000, 2 kernels)
  instructions  no kernel in both
  messages      2.000  (median 2.000, worst 2.000, 2 kernels)
  1 above 1 in cycles; the worst: b 2.00, a 0.50
  1 above 1 in clocks; the worst: b 4.00, a 1.00
  0 above 1 in instructions; the worst:\x20
occupancy below P: 1 kernels a
static / P
  cycles        1.500  (median 1.500, worst 1.500, 1 kernels)
  instructions  no kernel in both
";
        assert_eq!(peers.compare(&table, Module::Plain), wanted);
    }

    #[test]
    fn other_files_are_refused() {
        let message = |text: &str| match Peers::read("p", text.as_bytes()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        assert!(message("{").starts_with("p:1:1: "));
        assert_eq!(
            message("{}"),
            "p: there is no `peers`: this is no file of peers' figures"
        );
        assert!(message("[]").contains("no `peers`"));
    }
}

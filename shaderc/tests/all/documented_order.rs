//! The order of passes, as docs/back-ends.md prints it.
//!
//! `EITRI_BLESS=1 cargo test -p eitri-shaderc --test all documented_order` writes the page anew; review the difference.

use std::path::Path;

use eitri_compute_cases::Growth;
use eitri_shaderc::{Options, Target, compile, pipeline};

const BEGIN: &str = "<!-- The order of passes, printed from the code: begin -->\n";
const END: &str = "<!-- The order of passes: end -->\n";

/// What stands between the marks.
fn printed() -> String {
    let adreno = Target::ir3_named("a6xx").expect("it is one");
    let part = |title: &str, order: &str| {
        let lines = order.lines().map(|line| format!("    {line}\n"));
        format!("\n{title}:\n\n{}", lines.collect::<String>())
    };
    let mut text = part("Over IR", &pipeline::order());
    for machine in [Target::default().machine, adreno.machine] {
        text += &part(machine.name(), &machine.order());
    }
    text + "\n"
}

#[test]
fn back_ends_md_prints_the_order_that_runs() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/back-ends.md");
    let text = std::fs::read_to_string(&page).expect("it can be read");
    let (before, rest) = text.split_once(BEGIN).expect("the page has the first mark");
    let (kept, after) = rest.split_once(END).expect("the page has the second mark");
    let printed = printed();
    if std::env::var_os("EITRI_BLESS").is_some() {
        std::fs::write(&page, format!("{before}{BEGIN}{printed}{END}{after}"))
            .expect("it can be written");
        return;
    }
    assert!(
        kept == printed,
        "docs/back-ends.md has another order of passes: EITRI_BLESS=1 cargo test -p eitri-shaderc --test all \
         documented_order writes this:\n{printed}"
    );
}

/// A pass is in the list that users see exactly if the order has it, and is marked as needed exactly if nobody can leave
/// it out.
#[test]
fn lists_of_passes_have_what_runs() {
    let adreno = Target::ir3_named("a6xx").expect("it is one");
    let over_ir = (pipeline::order(), pipeline::rows().collect::<Vec<_>>());
    let of = |target: Target| (target.machine.order(), target.machine.passes().to_vec());
    for (order, rows) in [over_ir, of(Target::default()), of(adreno)] {
        let code: Vec<&str> = order
            .split(|c: char| !c.is_alphanumeric() && !"_*".contains(c))
            .collect();
        for row in rows {
            let marked = format!("{}*", row.name);
            let is_optional = code.contains(&marked.as_str());
            let is_there = is_optional || code.contains(&row.name);
            assert!(
                is_there || row.name == "translate",
                "{} is not in\n{order}",
                row.name
            );
            assert!(
                !(row.needed && is_optional),
                "{} is needed, and can be left out in\n{order}",
                row.name
            );
        }
    }
}

/// Compilation takes both parts of the order, that before loops are copied and that behind.
#[test]
fn compilation_follows_the_order_to_its_end() {
    let module = Growth::ALL[0].module(4);
    let compiled = compile(&module, &Options::default());
    let compiled = compiled.unwrap_or_else(|errors| panic!("{errors}"));
    for pass in [
        "division",
        "robust_access",
        "critical_edges",
        "insert_waits",
    ] {
        assert!(compiled.timings.contains_key(pass), "{pass} has not run");
    }
}

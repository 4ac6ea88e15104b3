//! Reports and statistics as JSON: the shape that scripts for Mali's offline compiler read, with a producer and a schema of
//! our own.

use super::{
    Cycles, MAX_UNIFORM_WORDS, PIPELINES, Path, Report, ShaderReport, StageFigures, Variant,
};
use serde_json::{Value, json};

/// Versions of the shapes below; a member that goes or changes its meaning makes a new one.
const REPORT_VERSION: u32 = 1;
const STATISTICS_VERSION: u32 = 1;

fn producer() -> Value {
    json!({ "name": "eitri", "version": env!("CARGO_PKG_VERSION") })
}

/// Reports of shaders, and what was wrong with those that have none.
pub(crate) fn report(good: &[ShaderReport], bad: &[(String, String)]) -> Value {
    let refused = bad.iter().map(|(file, error)| {
        json!({
            "filename": file, "hardware": hardware(), "driver": driver(), "shader": shader("Compute"),
            "warnings": [], "errors": error.lines().collect::<Vec<_>>(), "properties": [], "variants": [],
        })
    });
    let shaders: Vec<Value> = good.iter().map(of_any).chain(refused).collect();
    json!({
        "schema": { "name": "performance", "version": REPORT_VERSION },
        "producer": producer(),
        "shaders": shaders,
    })
}

fn of_any(report: &ShaderReport) -> Value {
    match report {
        ShaderReport::Valhall(report) => shader_report(report),
        ShaderReport::Ir3(report) => report.json(),
    }
}

fn hardware() -> Value {
    let pipelines = PIPELINES
        .iter()
        .map(|unit| json!({ "name": unit.name, "display_name": unit.short }));
    json!({
        "architecture": "Valhall", "core": "Mali-G610", "revision": "v10",
        "pipelines": pipelines.collect::<Vec<_>>(),
    })
}

pub(super) fn driver() -> String {
    format!("eitri {}", env!("CARGO_PKG_VERSION"))
}

pub(super) fn shader(stage: &str) -> Value {
    json!({ "api": "Vulkan", "type": stage })
}

pub(super) fn property(name: &str, display: &str, value: Value) -> Value {
    json!({ "name": name, "display_name": display, "value": value })
}

fn shader_report(report: &Report) -> Value {
    let mut properties = vec![property("entry_point", "Entry point", json!(report.entry))];
    match report.stage {
        StageFigures::Compute { workgroup, .. } => properties.push(property(
            "workgroup_size",
            "Workgroup size",
            json!(workgroup),
        )),
        StageFigures::Vertex { varying_bytes } => properties.push(varyings(varying_bytes)),
        StageFigures::Fragment {
            varying_bytes,
            by_sample,
            helpers,
        } => properties.extend([
            varyings(varying_bytes),
            property("runs_by_sample", "Runs for each sample", json!(by_sample)),
            property("needs_helpers", "Needs helper lanes", json!(helpers)),
        ]),
    }
    let any = |is: fn(&Variant) -> bool| json!(report.variants.iter().any(is));
    properties.extend([
        property(
            "has_side_effects",
            "Has side-effects",
            any(|variant| variant.side_effects),
        ),
        property(
            "has_barriers",
            "Has barriers",
            any(|variant| variant.barriers),
        ),
    ]);
    let variants = report
        .variants
        .iter()
        .map(|variant| variant_report(report, variant));
    json!({
        "filename": report.file,
        "hardware": hardware(),
        "driver": driver(),
        "shader": shader(report.stage.name()),
        "warnings": [],
        "errors": [],
        "properties": properties,
        "variants": variants.collect::<Vec<_>>(),
    })
}

fn varyings(bytes: u32) -> Value {
    property("varying_bytes", "Varyings, bytes", json!(bytes))
}

fn variant_report(report: &Report, variant: &Variant) -> Value {
    let it = &variant.statistics;
    let mut properties = vec![
        property("work_registers_used", "Work registers", json!(it.registers)),
        property(
            "work_registers_given",
            "Work registers given",
            json!(variant.registers_given),
        ),
        property(
            "uniform_registers_used",
            "Uniform registers",
            json!(variant.uniform_words),
        ),
        property(
            "uniform_registers_most",
            "Uniform registers at most",
            json!(MAX_UNIFORM_WORDS),
        ),
        property(
            "thread_occupancy",
            "Thread occupancy",
            json!(variant.occupancy_percent()),
        ),
        property(
            "has_stack_spilling",
            "Has stack spilling",
            json!(it.spills + it.fills != 0),
        ),
        property(
            "stack_spill_bytes",
            "Thread storage bytes",
            json!(variant.stack_bytes),
        ),
    ];
    if let StageFigures::Compute { shared_bytes, .. } = report.stage {
        properties.push(property(
            "shared_storage_bytes",
            "Shared storage bytes",
            json!(shared_bytes),
        ));
    }
    properties.extend([
        property(
            "fp16_arithmetic",
            "16-bit arithmetic",
            json!(variant.fp16.map(|share| 100.0 * share)),
        ),
        property("instructions", "Instructions", json!(it.instructions)),
        property("code_bytes", "Code size", json!(it.code_bytes)),
        property("loops", "Loops", json!(it.loops)),
        property("spills", "Spill stores", json!(it.spills)),
        property("fills", "Spill loads", json!(it.fills)),
    ]);
    let names: Vec<&str> = PIPELINES.iter().map(|unit| unit.name).collect();
    json!({
        "name": match report.stage {
            StageFigures::Vertex { .. } => capitalised(variant.name),
            _ => "Main".to_owned(),
        },
        "properties": properties,
        "performance": {
            "pipelines": names,
            "total_cycles": cycles(Path::Cycles(variant.total)),
            "shortest_path_cycles": cycles(variant.shortest),
            "longest_path_cycles": cycles(variant.longest),
        },
    })
}

fn capitalised(name: &str) -> String {
    let (first, rest) = name.split_at(name.len().min(1));
    first.to_uppercase() + rest
}

fn cycles(path: Path) -> Value {
    let Path::Cycles(cycles) = path else {
        let why = match path {
            Path::Unbounded => "unbounded loop",
            _ => "no end in sight",
        };
        let counts: Vec<Value> = PIPELINES.iter().map(|_| Value::Null).collect();
        return json!({ "cycle_count": counts, "bound_pipelines": [null], "why": why });
    };
    let counts = PIPELINES.iter().map(|unit| (unit.cycles)(&cycles));
    let counts: Vec<f64> = counts.collect();
    json!({ "cycle_count": counts, "bound_pipelines": bound(&cycles) })
}

fn bound(cycles: &Cycles) -> Vec<Value> {
    let names = cycles.bound().into_iter().map(|unit| json!(unit.name));
    let names: Vec<Value> = names.collect();
    match names.is_empty() {
        true => vec![Value::Null],
        false => names,
    }
}

/// Statistics of shaders, and what was wrong with those that have none.
pub(crate) fn statistics(good: &[ShaderReport], bad: &[(String, String)]) -> Value {
    let figures = good.iter().flat_map(|report| match report {
        ShaderReport::Valhall(report) => report
            .variants
            .iter()
            .map(|variant| variant_statistics(report, variant))
            .collect(),
        ShaderReport::Ir3(report) => vec![report.statistics_json()],
    });
    let refused = bad
        .iter()
        .map(|(file, error)| json!({ "file": file, "error": error }));
    json!({
        "schema": STATISTICS_VERSION,
        "producer": producer(),
        "shaders": figures.chain(refused).collect::<Vec<_>>(),
    })
}

fn variant_statistics(report: &Report, variant: &Variant) -> Value {
    let it = &variant.statistics;
    json!({
        "file": report.file, "entry": report.entry, "stage": report.stage_of(variant),
        "instrs": it.instructions, "cycles": it.cycles, "fma": it.fma, "cvt": it.cvt, "sfu": it.sfu, "alu": it.alu,
        "v": it.varying, "t": it.texture, "ls": it.load_store, "code_size": it.code_bytes,
        "threads": it.threads, "loops": it.loops, "spills": it.spills, "fills": it.fills, "spill_cost": it.spill_cost,
        "registers": it.registers, "uniforms": it.uniforms,
    })
}

//! The profile as JSON: all that is known, in the form that `eitri schema profile` prints.

use super::{
    CountedLine, Figures, Gpu, Instruction, Job, Load, Profile, Program, SourcePlace, Stage,
};
use crate::reports::report::PIPELINES;
use serde_json::{Map, Value, json};

/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

impl Profile {
    /// The profile.
    pub(crate) fn json(&self) -> Value {
        let lines = self.by_source();
        let lines = lines.iter().map(|(place, figures)| {
            json!({ "source": place.map(source), "figures": self::figures(figures) })
        });
        let jobs = self.jobs.iter().map(|job| self.job(job));
        let programs = self.programs.iter().map(program);
        json!({
            "schema": SCHEMA,
            "title": self.title,
            "gpu": gpu(&self.gpu),
            "jobs": jobs.collect::<Vec<_>>(),
            "lines": lines.collect::<Vec<_>>(),
            "programs": programs.collect::<Vec<_>>(),
            "total": figures(&self.total()),
        })
    }

    fn job(&self, job: &Job) -> Value {
        let draws = job.draws.iter().map(|draw| {
            json!({
                "name": draw.name,
                "bound": bound(&draw.load, &self.gpu, job.nanoseconds),
                "units": units(&draw.load),
                "external_bytes": draw.load.external_bytes,
                "stages": stages(&draw.stages),
            })
        });
        json!({
            "number": job.number,
            "kind": job.kind,
            "name": job.heading(self),
            "begun_ns": job.begun_ns,
            "nanoseconds": job.nanoseconds,
            "cycles": job.elapsed_cycles(&self.gpu),
            "cores": job.load.used_cores(),
            "bound": bound(&job.load, &self.gpu, job.nanoseconds),
            "units": units(&job.load),
            "external_bytes": job.load.external_bytes,
            "stages": stages(&job.stages),
            "draws": draws.collect::<Vec<_>>(),
            "total": figures(&job.total()),
        })
    }
}

fn gpu(gpu: &Gpu) -> Value {
    json!({
        "name": gpu.name,
        "cores": gpu.cores,
        "clock_hz": gpu.clock_hz,
        "memory_bandwidth": gpu.memory_bandwidth,
    })
}

fn bound(load: &Load, gpu: &Gpu, nanoseconds: Option<u64>) -> Option<Value> {
    let bound = load.bound(gpu, nanoseconds)?;
    Some(json!({
        "unit": bound.unit,
        "cycles": bound.cycles,
        "percent_of_peak": bound.percent,
        "percent_of_gpu": bound.percent_of_gpu,
    }))
}

fn units(load: &Load) -> Vec<Value> {
    let units = load.units().into_iter();
    let value = |(unit, on_core, of_all)| json!({ "unit": unit, "busiest_core": on_core, "all_cores": of_all });
    units.map(value).collect()
}

fn stages(stages: &[Stage]) -> Vec<Value> {
    let stages = stages.iter();
    let value = |stage: &Stage| json!({ "program": stage.program, "total": figures(&stage.total) });
    stages.map(value).collect()
}

fn source((file, line): &SourcePlace) -> Value {
    json!({ "file": file, "line": line })
}

fn program(program: &Program) -> Value {
    let instructions = program.instructions.iter().map(instruction);
    let ir = program.ir.iter().map(ir_line);
    json!({
        "name": program.name,
        "stage": program.stage,
        "total": figures(&program.total),
        "instructions": instructions.collect::<Vec<_>>(),
        "ir": ir.collect::<Vec<_>>(),
    })
}

fn instruction(instruction: &Instruction) -> Value {
    let waits_for = (0..8).filter(|slot| instruction.waits_for >> slot & 1 != 0);
    let live = instruction.live.map(|live| {
        let registers = (0..64).filter(|register| live >> register & 1 != 0);
        registers.collect::<Vec<u32>>()
    });
    json!({
        "word": format!("{:016x}", instruction.word),
        "text": instruction.text,
        "block": instruction.block,
        "to": instruction.to,
        "source": instruction.source.as_ref().map(source),
        "ir": instruction.ir,
        "waits_for": waits_for.collect::<Vec<u32>>(),
        "live": live,
        "figures": figures(&instruction.figures),
    })
}

fn ir_line(line: &CountedLine) -> Value {
    json!({
        "text": line.text,
        "source": line.source.as_ref().map(source),
        "figures": line.figures.as_ref().map(figures),
    })
}

fn figures(figures: &Figures) -> Value {
    let cycles: Map<String, Value> = PIPELINES
        .iter()
        .map(|unit| (unit.name.to_owned(), json!((unit.cycles)(&figures.cycles))))
        .collect();
    json!({
        "times": figures.times,
        "executed": figures.executed,
        "lanes": figures.lanes,
        "live_lanes": figures.live,
        "diverged": figures.diverged,
        "cycles": cycles,
        "cost": figures.cost,
        "messages": figures.messages,
        "read": figures.read,
        "written": figures.written,
        "cache_lines": figures.lines,
        "waits": figures.waits,
        "wait_cycles": figures.wait_cycles,
        "registers": figures.registers,
    })
}

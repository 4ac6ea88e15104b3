//! The report of a compiled shader, in the layout that people who work with Mali GPUs read: what it uses of the machine,
//! cycles by unit in all and along the shortest and longest path, what bounds it, what it does.
//!
//! The figures are our own: counted in the machine code with the rates of `eitri_isa::rates`, by which the model's time goes too.
//! docs/how-true.md says what they leave out.

mod ir3;
mod json;
mod paths;
mod text;

use eitri_isa::rates::{Rates, WARP};
use eitri_isa::row::{Kind, Unit};
use eitri_isa::{Arch, DecodeError, Instr};
use eitri_program::{GraphicsProgram, MAX_FAU_WORDS, Program};
use eitri_shaderc::valhall::{Statistics, rates};
use eitri_shaderc::{Compiled, CompiledStage, Target};
pub(crate) use json::{report as report_json, statistics as statistics_json};
pub(crate) use paths::Path;
use text::NOTES;

/// Cycles that a warp of 16 threads takes of each unit of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cycles {
    pub(crate) fma: f64,
    pub(crate) cvt: f64,
    pub(crate) sfu: f64,
    pub(crate) load_store: f64,
    pub(crate) varying: f64,
    pub(crate) texture: f64,
}

/// A unit that can bound a shader.
pub(crate) struct Pipeline {
    /// Its name in text.
    pub(crate) short: &'static str,
    /// Its name in JSON.
    pub(crate) name: &'static str,
    pub(crate) cycles: fn(&Cycles) -> f64,
}

/// The units, in the order of the columns.
#[rustfmt::skip]
pub(crate) const PIPELINES: &[Pipeline] = &[
    Pipeline { short: "A",   name: "arith_total", cycles: Cycles::arithmetic },
    Pipeline { short: "FMA", name: "arith_fma",   cycles: |it| it.fma },
    Pipeline { short: "CVT", name: "arith_cvt",   cycles: |it| it.cvt },
    Pipeline { short: "SFU", name: "arith_sfu",   cycles: |it| it.sfu },
    Pipeline { short: "LS",  name: "load_store",  cycles: |it| it.load_store },
    Pipeline { short: "V",   name: "varying",     cycles: |it| it.varying },
    Pipeline { short: "T",   name: "texture",     cycles: |it| it.texture },
];

impl Cycles {
    /// Cycles of the arithmetic units together.
    pub(crate) fn arithmetic(&self) -> f64 {
        rates::alu(self.fma, self.cvt, self.sfu)
    }

    /// Cycles of the busiest unit.
    pub(crate) fn most(&self) -> f64 {
        let all = PIPELINES.iter().map(|unit| (unit.cycles)(self));
        all.fold(0.0, f64::max)
    }

    /// The units that nothing else exceeds: several when they tie, none when there is no work. Arithmetic as a whole
    /// stands for the one of its units that bounds it.
    pub(crate) fn bound(&self) -> Vec<&'static Pipeline> {
        let most = self.most();
        let bounding = PIPELINES.iter();
        let mut found: Vec<&Pipeline> = bounding
            .filter(|unit| most > 0.0 && (unit.cycles)(self) == most)
            .collect();
        let is_part = |unit: &&Pipeline| matches!(unit.short, "FMA" | "CVT" | "SFU");
        if found.iter().any(is_part) {
            found.retain(|unit| unit.short != "A");
        }
        found
    }

    pub(crate) fn add(&mut self, other: &Cycles) {
        self.fma += other.fma;
        self.cvt += other.cvt;
        self.sfu += other.sfu;
        self.load_store += other.load_store;
        self.varying += other.varying;
        self.texture += other.texture;
    }

    /// The same for several warps.
    pub(crate) fn times(self, warps: f64) -> Cycles {
        Cycles {
            fma: self.fma * warps,
            cvt: self.cvt * warps,
            sfu: self.sfu * warps,
            load_store: self.load_store * warps,
            varying: self.varying * warps,
            texture: self.texture * warps,
        }
    }

    /// What one instruction costs a warp: what the model's virtual time goes by, where a message touches one line.
    pub(crate) fn of(instr: &Instr, arch: Arch) -> Cycles {
        let (unit, issued) = instr.issue(arch);
        let rates = Rates::of(arch);
        let issued = f64::from(issued);
        let warp_at = |rate: u32| f64::from(WARP) / f64::from(rate);
        let mut cycles = Cycles::default();
        match unit {
            Unit::Fma => cycles.fma = issued * warp_at(rates.fma),
            Unit::Cvt => cycles.cvt = issued * warp_at(rates.cvt),
            Unit::Sfu => cycles.sfu = issued * warp_at(rates.sfu),
            Unit::Ls => cycles.load_store = 1.0 / f64::from(rates.messages),
            Unit::T | Unit::Vt => cycles.texture = warp_at(rates.texels),
            Unit::V => {
                cycles.varying = f64::from(instr.interpolated()) * warp_at(rates.components);
            }
            Unit::None => {}
        }
        cycles
    }
}

/// What is known of one compiled shader.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Report {
    /// The file as the user wrote it.
    pub(crate) file: String,
    pub(crate) entry: String,
    pub(crate) stage: StageFigures,
    /// The programs that it was compiled to: of a vertex shader there are several.
    pub(crate) variants: Vec<Variant>,
}

/// What only one stage has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StageFigures {
    Compute {
        workgroup: [u32; 3],
        shared_bytes: u32,
    },
    Vertex {
        /// Bytes that it leaves of each vertex for the fragment shader.
        varying_bytes: u32,
    },
    Fragment {
        /// Bytes of each vertex that it reads.
        varying_bytes: u32,
        /// It asks for the samples of a pixel one by one.
        by_sample: bool,
        /// Lanes that only help their quad have to run.
        helpers: bool,
    },
}

/// One of the programs of a shader.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) statistics: Statistics,
    /// Registers that each thread is given.
    pub(crate) registers_given: u32,
    /// Bytes of thread storage for spilled values and variables.
    pub(crate) stack_bytes: u32,
    pub(crate) uniform_words: usize,
    pub(crate) total: Cycles,
    pub(crate) shortest: Path,
    pub(crate) longest: Path,
    /// Share of arithmetic instructions that compute 16-bit values; none when there is no arithmetic.
    pub(crate) fp16: Option<f64>,
    /// Writes memory that others see.
    pub(crate) side_effects: bool,
    pub(crate) barriers: bool,
}

/// Most words of uniforms.
pub(crate) const MAX_UNIFORM_WORDS: usize = MAX_FAU_WORDS;

/// What the program binary says of one of its programs.
struct Given {
    registers: u32,
    stack_bytes: u32,
    uniform_words: usize,
}

impl Variant {
    /// Looks at machine code.
    fn of(
        name: &'static str,
        words: impl Iterator<Item = u64>,
        arch: Arch,
        statistics: Statistics,
        given: &Given,
    ) -> Result<Variant, DecodeError> {
        let code: Vec<Instr> = words
            .map(|word| Instr::decode(word, arch))
            .collect::<Result<_, _>>()?;
        let costs: Vec<Cycles> = code.iter().map(|instr| Cycles::of(instr, arch)).collect();
        let mut total = Cycles::default();
        costs.iter().for_each(|cost| total.add(cost));
        let is_arithmetic = |instr: &&Instr| matches!(instr.row().kind, Kind::Alu);
        let is_half = |instr: &&Instr| instr.row().ty.is_float() && instr.row().ty.bits() == 16;
        let arithmetic = code.iter().filter(is_arithmetic).count();
        let half = code.iter().filter(is_arithmetic).filter(is_half).count();
        Ok(Variant {
            name,
            statistics,
            registers_given: given.registers,
            stack_bytes: given.stack_bytes,
            uniform_words: given.uniform_words,
            total,
            shortest: paths::shortest(&code, &costs),
            longest: paths::longest(&code, &costs),
            fp16: (arithmetic != 0).then(|| half as f64 / arithmetic as f64),
            side_effects: code.iter().any(|instr| instr.row().kind.writes_memory()),
            barriers: code.iter().any(|instr| instr.row().kind == Kind::Barrier),
        })
    }

    /// Threads of a core, of as many as it can hold.
    pub(crate) fn occupancy_percent(&self) -> u32 {
        50 * self.statistics.threads
    }
}

impl StageFigures {
    /// The stage.
    fn name(self) -> &'static str {
        match self {
            StageFigures::Compute { .. } => "Compute",
            StageFigures::Vertex { .. } => "Vertex",
            StageFigures::Fragment { .. } => "Fragment",
        }
    }
}

impl Report {
    /// What one of its programs is for.
    fn stage_of(&self, variant: &Variant) -> &'static str {
        match self.stage {
            StageFigures::Compute { .. } => "compute",
            _ => variant.name,
        }
    }

    /// Looks at a compute shader.
    fn of(file: &str, compiled: &Compiled, statistics: Statistics) -> Result<Report, ReportError> {
        let program = Program::parse(&compiled.program)?;
        let workgroup = program.workgroup();
        let given = Given {
            registers: program.registers().registers(),
            stack_bytes: program.scratch_bytes(),
            uniform_words: program.fau().count(),
        };
        let main = Variant::of("main", program.code(), program.arch(), statistics, &given)?;
        Ok(Report {
            file: file.to_owned(),
            entry: program.entry().to_owned(),
            stage: StageFigures::Compute {
                workgroup: [workgroup.x(), workgroup.y(), workgroup.z()],
                shared_bytes: program.shared_bytes(),
            },
            variants: vec![main],
        })
    }

    /// Looks at a stage of a graphics pipeline.
    ///
    /// # Errors
    /// A program or a word of it that does not read back: a defect of ours.
    pub(crate) fn of_stage(file: &str, stage: &CompiledStage) -> Result<Report, ReportError> {
        let program = GraphicsProgram::parse(&stage.program)?;
        let common = program.common();
        let varying_bytes = program.record_bytes();
        let figures = match program.fragment_facts() {
            Some(facts) => StageFigures::Fragment {
                varying_bytes,
                by_sample: facts.sample_shading,
                helpers: facts.needs_helpers,
            },
            None => StageFigures::Vertex { varying_bytes },
        };
        let mut variants = Vec::new();
        for entry in &stage.entry_points {
            let own = program.entry_point(entry.kind);
            let (Some(own), Some(statistics)) = (own, entry.statistics.valhall()) else {
                continue;
            };
            let given = Given {
                registers: own.registers().registers(),
                stack_bytes: common.scratch_bytes(),
                uniform_words: own.fau().count(),
            };
            let words = entry.code.iter().copied();
            let name = entry.kind.name();
            variants.push(Variant::of(
                name,
                words,
                common.arch(),
                *statistics,
                &given,
            )?);
        }
        Ok(Report {
            file: file.to_owned(),
            entry: common.entry().to_owned(),
            stage: figures,
            variants,
        })
    }
}

/// A report on a shader of any machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ShaderReport {
    Valhall(Box<Report>),
    Ir3(Box<ir3::Report>),
}

impl ShaderReport {
    /// Looks at a shader that was compiled for a target.
    ///
    /// # Errors
    /// A program or a word of it that does not read back: a defect of ours.
    pub(crate) fn of(
        file: &str,
        compiled: &Compiled,
        target: &Target,
    ) -> Result<ShaderReport, ReportError> {
        Ok(match compiled.statistics {
            eitri_shaderc::Statistics::Valhall(statistics) => {
                ShaderReport::Valhall(Box::new(Report::of(file, compiled, statistics)?))
            }
            eitri_shaderc::Statistics::Ir3(statistics) => {
                let device = target.product.unwrap_or_default();
                ShaderReport::Ir3(Box::new(ir3::Report::of(
                    file, compiled, statistics, device,
                )?))
            }
        })
    }

    /// Reports on the stages of a graphics pipeline, with the files that they come from.
    ///
    /// # Errors
    /// A program or a word of it that does not read back: a defect of ours.
    pub(crate) fn of_stages<'c>(
        stages: impl IntoIterator<Item = (&'c str, &'c CompiledStage)>,
    ) -> Result<Vec<ShaderReport>, ReportError> {
        let reports = stages.into_iter().map(|(file, stage)| {
            let report = Report::of_stage(file, stage)?;
            Ok(ShaderReport::Valhall(Box::new(report)))
        });
        reports.collect()
    }

    /// As people read it.
    pub(crate) fn text(&self) -> String {
        match self {
            ShaderReport::Valhall(report) => text::write(report),
            ShaderReport::Ir3(report) => report.text(),
        }
    }

    /// What the words of its text mean.
    pub(crate) fn notes(&self) -> &'static str {
        match self {
            ShaderReport::Valhall(_) => NOTES,
            ShaderReport::Ir3(_) => "",
        }
    }

    /// A line of statistics for each of its programs.
    pub(crate) fn lines(&self) -> String {
        match self {
            ShaderReport::Valhall(report) => text::statistics_lines(report),
            ShaderReport::Ir3(report) => report.line(),
        }
    }
}

/// What we wrote can't be read back.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub(crate) enum ReportError {
    #[error("the compiler wrote a program that can't be read back: {0}")]
    Program(#[from] eitri_program::ProgramError),
    #[error("the compiler wrote a word that is no instruction: {0}")]
    Word(#[from] DecodeError),
}

#[cfg(test)]
mod tests;

//! Samples: an instruction with the job, the program and the line that it was executed for, as viewers of stacks want them.

use super::{Figures, Instruction, Profile, Program, Stage};

/// What was counted of one instruction for one job, or within a pass for one draw.
pub(super) struct Sample<'p> {
    /// The job; within a pass, then the draw.
    pub(super) job: Vec<&'p str>,
    pub(super) program: &'p Program,
    /// The program's place in the profile, and the instruction's place in it.
    pub(super) place: usize,
    pub(super) number: usize,
    pub(super) instruction: &'p Instruction,
    pub(super) figures: &'p Figures,
}

/// Thousandths of a cycle: the rates of all units divide them.
pub(super) fn millicycles(cycles: f64) -> u64 {
    (1000.0 * cycles).round() as u64
}

impl Profile {
    /// Every instruction that was executed, by job and draw.
    pub(super) fn samples(&self) -> Vec<Sample<'_>> {
        let mut samples = vec![];
        for job in &self.jobs {
            if job.draws.is_empty() {
                self.add_samples(&[&job.name], &job.stages, &mut samples);
            }
            for draw in &job.draws {
                let name = draw.name.as_deref().unwrap_or("tiles");
                self.add_samples(&[&job.name, name], &draw.stages, &mut samples);
            }
        }
        samples
    }

    fn add_samples<'p>(
        &'p self,
        job: &[&'p str],
        stages: &'p [Stage],
        samples: &mut Vec<Sample<'p>>,
    ) {
        for stage in stages {
            let Some(place) = stage.program else { continue };
            let program = &self.programs[place];
            let both = program.instructions.iter().zip(&stage.instructions);
            let ran = both.enumerate().filter(|(_, (_, it))| it.executed != 0);
            samples.extend(ran.map(|(number, (instruction, figures))| Sample {
                job: job.to_vec(),
                program,
                place,
                number,
                instruction,
                figures,
            }));
        }
    }
}

impl Program {
    /// What it is called in a list of functions.
    pub(crate) fn label(&self) -> String {
        match self.name.is_empty() {
            true => self.stage.to_owned(),
            false => format!("{} ({})", self.name, self.stage),
        }
    }
}

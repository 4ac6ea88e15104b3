//! The subcommands: one file each.

mod asm;
mod cs;
pub(crate) mod demo;
mod disasm;
mod fuzz;
mod run;
mod test;

use crate::outcome::{Failure, Status};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Assemble shader instructions: text in, one word of 16 hex digits a line out.
    Asm(asm::Args),
    /// Run the demo shaders from power-off to a checked result, and leave a picture.
    Demo(demo::Args),
    /// Disassemble shader instructions: words in, one instruction a line out.
    Disasm(disasm::Args),
    /// Assemble and disassemble command streams.
    #[command(subcommand)]
    Cs(cs::Command),
    /// Try random words on the decoders.
    Fuzz(fuzz::Args),
    /// Compile a shader, run it on a bare-metal image or on the model, and save what it wrote.
    Run(run::Args),
    /// Run every check of the repository, and print a summary.
    Test(test::Args),
}

pub(crate) fn run(command: Command) -> Result<Status, Failure> {
    match command {
        Command::Asm(args) => asm::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Disasm(args) => disasm::run(&args),
        Command::Cs(command) => cs::run(&command),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Test(args) => test::run(&args),
    }
}

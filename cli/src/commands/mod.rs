//! The subcommands: one file each.

mod amber;
mod asm;
mod bench;
mod boot;
mod broken;
mod compile;
mod compile_graphics;
mod completions;
pub(crate) mod console;
mod cs;
mod debian;
pub(crate) mod debug;
pub(crate) mod demo;
mod disasm;
mod docs;
mod doctor;
pub(crate) mod draw;
pub(crate) mod dump;
mod explain;
mod firmware;
pub(crate) mod fuzz;
mod image;
pub(crate) mod kernel;
mod kernels;
mod linux;
mod man;
mod merge;
mod mutants;
mod pack;
mod profile;
mod reduce;
mod reflect;
mod run;
mod scenes;
mod schema;
mod svd;
mod test;
mod unpack;
mod validate;
mod waitcheck;

use crate::outcome::{Failure, Status};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Run scripts in the Amber language, in which GPU drivers are commonly tested.
    Amber(amber::Args),
    /// Assemble shader instructions: text in, one word of 16 hex digits a line out.
    Asm(asm::Args),
    /// Measure how fast the tables, the model and the driver are, and how good compiled code is.
    Bench(bench::Args),
    /// Boot anybody's bare-metal image in QEMU, with the model as its GPU: for drivers in any language, also as a cargo runner.
    Boot(boot::Args),
    /// Check labelled shaders, broken ones and their clean twins, and count what the checkers find, miss and tell in vain.
    Broken(broken::Args),
    /// Compile shaders to programs, listings and figures.
    Compile(compile::Args),
    /// Print the completions of a shell.
    Completions(completions::Args),
    /// Read what a board has printed on its console, and judge it.
    Console(console::Args),
    /// Step through a shader forward and back: at a prompt, by a file of commands, or from an editor (Debug Adapter Protocol).
    Debug(debug::Args),
    /// Run the demo shaders from power-off to a checked result, and leave a picture.
    Demo(demo::Args),
    /// Disassemble shader instructions: words in, one instruction a line out.
    Disasm(disasm::Args),
    /// Assemble and disassemble command streams.
    #[command(subcommand)]
    Cs(cs::Command),
    /// Write the reference pages, docs/reference, from the tables.
    Docs(docs::Args),
    /// Say what this machine has of what Eitri needs.
    Doctor(doctor::Args),
    /// Draw scenes with known pictures, and compare what comes out with what is expected.
    Draw(draw::Args),
    /// Make a Debian package of this command.
    Debian(debian::Args),
    /// Decode core dumps of the GPU, and run them again on the model.
    #[command(subcommand)]
    Dump(dump::Command),
    /// Say what the tables know of a name or a number.
    Explain(explain::Args),
    /// Write the stub firmware that the model runs, or print what a firmware image holds.
    #[command(subcommand)]
    Firmware(firmware::Command),
    /// Try random words on the decoders.
    Fuzz(fuzz::Args),
    /// Make an image that boots on a board and runs a shader there.
    Image(image::Args),
    /// Run compute kernels with known inputs, and compare what they write with what is expected.
    Kernel(kernel::Args),
    /// Write random kernels, with what Mesa's CPU driver computes as what is expected of them.
    Kernels(kernels::Args),
    /// Boot an unmodified Linux, whose own drivers find a Mali, and run a command there.
    Linux(linux::Args),
    /// Write manual pages.
    Man(man::Args),
    /// Make the results of several machines one: `--shard` and `--results` of other commands.
    Merge(merge::Args),
    /// Put slips into the code, one at a time, and see whether a test catches each.
    Mutants(mutants::Args),
    /// Pack a descriptor from named fields, or check a file of packed examples.
    Pack(pack::Args),
    /// Run a shader, a kernel or a scene on the model, and tell what each line and instruction costs and what bounds it.
    Profile(profile::Args),
    /// Make a shader as small as it can be while a command still keeps it.
    Reduce(reduce::Args),
    /// Say what a shader wants from outside: bindings, push constants, sizes, specialisation constants.
    Reflect(reflect::Args),
    /// Compile a shader, run it on a bare-metal image or on the model, and save what it wrote.
    Run(run::Args),
    /// Write random scenes, with what Mesa's CPU driver draws as what is expected of them.
    Scenes(scenes::Args),
    /// Print the form of what other commands write as JSON.
    Schema(schema::Args),
    /// Write the GPU's registers as CMSIS-SVD, which debuggers read.
    Svd(svd::Args),
    /// Run every check of the repository, and print a summary.
    Test(test::Args),
    /// Print the fields of a packed descriptor.
    Unpack(unpack::Args),
    /// Find out whether a GPU works: run the validation suite, or try it on broken GPUs.
    Validate(validate::Args),
    /// Say where machine code reads a result before it has waited for it, without running it.
    Waitcheck(waitcheck::Args),
}

pub(crate) fn run(command: Command) -> Result<Status, Failure> {
    match command {
        Command::Amber(args) => amber::run(&args),
        Command::Asm(args) => asm::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Boot(args) => boot::run(&args),
        Command::Broken(args) => broken::run(&args),
        Command::Compile(args) => compile::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Console(args) => console::run(&args),
        Command::Debian(args) => debian::run(&args),
        Command::Debug(args) => debug::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Disasm(args) => disasm::run(&args),
        Command::Cs(command) => cs::run(&command),
        Command::Docs(args) => docs::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Draw(args) => draw::run(&args),
        Command::Dump(command) => dump::run(&command),
        Command::Explain(args) => explain::run(&args),
        Command::Firmware(command) => firmware::run(&command),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Image(args) => image::run(&args),
        Command::Kernel(args) => kernel::run(&args),
        Command::Kernels(args) => kernels::run(&args),
        Command::Linux(args) => linux::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Mutants(args) => mutants::run(&args),
        Command::Pack(args) => pack::run(&args),
        Command::Profile(args) => profile::run(&args),
        Command::Reduce(args) => reduce::run(&args),
        Command::Reflect(args) => reflect::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Scenes(args) => scenes::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Svd(args) => svd::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Unpack(args) => unpack::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Waitcheck(args) => waitcheck::run(&args),
    }
}

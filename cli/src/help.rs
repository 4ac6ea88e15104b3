//! Help: the subcommands in groups by what people want, and examples for each.
//!
//! Guarantees: a test sees that every subcommand is in one group and has examples that its own arguments take.

use crate::Eitri;
use clap::CommandFactory;

/// The subcommands by what they are for.
#[rustfmt::skip]
const GROUPS: &[(&str, &[&str])] = &[
    ("Shaders",             &["run", "debug", "profile", "compile", "reflect", "reduce"]),
    ("Drivers and images",  &["boot", "image", "firmware", "linux"]),
    ("Does a GPU work",      &["validate", "console", "amber", "kernel", "kernels", "draw", "scenes", "broken", "merge"]),
    ("GPU state",           &["dump", "explain", "pack", "unpack", "asm", "disasm", "waitcheck", "cs", "svd"]),
    ("This machine",        &["demo", "doctor", "completions", "man", "schema"]),
    ("This repository",     &["test", "bench", "fuzz", "mutants", "docs", "debian"]),
];

/// Examples, each as it is typed.
#[rustfmt::skip]
const EXAMPLES: &[(&str, &[&str])] = &[
    ("amber",       &["eitri amber tests/", "eitri amber tests/ --shard 2/8 --results part-2.json"]),
    ("asm",         &["echo 'FADD.f32 r0, r1, r2' | eitri asm"]),
    ("bench",       &["eitri bench tables"]),
    ("boot",        &["eitri boot firmware.elf", "eitri boot --gpu G720 --trace timeline.json firmware.elf", "eitri boot --gdb 1234 firmware.elf"]),
    ("broken",      &["eitri broken programs/"]),
    ("compile",     &["eitri compile shader.comp", "eitri compile shader.comp --report --gpu G720", "eitri compile shader.wgsl -o shader.program", "glslangValidator -V shader.comp -o /dev/stdout | eitri compile -"]),
    ("completions", &["eitri completions bash > /etc/bash_completion.d/eitri"]),
    ("console",     &["eitri console /dev/ttyUSB0 --baud 1500000", "eitri console board.log --junit results.xml"]),
    ("cs",          &["echo 'MOVE32 r0, #5' | eitri cs asm -"]),
    ("debian",      &["eitri debian -o eitri.deb"]),
    ("debug",       &["eitri debug shader.wgsl --buffer 0=zero:256 --groups 2", "eitri debug shader.comp --buffer 0=zero:256 --commands steps.txt", "eitri debug scene.json", "eitri debug script.amber --run 2", "eitri debug --dap"]),
    ("demo",        &["eitri demo --on host"]),
    ("disasm",      &["echo 7800c00000000000 | eitri disasm"]),
    ("docs",        &["eitri docs --check"]),
    ("doctor",      &["eitri doctor"]),
    ("draw",        &["eitri draw scenes/", "eitri draw scene.json --gpu G720", "eitri draw model.glb -o picture.png --size 512x512"]),
    ("dump",        &["eitri dump show job.dump", "eitri dump replay job.dump"]),
    ("explain",     &["eitri explain L2_READY", "eitri explain G610", "eitri explain GPU_ID=0xa8670005"]),
    ("firmware",    &["eitri firmware stub -o stub.bin", "eitri firmware show mali_csffw.bin"]),
    ("fuzz",        &["eitri fuzz --seed 1"]),
    ("image",       &["eitri image --validation --board rk3588 --firmware mali_csffw.bin", "eitri image shader.comp --buffer 0=zero:4096 --board rk3588 --firmware mali_csffw.bin"]),
    ("kernel",      &["eitri kernel saxpy.json", "eitri kernel kernels/ --shard 1/4"]),
    ("kernels",     &["eitri kernels -o kernels", "eitri kernels -o kernels --seed 500 --count 20"]),
    ("linux",       &["eitri linux -- vulkaninfo --summary"]),
    ("man",         &["eitri man -o man/"]),
    ("merge",       &["eitri merge part-1.json part-2.json --junit all.xml"]),
    ("mutants",     &["eitri mutants --list"]),
    ("pack",        &["eitri pack buffer size=4096 address=0x4100010000"]),
    ("profile",     &["eitri profile shader.comp --buffer 0=zero:65536 --groups 64", "eitri profile kernel.json --html profile.html", "eitri profile scene.json --gpu G720 --view jobs", "eitri profile model.glb --speedscope model.speedscope.json"]),
    ("reduce",      &["eitri reduce shader.spvasm --keep-if './crashes.sh' -o small.spv"]),
    ("reflect",     &["eitri reflect shader.comp", "eitri reflect shader.comp --json"]),
    ("run",         &["eitri run saxpy.comp --buffer 0=iota-f32:1024 --buffer 1=zero:4096 --push a=2.0,count=1024 --groups 16 --print 1:f32[0..8]", "eitri run shader.wgsl --buffer 0=in.bin --compare 0=expected.bin:f32:1e-5", "eitri run shader.comp --buffer 0=zero:4096 --on qemu --gpu G720", "eitri run shader.comp --buffer 0=zero:65536 --groups 64 --gpu all"]),
    ("scenes",      &["eitri scenes -o scenes", "eitri scenes -o scenes --seed 500 --count 20"]),
    ("schema",      &["eitri schema results"]),
    ("svd",         &["eitri svd --board rk3588 -o mali.svd"]),
    ("test",        &["eitri test --list"]),
    ("unpack",      &["eitri unpack buffer 1900000000100000000001004100000000000000000000000000000000000000"]),
    ("validate",    &["eitri validate", "eitri validate --junit results.xml --kcidb results.json", "eitri validate --on qemu --board rk3588 --only power."]),
    ("waitcheck",   &["eitri waitcheck shader.program", "eitri waitcheck job.dump --sarif waits.sarif", "eitri waitcheck program.bin --raw --arch v12 --stage fragment"]),
];

/// How the help of the command itself is laid out.
const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}{after-help}

Options:
{options}";

/// The command line, with groups and examples.
pub(crate) fn command() -> clap::Command {
    let mut command = Eitri::command();
    let groups = groups(&command);
    for (name, examples) in EXAMPLES {
        if command.find_subcommand(name).is_some() {
            command = command.mut_subcommand(name, |sub| with_examples(sub, examples));
        }
    }
    command.help_template(TEMPLATE).after_help(groups)
}

fn with_examples(command: clap::Command, examples: &[&str]) -> clap::Command {
    let before = command.get_after_help().map(ToString::to_string);
    let lines = examples.iter().map(|example| format!("  {example}\n"));
    let text = format!("Examples:\n{}", lines.collect::<String>());
    command.after_help(match before {
        Some(before) => format!("{before}\n\n{text}"),
        None => text,
    })
}

/// The subcommands, a line each, in their groups.
fn groups(command: &clap::Command) -> String {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text += &format!("{title}:\n");
        for name in *names {
            let about = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text += &format!("  {name:<12} {about}\n");
        }
        text += "\n";
    }
    text + "`eitri help COMMAND` has the options of a command, and examples.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_is_in_one_group_and_has_examples() {
        let command = Eitri::command();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let mut shown: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
        let mut names: Vec<&str> = command
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        for list in [&mut grouped, &mut shown, &mut names] {
            list.sort_unstable();
        }
        assert_eq!(grouped, names);
        assert_eq!(shown, names);
    }

    #[test]
    fn examples_are_command_lines_that_are_taken() {
        for (name, examples) in EXAMPLES {
            for example in *examples {
                let start = example.find("eitri ").unwrap();
                let words = example[start..]
                    .split(" > ")
                    .next()
                    .unwrap()
                    .split_whitespace();
                let words: Vec<&str> = words.map(|word| word.trim_matches('\'')).collect();
                assert_eq!(words[1], *name);
                let parsed = command().try_get_matches_from(&words);
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn the_groups_stand_in_the_help() {
        let text = command().render_help().to_string();
        for (title, _) in GROUPS {
            assert!(text.contains(&format!("{title}:")), "no {title} in {text}");
        }
    }
}

//! What a command line will need, told before the program that really reads it is built.
//!
//! Only what is sure is named here; the `eitri` command makes sure of the rest itself.

use eitri_launch::tools::Tool;

/// The tools that `eitri` with these arguments will need.
pub(crate) fn tools(arguments: &[String]) -> Vec<Tool> {
    let has = |wanted: &[&str]| arguments.iter().any(|word| wanted.contains(&word.as_str()));
    let only_talks = has(&["--help", "-h", "--list"]);
    let on_host = has(&["--on=host"]) || arguments.windows(2).any(|pair| pair == ["--on", "host"]);
    // Which checks a filter chooses is known to `eitri`.
    let chosen = arguments.iter().any(|word| word.starts_with("--filter"));
    let assembly = arguments.iter().any(|word| word.ends_with(".spvasm"));
    let mut tools = match arguments.first().map(String::as_str) {
        _ if only_talks => return Vec::new(),
        Some("test") if !chosen => Tool::OF_TESTS.to_vec(),
        Some("demo" | "run") if !on_host => Tool::OF_QEMU.to_vec(),
        Some("run") => Vec::new(),
        _ => return Vec::new(),
    };
    if assembly && !tools.contains(&Tool::SpirvAs) {
        tools.push(Tool::SpirvAs);
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[Tool]) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        assert_eq!(tools(&words), expected, "eitri {line}");
    }

    #[test]
    fn tools_are_known_from_the_command_line() {
        check("demo", Tool::OF_QEMU);
        check("demo --on host", &[]);
        check("demo --on=host", &[]);
        check("demo --help", &[]);
        check("run x.comp --on qemu", Tool::OF_QEMU);
        check("run x.spvasm --on host", &[Tool::SpirvAs]);
        check("test", Tool::OF_TESTS);
        check("test --long", Tool::OF_TESTS);
        check("test --list", &[]);
        check("test --filter fmt", &[]);
        check("explain v10", &[]);
        check("", &[]);
    }
}

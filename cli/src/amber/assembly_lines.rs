//! Lines of SPIR-V assembly, for a debugger: an `OpLine` before each instruction of a function.
//!
//! Guarantees: every instruction stays on its line, so that positions in messages of the assembler are those of the text.
//! Never: touches assembly that names lines of its own; those lead to the source that it was compiled of.

/// Instructions behind which `OpString` may not stand: SPIR-V, section 2.4.
const BEFORE_STRINGS: &[&str] = &[
    "OpCapability",
    "OpExtension",
    "OpExtInstImport",
    "OpMemoryModel",
    "OpEntryPoint",
    "OpExecutionMode",
    "OpExecutionModeId",
];

/// Instructions of a function that compute nothing where they stand.
const WITHOUT_LINE: &[&str] = &[
    "OpFunction",
    "OpFunctionParameter",
    "OpFunctionEnd",
    "OpLabel",
    "OpVariable",
];

/// The id of the file's name: none that a script has.
const FILE: &str = "%eitri_debugged_file";

/// Assembly whose instructions have the lines of `text`, in a file of this name.
pub(super) fn with_lines(text: &str, file: &str) -> String {
    let names_lines = |line: &str| {
        let opcode = opcode(line);
        opcode == Some("OpLine") || line.contains(" DebugLine ")
    };
    if text.lines().any(names_lines) {
        return text.to_owned();
    }
    let file = file.replace('\\', "\\\\").replace('"', "\\\"");
    let mut lined = String::new();
    let mut is_declared = false;
    let mut is_in_function = false;
    let mut is_behind_merge = false;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        if let Some(opcode) = opcode(line) {
            if !is_declared && !BEFORE_STRINGS.contains(&opcode) {
                is_declared = true;
                lined += &format!("{FILE} = OpString \"{file}\" ");
            }
            is_in_function |= opcode == "OpFunction";
            // A branch follows its merge at once.
            if is_in_function && !is_behind_merge && !WITHOUT_LINE.contains(&opcode) {
                lined += &format!("OpLine {FILE} {number} 0 ");
            }
            is_in_function &= opcode != "OpFunctionEnd";
            is_behind_merge = matches!(opcode, "OpSelectionMerge" | "OpLoopMerge");
        }
        lined += line;
    }
    lined
}

/// The opcode of the instruction that begins in a line, if one does.
fn opcode(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let behind = match line.strip_prefix('%') {
        Some(_) => line.split_once('=')?.1.trim_start(),
        None => line,
    };
    let word = behind.split_whitespace().next()?;
    let is_opcode = word.strip_prefix("Op")?.starts_with(char::is_uppercase);
    is_opcode.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::with_lines;

    #[test]
    fn instructions_of_functions_get_their_lines() {
        let text = "\n; a comment
OpCapability Shader
OpMemoryModel Logical GLSL450
OpName %main \"main\"
%void = OpTypeVoid
%main = OpFunction %void None %ft
%first = OpLabel
%v = OpVariable %p Function
%c = OpIEqual %bool
    %a %b
OpSelectionMerge %end None
OpBranchConditional %c %then %end
OpReturn
OpFunctionEnd
";
        let file = "%eitri_debugged_file";
        let expected = text
            .replace(
                "OpName",
                &format!("{file} = OpString \"a\\\"b.amber\" OpName"),
            )
            .replace("%c = OpI", &format!("OpLine {file} 10 0 %c = OpI"))
            .replace("OpSel", &format!("OpLine {file} 12 0 OpSel"))
            .replace("OpReturn", &format!("OpLine {file} 14 0 OpReturn"));
        assert_eq!(with_lines(text, "a\"b.amber"), expected);
    }

    #[test]
    fn lines_of_the_assembly_itself_stay() {
        let text = "%s = OpString \"a.comp\"\n%main = OpFunction %void None %ft\nOpLine %s 3 0\nOpReturn\n";
        assert_eq!(with_lines(text, "a.amber"), text);
    }
}

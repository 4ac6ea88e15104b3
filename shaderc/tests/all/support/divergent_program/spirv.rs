//! A program as a module, in the text of the tests' assembler: statements become structured control flow, variables stay
//! variables.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{
    Block, COUNTERS, How, INPUT, INVOCATION, LANE, Loop, OWN, Program, READ, RESULT, Stmt, Switch,
    Test, Var, WRITTEN,
};

pub(super) struct Writer<'p> {
    pub(super) program: &'p Program,
    text: String,
    words: BTreeSet<u32>,
    /// Names that have been given.
    names: u32,
    /// Number of the function.
    function: usize,
    /// Merge and continue target of the loops around.
    loops: Vec<(String, String)>,
}

impl Program {
    /// The module's text.
    pub fn spirv(&self) -> String {
        let mut writer = Writer {
            program: self,
            text: String::new(),
            words: BTreeSet::new(),
            names: 0,
            function: 0,
            loops: vec![],
        };
        for function in 0..self.functions.len() {
            writer.function(function);
        }
        let Writer { text, words, .. } = writer;
        let mut all = self.head();
        for word in words {
            all += &format!("%k{word} = OpConstant %u32 {word}\n");
        }
        all + &text
    }

    fn head(&self) -> String {
        let buffers = [READ, WRITTEN, OWN, COUNTERS];
        let decorations = buffers.map(|buffer| {
            format!(
                "OpDecorate %buffer{buffer} DescriptorSet 0
                 OpDecorate %buffer{buffer} Binding {buffer}\n"
            )
        });
        let variables =
            buffers.map(|buffer| format!("%buffer{buffer} = OpVariable %pblock StorageBuffer\n"));
        format!(
            "OpCapability Shader
            OpCapability GroupNonUniform
            OpCapability GroupNonUniformVote
            OpCapability GroupNonUniformArithmetic
            OpCapability GroupNonUniformBallot
            OpCapability GroupNonUniformShuffle
            OpCapability GroupNonUniformClustered
            OpMemoryModel Logical GLSL450
            OpEntryPoint GLCompute %main \"main\" %index %lane %group
            OpExecutionMode %main LocalSize {} 1 1
            OpDecorate %index BuiltIn LocalInvocationIndex
            OpDecorate %lane BuiltIn SubgroupLocalInvocationId
            OpDecorate %group BuiltIn WorkgroupId
            OpDecorate %array ArrayStride 4
            OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            {}
            %void = OpTypeVoid
            %u32 = OpTypeInt 32 0
            %bool = OpTypeBool
            %uvec3 = OpTypeVector %u32 3
            %uvec4 = OpTypeVector %u32 4
            %array = OpTypeRuntimeArray %u32
            %block = OpTypeStruct %array
            %pblock = OpTypePointer StorageBuffer %block
            %pword = OpTypePointer StorageBuffer %u32
            %pvar = OpTypePointer Function %u32
            %pin = OpTypePointer Input %u32
            %pin3 = OpTypePointer Input %uvec3
            %mainfn = OpTypeFunction %void
            %callfn = OpTypeFunction %u32 %u32
            %true = OpConstantTrue %bool
            {}
            %index = OpVariable %pin Input
            %lane = OpVariable %pin Input
            %group = OpVariable %pin3 Input\n",
            self.invocations,
            decorations.concat(),
            variables.concat(),
        )
    }
}

impl Writer<'_> {
    fn is_main(&self) -> bool {
        self.function + 1 == self.program.functions.len()
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%n{}", self.names)
    }

    fn names<const N: usize>(&mut self) -> [String; N] {
        [(); N].map(|()| self.name())
    }

    pub(super) fn word(&mut self, word: u32) -> String {
        self.words.insert(word);
        format!("%k{word}")
    }

    /// An instruction with a result.
    pub(super) fn make(&mut self, ty: &str, op: &str, operands: &[&str]) -> String {
        let name = self.name();
        self.line(&format!("{name} = {op} {ty} {}", operands.join(" ")));
        name
    }

    fn var(&self, var: Var) -> String {
        format!("%f{}v{}", self.function, var.0)
    }

    pub(super) fn load(&mut self, var: Var) -> String {
        let var = self.var(var);
        self.make("%u32", "OpLoad", &[&var])
    }

    fn store(&mut self, var: Var, value: &str) {
        let var = self.var(var);
        self.line(&format!("OpStore {var} {value}"));
    }

    /// A pointer to an element of a buffer.
    fn element(&mut self, buffer: u32, index: &str) -> String {
        let zero = self.word(0);
        let buffer = format!("%buffer{buffer}");
        self.make("%pword", "OpAccessChain", &[&buffer, &zero, index])
    }

    fn function(&mut self, number: usize) {
        self.function = number;
        let function = &self.program.functions[number];
        let main_calls = self.is_main() && !self.program.returns_itself;
        let name = match self.is_main() && !main_calls {
            true => "%main".into(),
            false => format!("%function{number}"),
        };
        match name.as_str() {
            "%main" => self.line("%main = OpFunction %void 0 %mainfn"),
            _ => {
                self.line(&format!("{name} = OpFunction %u32 0 %callfn"));
                self.line(&format!("%argument{number} = OpFunctionParameter %u32"));
            }
        }
        let start = self.name();
        self.line(&format!("{start} = OpLabel"));
        for var in 0..function.vars {
            let var = self.var(Var(var));
            self.line(&format!("{var} = OpVariable %pvar Function"));
        }
        let zero = self.word(0);
        for var in 0..function.vars {
            self.store(Var(var), &zero);
        }
        let lane = self.make("%u32", "OpLoad", &["%lane"]);
        self.store(LANE, &lane);
        let invocation = self.invocation();
        self.store(INVOCATION, &invocation);
        let input = match name.as_str() {
            "%main" => self.input(&invocation),
            _ => format!("%argument{number}"),
        };
        self.store(INPUT, &input);
        let three = self.word(3);
        let shifted = self.make("%u32", "OpShiftRightLogical", &[&input, &three]);
        self.store(RESULT, &shifted);
        if self.block(&function.body) {
            self.leave_function();
        }
        self.line("OpFunctionEnd");
        if main_calls {
            self.main_that_calls(&name);
        }
    }

    /// A `main` that calls a function and writes what it returns.
    fn main_that_calls(&mut self, function: &str) {
        self.line("%main = OpFunction %void 0 %mainfn\n%start = OpLabel");
        let invocation = self.invocation();
        let input = self.input(&invocation);
        let result = self.make("%u32", "OpFunctionCall", &[function, &input]);
        self.write(&result, &input, &invocation);
        self.line("OpReturn\nOpFunctionEnd");
    }

    fn leave_function(&mut self) {
        let result = self.load(RESULT);
        if !self.is_main() || !self.program.returns_itself {
            self.line(&format!("OpReturnValue {result}"));
            return;
        }
        let invocation = self.load(INVOCATION);
        let input = self.input(&invocation);
        self.write(&result, &input, &invocation);
        self.line("OpReturn");
    }

    /// Number of the invocation among all.
    fn invocation(&mut self) -> String {
        let groups = self.make("%uvec3", "OpLoad", &["%group"]);
        let group = self.make("%u32", "OpCompositeExtract", &[&groups, "0"]);
        let size = self.word(self.program.invocations);
        let first = self.make("%u32", "OpIMul", &[&group, &size]);
        let index = self.make("%u32", "OpLoad", &["%index"]);
        self.make("%u32", "OpIAdd", &[&first, &index])
    }

    fn input(&mut self, invocation: &str) -> String {
        let count = self.word(self.program.input.len() as u32);
        let at = self.make("%u32", "OpUMod", &[invocation, &count]);
        let element = self.element(READ, &at);
        self.make("%u32", "OpLoad", &[&element])
    }

    fn write(&mut self, result: &str, input: &str, invocation: &str) {
        let seven = self.word(7);
        let product = self.make("%u32", "OpIMul", &[input, &seven]);
        let mixed = self.make("%u32", "OpBitwiseXor", &[result, &product]);
        let element = self.element(WRITTEN, invocation);
        self.line(&format!("OpStore {element} {mixed}"));
    }

    /// Statements. True if lanes may get past them.
    fn block(&mut self, block: &Block) -> bool {
        block.iter().all(|stmt| self.stmt(stmt))
    }

    /// Statements from a label on, and a branch from their end.
    fn side(&mut self, label: &str, block: &Block, behind: &str) -> bool {
        self.line(&format!("{label} = OpLabel"));
        let passes = self.block(block);
        if passes {
            self.line(&format!("OpBranch {behind}"));
        }
        passes
    }

    /// The block where ways come together, if any does.
    fn merge(&mut self, label: &str, reached: bool) -> bool {
        self.line(&format!("{label} = OpLabel"));
        if !reached {
            self.line("OpUnreachable");
        }
        reached
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Set(var, how, expr) => {
                let value = self.expr(expr);
                let op = match how {
                    How::Set => None,
                    How::Add => Some("OpIAdd"),
                    How::Xor => Some("OpBitwiseXor"),
                };
                let value = match op {
                    Some(op) => {
                        let old = self.load(*var);
                        self.make("%u32", op, &[&old, &value])
                    }
                    None => value,
                };
                self.store(*var, &value);
            }
            Stmt::AddOwn(var, expr) => {
                let value = self.expr(expr);
                let invocation = self.load(INVOCATION);
                let old = self.add_atomically(OWN, &invocation, &value);
                self.store(*var, &old);
            }
            Stmt::Ticket(var, expr, before) => {
                let value = self.expr(expr);
                let groups = self.make("%uvec3", "OpLoad", &["%group"]);
                let group = self.make("%u32", "OpCompositeExtract", &[&groups, "0"]);
                let [one, reduced, before] = [1, 3, *before].map(|word| self.word(word));
                let number = self.add_atomically(COUNTERS, &group, &one);
                let lane = self.make("%u32", "OpISub", &[&number, &before]);
                let theirs = self.make(
                    "%u32",
                    "OpGroupNonUniformShuffle",
                    &[&reduced, &value, &lane],
                );
                let sum = self.make("%u32", "OpGroupNonUniformIAdd", &[&reduced, "0", &theirs]);
                self.store(*var, &sum);
            }
            Stmt::If(condition, then, otherwise) => {
                let condition = self.cond(condition);
                let [yes, no, merge] = self.names();
                self.line(&format!("OpSelectionMerge {merge} 0"));
                self.line(&format!("OpBranchConditional {condition} {yes} {no}"));
                let mut reached = self.side(&yes, then, &merge);
                reached |= self.side(&no, otherwise, &merge);
                return self.merge(&merge, reached);
            }
            Stmt::Loop(own) => return self.a_loop(own),
            Stmt::Switch(switch) => return self.switch(switch),
            Stmt::Call(var, function, argument) => {
                let argument = self.expr(argument);
                let function = format!("%function{function}");
                let result = self.make("%u32", "OpFunctionCall", &[&function, &argument]);
                self.store(*var, &result);
            }
            Stmt::Break | Stmt::Continue => {
                if let Some((merge, next)) = self.loops.last() {
                    let to = if matches!(stmt, Stmt::Break) {
                        merge
                    } else {
                        next
                    };
                    let branch = format!("OpBranch {to}");
                    self.line(&branch);
                }
                return false;
            }
            Stmt::Return => {
                self.leave_function();
                return false;
            }
        }
        true
    }

    fn add_atomically(&mut self, buffer: u32, index: &str, value: &str) -> String {
        let element = self.element(buffer, index);
        let [device, relaxed] = [1, 0].map(|word| self.word(word));
        self.make(
            "%u32",
            "OpAtomicIAdd",
            &[&element, &device, &relaxed, value],
        )
    }

    fn a_loop(&mut self, own: &Loop) -> bool {
        let zero = self.word(0);
        let rounds = self.expr(&own.rounds);
        self.store(own.limit, &rounds);
        self.store(own.counter, &zero);
        let [header, test, body, next, merge] = self.names();
        self.line(&format!("OpBranch {header}\n{header} = OpLabel"));
        self.line(&format!("OpLoopMerge {merge} {next} 0\nOpBranch {test}"));
        self.line(&format!("{test} = OpLabel"));
        match own.test {
            Test::Top => {
                let below = self.below(own);
                self.line(&format!("OpBranchConditional {below} {body} {merge}"));
            }
            Test::Bottom(_) | Test::Never => self.line(&format!("OpBranch {body}")),
        }
        self.loops.push((merge.clone(), next.clone()));
        self.side(&body, &own.body, &next);
        self.loops.pop();
        self.line(&format!("{next} = OpLabel"));
        self.block(&own.next);
        let counter = self.load(own.counter);
        let one = self.word(1);
        let more = self.make("%u32", "OpIAdd", &[&counter, &one]);
        self.store(own.counter, &more);
        match &own.test {
            Test::Bottom(more) => {
                let below = self.below(own);
                let more = self.cond(more);
                let both = self.make("%bool", "OpLogicalAnd", &[&below, &more]);
                self.line(&format!("OpBranchConditional {both} {header} {merge}"));
            }
            Test::Top | Test::Never => self.line(&format!("OpBranch {header}")),
        }
        let reached = !matches!(own.test, Test::Never) || own.body.iter().any(Stmt::breaks);
        self.merge(&merge, reached)
    }

    fn below(&mut self, own: &Loop) -> String {
        let [counter, limit] = [own.counter, own.limit].map(|var| self.load(var));
        self.make("%bool", "OpULessThan", &[&counter, &limit])
    }

    fn switch(&mut self, switch: &Switch) -> bool {
        let value = self.expr(&switch.selector);
        let three = self.word(3);
        let selector = self.make("%u32", "OpBitwiseAnd", &[&value, &three]);
        let [default, merge] = self.names();
        let labels: Vec<String> = switch.cases.iter().map(|_| self.name()).collect();
        self.line(&format!("OpSelectionMerge {merge} 0"));
        let mut line = format!("OpSwitch {selector} {default}");
        for ((values, _), label) in switch.cases.iter().zip(&labels) {
            for value in values {
                line += &format!(" {value} {label}");
            }
        }
        self.line(&line);
        let mut reached = self.side(&default, &switch.default, &merge);
        for ((_, block), label) in switch.cases.iter().zip(&labels) {
            reached |= self.side(label, block, &merge);
        }
        self.merge(&merge, reached)
    }
}

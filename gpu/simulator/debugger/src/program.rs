//! The program under debug: its instructions in order, the source line and the chain of calls of each.
//!
//! Guarantees: addresses ascend; each call path is listed once, and a caller before what it calls.
use std::collections::HashMap;

/// A line of the source.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Line {
    /// Number of the file in [`Program::files`].
    pub file: usize,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
}

/// A function as it is called at one place, or the entry point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// Name of the function.
    pub function: String,
    /// The number of the caller's path, and the line of the call.
    pub caller: Option<(usize, Option<Line>)>,
}

/// An instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Where it stands.
    pub address: u64,
    /// As the assembler or the IR writes it.
    pub text: String,
    /// The machine word, if it is one.
    pub word: Option<u64>,
    /// Its line, if it has one.
    pub line: Option<Line>,
    /// The number of its call path.
    pub path: usize,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// Names of the source files.
    pub files: Vec<String>,
    /// Call paths; the first is the entry point.
    pub paths: Vec<Path>,
    /// By address.
    pub instructions: Vec<Instruction>,
}

/// A call frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The number of its path.
    pub path: usize,
    /// Name of the function.
    pub function: String,
    /// Where it stands: the instruction's own line, or that of the call.
    pub line: Option<Line>,
}

impl Program {
    /// The number of the file with that name, which is added if it is new.
    pub fn file(&mut self, name: &str) -> usize {
        let found = self.files.iter().position(|own| own == name);
        found.unwrap_or_else(|| {
            self.files.push(name.to_owned());
            self.files.len() - 1
        })
    }

    /// The number of the instruction at an address.
    pub fn index(&self, address: u64) -> Option<usize> {
        let found = self
            .instructions
            .binary_search_by_key(&address, |instruction| instruction.address);
        found.ok()
    }

    /// The instruction at an address.
    pub fn at(&self, address: u64) -> Option<&Instruction> {
        self.instructions.get(self.index(address)?)
    }

    /// The frames of an instruction, innermost first.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        let Some(instruction) = self.at(address) else {
            return vec![];
        };
        let mut frames = vec![];
        let (mut path, mut line) = (instruction.path, instruction.line.clone());
        while let Some(own) = self.paths.get(path) {
            frames.push(Frame {
                path,
                function: own.function.clone(),
                line,
            });
            match &own.caller {
                // A caller stands before what it calls, so this ends.
                Some((caller, call)) if *caller < path => (path, line) = (*caller, call.clone()),
                _ => break,
            }
        }
        frames
    }

    /// Whether a path is called from another, at whatever depth.
    pub fn is_below(&self, path: usize, ancestor: usize) -> bool {
        let mut at = path;
        while let Some((caller, _)) = self.paths.get(at).and_then(|path| path.caller.as_ref()) {
            if *caller == ancestor {
                return true;
            }
            if *caller >= at {
                return false;
            }
            at = *caller;
        }
        false
    }

    /// The file that a person means by a path: of those with the same last component the one with most of the others.
    pub fn find_file(&self, path: &str) -> Option<usize> {
        let parts = |path: &str| -> Vec<String> {
            let parts = path.split(['/', '\\']).rev();
            parts
                .filter(|part| !part.is_empty() && *part != ".")
                .map(str::to_owned)
                .collect()
        };
        let wanted = parts(path);
        let same = |own: &str| {
            let own = parts(own);
            let both = own.iter().zip(&wanted);
            both.take_while(|(own, wanted)| own == wanted).count()
        };
        let files = self.files.iter().enumerate();
        let best = files
            .map(|(number, own)| (same(own), number))
            .max_by_key(|(same, number)| (*same, std::cmp::Reverse(*number)));
        best.filter(|(same, _)| *same != 0)
            .map(|(_, number)| number)
    }

    /// Where a breakpoint of a line stops: the first instruction of the line on each call path. A line without code stands for the
    /// next one that has some, which is returned too.
    pub fn addresses_of_line(&self, file: usize, line: u32) -> Option<(u32, Vec<u64>)> {
        let lines = self.instructions.iter().filter_map(|own| own.line.as_ref());
        let found = lines
            .filter(|own| own.file == file && own.line >= line)
            .map(|own| own.line)
            .min()?;
        let mut first: HashMap<usize, u64> = HashMap::new();
        for own in &self.instructions {
            if own
                .line
                .as_ref()
                .is_some_and(|own| own.file == file && own.line == found)
            {
                first.entry(own.path).or_insert(own.address);
            }
        }
        let mut addresses: Vec<u64> = first.into_values().collect();
        addresses.sort_unstable();
        Some((found, addresses))
    }

    /// Where a breakpoint of a function stops: its first instruction with a line, else its first, on each call path.
    pub fn addresses_of_function(&self, name: &str) -> Vec<u64> {
        let paths = self.paths.iter().enumerate();
        let paths = paths.filter(|(_, path)| path.function == name);
        let first = |path: usize| {
            let own = || self.instructions.iter().filter(move |own| own.path == path);
            let lined = own().find(|own| own.line.is_some());
            lined.or_else(|| own().next()).map(|own| own.address)
        };
        paths.filter_map(|(path, _)| first(path)).collect()
    }

    /// Names of functions, each once.
    pub fn functions(&self) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for path in &self.paths {
            if !names.contains(&path.function.as_str()) {
                names.push(&path.function);
            }
        }
        names
    }

    /// A line as `file:line`.
    pub fn show(&self, line: &Line) -> String {
        let file = self.files.get(line.file).map_or("?", String::as_str);
        format!("{file}:{}", line.line)
    }
}

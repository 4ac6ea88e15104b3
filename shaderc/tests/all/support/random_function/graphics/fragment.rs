//! Random fragment functions: what they are given, what lanes of a quad do together, and what they leave.
//!
//! Lanes that look at each other read no memory that lanes change, since a lane that only helps changes none.

use super::super::start::{Start, begin, declare};
use super::super::{Abilities, Content, DEPTH, Generator, OUTPUT, Random, Together, buffer};
use super::textures;
use super::{Agreed, Handed, SIZE};
use eitri_shaderc::Target;
use eitri_shaderc::ir::layout::order_blocks;
use eitri_shaderc::ir::{
    Access, Alu, BlockId, Builder, FragmentStage, Function, LaneOp, Op, Output, Sampling, Space,
    Stage, SysVal, Terminator, TexelKind, TileLoad, Type, Uniform, Value, Varying,
};

/// What a fragment function has besides what it computes with.
pub struct Quads {
    random: Random,
    handed: Vec<Handed>,
    /// What can be read of the tile, with the kind of its numbers.
    tile: Vec<(TileLoad, TexelKind)>,
    /// Column and row of the pixel.
    pixel: [Value; 2],
    /// The number of the sample.
    sample: Value,
    /// Whether lanes look at each other.
    looks: bool,
    /// Least depth of statements at which all lanes of a quad are together.
    together: u32,
    /// Blocks behind which lanes are demoted and go to the end.
    kills: Vec<BlockId>,
}

/// What a fragment can read of the tile.
fn tile(agreed: &Agreed) -> Vec<(TileLoad, TexelKind)> {
    let colors = agreed.targets.iter().zip(0..).map(|(it, target)| {
        let kind = it.kind;
        (TileLoad::Color { target, kind }, kind)
    });
    let depth = agreed.depth.then_some((TileLoad::Depth, TexelKind::Float));
    let stencil = agreed
        .stencil
        .then_some((TileLoad::Stencil, TexelKind::Unsigned));
    colors.chain(depth).chain(stencil).collect()
}

/// Whole numbers that a float of a varying counts, in a pixel.
const PER_UNIT: f32 = 32.0;

/// The function that a vertex function hands to, if it agrees.
pub(super) fn generate(seed: u64, target: &Target, agreed: &Agreed) -> Function {
    let mut function = Function::new("main");
    function.lanes = target.lanes;
    let by_sample = agreed.samples > 1;
    function.stage = Stage::Fragment(FragmentStage {
        sample_shading: by_sample,
        ..FragmentStage::default()
    });
    let declared = declare(&mut function);
    textures::declare(&mut function);
    let entry = function.new_block();
    let mut b = Builder::new(&mut function, entry);
    b.exact = true;
    let [x, y] = [SysVal::PixelX, SysVal::PixelY].map(|axis| b.sys_val(axis));
    let row = b.alu_word(Alu::IMul, y, SIZE[0]);
    let mut number = b.alu(Alu::IAdd, &[row, x]);
    let sample = match by_sample {
        true => b.sys_val(SysVal::SampleId),
        false => b.word(0),
    };
    if by_sample {
        let first = b.alu_word(Alu::IMul, number, agreed.samples);
        number = b.alu(Alu::IAdd, &[first, sample]);
    }
    let small = b.alu_word(Alu::IAnd, x, 3);
    let pushed = b.uniform(Uniform::PushConstant(8));
    let start = Start {
        seed,
        content: Content::SameBits,
        abilities: Abilities {
            spaces: match agreed.quads {
                true => &[Space::Scratch],
                false => &[Space::Buffer, Space::Buffer, Space::Scratch],
            },
            together: Together::Quad,
        },
        number,
        all: SIZE[0] * SIZE[1] * agreed.samples,
        small,
        uniform: pushed,
        words: vec![x, y, pushed],
    };
    let mut generator = begin(b, &declared, start);
    generator.quads = Some(Quads {
        random: Random(seed ^ 0x5555_5555),
        handed: agreed.handed.clone(),
        tile: tile(agreed),
        pixel: [x, y],
        sample,
        looks: agreed.quads,
        together: DEPTH,
        kills: vec![],
    });
    for number in 0..agreed.handed.len() {
        if number % 2 == 0 {
            generator.load_varying(number);
        }
    }
    generator.statements(DEPTH, 16);
    generator.end(agreed);
    order_blocks(&mut function);
    function
}

impl Generator<'_> {
    fn own(&mut self) -> Option<&mut Quads> {
        self.quads.as_mut()
    }

    fn dice(&mut self, limit: u32) -> u32 {
        self.own().map_or(0, |quads| quads.random.below(limit))
    }

    /// Often something that only fragments do. False if it is left to others.
    pub(in super::super) fn in_quads(&mut self, depth: u32) -> bool {
        if self.dice(3) > 0 {
            return false;
        }
        let Some(Quads {
            looks,
            together,
            pixel,
            ..
        }) = self.quads
        else {
            return false;
        };
        let whole = looks && depth >= together;
        match self.dice(12) {
            0..=2 if whole => self.swap(),
            3 | 4 if whole => {
                let kind = self.dice(2);
                self.sample_by_quad(pixel, kind);
            }
            5 if depth > 0 && whole => self.branch_of_quads(depth - 1),
            6 => {
                let condition = self.bool();
                self.b.inst(Op::Demote, &[condition]);
            }
            7 => {
                let count = self.quads.as_ref().map_or(1, |it| it.handed.len() as u32);
                let number = self.dice(count) as usize;
                self.load_varying(number);
            }
            8 => {
                let kind = self.dice(4);
                self.texture(pixel, kind);
            }
            9 => self.load_sys_val(),
            10 if !looks && depth < DEPTH => self.kill(),
            11 => self.load_tile(),
            _ => return false,
        }
        true
    }

    /// What a lane of the quad beside has, or how much it differs.
    fn swap(&mut self) {
        let ty = self.width(|_| true);
        let value = self.value(ty);
        let op = match self.dice(2) {
            0 => LaneOp::QuadSwapX,
            _ => LaneOp::QuadSwapY,
        };
        let mut result = self.b.lanes(op, &[value]);
        if self.dice(2) == 0 {
            result = self.b.alu(Alu::ISub, &[result, value]);
        }
        self.keep(result);
    }

    /// A branch that all lanes of a quad take.
    fn branch_of_quads(&mut self, depth: u32) {
        let Some(Quads {
            pixel: [x, y],
            together,
            ..
        }) = self.quads
        else {
            return;
        };
        let axis = if self.dice(2) == 0 { x } else { y };
        let bit = 2 << self.dice(3);
        let bit = self.b.alu_word(Alu::IAnd, axis, bit);
        let zero = self.b.word(0);
        let condition = self.b.alu(Alu::INe, &[bit, zero]);
        self.set_together(depth);
        self.branch_on(condition, depth);
        self.set_together(together);
    }

    fn set_together(&mut self, depth: u32) {
        if let Some(quads) = self.own() {
            quads.together = depth;
        }
    }

    /// Loads what the vertex function hands on, as whole numbers.
    fn load_varying(&mut self, number: usize) {
        let handed = self.quads.as_ref().and_then(|it| it.handed.get(number));
        let Some(handed) = handed.copied() else {
            return;
        };
        let operands = match handed.sampling {
            Sampling::AtSample => vec![self.b.word(0)],
            Sampling::AtOffset => vec![self.offset(), self.offset()],
            _ => vec![],
        };
        let varying = Varying {
            location: handed.location,
            first: handed.first,
            count: handed.count,
            sampling: handed.sampling,
            noperspective: handed.noperspective,
            relaxed: handed.relaxed[1],
            half: false,
        };
        for value in self.b.inst(Op::LoadVarying(varying), &operands) {
            let word = match handed.sampling {
                Sampling::Flat => value,
                _ => self.whole(value, PER_UNIT),
            };
            self.words.push(word);
        }
    }

    /// A place beside a pixel's centre: a constant, or one that differs between lanes.
    fn offset(&mut self) -> Value {
        if self.dice(2) == 0 {
            let sixteenths = self.dice(16) as f32 - 8.0;
            return self.b.float(sixteenths / 16.0);
        }
        let word = self.masked(15);
        let float = self.b.alu(Alu::U2F, &[word]);
        let sixteenth = self.b.float(1.0 / 16.0);
        let least = self.b.float(-0.5);
        self.b.alu(Alu::FFma, &[float, sixteenth, least])
    }

    /// The whole number that is nearest to a multiple of a float.
    pub(super) fn whole(&mut self, float: Value, by: f32) -> Value {
        let by = self.b.float(by);
        let half = self.b.float(0.5);
        let moved = self.b.alu(Alu::FFma, &[float, by, half]);
        let floor = self.b.alu(Alu::FFloor, &[moved]);
        self.b.alu(Alu::F2I, &[floor])
    }

    fn load_sys_val(&mut self) {
        let looks = self.quads.as_ref().is_some_and(|quads| quads.looks);
        let all = [
            SysVal::FrontFacing,
            SysVal::HelperInvocation,
            SysVal::FragZ,
            SysVal::SampleId,
            SysVal::PrimitiveId,
            SysVal::Layer,
            // What it is of a helper nobody says.
            SysVal::SampleMaskIn,
        ];
        let number = self.dice(all.len() as u32 - u32::from(looks));
        let sys_val = all[number as usize];
        let value = self.b.sys_val(sys_val);
        let value = match sys_val {
            SysVal::FragZ => self.whole(value, 16_384.0),
            _ => value,
        };
        self.keep(value);
    }

    /// What a target holds, as words.
    fn load_tile(&mut self) {
        let count = self.quads.as_ref().map_or(1, |it| it.tile.len() as u32);
        let number = self.dice(count) as usize;
        let Some(quads) = self.quads.as_ref() else {
            return;
        };
        let (Some(&(load, kind)), sample) = (quads.tile.get(number), quads.sample) else {
            return;
        };
        for value in self.b.inst(Op::LoadTile(load), &[sample]) {
            let word = match kind {
                TexelKind::Float => self.b.alu(Alu::F2U, &[value]),
                _ => value,
            };
            self.words.push(word);
        }
    }

    /// Some lanes are demoted and go to the end.
    fn kill(&mut self) {
        let condition = self.bool();
        let [killed, on] = [(); 2].map(|()| self.b.function.new_block());
        self.b.terminate(Terminator::Branch {
            condition,
            then: killed,
            otherwise: on,
        });
        self.b.block = killed;
        let always = self.b.function.bool(true);
        self.b.inst(Op::Demote, &[always]);
        if let Some(quads) = self.own() {
            quads.kills.push(killed);
        }
        self.b.block = on;
    }

    /// Stores every output. Lanes that were killed come here from where they were.
    fn end(&mut self, agreed: &Agreed) {
        let results = self.results(6);
        let before = self.b.block;
        let end = self.b.function.new_block();
        self.jump(end);
        let kills = self.own().map(|quads| std::mem::take(&mut quads.kills));
        let kills = kills.unwrap_or_default();
        let zero = self.b.word(0);
        for killed in &kills {
            self.b.block = *killed;
            self.jump(end);
        }
        self.b.block = end;
        let mut words = vec![];
        for (number, result) in results.into_iter().enumerate() {
            let word = self.b.function.new_phi(end, Type::W32);
            let killed = kills.iter().map(|killed| (*killed, zero));
            let sources = std::iter::once((before, result)).chain(killed);
            let phis = &mut self.b.function.block_mut(end).phis;
            phis[number].sources = sources.collect();
            words.push(word);
        }
        if self.dice(2) == 0 {
            let base = self.b.alu_word(Alu::IMul, words[0], 0);
            let base = self.b.alu(Alu::IAdd, &[base, self.base]);
            let output = buffer(self.b.function, OUTPUT);
            let access = Access::words(Space::Buffer, 1);
            self.b.store(access, &[output, base], &[words[5]]);
        }
        self.store_outputs(agreed, &words);
        self.b.terminate(Terminator::Return);
    }

    fn store_outputs(&mut self, agreed: &Agreed, words: &[Value]) {
        let mut outputs = vec![];
        for (number, target) in agreed.targets.iter().enumerate() {
            let args = (0..4).map(|component| {
                let word = words[(component + number) % words.len()];
                let word = self.b.alu_word(Alu::IAnd, word, target.most);
                match target.kind {
                    TexelKind::Float => self.b.alu(Alu::U2F, &[word]),
                    _ => word,
                }
            });
            let output = Output::Color {
                target: number as u8,
                index: 0,
                kind: target.kind,
                relaxed: target.kind == TexelKind::Float && target.bytes == 2,
                half: false,
            };
            let args: Vec<Value> = args.collect();
            outputs.push((output, args));
        }
        if agreed.depth {
            let word = self.b.alu_word(Alu::IAnd, words[1], 0x3ff);
            let float = self.b.alu(Alu::U2F, &[word]);
            let depth = self.b.alu_float(Alu::FMul, float, 1.0 / 1024.0);
            outputs.push((Output::Depth, vec![depth]));
        }
        if agreed.stencil {
            outputs.push((Output::Stencil, vec![words[2]]));
        }
        if agreed.mask {
            outputs.push((Output::SampleMask, vec![words[3]]));
        }
        for (output, args) in outputs {
            self.b.inst(Op::StoreOutput(output), &args);
        }
    }
}

//! Branches, loops and switches. Loops count, so they end.

use crate::generator::Generator;
use crate::types::Kind;
use crate::variables::Variable;

/// Most statements of a side, of a loop's body.
const STATEMENTS: u32 = 3;

impl Generator {
    pub(crate) fn branch(&mut self, scope: &[Variable], depth: u32) {
        let condition = self.condition(scope);
        self.open(&format!("if ({condition})"));
        let in_loop = self.place.jumps;
        self.block(scope, STATEMENTS, depth);
        self.jump(in_loop);
        if self.chance(40) {
            self.indent -= 1;
            let other = match self.chance(30) {
                true => format!(" if ({})", self.condition(scope)),
                false => String::new(),
            };
            self.open(&format!("}} else{other}"));
            self.block(scope, STATEMENTS, depth);
            self.jump(in_loop);
        }
        self.close("}");
    }

    pub(crate) fn loop_around(&mut self, scope: &[Variable], depth: u32) {
        if self.place.is_deep() {
            return self.branch(scope, depth);
        }
        let counter = self.fresh("i");
        let end = match self.chance(50) {
            true => self.between(1, 6).to_string(),
            false => {
                let mask = self.of(&[3, 7]);
                let value = self.expression(&Kind::Int.one(), scope, 1);
                format!("({value} & {mask})")
            }
        };
        let most = self.between(1, 5);
        let end_of_loop = match self.between(0, 4) {
            0 => {
                let step = self.of(&[1, 1, 2]);
                self.open(&format!(
                    "for (int {counter} = {end}; {counter} > 0; {counter} -= {step})"
                ));
                "}".to_owned()
            }
            1 | 2 => {
                let step = self.of(&[1, 1, 2]);
                self.open(&format!(
                    "for (int {counter} = 0; {counter} < {end}; {counter} += {step})"
                ));
                "}".to_owned()
            }
            3 => {
                self.line(&format!("int {counter} = 0;"));
                let condition = self.condition(scope);
                self.open(&format!("while ({counter}++ < {most} && {condition})"));
                "}".to_owned()
            }
            _ => {
                self.line(&format!("int {counter} = 0;"));
                let condition = self.condition(scope);
                self.open("do");
                format!("}} while (++{counter} < {most} && {condition});")
            }
        };
        let mut inner = scope.to_vec();
        inner.push(Variable::new(&counter, Kind::Int.one(), false));
        let outside = self.place.enter_loop();
        self.block(&inner, STATEMENTS, depth);
        self.jump(true);
        self.place.leave_loop(outside);
        self.close(&end_of_loop);
    }

    pub(crate) fn switch(&mut self, scope: &[Variable], depth: u32) {
        let kind = self.word();
        let value = self.expression(&kind.one(), scope, 2);
        self.open(&format!("switch (int({value}) & 7)"));
        let mut cases: Vec<u32> = (0..8).collect();
        self.rng.shuffle(&mut cases);
        cases.truncate(self.rng.usize(1..=5));
        let default = self.chance(70).then(|| self.rng.usize(..cases.len()));
        // A `break` is the switch's, and a `continue` would pass it by.
        let in_loop = std::mem::replace(&mut self.place.jumps, false);
        for (number, case) in cases.iter().enumerate() {
            if default == Some(number) {
                self.line("default:");
            }
            self.open(&format!("case {case}:"));
            self.block(scope, 2, depth);
            self.close("}");
            // The last one must end; others may go on in the next.
            if number + 1 == cases.len() || self.chance(70) {
                self.line("break;");
            }
        }
        self.place.jumps = in_loop;
        self.close("}");
    }
}

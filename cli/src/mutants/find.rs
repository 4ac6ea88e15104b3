//! The mutants of a source file: where they are and what they say instead.
//!
//! Needs: the file compiles. Guarantees: a mutant's text is an expression or statement of the same kind, so that most of them
//! compile; those that don't are found by the compiler ([`super::tree`]).

use super::Mutant;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Lit, Stmt};

/// How a mutant changes the text at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// This text stands in place of the expression.
    Instead(String),
    /// A condition is turned round.
    Not,
    /// A statement is left out.
    Without,
    /// A function of no result returns at once.
    Nothing,
}

/// A mutant with the bytes of the file that it concerns.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) mutant: Mutant,
    pub(super) place: Range<usize>,
    pub(super) change: Change,
}

/// All mutants of a file.
///
/// # Errors
/// When the text is no Rust.
pub(super) fn find(file: &str, text: &str) -> Result<Vec<Found>, syn::Error> {
    let parsed = syn::parse_file(text)?;
    let mut finder = Finder {
        file,
        text,
        functions: Vec::new(),
        seen: BTreeMap::new(),
        found: Vec::new(),
    };
    finder.visit_file(&parsed);
    Ok(finder.found)
}

/// The modules of a file that are for tests and lie in files of their own, as paths without their ending.
///
/// # Errors
/// When the text is no Rust.
pub(super) fn test_modules(file: &str, text: &str) -> Result<Vec<String>, syn::Error> {
    let path = Path::new(file);
    let of_folder = ["lib.rs", "main.rs", "mod.rs"].map(OsStr::new);
    let folder = match path.file_name() {
        Some(name) if of_folder.contains(&name) => path.with_file_name(""),
        _ => path.with_extension(""),
    };
    let parsed = syn::parse_file(text)?;
    let modules = parsed.items.iter().filter_map(|item| match item {
        syn::Item::Mod(item) if item.content.is_none() && is_for_tests(&item.attrs) => Some(item),
        _ => None,
    });
    let paths = modules.map(|item| match path_of(&item.attrs) {
        Some(file) => path.with_file_name(Path::new(&file).with_extension("")),
        None => folder.join(item.ident.to_string()),
    });
    Ok(paths
        .map(|path| path.to_string_lossy().into_owned())
        .collect())
}

/// The file that `#[path = "…"]` names, from the folder of the file that has the module.
fn path_of(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| {
        let syn::Meta::NameValue(syn::MetaNameValue { path, value, .. }) = &attribute.meta else {
            return None;
        };
        let syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(file),
            ..
        }) = value
        else {
            return None;
        };
        path.is_ident("path").then(|| file.value())
    })
}

struct Finder<'a> {
    file: &'a str,
    text: &'a str,
    /// Names of what the place is in: types, modules, functions.
    functions: Vec<String>,
    /// How often each change was seen in each function.
    seen: BTreeMap<(String, String), usize>,
    found: Vec<Found>,
}

/// What stands in place of an operator.
fn other(op: &BinOp) -> Option<(&'static str, &'static str)> {
    Some(match op {
        BinOp::Add(_) => ("+", "-"),
        BinOp::Sub(_) => ("-", "+"),
        BinOp::Mul(_) => ("*", "+"),
        BinOp::Div(_) => ("/", "*"),
        BinOp::Rem(_) => ("%", "/"),
        BinOp::And(_) => ("&&", "||"),
        BinOp::Or(_) => ("||", "&&"),
        BinOp::BitAnd(_) => ("&", "|"),
        BinOp::BitOr(_) => ("|", "&"),
        BinOp::BitXor(_) => ("^", "|"),
        BinOp::Shl(_) => ("<<", ">>"),
        BinOp::Shr(_) => (">>", "<<"),
        BinOp::Eq(_) => ("==", "!="),
        BinOp::Ne(_) => ("!=", "=="),
        BinOp::Lt(_) => ("<", "<="),
        BinOp::Le(_) => ("<=", "<"),
        BinOp::Gt(_) => (">", ">="),
        BinOp::Ge(_) => (">=", ">"),
        _ => return None,
    })
}

impl Finder<'_> {
    fn add(&mut self, place: Range<usize>, change: Change, what: String) {
        let function = self.functions.join("::");
        let nth = self
            .seen
            .entry((function.clone(), what.clone()))
            .or_default();
        *nth += 1;
        let mutant = Mutant {
            file: self.file.to_owned(),
            function,
            line: self.text[..place.start].matches('\n').count() + 1,
            what,
            nth: *nth,
        };
        self.found.push(Found {
            mutant,
            place,
            change,
        });
    }

    /// Text of a place on one line; none where a comment would swallow the rest.
    fn line_of(&self, place: &Range<usize>) -> Option<String> {
        let text = &self.text[place.clone()];
        if !text.contains('\n') {
            return Some(text.to_owned());
        }
        if text.contains("//") || text.contains('"') {
            return None;
        }
        Some(
            text.split('\n')
                .map(str::trim)
                .collect::<Vec<_>>()
                .join(" "),
        )
    }

    fn binary(&mut self, expr: &syn::ExprBinary) {
        let Some((is, becomes)) = other(&expr.op) else {
            return;
        };
        if Conditions::in_expr(expr) {
            return;
        }
        let place = expr.span().byte_range();
        let left = self.line_of(&expr.left.span().byte_range());
        let right = self.line_of(&expr.right.span().byte_range());
        let (Some(left), Some(right)) = (left, right) else {
            return;
        };
        let what = format!(
            "`{is}` becomes `{becomes}` in `{}`",
            shortened(&format!("{left} {is} {right}"))
        );
        self.add(
            place,
            Change::Instead(format!("({left}) {becomes} ({right})")),
            what,
        );
    }

    /// A literal that is an operand counts one more.
    fn operand(&mut self, expr: &Expr) {
        let Expr::Lit(syn::ExprLit {
            lit: Lit::Int(number),
            ..
        }) = expr
        else {
            return;
        };
        let Ok(value) = number.base10_parse::<u64>() else {
            return;
        };
        let Some(more) = value.checked_add(1) else {
            return;
        };
        let becomes = format!("{more}{}", number.suffix());
        self.add(
            expr.span().byte_range(),
            Change::Instead(becomes.clone()),
            format!("`{number}` becomes `{becomes}`"),
        );
    }

    fn condition(&mut self, expr: &Expr) {
        if Conditions::of(expr) {
            return;
        }
        let place = expr.span().byte_range();
        let Some(text) = self.line_of(&place) else {
            return;
        };
        self.add(
            place,
            Change::Not,
            format!("`if {}` is turned round", shortened(&text)),
        );
    }

    fn statement(&mut self, statement: &Stmt) {
        let Stmt::Expr(expr, Some(_)) = statement else {
            return;
        };
        let does = match expr {
            Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) => true,
            Expr::Binary(binary) => is_assignment(&binary.op),
            Expr::Try(inner) => matches!(*inner.expr, Expr::Call(_) | Expr::MethodCall(_)),
            _ => false,
        };
        let place = statement.span().byte_range();
        if let (true, Some(text)) = (does, self.line_of(&place)) {
            self.add(
                place,
                Change::Without,
                format!("`{}` is left out", shortened(&text)),
            );
        }
    }

    fn function(&mut self, name: &syn::Ident, signature: &syn::Signature, block: &syn::Block) {
        if signature.constness.is_some() {
            return;
        }
        self.functions.push(name.to_string());
        let without_result = matches!(signature.output, syn::ReturnType::Default);
        if without_result && block.stmts.len() > 1 && signature.asyncness.is_none() {
            let open = block.brace_token.span.open().byte_range();
            self.add(
                open,
                Change::Nothing,
                "the function does nothing".to_owned(),
            );
        }
        visit::visit_block(self, block);
        self.functions.pop();
    }
}

/// Enough of a text to know it again, on one line.
fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    let words = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('`', "'");
    match words.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// Whether an expression binds names with `let`, which can stand nowhere but in a condition as it is.
#[derive(Default)]
struct Conditions(bool);

impl Conditions {
    fn of(expr: &Expr) -> bool {
        let mut conditions = Conditions::default();
        conditions.visit_expr(expr);
        conditions.0
    }

    fn in_expr(expr: &syn::ExprBinary) -> bool {
        Conditions::of(&expr.left) || Conditions::of(&expr.right)
    }
}

impl<'a> Visit<'a> for Conditions {
    fn visit_expr_let(&mut self, _: &'a syn::ExprLet) {
        self.0 = true;
    }

    // A block of its own may bind what it likes.
    fn visit_block(&mut self, _: &'a syn::Block) {}
}

/// Whether attributes leave a piece of code to tests.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let tests = |tokens: String| {
            tokens.contains("test") && !["not", "any"].iter().any(|word| tokens.contains(word))
        };
        match &attribute.meta {
            syn::Meta::Path(path) => path.is_ident("test"),
            syn::Meta::List(list) if list.path.is_ident("cfg") => tests(list.tokens.to_string()),
            _ => false,
        }
    })
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item(&mut self, item: &'a syn::Item) {
        let (attributes, name) = match item {
            syn::Item::Fn(item) => (&item.attrs, None),
            syn::Item::Mod(item) => (&item.attrs, Some(item.ident.to_string())),
            syn::Item::Trait(item) => (&item.attrs, Some(item.ident.to_string())),
            syn::Item::Impl(item) => {
                let range = item.self_ty.span().byte_range();
                (&item.attrs, Some(shortened(&self.text[range])))
            }
            // Constants are computed before there is a switch; nothing else holds code.
            _ => return,
        };
        if is_for_tests(attributes) {
            return;
        }
        let named = name.is_some();
        self.functions.extend(name);
        visit::visit_item(self, item);
        if named {
            self.functions.pop();
        }
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(&item.sig.ident, &item.sig, &item.block);
    }

    fn visit_impl_item(&mut self, item: &'a syn::ImplItem) {
        if let syn::ImplItem::Fn(item) = item
            && !is_for_tests(&item.attrs)
        {
            self.function(&item.sig.ident, &item.sig, &item.block);
        }
    }

    fn visit_trait_item(&mut self, item: &'a syn::TraitItem) {
        if let syn::TraitItem::Fn(item) = item
            && let Some(block) = &item.default
        {
            self.function(&item.sig.ident, &item.sig, block);
        }
    }

    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.statement(statement);
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_if(&mut self, expr: &'a syn::ExprIf) {
        self.condition(&expr.cond);
        visit::visit_expr_if(self, expr);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.condition(guard);
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_binary(&mut self, expr: &'a syn::ExprBinary) {
        self.binary(expr);
        if other(&expr.op).is_some() {
            self.operand(&expr.left);
            self.operand(&expr.right);
        }
        visit::visit_expr_binary(self, expr);
    }

    fn visit_expr_repeat(&mut self, expr: &'a syn::ExprRepeat) {
        self.visit_expr(&expr.expr);
    }

    // Computed before there is a switch.
    fn visit_expr_const(&mut self, _: &'a syn::ExprConst) {}
    fn visit_generic_argument(&mut self, _: &'a syn::GenericArgument) {}
    fn visit_type(&mut self, _: &'a syn::Type) {}
    // No expressions, though they look like them.
    fn visit_pat(&mut self, _: &'a syn::Pat) {}
    fn visit_attribute(&mut self, _: &'a syn::Attribute) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = find("a.rs", text).unwrap();
        let names: Vec<String> = found.iter().map(|found| found.mutant.name()).collect();
        let expected: Vec<String> = expected.iter().map(|name| format!("a.rs {name}")).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn operators_conditions_and_statements_have_mutants() {
        check(
            "fn f(a: u32) -> u32 { if a < 3 { g(); } a + 1 }",
            &[
                "f: `if a < 3` is turned round",
                "f: `<` becomes `<=` in `a < 3`",
                "f: `3` becomes `4`",
                "f: `g();` is left out",
                "f: `+` becomes `-` in `a + 1`",
                "f: `1` becomes `2`",
            ],
        );
        check(
            "impl A { fn f(&mut self) { self.x = 1; self.y += 2; } }",
            &[
                "A::f: the function does nothing",
                "A::f: `self.x = 1;` is left out",
                "A::f: `self.y += 2;` is left out",
            ],
        );
    }

    #[test]
    fn tests_constants_types_and_patterns_have_none() {
        check("#[cfg(test)] mod tests { fn f() { g(); h(); } }", &[]);
        check(
            "const fn f() -> u32 { 1 + 2 } const A: u32 = 1 + 2; static B: [u8; 1 + 1] = [0; 2];",
            &[],
        );
        check("fn f() -> [u8; 1 + 1] { [0; 1 + 1] }", &[]);
        check("fn f(a: u32) -> bool { matches!(a, 1..3) }", &[]);
    }

    #[test]
    fn modules_of_tests_in_files_of_their_own_are_known() {
        let text = "#[cfg(test)] mod tests; mod other; #[cfg(not(test))] mod real; #[cfg(test)] mod inside { fn f() {} }";
        let of = |file| test_modules(file, text).unwrap();
        assert_eq!(of("a/src/lib.rs"), ["a/src/tests"]);
        assert_eq!(of("a/src/b/mod.rs"), ["a/src/b/tests"]);
        assert_eq!(of("a/src/b.rs"), ["a/src/b/tests"]);
        let elsewhere = "#[cfg(test)] #[path = \"b_tests.rs\"] mod tests;";
        assert_eq!(
            test_modules("a/src/b.rs", elsewhere).unwrap(),
            ["a/src/b_tests"]
        );
    }

    #[test]
    fn what_binds_names_is_not_turned_round() {
        check(
            "fn f(a: Option<u32>) -> u32 { if let Some(a) = a && g(a) { a } else { b } }",
            &[],
        );
    }
}

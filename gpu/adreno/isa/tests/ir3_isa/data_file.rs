//! The rows are those of the facts' data file, bit for bit: match bits, fields, texts, generations, certainty.

use std::collections::BTreeMap;

use eitri_ir3_isa::field::{FieldSpec, Form, Kind};
use eitri_ir3_isa::{Gen, Op};
use serde_json::Value;

pub fn data() -> Option<Value> {
    let text = eitri_testdata::read_shared("hardware/data/ir3-isa.json")?;
    Some(serde_json::from_str(&text).expect("the data file is JSON"))
}

pub fn hex(value: &Value) -> u64 {
    let text = value.as_str().expect("a hexadecimal number in a string");
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a hexadecimal number")
}

/// The rows of both, in the order of the data file: by name and first generation.
fn rows() -> Vec<(Value, Op)> {
    let Some(data) = data() else {
        return Vec::new();
    };
    let rows = data["instructions"].as_array().expect("a list").clone();
    assert_eq!(
        rows.len(),
        Op::ALL.len(),
        "as many rows as the data file has"
    );
    rows.into_iter().zip(Op::ALL.iter().copied()).collect()
}

#[test]
fn match_bits_are_those_of_the_data_file() {
    for (theirs, op) in rows() {
        let (row, name) = (op.row(), &theirs["name"]);
        assert_eq!(row.name, name.as_str().expect("a name"));
        assert_eq!(row.mask(), hex(&theirs["mask"]), "mask of {name}");
        assert_eq!(row.value, hex(&theirs["value"]), "value of {name}");
        assert_eq!(
            row.layout.ignored,
            hex(&theirs["ignored"]),
            "ignored bits of {name}"
        );
        assert_eq!(
            u64::from(row.category()),
            theirs["category"],
            "category of {name}"
        );
        assert_eq!(
            row.certainty.name(),
            theirs["certainty"],
            "certainty of {name}"
        );
        assert_eq!(row.meaning, theirs["meaning"], "meaning of {name}");
    }
}

#[test]
fn generations_are_those_of_the_data_file() {
    for (theirs, op) in rows() {
        for generation in Gen::ALL {
            let has = op.row().gens.contains(generation);
            assert_eq!(has, theirs[generation.name()], "{op} on {generation}");
        }
    }
}

/// Fields that occupy bits: name, lowest and highest bit.
fn stored(fields: &Value) -> BTreeMap<String, (u64, u64, Value)> {
    let fields = fields.as_object().into_iter().flatten();
    let stored = fields.filter_map(|(name, field)| {
        let bits = field["bits"].as_array()?;
        let bit = |index: usize| bits[index].as_u64().expect("a bit number");
        Some((name.clone(), (bit(0), bit(1), field.clone())))
    });
    stored.collect()
}

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Gpr8 => "gpr8",
        Form::MovDst8 => "mov_dst8",
        Form::MovGpr8 => "mov_gpr8",
        Form::MovConst11 => "mov_const11",
        Form::MovRelGpr10 => "mov_rel_gpr10",
        Form::MovRelConst10 => "mov_rel_const10",
        Form::MovImm32 => "mov_imm32",
        Form::MultiSrc8 => "multi_src8",
        Form::MultiDst8 => "multi_dst8",
        Form::AluSrc16(_) => "alu_src16",
        Form::MadSrc13 | Form::MadImm13 => "mad_src13",
        Form::TexSrc1 => "tex_src1",
        Form::TexSrc2 => "tex_src2",
        Form::TexSrc3 => "tex_src3",
        Form::TexSamp4 => "tex_samp4",
        Form::TexTex7 => "tex_tex7",
        Form::TexType3 => "tex_type3",
        Form::TexBase1 => "tex_base1",
        Form::MemBase3 => "mem_base3",
        Form::MemSrc8(_) => "mem_src8",
        Form::MemAddr8 => "mem_addr8",
        Form::MemTyped1 => "mem_typed1",
        Form::ConstDst9 => "const_dst9",
        Form::AliasSrc => "alias_imm32",
    }
}

fn assert_same_field(op: Op, ours: &FieldSpec, theirs: &Value, enums: &Value) {
    let what = format!("{} of {op}", ours.field.name());
    let kind = theirs["kind"].as_str().expect("a kind");
    match ours.kind {
        Kind::Flag(text) => {
            assert_eq!(kind, "bool", "{what}");
            assert_eq!(theirs["text_if_set"], text, "{what}");
        }
        Kind::Bit => {
            assert_eq!(kind, "bool", "{what}");
            let text = theirs["text_if_set"].as_str().unwrap_or("");
            assert_eq!(text, "", "{what}");
        }
        Kind::Enum(names) => {
            assert_eq!(kind, "enum", "{what}");
            let theirs = theirs["enum"].as_str().expect("the name of an enum");
            let theirs = enums[theirs].as_array().expect("values");
            let theirs = theirs
                .iter()
                .map(|value| (value["value"].as_u64(), value["text"].as_str()));
            let names = names
                .iter()
                .map(|name| (Some(u64::from(name.value)), Some(name.text)));
            assert!(theirs.eq(names), "values of {what}");
        }
        Kind::Uint => assert_eq!(kind, "uint", "{what}"),
        Kind::Int => assert_eq!(kind, "int", "{what}"),
        Kind::Offset => assert_eq!(kind, "offset", "{what}"),
        Kind::UOffset => assert_eq!(kind, "uoffset", "{what}"),
        Kind::Branch => assert_eq!(kind, "branch", "{what}"),
        Kind::Operand(form) => {
            assert_eq!(kind, "operand", "{what}");
            assert_eq!(theirs["operand"], form_name(form), "{what}");
        }
    }
}

#[test]
fn fields_are_those_of_the_data_file() {
    let Some(data) = data() else {
        return;
    };
    for (theirs, op) in rows() {
        let layout = op.row().layout;
        let mut expected = stored(&theirs["fields"]);
        let variants = theirs["variants"].as_array().into_iter().flatten();
        let in_variants: BTreeMap<_, _> = variants
            .flat_map(|variant| stored(&variant["fields"]))
            .collect();
        for ours in layout.fields {
            let (low, high, field) = expected
                .remove(ours.field.name())
                .unwrap_or_else(|| panic!("{} of {op} is not in the data file", ours.field.name()));
            assert_eq!(
                (u64::from(ours.low), u64::from(ours.high)),
                (low, high),
                "{} of {op}",
                ours.field.name()
            );
            assert_same_field(op, ours, &field, &data["enums"]);
        }
        assert!(expected.is_empty(), "{op} lacks {:?}", expected.keys());
        for ours in layout.indirect {
            let (low, high, field) = &in_variants[ours.field.name()];
            assert_eq!(
                (u64::from(ours.low), u64::from(ours.high)),
                (*low, *high),
                "{} of {op}",
                ours.field.name()
            );
            assert_same_field(op, ours, field, &data["enums"]);
        }
    }
}

#[test]
fn texts_are_those_of_the_data_file() {
    for (theirs, op) in rows() {
        let layout = op.row().layout;
        assert_eq!(layout.text, theirs["text"], "text of {op}");
        let variants = theirs["variants"].as_array().into_iter().flatten();
        let texts = variants.filter_map(|variant| variant["text"].as_str());
        let ours = layout.variants.iter().map(|variant| variant.text);
        assert!(texts.eq(ours), "other texts of {op}");
    }
}

/// Sources that the facts list, and destinations, are what [`eitri_ir3_isa::layout::Layout::operands`] says.
#[test]
fn operands_are_those_of_the_data_file() {
    use eitri_ir3_isa::Role;
    for (theirs, op) in rows() {
        let operands = op.row().layout.operands;
        let sources = theirs["sources"].as_array().into_iter().flatten();
        for source in sources {
            let field = source["field"].as_str().expect("a field");
            let is_printed = theirs["text"]
                .as_str()
                .is_some_and(|text| text.contains(&format!("{{{field}}}")));
            // Branch targets and immediates are no registers; some texture instructions have less sources than fields.
            let has_source = op.row().layout.tex.is_none_or(|shape| shape.sources > 0);
            if field == "IMMED" || field == "INDEX" || !is_printed || !has_source {
                continue;
            }
            let known = operands.iter().any(|operand| operand.field.name() == field);
            assert!(
                known || matches!(op, Op::Stsc | Op::Alias),
                "{field} of {op} is read, by the facts"
            );
        }
        let dests = match &theirs["dest"] {
            Value::Array(dests) => dests.clone(),
            Value::Null => Vec::new(),
            dest => vec![dest.clone()],
        };
        for dest in dests {
            let field = dest["field"].as_str().expect("a field");
            if matches!(op, Op::Stc | Op::LdgK | Op::Stsc | Op::Alias) {
                continue;
            }
            let known = operands
                .iter()
                .any(|operand| operand.field.name() == field && operand.role == Role::Write);
            assert!(known, "{field} of {op} is written, by the facts");
        }
    }
}

#[test]
fn float_constants_are_those_of_the_data_file() {
    let Some(data) = data() else {
        return;
    };
    let theirs = data["enums"]["float_table"].as_array().expect("a list");
    for (theirs, ours) in theirs.iter().zip(eitri_ir3_isa::FloatConst::ALL) {
        assert_eq!(u64::from(ours.f32_bits()), hex(&theirs["f32"]), "{ours}");
        assert_eq!(u64::from(ours.f16_bits()), hex(&theirs["f16"]), "{ours}");
    }
}

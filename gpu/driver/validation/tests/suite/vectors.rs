//! The vectors, as the suite reads them, are those of the file.

use eitri_validation::vectors;
use serde_json::Value;

#[test]
fn every_vector_is_read_as_it_stands() {
    let path = eitri_testdata::kept("isa-semantics-vectors.json");
    let text = std::fs::read_to_string(&path).expect("the file is kept");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let rows = file["vectors"].as_array().expect("vectors");
    let read: Vec<_> = vectors::all().collect();
    assert_eq!(read.len(), rows.len());
    for (vector, row) in read.iter().zip(rows) {
        let id = vector.id;
        assert_eq!(Some(id), row["id"].as_str());
        assert_eq!(Some(vector.op), row["op"].as_str(), "{id}");
        let word = row["word"].as_str().expect("a word");
        assert_eq!(format!("{:016x}", vector.word), word, "{id}");
        let limit = |index: usize| row["arch"].get(index).and_then(Value::as_u64);
        let archs = (limit(0).unwrap_or(9) as u32, limit(1).unwrap_or(14) as u32);
        assert_eq!(vector.archs, archs, "{id}");
        let value = |register: u8, bits: u32| (format!("r{register}"), format!("{bits:#010x}"));
        let members = |name: &str| -> Vec<(String, String)> {
            let object = row[name].as_object().expect("registers");
            let text = |value: &Value| value.as_str().expect("a number").to_owned();
            let pairs = object
                .iter()
                .map(|(name, value)| (name.clone(), text(value)));
            pairs.collect()
        };
        let mut inputs: Vec<_> = vector
            .inputs()
            .iter()
            .map(|it| value(it.register, it.bits))
            .collect();
        inputs.sort();
        assert_eq!(inputs, members("in"), "{id}");
        let mut outputs: Vec<_> = vector
            .outputs()
            .iter()
            .map(|(it, _)| value(it.register, it.bits))
            .collect();
        outputs.sort();
        assert_eq!(outputs, members("out"), "{id}");
        for (output, slack) in vector.outputs() {
            let nan = &row["nan"][format!("r{}", output.register)];
            let lanes = nan[1].as_array().into_iter().flatten();
            let lanes = lanes
                .filter_map(Value::as_u64)
                .fold(0, |all, lane| all | 1 << lane);
            let width = nan[0].as_u64().unwrap_or(0);
            assert_eq!(
                (slack.nan_width as u64, slack.nan_lanes as u64),
                (width, lanes),
                "{id}"
            );
            assert_eq!(
                u64::from(slack.ulp),
                row["ulp"].as_u64().unwrap_or(0),
                "{id}"
            );
        }
    }
}

#[test]
fn what_may_differ_is_allowed_and_nothing_else() {
    let exact = vectors::Slack::default();
    assert!(exact.allows(7, 7) && !exact.allows(7, 8));
    let near = vectors::Slack { ulp: 1, ..exact };
    assert!(near.allows(0x3F80_0000, 0x3F80_0001));
    assert!(!near.allows(0x3F80_0000, 0x3F80_0002));
    assert!(
        !near.allows(0x7F80_0000, 0x7F7F_FFFF),
        "an infinity is near nothing"
    );
    let nan = vectors::Slack {
        nan_width: 16,
        nan_lanes: 0b10,
        ..exact
    };
    assert!(nan.allows(0x7E01_3C00, 0x7E00_3C00));
    assert!(!nan.allows(0x7E01_3C01, 0x7E00_3C00));
    assert!(
        !nan.allows(0x7C00_3C00, 0x7E00_3C00),
        "an infinity is no NaN"
    );
}

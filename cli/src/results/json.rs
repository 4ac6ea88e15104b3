//! Results as JSON: `eitri schema results` has the form.

use super::{Case, Number, Results, Status};
use serde_json::{Value, json};

/// Version of the form; a member that goes or changes its meaning makes a new one.
pub(super) const SCHEMA: u32 = 1;

impl Results {
    pub(crate) fn to_json(&self) -> Value {
        let properties = self.properties.iter();
        let properties = properties.map(|(name, value)| (name.clone(), json!(value)));
        let mut value = json!({
            "schema": SCHEMA,
            "suite": self.suite,
            "version": env!("CARGO_PKG_VERSION"),
            "interrupted": self.interrupted,
            "properties": Value::Object(properties.collect()),
            "cases": self.cases.iter().map(of_case).collect::<Vec<_>>(),
        });
        if let Some(shard) = self.shard {
            value["shard"] = json!(shard.to_string());
        }
        if let Some(start) = &self.start {
            value["start"] = json!(start);
        }
        value
    }

    /// Reads what [`Results::to_json`] wrote; says what is wrong with anything else.
    pub(super) fn from_json(value: &Value) -> Result<Results, String> {
        let schema = value["schema"].as_u64();
        if schema != Some(u64::from(SCHEMA)) {
            return Err(format!(
                "`schema` is not {SCHEMA}: not results of this version"
            ));
        }
        let text = |name: &str| {
            let text = value[name].as_str().map(str::to_owned);
            text.ok_or_else(|| format!("no text `{name}`"))
        };
        let shard = match value["shard"].as_str() {
            Some(shard) => Some(shard.parse().map_err(|error| format!("{error}"))?),
            None => None,
        };
        let properties = value["properties"].as_object().into_iter().flatten();
        let properties = properties
            .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
        let cases = value["cases"].as_array().ok_or("no list `cases`")?;
        Ok(Results {
            suite: text("suite")?,
            shard,
            start: text("start").ok(),
            properties: properties.collect(),
            interrupted: value["interrupted"].as_bool().unwrap_or(false),
            cases: cases.iter().map(case).collect::<Result<_, _>>()?,
        })
    }
}

fn of_case(case: &Case) -> Value {
    let numbers = case
        .numbers
        .iter()
        .map(|number| json!({ "name": number.name, "value": number.value, "unit": number.unit }));
    let mut value = json!({ "name": case.name, "status": case.status.word() });
    let mut set = |name: &str, member: Value| value[name] = member;
    if !case.why.is_empty() {
        set("why", json!(case.why));
    }
    if let Some(seconds) = case.seconds {
        // Microseconds are plenty.
        set("seconds", json!((seconds * 1e6).round() / 1e6));
    }
    if !case.numbers.is_empty() {
        set("numbers", numbers.collect());
    }
    if !case.output.is_empty() {
        set("output", json!(case.output));
    }
    value
}

fn case(value: &Value) -> Result<Case, String> {
    let name = value["name"].as_str().ok_or("a case has no name")?;
    let word = value["status"].as_str().unwrap_or_default();
    let status = Status::named(word).ok_or_else(|| format!("{name} has no status"))?;
    let numbers = value["numbers"].as_array().into_iter().flatten();
    let numbers = numbers.map(|number| {
        Some(Number {
            name: number["name"].as_str()?.to_owned(),
            value: number["value"].as_u64()?,
            unit: number["unit"].as_str()?.to_owned(),
        })
    });
    let text = |member: &str| value[member].as_str().unwrap_or_default().to_owned();
    Ok(Case {
        name: name.to_owned(),
        status,
        why: text("why"),
        seconds: value["seconds"].as_f64(),
        numbers: numbers
            .collect::<Option<_>>()
            .ok_or_else(|| format!("a number of {name} is not whole"))?,
        output: text("output"),
        pictures: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_as_they_were_written() {
        let mut results = Results::new("kernel");
        results.shard = "2/3".parse().ok();
        results.start = Some("2026-11-28T04:00:00Z".to_owned());
        results.properties = vec![("gpu".to_owned(), "Mali-G610".to_owned())];
        results.cases = vec![
            Case::new("a.b", Status::Pass, "").took(0.25),
            Case {
                numbers: vec![Number {
                    name: "n".to_owned(),
                    value: 7,
                    unit: "us".to_owned(),
                }],
                output: "line".to_owned(),
                ..Case::new("c", Status::Fail, "why\nmore")
            },
        ];
        assert_eq!(Results::from_json(&results.to_json()), Ok(results.clone()));
        let mut other = results.to_json();
        other["schema"] = json!(99);
        assert!(Results::from_json(&other).is_err());
        let mut other = results.to_json();
        other["cases"][0]["status"] = json!("good");
        assert_eq!(
            Results::from_json(&other),
            Err("a.b has no status".to_owned())
        );
    }
}

//! Nearest: what a person who wrote an unknown name may have meant.

/// The candidate that is nearest to `name`, unless none is near.
pub(crate) fn nearest<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let wanted = letters(name);
    let scored = candidates
        .into_iter()
        .map(|candidate| (distance(&wanted, &letters(candidate)), candidate));
    let (changes, found) = scored.min_by_key(|(changes, _)| *changes)?;
    // More than half the letters changed is another word.
    (changes * 2 <= wanted.len().max(2)).then_some(found)
}

/// ``did you mean `X`?``, or what to do instead.
pub(crate) fn suggestion<'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    otherwise: &str,
) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(found) = nearest(name, candidates.iter().copied()) {
        return format!("did you mean `{found}`?");
    }
    let wanted = letters(name);
    let contains = |candidate: &&&str| {
        wanted.len() > 2
            && letters(candidate)
                .windows(wanted.len())
                .any(|part| part == wanted)
    };
    let with: Vec<String> = candidates
        .iter()
        .filter(contains)
        .take(5)
        .map(|found| format!("`{found}`"))
        .collect();
    match with.as_slice() {
        [] => otherwise.to_owned(),
        with => format!("names with it: {}", with.join(", ")),
    }
}

/// What counts in a name: letters and digits, in lower case.
fn letters(name: &str) -> Vec<char> {
    let kept = name.chars().filter(|letter| letter.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

/// How many letters to insert, remove, replace, or exchange with their neighbour, to make one name of the other.
fn distance(from: &[char], to: &[char]) -> usize {
    let width = to.len() + 1;
    let mut rows = vec![0; (from.len() + 1) * width];
    for row in 0..=from.len() {
        for column in 0..width {
            rows[row * width + column] = if row == 0 || column == 0 {
                row + column
            } else {
                let same = from[row - 1] == to[column - 1];
                let replaced = rows[(row - 1) * width + column - 1] + usize::from(!same);
                let removed = rows[(row - 1) * width + column] + 1;
                let inserted = rows[row * width + column - 1] + 1;
                let crossed = row > 1
                    && column > 1
                    && from[row - 1] == to[column - 2]
                    && from[row - 2] == to[column - 1];
                let exchanged = match crossed {
                    true => rows[(row - 2) * width + column - 2] + 1,
                    false => usize::MAX,
                };
                replaced.min(removed).min(inserted).min(exchanged)
            };
        }
    }
    rows[rows.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<&str>) {
        assert_eq!(
            nearest(name, ["Buffer", "Blend", "Shader Program", "GPU_STATUS"]),
            expected,
            "nearest to `{name}`"
        );
    }

    #[test]
    fn typing_errors_are_recognised() {
        check("bufer", Some("Buffer"));
        check("bufefr", Some("Buffer"));
        check("shader_prgram", Some("Shader Program"));
        check("gpu-staus", Some("GPU_STATUS"));
    }

    #[test]
    fn another_word_is_not_near() {
        check("zzzzzzzz", None);
        check("", None);
    }
}

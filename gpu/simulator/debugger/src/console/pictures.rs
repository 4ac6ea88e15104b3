//! Pictures of what an execution has, written to files.
use super::SavePicture;
use crate::execution::Execution;

/// Writes the picture that is asked for: `NAME FILE [SAMPLE]`.
///
/// # Errors
/// What is wrong with that, or why it can't be written.
pub(crate) fn save<E: Execution>(
    execution: &E,
    asked: &str,
    save: Option<&SavePicture>,
) -> Result<String, String> {
    let save = save.ok_or("pictures can't be written here")?;
    let mut words = asked.split_whitespace();
    let (Some(name), Some(file)) = (words.next(), words.next()) else {
        return Err("a picture needs a name and a file: picture tile tile.png".to_owned());
    };
    let sample = match words.next() {
        None => 0,
        Some(text) => text
            .parse()
            .map_err(|_| format!("`{text}` is not the number of a sample"))?,
    };
    let picture = execution.picture(name, sample).ok_or_else(|| {
        let names = execution.pictures();
        match names.is_empty() {
            true => "there is no tile now, and no attachment that is mapped".to_owned(),
            false => format!(
                "there is no picture `{name}` of sample {sample}; there are {}",
                names.join(", ")
            ),
        }
    })?;
    save(file, &picture)?;
    let (width, height) = (picture.width, picture.height);
    Ok(format!("{name}: {width}x{height} pixels to {file}"))
}

//! Tests of contents.

use super::*;

struct One(Vec<u8>);

impl Files for One {
    fn read(&mut self, path: &str) -> std::io::Result<Vec<u8>> {
        match path {
            "there" => Ok(self.0.clone()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        }
    }
}

fn contents(declaration: &str, file: &[u8]) -> Result<Vec<u8>, String> {
    let script = crate::parse(&format!("#!amber\n{declaration}\n")).unwrap();
    match read(&script.buffers[0], &mut One(file.to_vec())) {
        Ok(buffer) => Ok(initial(&buffer)),
        Err(error) => Err(error.cause.to_string()),
    }
}

#[track_caller]
fn check(declaration: &str, expected: &[u8]) {
    assert_eq!(
        contents(declaration, &[]).as_deref(),
        Ok(expected),
        "{declaration}"
    );
}

#[test]
fn values_fill_components_and_leave_padding() {
    check(
        "BUFFER b DATA_TYPE uint8 DATA 1 0xff -1 END",
        &[1, 255, 255],
    );
    check(
        "BUFFER b DATA_TYPE vec3<uint8> DATA 1 2 3 4 5 6 END",
        &[1, 2, 3, 0, 4, 5, 6, 0],
    );
    check(
        "BUFFER b DATA_TYPE vec3<uint8> SIZE 2 FILL 7",
        &[7, 7, 7, 0, 7, 7, 7, 0],
    );
    check(
        "BUFFER b DATA_TYPE int16[] STD140 DATA 1 2 END",
        &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0],
    );
    check(
        "BUFFER b DATA_TYPE float SIZE 1 FILL 2",
        &2.0f32.to_le_bytes(),
    );
    check(
        "IMAGE b FORMAT R8G8_UINT WIDTH 1 HEIGHT 2 FILL 3",
        &[3, 3, 3, 3],
    );
}

#[test]
fn series_wrap_or_accumulate() {
    check(
        "BUFFER b DATA_TYPE uint8 SIZE 3 SERIES_FROM 254 INC_BY 1",
        &[254, 255, 0],
    );
    check(
        "BUFFER b DATA_TYPE int8 SIZE 3 SERIES_FROM 1 INC_BY -1",
        &[1, 0, 255],
    );
    let floats: Vec<u8> = [0.5f32, 0.75, 1.0]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    check(
        "BUFFER b DATA_TYPE float SIZE 3 SERIES_FROM 0.5 INC_BY 0.25",
        &floats,
    );
}

#[test]
fn files_decide_how_long_a_buffer_is() {
    let text = "BUFFER b DATA_TYPE vec2<uint8> SIZE 9 FILE TEXT there";
    assert_eq!(contents(text, b"1 2 # x\n3\n4\nEND"), Ok(vec![1, 2, 3, 4]));
    assert_eq!(
        contents(text, b"1 2 3").unwrap_err(),
        "there does not hold whole elements of 2 numbers"
    );
    assert_eq!(
        contents(text, b"1 x").unwrap_err(),
        "there: byte 2: expected a number, found `x`"
    );
    assert_eq!(
        contents(text, b"").unwrap_err(),
        "there has 0 bytes: a buffer has 1 to 268435456"
    );
    let binary = "BUFFER b DATA_TYPE uint16 SIZE 1 FILE BINARY there";
    assert_eq!(contents(binary, &[1, 2, 3, 4]), Ok(vec![1, 2, 3, 4]));
    assert!(contents(binary, &[1]).is_err());
    assert!(
        contents("BUFFER b DATA_TYPE int8 SIZE 1 FILE BINARY away", &[])
            .unwrap_err()
            .starts_with("can't read away")
    );
}

#[test]
fn pictures_are_rgba() {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 2, 1);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[1, 2, 3, 4, 5, 6]).unwrap();
    writer.finish().unwrap();
    let picture = "BUFFER b FORMAT R8G8B8A8_UNORM FILE there";
    assert_eq!(
        contents(picture, &file),
        Ok(vec![1, 2, 3, 255, 4, 5, 6, 255])
    );
    assert!(
        contents(picture, b"no picture")
            .unwrap_err()
            .starts_with("there is not a PNG picture")
    );
}

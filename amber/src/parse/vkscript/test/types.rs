//! Types by VkScript's names.

use crate::types::{Numeric, Scalar};

/// The types of VkScript: `int`, `uint8_t`, `ivec3`, `mat4`, `dmat2x3` ...
pub(super) fn named_type(name: &str) -> Option<Numeric> {
    let scalar = match name {
        "int" => Scalar::Int32,
        "uint" => Scalar::Uint32,
        "int8_t" => Scalar::Int8,
        "uint8_t" => Scalar::Uint8,
        "int16_t" => Scalar::Int16,
        "uint16_t" => Scalar::Uint16,
        "int64_t" => Scalar::Int64,
        "uint64_t" => Scalar::Uint64,
        "float" => Scalar::Float,
        "double" => Scalar::Double,
        _ => return shaped_type(name),
    };
    Some(Numeric::vector(scalar, 1))
}

fn shaped_type(name: &str) -> Option<Numeric> {
    let size = |text: &str| text.parse().ok().filter(|size: &u8| (2..=4).contains(size));
    if let Some((prefix, shape)) = name.split_once("vec") {
        let scalar = match prefix {
            "" => Scalar::Float,
            "d" => Scalar::Double,
            "i" => Scalar::Int32,
            "u" => Scalar::Uint32,
            "i8" => Scalar::Int8,
            "u8" => Scalar::Uint8,
            "i16" => Scalar::Int16,
            "u16" => Scalar::Uint16,
            "i64" => Scalar::Int64,
            "u64" => Scalar::Uint64,
            _ => return None,
        };
        let rows = if shape.is_empty() { 4 } else { size(shape)? };
        return Some(Numeric::vector(scalar, rows));
    }
    let (prefix, shape) = name.split_once("mat")?;
    let scalar = match prefix {
        "" => Scalar::Float,
        "d" => Scalar::Double,
        _ => return None,
    };
    let (columns, rows) = shape.split_once('x').unwrap_or((shape, shape));
    Some(Numeric {
        scalar,
        columns: size(columns)?,
        rows: size(rows)?,
        is_array: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_their_own_names() {
        let name = |text: &str| named_type(text).map(|ty| ty.to_string());
        assert_eq!(name("vec").as_deref(), Some("vec4<float>"));
        assert_eq!(name("i16vec3").as_deref(), Some("vec3<int16>"));
        assert_eq!(name("dmat2x3").as_deref(), Some("mat2x3<double>"));
        assert_eq!(name("mat3").as_deref(), Some("mat3x3<float>"));
        assert_eq!(name("vec5"), None);
        assert_eq!(name("matx2"), None);
    }
}

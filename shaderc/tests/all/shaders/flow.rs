//! Branches, loops, switches and calls.
use super::{check, check_glsl};

#[test]
fn breaks_and_continues() {
    check(
        "",
        "var sum = 0u;
         for (var i = 0u; i < 20u; i++) {
             if i == x { continue; }
             for (var j = 0u; ; j++) {
                 if j > i { break; }
                 if (j & 1u) == 1u { continue; }
                 sum += j;
                 if sum > 60u { return sum * 1000u + i; }
             }
         }
         return sum;",
        &[0, 5, 100],
        &[62_009, 66_009, 62_009],
    );
}

#[test]
fn switches() {
    check(
        "",
        "var y = 1u;
         switch x {
             case 0u: { y = 10u; }
             case 1u, 7u: { if y == 1u { break; } y = 0u; }
             case 0xffffffffu: { return 5u; }
             default: { y = 30u; }
         }
         return y;",
        &[0, 1, 7, 2, u32::MAX],
        &[10, 1, 1, 30, 5],
    );
}

#[test]
fn fall_through() {
    check_glsl(
        "#version 450
        layout(local_size_x = 1) in;
        layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
        void main() {
            uint id = gl_WorkGroupID.x;
            uint sum = 0u;
            switch (data[id]) {
                case 3u: sum += 1u;
                case 5u: sum += 10u;
                default: sum += 100u; break;
                case 8u: sum += 1000u;
            }
            data[id] = sum;
        }",
        &[3, 5, 6, 8],
        4,
        &[111, 110, 100, 1000],
    );
}

#[test]
fn functions_with_several_returns_and_out_parameters() {
    check_glsl(
        "#version 450
        layout(local_size_x = 1) in;
        layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };
        uint find(uint x, out uint steps) {
            steps = 0u;
            while (true) {
                steps++;
                if (x == 1u) return 100u;
                if (x > 1000u) return 200u;
                x = (x & 1u) == 0u ? x / 2u : 3u * x + 1u;
            }
            return 0u;
        }
        void main() {
            uint id = gl_WorkGroupID.x;
            uint steps;
            uint found = find(data[id], steps);
            data[id] = found + steps;
        }",
        &[1, 6, 27],
        3,
        &[101, 109, 237],
    );
}

#version 450
// Local alignment scores along columns, scores of the last column in shared memory.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer Query { uint query[]; };
layout(set = 0, binding = 1) readonly buffer Text { uint text[]; };
layout(set = 0, binding = 2) buffer Score { int score_out[]; };
layout(push_constant) uniform Params { uint rows; uint columns; };
shared int column[24][32];
void main() {
    uint id = gl_GlobalInvocationID.x, lane = gl_LocalInvocationID.x;
    for (uint r = 0u; r < rows; r++) column[r][lane] = 0;
    int best = 0;
    for (uint c = 0u; c < columns; c++) {
        uint letter = text[id * columns + c];
        int corner = 0, up = 0;
        for (uint r = 0u; r < rows; r++) {
            int left = column[r][lane];
            int here = max(0, max(corner + (query[r] == letter ? 3 : -2), max(left, up) - 1));
            corner = left;
            up = here;
            column[r][lane] = here;
            best = max(best, here);
        }
    }
    score_out[id] = best;
}

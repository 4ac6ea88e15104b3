// Sums of a workgroup by a tree in shared memory, and a word of each invocation by a function with a loop.
StructuredBuffer<uint> words : register(t0);
RWStructuredBuffer<uint> results : register(u1);
groupshared uint tree[32];

uint digits(uint word) {
    uint sum = 0;
    while (word != 0) {
        switch (word % 4) {
            case 0: sum += 1; break;
            case 3: sum += 5 + (word & 7); break;
            default: sum += word & 7; break;
        }
        word /= 4;
    }
    return sum;
}

[numthreads(32, 1, 1)]
void main(uint3 global : SV_DispatchThreadID, uint3 local : SV_GroupThreadID) {
    uint id = global.x, lane = local.x;
    tree[lane] = words[id];
    GroupMemoryBarrierWithGroupSync();
    for (uint half_size = 16; half_size > 0; half_size >>= 1) {
        if (lane < half_size) tree[lane] += tree[lane + half_size];
        GroupMemoryBarrierWithGroupSync();
    }
    results[id] = tree[0] ^ digits(words[id]);
}

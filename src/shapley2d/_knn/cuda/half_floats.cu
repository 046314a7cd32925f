// Half floats, two to a word: what subsets.cu and tall.cu share.

#define INFINITE 0x7C00  // the largest
#define BOTH(half) ((unsigned)(half) * 0x10001u)

#ifdef __CUDACC__
// Without the header of half floats, which a compiler without its tool kit does not find.
__device__ __forceinline__ unsigned pack_halves(const float low, const float high) {
    unsigned packed;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}
__device__ __forceinline__ unsigned add_halves(const unsigned a, const unsigned b) {
    unsigned sum;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
__device__ __forceinline__ unsigned max_halves(const unsigned a, const unsigned b) {
    unsigned most;
    asm("max.f16x2 %0, %1, %2;" : "=r"(most) : "r"(a), "r"(b));
    return most;
}
__device__ __forceinline__ unsigned min_halves(const unsigned a, const unsigned b) {
    unsigned least;
    asm("min.f16x2 %0, %1, %2;" : "=r"(least) : "r"(a), "r"(b));
    return least;
}
#endif

// CUDA enough for the kernels of this package to run on a processor: the threads of a block are fibres that take turns,
// and change at every barrier and wherever the threads of a warp exchange something.
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <stdio.h>
#include <stdlib.h>

#include <functional>
#include <vector>

struct int2 { int x, y; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct uint4 { unsigned x, y, z, w; };
struct dim3 { int x, y, z; };
static float2 make_float2(float x, float y) { return {x, y}; }

static dim3 threadIdx, blockIdx, blockDim, gridDim;
static unsigned char* on_chip_memory;
static ucontext_t scheduler;
static std::vector<ucontext_t> fibres;
enum State { RUNS, AT_BARRIER, AT_EXCHANGE, ENDED };
static std::vector<State> states;
static std::vector<double> exchanged;
static int current;
static std::function<void()> kernel;

static void pause(State state) {
    states[current] = state;
    swapcontext(&fibres[current], &scheduler);
}
static void __syncthreads() { pause(AT_BARRIER); }
static void fibre_body() {
    kernel();
    pause(ENDED);
}
// All threads of a warp have to come along, and each of them reads before any goes on.
template <typename T> static T from_lane(T value, int lane) {
    memcpy(&exchanged[current], &value, sizeof(T));
    pause(AT_EXCHANGE);
    T other;
    memcpy(&other, &exchanged[current / 32 * 32 + lane], sizeof(T));
    pause(AT_EXCHANGE);
    return other;
}
template <typename T> static T __shfl_sync(unsigned, T value, int lane) { return from_lane(value, lane); }
template <typename T> static T __shfl_up_sync(unsigned, T value, int step) {
    const int lane = current % 32;
    return from_lane(value, lane >= step ? lane - step : lane);
}
template <typename T> static T __shfl_down_sync(unsigned, T value, int step) {
    const int lane = current % 32;
    return from_lane(value, lane + step < 32 ? lane + step : lane);
}

// Lets the fibres go on that have what they wait for; false when all have ended.
static bool release(int threads) {
    bool left = false, all_at_barrier = true;
    for (int i = 0; i < threads; i++) {
        left |= states[i] != ENDED;
        all_at_barrier &= states[i] == ENDED || states[i] == AT_BARRIER;
    }
    if (!left) return false;
    bool moved = false;
    for (int first = 0; first < threads; first += 32) {
        bool together = true;
        const int last = first + 32 < threads ? first + 32 : threads;
        for (int i = first; i < last; i++) together &= states[i] == AT_EXCHANGE;
        for (int i = first; i < last; i++)
            if (together || (all_at_barrier && states[i] == AT_BARRIER)) states[i] = RUNS, moved = true;
    }
    if (!moved) {
        fprintf(stderr, "threads of a block wait for each other\n");
        abort();
    }
    return true;
}

static void run_grid(int grid_x, int grid_y, int threads, int on_chip) {
    const size_t STACK = 65536;
    std::vector<unsigned char> stacks(STACK * threads), memory(on_chip + 64);
    on_chip_memory = (unsigned char*)(((uintptr_t)memory.data() + 31) & ~(uintptr_t)31);
    blockDim = {threads, 1, 1};
    gridDim = {grid_x, grid_y, 1};
    for (blockIdx.y = 0; blockIdx.y < grid_y; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < grid_x; blockIdx.x++) {
            memset(memory.data(), 0xAB, memory.size());  // nothing may be taken for granted
            fibres.assign(threads, ucontext_t());
            states.assign(threads, RUNS);
            exchanged.assign(threads, 0.0);
            for (int i = 0; i < threads; i++) {
                getcontext(&fibres[i]);
                fibres[i].uc_stack.ss_sp = stacks.data() + STACK * i;
                fibres[i].uc_stack.ss_size = STACK;
                fibres[i].uc_link = nullptr;
                makecontext(&fibres[i], fibre_body, 0);
            }
            do {
                for (current = 0; current < threads; current++) {
                    if (states[current] != RUNS) continue;
                    threadIdx = {current, 0, 0};
                    swapcontext(&scheduler, &fibres[current]);
                }
            } while (release(threads));
        }
}

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n)

template <typename T> static T min(T a, T b) { return a < b ? a : b; }
template <typename T> static T max(T a, T b) { return a > b ? a : b; }
template <typename T> static T atomicAdd(T* to, T value) { T old = *to; *to += value; return old; }
static int __float_as_int(float x) { int y; memcpy(&y, &x, 4); return y; }
static float __int_as_float(int x) { float y; memcpy(&y, &x, 4); return y; }
static float __fadd_rn(float x, float y) { return x + y; }
static float __fmul_rn(float x, float y) { return x * y; }
static float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static int __float2int_rn(float x) { return (int)nearbyintf(x); }
static int __double2int_rn(double x) { return (int)nearbyint(x); }
static long long __double2ll_rn(double x) { return (long long)nearbyint(x); }
static int __popc(unsigned x) { return __builtin_popcount(x); }
template <typename T> static T atomicMax(T* to, T value) { T old = *to; *to = old > value ? old : value; return old; }
template <typename T> static T atomicMin(T* to, T value) { T old = *to; *to = old < value ? old : value; return old; }
static float __frcp_rn(float x) { return 1.0f / x; }

// Half floats, two to a word.
#ifdef __aarch64__
typedef __fp16 Half;  // _Float16 is new to C++ there
#else
typedef _Float16 Half;
#endif
static uint16_t half_bits(Half x) { uint16_t y; memcpy(&y, &x, 2); return y; }
static Half half_of(unsigned x) { uint16_t y = (uint16_t)x; Half z; memcpy(&z, &y, 2); return z; }
static unsigned pack_halves(float low, float high) {
    return half_bits((Half)low) | (unsigned)half_bits((Half)high) << 16;
}
template <typename F> static unsigned each_half(unsigned a, unsigned b, F f) {
    return half_bits(f(half_of(a), half_of(b))) | (unsigned)half_bits(f(half_of(a >> 16), half_of(b >> 16))) << 16;
}
static unsigned add_halves(unsigned a, unsigned b) {
    return each_half(a, b, [](Half x, Half y) { return (Half)((float)x + (float)y); });
}
static unsigned max_halves(unsigned a, unsigned b) {
    return each_half(a, b, [](Half x, Half y) { return x > y ? x : y; });
}
static unsigned min_halves(unsigned a, unsigned b) {
    return each_half(a, b, [](Half x, Half y) { return x < y ? x : y; });
}

// The product of 16 x 16 and 16 x 8 half floats, whose parts the threads of a warp have.
static void multiply_add(float (&sums)[4], const uint4 left, const unsigned (&right)[2]) {
    const int lane = current % 32, four = lane / 4, place = lane % 4;
    const unsigned own[4] = {left.x, left.y, left.z, left.w};
    unsigned rows[4][4], columns[2][4][2];
    for (int word = 0; word < 4; word++)
        for (int other = 0; other < 4; other++) rows[word][other] = from_lane(own[word], 4 * four + other);
    for (int column = 0; column < 2; column++)
        for (int other = 0; other < 4; other++)
            for (int half = 0; half < 2; half++)
                columns[column][other][half] = from_lane(right[half], 4 * (2 * place + column) + other);
    for (int i = 0; i < 4; i++)
        for (int half = 0; half < 2; half++)
            for (int other = 0; other < 4; other++) {
                const unsigned a = rows[i / 2 + 2 * half][other], b = columns[i % 2][other][half];
                sums[i] += (float)half_of(a) * (float)half_of(b) + (float)half_of(a >> 16) * (float)half_of(b >> 16);
            }
}

// CUDA enough for the kernels of this package to run on a processor: the threads of a block are fibres that take turns,
// and change at every barrier and wherever the threads of a warp exchange something.
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <setjmp.h>
#include <ucontext.h>

#include <stdio.h>
#include <stdlib.h>

#include <functional>
#include <vector>

struct double2 { double x, y; };
struct float4 { float x, y, z, w; };
struct uint4 { unsigned x, y, z, w; };
struct ushort2 { unsigned short x, y; };
struct ushort4 { unsigned short x, y, z, w; };
struct dim3 { int x, y, z; };

static dim3 threadIdx, blockIdx, blockDim, gridDim;
static unsigned char* on_chip_memory;
// Fibres begin by their context, and change by jumps, which ask nothing of the system.
struct Fibre { ucontext_t context; jmp_buf place; bool begun; };
static ucontext_t begin;
static jmp_buf scheduler;
static std::vector<Fibre> fibres;
enum State { RUNS, AT_BARRIER, AT_EXCHANGE, ENDED };
static std::vector<State> states;
static std::vector<double> exchanged;
static int current;
static std::function<void()> kernel;

static void pause(State state) {
    states[current] = state;
    if (!_setjmp(fibres[current].place)) _longjmp(scheduler, 1);
}
static void __syncthreads() { pause(AT_BARRIER); }
static int __syncthreads_or(int mine) {
    exchanged[current] = mine != 0;
    pause(AT_BARRIER);
    bool any = false;
    for (double other : exchanged) any |= other != 0.0;
    pause(AT_BARRIER);
    return any;
}
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
static unsigned __ballot_sync(unsigned, bool mine) {
    unsigned all = 0;
    exchanged[current] = mine;
    pause(AT_EXCHANGE);
    for (int lane = 0; lane < 32; lane++) all |= (unsigned)(exchanged[current / 32 * 32 + lane] != 0.0) << lane;
    pause(AT_EXCHANGE);
    return all;
}
static int __popc(unsigned x) { return __builtin_popcount(x); }

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
            fibres.assign(threads, Fibre());
            states.assign(threads, RUNS);
            exchanged.assign(threads, 0.0);
            for (int i = 0; i < threads; i++) {
                getcontext(&fibres[i].context);
                fibres[i].context.uc_stack.ss_sp = stacks.data() + STACK * i;
                fibres[i].context.uc_stack.ss_size = STACK;
                fibres[i].context.uc_link = nullptr;
                makecontext(&fibres[i].context, fibre_body, 0);
            }
            do {
                for (current = 0; current < threads; current++) {
                    if (states[current] != RUNS) continue;
                    threadIdx = {current, 0, 0};
                    if (_setjmp(scheduler)) continue;
                    if (fibres[current].begun) _longjmp(fibres[current].place, 1);
                    fibres[current].begun = true;
                    swapcontext(&begin, &fibres[current].context);
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
static long long __double_as_longlong(double x) { long long y; memcpy(&y, &x, 8); return y; }
template <typename T> static T __ldcs(const T* from) { return *from; }

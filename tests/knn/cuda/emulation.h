// CUDA enough for the kernels of this package to run on a processor: the threads of a block are fibres that take turns,
// and change at every barrier.
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <vector>

struct int2 { int x, y; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct dim3 { int x, y, z; };
static float2 make_float2(float x, float y) { return {x, y}; }

static dim3 threadIdx, blockIdx, blockDim, gridDim;
static unsigned char* on_chip_memory;
static ucontext_t scheduler;
static std::vector<ucontext_t> fibres;
static std::vector<bool> ended;
static int current;
static std::function<void()> kernel;

static void __syncthreads() { swapcontext(&fibres[current], &scheduler); }
static void fibre_body() {
    kernel();
    ended[current] = true;
    swapcontext(&fibres[current], &scheduler);
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
            ended.assign(threads, false);
            for (int i = 0; i < threads; i++) {
                getcontext(&fibres[i]);
                fibres[i].uc_stack.ss_sp = stacks.data() + STACK * i;
                fibres[i].uc_stack.ss_size = STACK;
                fibres[i].uc_link = nullptr;
                makecontext(&fibres[i], fibre_body, 0);
            }
            for (int left = threads; left > 0;) {
                left = 0;
                for (current = 0; current < threads; current++) {
                    if (ended[current]) continue;
                    threadIdx = {current, 0, 0};
                    swapcontext(&scheduler, &fibres[current]);
                    left += !ended[current];
                }
            }
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

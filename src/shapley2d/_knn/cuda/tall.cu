// Row values of the K-nearest-neighbour game under listed column subsets, of tables with many rows: classification, all
// rows in bins.
//
// Three launches take some validation rows and up to a few hundred subsets: bin_rows finds the bin of every row, value_bins
// counts the rows of every bin and finds what they are worth, add_worth adds these worths up row by row. The distances of
// 32 rows under 16 subsets are a product of matrices: entry by entry distances, as half floats, times zeros and ones, added
// up in floats. One block adds up the values of a row, in one order. The numpy twin is in shapley2d/_knn/cuda/subset_twin.py.
//
// Bins are those of subsets.cu: the leading bits of the half float, 1024 >> SHIFT to an octave, counted from where the bulk
// of the rows begins, with LOWER bins for rows that are nearer.
//
// Set when compiling: STEPS (columns, in sixteens), BIN_BLOCKS (of bin_rows, that a processor takes at a time), SHIFT, UPPER (octaves of bins beyond the bulk), THREADS (of value_bins
// and add_worth), EACH (eights of rows that a thread of add_worth takes).

#include "half_floats.cu"

#define LOWER (8 * (512 >> SHIFT))
#define BINS (UPPER * (1024 >> SHIFT) + LOWER)
#define FIRST ((INFINITE >> SHIFT) - (BINS - LOWER - 1))
#define FLOOR (FIRST << SHIFT)
#define PART (BINS / THREADS)
static_assert(BINS % THREADS == 0, "every thread has to get as many bins");

// What a column's entry of the validation row is compared with, as in subsets.cu.
struct __align__(16) Entry {
    float value, weight, added, missing;
};

// Where the bulk begins under a subset, where the bins of nearer rows begin, and what is taken off the place (all twice).
struct __align__(16) Bulk {
    unsigned begin, floor, offset, spare;
};

struct Rank {
    float single;  // what it is worth to be at this rank
    int beyond;    // the sum of that over all farther ranks, a whole number of `unit`
};

#ifdef __CUDACC__
// Adds the product of 16 x 16 and 16 x 8 half floats, of which every thread of a warp has some; four of the sums are its own.
__device__ __forceinline__ void multiply_add(float (&sums)[4], const uint4 left, const unsigned (&right)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left.x), "r"(left.y), "r"(left.z), "r"(left.w), "r"(right[0]), "r"(right[1]));
}
#endif

// The threads of a warp look at different columns, so that there is no branch.
__device__ __forceinline__ float dissimilarity(const float code, const Entry entry) {
    const float apart = __fadd_rn(code, -entry.value);
    const float unequal = apart != 0.0f ? __fadd_rn(entry.added, -entry.weight) : entry.added;
    const float square = __fmaf_rn(__fmul_rn(entry.weight, apart), apart, entry.added);
    const float known = entry.weight < 0.0f ? unequal : square;
    return code != code ? entry.missing : known;
}

// The bins of two rows.
__device__ __forceinline__ unsigned places(const unsigned halves, const Bulk& bulk) {
    const unsigned beyond = max_halves(halves, BOTH(FLOOR));
    const unsigned within = max_halves(add_halves(min_halves(halves, 0u), bulk.begin), bulk.floor);
    return (beyond >> SHIFT & BOTH(0xFFFF >> SHIFT)) + (within >> (SHIFT + 1) & BOTH(0xFFFF >> (SHIFT + 1))) -
           bulk.offset;
}

// Where the bulk begins under every subset, for every validation row of a launch.
//
// inside: for every subset a byte for every column.
extern "C" __global__ void find_begins(
    const float* bulks, const int n_columns, const unsigned char* inside, const int n_subsets, const int n_valid,
    Bulk* begins
) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_subsets * n_valid) return;
    const float* bulk = bulks + (long long)(i / n_subsets) * n_columns;
    const unsigned char* has = inside + (long long)(i % n_subsets) * n_columns;
    float sum = 0.0f;
    for (int j = 0; j < n_columns; j++)
        if (has[j]) sum = __fadd_rn(sum, bulk[j]);
    const unsigned begin = pack_halves(sum, sum);
    const int bin = max((int)(begin & 0xFFFF) >> (SHIFT + 1), LOWER - 1) - (LOWER - 1);
    begins[i] = {begin, BOTH(bin << (SHIFT + 1)), BOTH(bin + FIRST), 0};
}

// The bins of all rows under every subset: a line for every validation row and subset.
//
// A warp takes 32 rows at a time; a thread gets the sums of eight in a row, so that these can be written as one.
// subsets: zeros and ones as the multiplication wants them, 16 subsets and 16 columns at a time.
extern "C" __global__ void __launch_bounds__(256, BIN_BLOCKS) bin_rows(
    const float* train, const int n_rows, const int stride, const int n_columns, const Entry* entries, const int n_valid,
    const uint4* subsets, const Bulk* begins, const int n_subsets, unsigned short* bins
) {
    const int lane = threadIdx.x % 32, four = lane / 4, place = lane % 4;
    const int base = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 32;
    if (base >= stride) return;
    for (int valid = blockIdx.y; valid < n_valid; valid += gridDim.y) {
        const Entry* compared = entries + (long long)valid * n_columns;
        unsigned apart[STEPS][4][2];
#pragma unroll
        for (int step = 0; step < STEPS; step++)
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int j = 16 * step + 8 * half + 2 * place;
                const Entry one = compared[min(j, n_columns - 1)], two = compared[min(j + 1, n_columns - 1)];
                const float* codes = train + (long long)min(j, n_columns - 1) * n_rows;
                const float* next = train + (long long)min(j + 1, n_columns - 1) * n_rows;
#pragma unroll
                for (int tile = 0; tile < 4; tile++) {
                    const int row = min(base + four / 2 * 8 + 2 * tile + four % 2, n_rows - 1);
                    const float low = dissimilarity(codes[row], one), high = dissimilarity(next[row], two);
                    apart[step][tile][half] = pack_halves(j < n_columns ? low : 0.0f, j + 1 < n_columns ? high : 0.0f);
                }
            }
        for (int group = 0; group < n_subsets / 16; group++) {
            float sums[4][4] = {};
#pragma unroll
            for (int step = 0; step < STEPS; step++) {
                const uint4 inside = subsets[(group * STEPS + step) * 32 + lane];
#pragma unroll
                for (int tile = 0; tile < 4; tile++) multiply_add(sums[tile], inside, apart[step][tile]);
            }
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const long long line = (long long)valid * n_subsets + group * 16 + four + 8 * half;
                const Bulk bulk = begins[line];
                unsigned found[4];
#pragma unroll
                for (int tile = 0; tile < 4; tile++)
                    found[tile] = places(pack_halves(sums[tile][2 * half], sums[tile][2 * half + 1]), bulk);
                *(uint4*)(bins + line * stride + base + 8 * place) = {found[0], found[1], found[2], found[3]};
            }
        }
    }
}

// The bins of eight rows, those of rows with the validation row's label (begin .. end - 1) after those of others.
struct Eight {
    unsigned words[4];

    __device__ __forceinline__ Eight(const uint4 eight, const int row, const int begin, const int end)
        : words{eight.x, eight.y, eight.z, eight.w} {
        static_assert(2 * BINS <= 0x10000, "places have to fit half a word");
        if (row >= end || row + 8 <= begin) return;
        const bool all = row >= begin && row + 8 <= end;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int first = row + 2 * k;
            if (all || (first >= begin && first < end)) words[k] += BINS;
            if (all || (first + 1 >= begin && first + 1 < end)) words[k] += (unsigned)BINS << 16;
        }
    }
    __device__ __forceinline__ unsigned place(const int k) const {
        return k % 2 ? words[k / 2] >> 16 : words[k / 2] & 0xFFFF;
    }
};

// The sum over the threads before this one, always in the same order; all threads come along.
template <typename T>
__device__ __forceinline__ T sum_before(const T value, T* buffer, T& total) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = value;
    for (int step = 1; step < 32; step *= 2) {
        const T other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    if (lane == 31) buffer[warp] = sum;
    __syncthreads();
    T before = 0;
    total = 0;
    for (int other = 0; other < THREADS / 32; other++) {
        if (other == warp) before = total;
        total += buffer[other];
    }
    __syncthreads();
    return before + sum - value;
}

// What the rows of every bin are worth, without the validation row's label and then with it.
//
// A block takes one subset (x) and one validation row (y).
extern "C" __global__ void __launch_bounds__(THREADS) value_bins(
    const unsigned short* bins, const int n_rows, const int stride, const int n_subsets, const int* labels,
    const int* class_ends, const Rank* ranks, const float unit, float* worth
) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ unsigned counted[THREADS / 32];
    __shared__ double taken_by[THREADS / 32];
    unsigned* counts = (unsigned*)memory;  // of rows without the label, then of those with it
    const int thread = threadIdx.x, label = labels[blockIdx.y];
    const int begin = label > 0 ? class_ends[label - 1] : 0, end = label >= 0 ? class_ends[label] : 0;
    const long long line = (long long)blockIdx.y * n_subsets + blockIdx.x;
    const uint4* places = (const uint4*)(bins + line * stride);
    for (int i = thread; i < 2 * BINS; i += THREADS) counts[i] = 0;
    __syncthreads();
    for (int i = thread; i < (n_rows + 7) / 8; i += THREADS) {
        const Eight eight(places[i], 8 * i, begin, end);
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (8 * i + k < n_rows) atomicAdd(counts + eight.place(k), 1u);
    }
    __syncthreads();
    unsigned sizes[PART], matches[PART], own = 0, all;
#pragma unroll
    for (int i = 0; i < PART; i++) {
        matches[i] = counts[BINS + PART * thread + i];
        sizes[i] = counts[PART * thread + i] + matches[i];
        own += sizes[i];
    }
    unsigned before = sum_before(own, counted, all);
    float others[PART], matching[PART];
    double taken[PART], own_taken = 0.0, all_taken;
    Rank start = ranks[before];
#pragma unroll
    for (int i = 0; i < PART; i++) {
        others[i] = matching[i] = 0.0f;
        taken[i] = 0.0;
        const unsigned size = sizes[i];
        if (size > 0) {
            before += size;
            const Rank last = ranks[before];
            const float count = (float)matches[i], share = __frcp_rn((float)size);
            const float total = __fmul_rn((float)(start.beyond - last.beyond), unit);
            float spread = 0.0f;
            if (size > 1)
                spread = __fmul_rn(__fadd_rn(total, -__fmul_rn((float)size, last.single)),
                                   __fmul_rn(share, __frcp_rn((float)(size - 1))));
            taken[i] = (double)__fmul_rn(__fmul_rn(count, share), __fadd_rn(start.single, -last.single));
            others[i] = -__fmul_rn(count, spread);
            matching[i] = __fadd_rn(__fmul_rn(total, share), -__fmul_rn(__fadd_rn(count, -1.0f), spread));
            start = last;
        }
        own_taken += taken[i];
    }
    // A row is worth less by what all farther rows with the label take from it.
    double beyond = -sum_before(own_taken, taken_by, all_taken);
    beyond += all_taken;
    float* to = worth + line * (2 * BINS) + PART * thread;
#pragma unroll
    for (int i = 0; i < PART; i++) {
        beyond -= taken[i];
        to[i] = (float)(others[i] - beyond);
        to[BINS + i] = (float)(matching[i] - beyond);
    }
}

// Adds what the rows are worth over the validation rows of a launch. A block takes some rows (x) under one subset (y).
extern "C" __global__ void __launch_bounds__(THREADS) add_worth(
    const unsigned short* bins, const int n_rows, const int stride, const int n_subsets, const int* labels,
    const int* class_ends, const int n_valid, const float* worth, double* values
) {
    extern __shared__ __align__(16) unsigned char memory[];
    const float* table = (const float*)memory;
    const int thread = threadIdx.x, first = blockIdx.x * EACH * THREADS;  // of all eights of rows
    float sums[EACH][8] = {};
    for (int valid = 0; valid < n_valid; valid++) {
        const long long line = (long long)valid * n_subsets + blockIdx.y;
        __syncthreads();
        for (int i = thread; i < BINS / 2; i += THREADS)
            ((uint4*)memory)[i] = ((const uint4*)(worth + line * (2 * BINS)))[i];
        const int label = labels[valid];
        const int begin = label > 0 ? class_ends[label - 1] : 0, end = label >= 0 ? class_ends[label] : 0;
        __syncthreads();
#pragma unroll
        for (int each = 0; each < EACH; each++) {
            const int i = first + each * THREADS + thread;
            if (8 * i >= n_rows) continue;
            const Eight eight(((const uint4*)(bins + line * stride))[i], 8 * i, begin, end);
#pragma unroll
            for (int k = 0; k < 8; k++) sums[each][k] += table[eight.place(k)];
        }
    }
#pragma unroll
    for (int each = 0; each < EACH; each++)
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const int row = 8 * (first + each * THREADS + thread) + k;
            if (row < n_rows) values[(long long)blockIdx.y * n_rows + row] += sums[each][k];
        }
}

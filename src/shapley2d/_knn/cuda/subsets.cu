// Row values of the K-nearest-neighbour game under column subsets: classification, all rows in bins.
//
// A launch takes GROUP subsets: listed ones, whose row values are wanted each (add_listed), or some columns that are in all
// of them with every choice of LOW others, whose weighted sums are wanted (add_subsets). A block takes one validation row
// at a time: it counts the training rows into the bins of every subset, turns counts into what a row in a bin is worth,
// and adds these worths up row by row. Distances are half floats, two rows to a word. Sums are whole numbers, so their bits
// do not depend on the order of the blocks. The numpy twin is shapley2d/_knn/cuda/subset_twin.py.
//
// Bins are the leading bits of the half float, 1024 >> SHIFT to an octave. Where a validation row is an outlier in a column,
// nearly all rows are about as far from it, and bins of that sum would be too wide for what the other columns say. So
// each column's distance is counted from where the bulk of the rows begins (`bulk`): bins are finest there, and rows
// nearer than the bulk have LOWER bins of their own, of their whole distance.
//
// Set when compiling: THREADS, BLOCKS (of a processor), LOW, SHIFT, UPPER (octaves of bins beyond the bulk), WIDE.
//
// A bin is a word with the number of its rows in one half, and of those with the validation row's label in the other; WIDE,
// for more than 65,535 rows, two words. Later the word has what either row is worth.

#include "half_floats.cu"

#define GROUP (1 << LOW)
#define LOWER (8 * (512 >> SHIFT))  // half as fine, eight octaves
#define WORDS (UPPER * (1024 >> SHIFT) + LOWER)
#define PARTS (THREADS / 32 / GROUP)  // warps that work on the bins of one subset
static_assert(WORDS % (128 * PARTS) == 0, "every warp has to get whole lines of bins");

#define BIN_BYTES (WIDE ? 8 : 4)
#define BIN_LOG (WIDE ? 3 : 2)
#define FIRST ((INFINITE >> SHIFT) - (WORDS - LOWER - 1))
#define FLOOR (FIRST << SHIFT)

// What a column's entry of the validation row is compared with, as in binned.cu: missing training entries (NaN) are
// `missing` away, others `added` plus `weight` times the squared difference, or plus minus `weight` if it is negative and
// the entries differ.
struct __align__(16) Entry {
    float value, weight, added, missing;
};

// Where the codes of a column are, and whether some are missing.
struct __align__(8) Line {
    int begin, gaps;
};

// All threads of a block look at one column, so that branches cost little.
__device__ __forceinline__ float dissimilarity(const float code, const Entry entry, const int gaps) {
    float found;
    if (entry.weight < 0.0f) {
        found = code == entry.value ? entry.added : __fadd_rn(entry.added, -entry.weight);
    } else {
        const float apart = __fadd_rn(code, -entry.value);
        found = __fmaf_rn(__fmul_rn(entry.weight, apart), apart, entry.added);
    }
    if (gaps && code != code) found = entry.missing;
    return found;
}

// Byte offsets of the bins of two rows, before FIRST is taken off.
struct Pair {
    unsigned one, two;
};

// Where the bulk begins under a subset, where the bins of nearer rows begin (both twice), and the place of the latter.
struct __align__(16) Bulk {
    unsigned begin, floor, offset, spare;
};

// BULKY: some column is counted from a bulk, so that distances can be negative.
template <bool BULKY>
__device__ __forceinline__ Pair places(const unsigned halves, const Bulk* bulk) {
    constexpr unsigned MASK = (0xFFFFu >> SHIFT) << BIN_LOG, COARSE = (0xFFFFu >> (SHIFT + 1)) << BIN_LOG;
    constexpr int UP = SHIFT - BIN_LOG, DOWN = 16 + UP;  // SHIFT is 3 or more
    if (!BULKY) return {halves >> UP & MASK, halves >> DOWN & MASK};
    const Bulk from = *bulk;
    const unsigned beyond = max_halves(halves, BOTH(FLOOR));
    const unsigned within = max_halves(add_halves(min_halves(halves, 0u), from.begin), from.floor);
    return {(beyond >> UP & MASK) + (within >> (UP + 1) & COARSE) - from.offset,
            (beyond >> DOWN & MASK) + (within >> (DOWN + 1) & COARSE) - from.offset};
}

struct Rows {
    const float* codes;       // a line for every column
    const unsigned* members;  // how many rows agree, or null where all are listed
    int stride, half;         // of a line; row i shares a word with row half + i, if there is one

    __device__ __forceinline__ int second(const int one) const { return min(one + half, stride - 1); }
    __device__ __forceinline__ unsigned size(const int row, const bool there) const {
        return !there ? 0u : members == nullptr ? 1u : members[row];
    }
};

struct Subsets {
    const Entry* entries;    // of the listed columns
    const Line* lines;       // where their codes are
    const unsigned* masks;   // for every listed column, a bit for every subset that has it
    const Bulk* bulks;       // for every subset
    int n_listed;
};

// The half floats of two rows in one column.
__device__ __forceinline__ unsigned step_of(const Rows& rows, const Subsets& subsets, const int j, const int one,
                                            const int two) {
    const Line line = subsets.lines[j];
    const float* codes = rows.codes + line.begin;
    const Entry entry = subsets.entries[j];
    return pack_halves(dissimilarity(codes[one], entry, line.gaps), dissimilarity(codes[two], entry, line.gaps));
}

// Distances of two rows under the GROUP subsets.
//
// WALK: the first LOW listed columns are those whose choices make the subsets. The part of the distance that all subsets
// share is added up in floats; it and the LOW parts are kept for the second time (KEPT). Otherwise all distances are
// kept, where there is memory for that.
// Without rows nearer than a bulk, distances are no smaller than the floor of the bins.
template <bool WALK, bool KEPT, bool BULKY>
__device__ __forceinline__ void distances_of(const Rows& rows, const Subsets& subsets, const int one, const float floor,
                                             unsigned* kept, unsigned (&distances)[GROUP]) {
    const int two = rows.second(one);
    if (WALK) {
        unsigned steps[LOW];
        if (KEPT) {
            distances[0] = kept[one];
#pragma unroll
            for (int j = 0; j < LOW; j++) steps[j] = kept[(j + 1) * rows.half + one];
        } else {
            float first = BULKY ? 0.0f : floor, second = first;
#pragma unroll 4
            for (int j = LOW; j < subsets.n_listed; j++) {
                const Line line = subsets.lines[j];
                const float* codes = rows.codes + line.begin;
                const Entry entry = subsets.entries[j];
                first = __fadd_rn(first, dissimilarity(codes[one], entry, line.gaps));
                second = __fadd_rn(second, dissimilarity(codes[two], entry, line.gaps));
            }
            distances[0] = kept[one] = pack_halves(first, second);
#pragma unroll
            for (int j = 0; j < LOW; j++)
                steps[j] = kept[(j + 1) * rows.half + one] = step_of(rows, subsets, j, one, two);
        }
#pragma unroll
        for (int j = 0; j < LOW; j++)
#pragma unroll
            for (int c = 0; c < (1 << j); c++) distances[c + (1 << j)] = add_halves(distances[c], steps[j]);
    } else if (KEPT && kept != nullptr) {
#pragma unroll
        for (int c = 0; c < GROUP; c++) distances[c] = kept[(long long)c * rows.half + one];
    } else {
#pragma unroll
        for (int c = 0; c < GROUP; c++) distances[c] = BULKY ? 0u : BOTH(FLOOR);
#pragma unroll 2
        for (int j = 0; j < subsets.n_listed; j++) {
            const unsigned step = step_of(rows, subsets, j, one, two), inside = subsets.masks[j];
#pragma unroll
            for (int c = 0; c < GROUP; c++)
                if (inside >> c & 1) distances[c] = add_halves(distances[c], step);
        }
        if (!KEPT && kept != nullptr) {
#pragma unroll
            for (int c = 0; c < GROUP; c++) kept[(long long)c * rows.half + one] = distances[c];
        }
    }
}

template <bool WALK, bool BULKY>
__device__ __forceinline__ void count_rows(unsigned char* memory, const Rows& rows, const Subsets& subsets,
                                           const int2 run, const float floor, unsigned* kept) {
    for (int one = threadIdx.x; one < rows.half; one += THREADS) {
        unsigned distances[GROUP];
        distances_of<WALK, false, BULKY>(rows, subsets, one, floor, kept, distances);
        const int two = one + rows.half;
        const bool first_matches = one >= run.x && one < run.y, second_matches = two >= run.x && two < run.y;
        const unsigned more = WIDE ? 1u : 0x10001u;
        const unsigned first = rows.size(one, true) * (first_matches ? more : 1u);
        const unsigned second = rows.size(two, two < rows.stride) * (second_matches ? more : 1u);
#pragma unroll
        for (int c = 0; c < GROUP; c++) {
            const Pair pair = places<BULKY>(distances[c], subsets.bulks + c);
            unsigned char* words = memory + BIN_BYTES * (c * WORDS - FIRST);
            atomicAdd((unsigned*)(words + pair.one), first);
            atomicAdd((unsigned*)(words + pair.two), second);
            if (WIDE && first_matches) atomicAdd((unsigned*)(words + 4 + pair.one), first);
            if (WIDE && second_matches) atomicAdd((unsigned*)(words + 4 + pair.two), second);
        }
    }
}

// Adds the values of a row under all subsets of a walk, and under those with each of the LOW columns.
template <int COUNT>
__device__ __forceinline__ void add_combined(const unsigned (&values)[COUNT], unsigned* sums, const int stride) {
    if constexpr (COUNT == 1) {
        atomicAdd(sums - LOW * stride, values[0]);
    } else {
        unsigned with = 0, both[COUNT / 2];
#pragma unroll
        for (int c = 0; c < COUNT / 2; c++) {
            with += values[2 * c + 1];
            both[c] = values[2 * c] + values[2 * c + 1];
        }
        atomicAdd(sums + stride, with);
        add_combined<COUNT / 2>(both, sums + stride, stride);
    }
}

template <bool WALK>
__device__ __forceinline__ void add_row(const unsigned (&values)[GROUP], unsigned* sums, const int stride) {
    if (WALK) {
        add_combined<GROUP>(values, sums, stride);
    } else {
#pragma unroll
        for (int c = 0; c < GROUP; c++) atomicAdd(sums + (long long)c * stride, values[c]);
    }
}

template <bool WALK, bool BULKY>
__device__ __forceinline__ void add_rows(unsigned char* memory, const Rows& rows, const Subsets& subsets,
                                         const int2 run, unsigned* kept, unsigned* sums) {
    // Blocks begin at different rows: at one and the same they would wait for each other's sums.
    const int rounds = (rows.half + THREADS - 1) / THREADS, begin = rounds * (blockIdx.x % 64) / 64;
    for (int round = 0; round < rounds; round++) {
        const int at = round + begin < rounds ? round + begin : round + begin - rounds;
        const int one = at * THREADS + threadIdx.x, two = one + rows.half;
        if (one >= rows.half) continue;
        unsigned distances[GROUP], values[GROUP];
        distances_of<WALK, true, BULKY>(rows, subsets, one, 0.0f, kept, distances);
        const unsigned first = one >= run.x && one < run.y ? 2 : 0, second = two >= run.x && two < run.y ? 2 : 0;
#pragma unroll
        for (int c = 0; c < GROUP; c++) {
            const Pair pair = places<BULKY>(distances[c], subsets.bulks + c);
            values[c] = *(const unsigned short*)(memory + BIN_BYTES * (c * WORDS - FIRST) + (pair.one | first));
            distances[c] = pair.two | second;
        }
        add_row<WALK>(values, sums + one, rows.stride);
        if (two >= rows.stride) continue;
#pragma unroll
        for (int c = 0; c < GROUP; c++)
            values[c] = *(const unsigned short*)(memory + BIN_BYTES * (c * WORDS - FIRST) + distances[c]);
        add_row<WALK>(values, sums + two, rows.stride);
    }
}

struct Rank {
    float single;  // what it is worth to be at this rank
    int beyond;    // the sum of that over all farther ranks, a whole number of `unit`
};

// Four bins at a time: their counts, and what their rows are worth.
struct Four {
    unsigned sizes[4], matches[4];
};

__device__ __forceinline__ void read_packed(const unsigned* words, const int line, unsigned (&packed)[4]) {
    const uint4* from = (const uint4*)words + (WIDE ? 64 : 32) * line;
    const uint4 one = from[0];
    if (WIDE) {
        const uint4 two = from[1];
        packed[0] = one.x, packed[1] = one.z, packed[2] = two.x, packed[3] = two.z;
    } else {
        packed[0] = one.x, packed[1] = one.y, packed[2] = one.z, packed[3] = one.w;
    }
}

__device__ __forceinline__ Four read_four(const unsigned* words, const int line) {
    const uint4* from = (const uint4*)words + (WIDE ? 64 : 32) * line;
    const uint4 one = from[0];
    if (WIDE) {
        const uint4 two = from[1];
        return {{one.x, one.z, two.x, two.z}, {one.y, one.w, two.y, two.w}};
    }
    return {{one.x & 0xFFFF, one.y & 0xFFFF, one.z & 0xFFFF, one.w & 0xFFFF},
            {one.x >> 16, one.y >> 16, one.z >> 16, one.w >> 16}};
}

__device__ __forceinline__ void write_four(unsigned* words, const int line, const unsigned (&packed)[4]) {
    uint4* to = (uint4*)words + (WIDE ? 64 : 32) * line;
    if (WIDE) {
        to[0] = {packed[0], 0, packed[1], 0};
        to[1] = {packed[2], 0, packed[3], 0};
    } else {
        to[0] = {packed[0], packed[1], packed[2], packed[3]};
    }
}

// Turns the counts of a bin into what its rows are worth, those without the label in the lower half of the word.
//
// A row is worth less by what all farther matches take from it. Here these are counted from the near end, which is more
// by the same for all rows of a subset: `totals`.
__device__ __forceinline__ void value_bins(unsigned* memory, const Rank* ranks, const float unit, const float* factors,
                                           unsigned* part_counts, float* part_taken, unsigned long long* totals) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, c = warp / PARTS, part = warp % PARTS;
    constexpr int LINES = WORDS / PARTS / 128;
    unsigned* words = memory + (BIN_BYTES / 4) * (c * WORDS + part * (WORDS / PARTS) + 4 * lane);
    if (PARTS > 1) {
        unsigned sum = 0;
        for (int line = 0; line < LINES; line++) {
            const Four four = read_four(words, line);
            sum += four.sizes[0] + four.sizes[1] + four.sizes[2] + four.sizes[3];
        }
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (lane == 0) part_counts[warp] = sum;
        __syncthreads();
    }
    unsigned carry = 0;
    for (int before = c * PARTS; before < warp; before++) carry += part_counts[before];
    float taken_before = 0.0f;
    const float factor = factors[c];
    for (int line = 0; line < LINES; line++) {
        const Four four = read_four(words, line);
        const unsigned own = four.sizes[0] + four.sizes[1] + four.sizes[2] + four.sizes[3];
        unsigned sum = own;
        for (int step = 1; step < 32; step *= 2) {
            const unsigned other = __shfl_up_sync(~0u, sum, step);
            if (lane >= step) sum += other;
        }
        unsigned before = carry + sum - own;
        carry += __shfl_sync(~0u, sum, 31);
        float others[4], matches[4], taken[4];
        Rank start = ranks[before];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            others[i] = matches[i] = taken[i] = 0.0f;
            const unsigned size = four.sizes[i];
            if (size > 0) {
                before += size;
                const Rank end = ranks[before];
                const float count = (float)four.matches[i], share = __frcp_rn((float)size);
                const float total = __fmul_rn((float)(start.beyond - end.beyond), unit);
                float spread = 0.0f;
                if (size > 1)
                    spread = __fmul_rn(__fadd_rn(total, -__fmul_rn((float)size, end.single)),
                                       __fmul_rn(share, __frcp_rn((float)(size - 1))));
                taken[i] = __fmul_rn(__fmul_rn(count, share), __fadd_rn(start.single, -end.single));
                others[i] = -__fmul_rn(count, spread);
                matches[i] = __fadd_rn(__fmul_rn(total, share), -__fmul_rn(__fadd_rn(count, -1.0f), spread));
                start = end;
            }
        }
        const float own_taken = __fadd_rn(__fadd_rn(taken[0], taken[1]), __fadd_rn(taken[2], taken[3]));
        float running = own_taken;
        for (int step = 1; step < 32; step *= 2) {
            const float other = __shfl_up_sync(~0u, running, step);
            if (lane >= step) running = __fadd_rn(running, other);
        }
        const float all = __shfl_sync(~0u, running, 31);
        running = __fadd_rn(taken_before, __fadd_rn(running, -own_taken));
        taken_before = __fadd_rn(taken_before, all);
        unsigned packed[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            running = __fadd_rn(running, taken[i]);
            const float other = max(__fmul_rn(__fadd_rn(others[i], running), factor), 0.0f);
            const float match = max(__fmul_rn(__fadd_rn(matches[i], running), factor), 0.0f);
            packed[i] = (unsigned)__float2int_rn(other) | (unsigned)__float2int_rn(match) << 16;
        }
        write_four(words, line, packed);
    }
    if (lane == 0) part_taken[warp] = taken_before;
    __syncthreads();
    float before = 0.0f;
    for (int other = c * PARTS; other < warp; other++) before = __fadd_rn(before, part_taken[other]);
    if (part > 0) {
        const unsigned more = BOTH(__float2int_rn(__fmul_rn(before, factor)));
        for (int line = 0; line < LINES; line++) {
            unsigned packed[4];
            read_packed(words, line, packed);
            for (int i = 0; i < 4; i++) packed[i] += more;
            write_four(words, line, packed);
        }
    }
    if (part == PARTS - 1 && lane == 0)
        atomicAdd(totals + c, (unsigned long long)__double2ll_rn((double)__fadd_rn(before, taken_before) * 1099511627776.0));
}

template <bool WALK>
__device__ __forceinline__ void value_rows(
    const Rows rows, const Entry* entries, const float* bulks, const int n_columns, const int* gaps, const int* columns,
    const unsigned* masks, const int n_listed, const int* labels, const int* class_ends, const int n_chosen,
    const Rank* ranks, const float unit, const float floor, const float* factors, unsigned* kept, unsigned* sums,
    unsigned long long* totals
) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ unsigned part_counts[THREADS / 32];
    __shared__ float part_taken[THREADS / 32], shared_factors[GROUP];
    __shared__ Bulk bulk_of[GROUP];
    __shared__ int bulky;
    Entry* listed = (Entry*)(memory + BIN_BYTES * GROUP * WORDS);
    Line* lines = (Line*)(listed + n_listed);
    unsigned* inside = (unsigned*)(lines + n_listed);
    const Subsets subsets = {listed, lines, inside, bulk_of, n_listed};
    const int thread = threadIdx.x;
    if (thread < GROUP) shared_factors[thread] = factors[thread];
    for (int j = thread; j < n_listed; j += THREADS) lines[j] = {(WALK ? j : columns[j]) * rows.stride, gaps[columns[j]]};
    if (!WALK)
        for (int j = thread; j < n_listed; j += THREADS) inside[j] = masks[j];
    if (kept != nullptr) kept += (long long)blockIdx.x * (WALK ? LOW + 1 : GROUP) * rows.half;
    for (int number = blockIdx.x; number < n_chosen; number += gridDim.x) {
        __syncthreads();
        if (thread == 0) bulky = 0;
        for (int j = thread; j < n_listed; j += THREADS) listed[j] = entries[(long long)number * n_columns + columns[j]];
        for (int i = thread; i < BIN_BYTES / 4 * GROUP * WORDS / 4; i += THREADS) ((uint4*)memory)[i] = {0, 0, 0, 0};
        __syncthreads();
        if (thread < GROUP) {
            const float* bulk = bulks + (long long)number * n_columns;
            float sum = 0.0f;
            for (int j = 0; j < n_listed; j++)
                if (WALK ? j >= LOW || (thread >> j & 1) : masks[j] >> thread & 1) sum = __fadd_rn(sum, bulk[columns[j]]);
            const unsigned begin = pack_halves(sum, sum);
            const int bin = max((int)(begin & 0xFFFF) >> (SHIFT + 1), LOWER - 1) - (LOWER - 1);
            bulk_of[thread] = {begin, BOTH(bin << (SHIFT + 1)), (unsigned)(BIN_BYTES * bin), 0};
            if (sum > 0.0f) bulky = 1;
        }
        __syncthreads();
        const int label = labels[number];
        const int2 run = {label > 0 ? class_ends[label - 1] : 0, label >= 0 ? class_ends[label] : 0};
        if (bulky)
            count_rows<WALK, true>(memory, rows, subsets, run, floor, kept);
        else
            count_rows<WALK, false>(memory, rows, subsets, run, floor, kept);
        __syncthreads();
        value_bins((unsigned*)memory, ranks, unit, shared_factors, part_counts, part_taken, totals);
        __syncthreads();
        if (bulky)
            add_rows<WALK, true>(memory, rows, subsets, run, kept, sums);
        else
            add_rows<WALK, false>(memory, rows, subsets, run, kept, sums);
    }
}

#define ARGUMENTS                                                                                                  \
    const float *codes, const int stride, const int half, const Entry *entries, const float *bulks,                 \
        const int n_columns, const int *gaps, const int *columns, const int n_listed, const int *labels, const int *class_ends,       \
        const int n_chosen, const Rank *ranks, const float unit, const float floor, const float *factors,            \
        unsigned *sums, unsigned long long *totals
#define GIVEN ranks, unit, floor, factors

// Adds weighted sums over the choices of the first LOW listed columns; codes has the listed columns only.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) add_subsets(ARGUMENTS, const unsigned* members, unsigned* kept) {
    const Rows rows = {codes, members, stride, half};
    value_rows<true>(rows, entries, bulks, n_columns, gaps, columns, nullptr, n_listed, labels, class_ends, n_chosen, GIVEN,
                     kept, sums, totals);
}

// Adds the row values of every subset: masks has a bit for each of them, for every listed column.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) add_listed(ARGUMENTS, const unsigned* masks, unsigned* kept) {
    const Rows rows = {codes, nullptr, stride, half};
    value_rows<false>(rows, entries, bulks, n_columns, gaps, columns, masks, n_listed, labels, class_ends, n_chosen, GIVEN,
                      kept, sums, totals);
}

// Takes the row values of a launch over to floats: sums over the validation rows, a line per subset.
extern "C" __global__ void fold_listed(
    const unsigned* sums, const int n_rows, const float* factors, const unsigned long long* totals, double* values
) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (row >= n_rows) return;
    const long long at = (long long)c * n_rows + row;
    values[at] = (double)sums[at] / factors[c] - (double)totals[c] / 1099511627776.0;
}

// Where the bulk of the rows begins in a column, as seen from a validation row: the smallest dissimilarity that all but
// `few` rows have, or 0 where that is below `least`. Takes it off the entries. A block takes one validation row and one column.
extern "C" __global__ void find_bulks(
    const float* train, const int n_rows, const int n_columns, const int* chosen, const float scale, const int few,
    const float* least, const Entry* all_entries, Entry* entries, float* bulks
) {
    __shared__ unsigned counts[1024];
    __shared__ unsigned sums[32];
    __shared__ int edge, smallest;
    const int thread = threadIdx.x, j = blockIdx.y, threads = blockDim.x;
    const long long at = (long long)blockIdx.x * n_columns + j;
    Entry entry = all_entries[(long long)chosen[blockIdx.x] * n_columns + j];
    entry.weight *= scale;
    entry.added *= scale;
    entry.missing *= scale;
    for (int i = thread; i < 1024; i += threads) counts[i] = 0;
    if (thread == 0) smallest = 0x7F000000;
    __syncthreads();
    // Non-negative floats are in the order of their bits.
    for (int row = thread; row < n_rows; row += threads)
        atomicAdd(counts + (__float_as_int(dissimilarity(train[(long long)j * n_rows + row], entry, 1)) >> 21), 1u);
    __syncthreads();
    if (thread < 32) {
        unsigned sum = 0;
        for (int i = 0; i < 32; i++) sum += counts[32 * thread + i];
        sums[thread] = sum;
    }
    __syncthreads();
    if (thread == 0) {
        unsigned reached = 0;
        int bin = 0;
        while (bin < 992 && reached + sums[bin / 32] <= few) {
            reached += sums[bin / 32];
            bin += 32;
        }
        while (bin < 1023 && reached + counts[bin] <= few) reached += counts[bin++];
        edge = bin;
    }
    __syncthreads();
    int least_seen = 0x7F000000;
    for (int row = thread; row < n_rows; row += threads) {
        const int bits = __float_as_int(dissimilarity(train[(long long)j * n_rows + row], entry, 1));
        if (bits >> 21 >= edge) least_seen = min(least_seen, bits);
    }
    atomicMin(&smallest, least_seen);
    __syncthreads();
    if (thread == 0) {
        const float found = __int_as_float(smallest), bulk = found < least[j] ? 0.0f : found;
        entry.added -= bulk;
        entry.missing -= bulk;
        entries[at] = entry;
        bulks[at] = bulk;
    }
}

// Lists the columns of the distinct rows of a launch, and clears its sums.
extern "C" __global__ void gather_rows(
    const float* train, const int n_rows, const int* columns, const int n_listed, const int* first_rows,
    const int n_distinct, const int stride, float* codes, const int n_lines, unsigned* sums, const int n_totals,
    unsigned long long* totals
) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n_totals) totals[i] = 0;
    if (i >= stride) return;
    const int row = i < n_distinct ? first_rows[i] : 0;
    for (int j = 0; j < n_listed; j++)
        codes[(long long)j * stride + i] = train[(long long)columns[j] * n_rows + row];
    for (int line = 0; line < n_lines; line++) sums[(long long)line * stride + i] = 0;
}

// Takes the sums of a launch over to the sums of all columns and, last, of all subsets.
//
// roles: for every column, 1 + j if it is the j-th of the LOW ones, 0 if it is in all subsets, -1 if in none.
extern "C" __global__ void fold_subsets(
    const unsigned* sums, const int stride, const int n_rows, const int* places, const int* roles, const int n_columns,
    const float* factors, const unsigned long long* totals, const double unit, double* values
) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    double counted[LOW + 1];  // too much by what all matches take
    for (int j = 0; j <= LOW; j++) counted[j] = 0.0;
    for (int c = 0; c < GROUP; c++) {
        const double total = (double)totals[c] / 1099511627776.0 * factors[c];
        counted[0] += total;
        for (int j = 0; j < LOW; j++)
            if (c >> j & 1) counted[j + 1] += total;
    }
    double found[LOW + 1];
    for (int j = 0; j <= LOW; j++) found[j] = unit * (sums[(long long)j * stride + places[row]] - counted[j]);
    for (int j = 0; j < n_columns; j++)
        if (roles[j] >= 0) values[(long long)j * n_rows + row] += found[roles[j]];
    values[(long long)n_columns * n_rows + row] += found[0];
}

// Row values of the K-nearest-neighbour game with rows counted into bins that follow the ranks.
//
// A block takes one validation row and GROUP column coalitions, in five phases: count all rows into bins (the leading
// bits of the distance), find the bins that hold no more than NEAR rows together, list these near rows, rank them by exact
// distance and turn counts into what a row in a far bin is worth, and add the worth of every far row to the sums (that
// of near rows is added when they are ranked). Tables of one tile go through all phases in one launch and keep the counts
// on the chip; larger ones take a launch per phase, over tiles of rows, and keep them in `state`. Sums are whole numbers,
// so their bits do not depend on the order of the blocks. The numpy twin is shapley2d/_knn/cuda/twin.py.
//
// Set when compiling: THREADS, GROUP, BINS, NEAR (powers of two), REGRESSION; BLOCKS, how many of them a
// processor takes at a time; AHEAD, entries of a row that are loaded together, which lists of columns are filled up by.
//
// Distances are floats: rows whose entries differ by as much tie exactly, since sums are taken in one order for all rows.

#define LANES (THREADS / GROUP)  // threads that work on the bins and near rows of one coalition

enum Phase { COUNT = 1, EDGES = 2, LIST = 4, WORTH = 8, ADD = 16 };

// What a column's entry of the validation row is compared with: missing training entries (NaN) are `missing` away, others
// `added` plus `weight` times the squared difference, or plus minus `weight` if it is negative and the entries differ.
struct __align__(16) Entry {
    float value, weight, added, missing;
};

struct Table {
    const float* train;    // a line per column, rows in order of their label
    const Entry* entries;  // a line per validation row
    int n_rows, n_columns;
};

struct Bins {
    int shift, offset;
};

// A word is left out after every 32 bins, so that threads that look at 16 in a row each meet in no bank of the memory.
#define PLACE(bin) ((bin) + ((bin) >> 5))
#define LINE (BINS + BINS / 32)

#if REGRESSION
#define COUNT_BYTES (20 * GROUP * LINE)
#define BEFORE_BYTES (16 * GROUP * (NEAR + 1))
#else
#define COUNT_BYTES (8 * GROUP * LINE)
#define BEFORE_BYTES ((2 * GROUP * (NEAR + 2) + 15) / 16 * 16)
#endif
#define LIST_BYTES (8 * GROUP * NEAR)
#define STATE_BYTES (COUNT_BYTES + LIST_BYTES)

// The near rows of a coalition, and the first bin beyond them, which is divided: its parts take the place of the bins of
// near rows, which are no longer needed.
struct __align__(16) Limits {
    float near;          // near rows have distances below
    float crowded;       // those in the divided bin have distances below
    int shift, offset;   // of its parts
    int first;           // the first bin of far rows, parts included
    unsigned found;      // how many near rows are listed
    int edge, spare;     // the last bin of near rows, or -1
};

// Without a branch, so that the entries of several columns can be on their way at the same time.
__device__ __forceinline__ float dissimilarity(const float code, const Entry entry) {
    const float apart = __fadd_rn(code, -entry.value);
    const float unequal = apart != 0.0f ? -entry.weight : 0.0f;
    const float square = __fmul_rn(__fmul_rn(entry.weight, apart), apart);
    const float known = __fadd_rn(entry.added, entry.weight < 0.0f ? unequal : square);
    return code != code ? entry.missing : known;
}

// The exponent and the first bits of the mantissa.
__device__ __forceinline__ int bin_of(const float distance, const Bins bins) {
    return max((__float_as_int(distance) >> bins.shift) - bins.offset, 0);
}

// The smallest distance in a bin other than the first.
__device__ __forceinline__ float lower_end(const int bin, const Bins bins) {
    return __int_as_float((bin + bins.offset) << bins.shift);
}

// The part of the divided bin.
__device__ __forceinline__ int part_of(const float distance, const Limits& limits) {
    return (__float_as_int(distance) >> limits.shift) - limits.offset;
}

// Sums over the threads of a coalition before (or after) this one, always in the same order.
template <typename T>
__device__ T sum_before(const T value, T* buffer) {
    const int thread = threadIdx.x, lane = thread % LANES;
    buffer[thread] = value;
    __syncthreads();
    for (int step = 1; step < LANES; step *= 2) {
        const T other = lane >= step ? buffer[thread - step] : T(0);
        __syncthreads();
        buffer[thread] += other;
        __syncthreads();
    }
    const T sum = lane > 0 ? buffer[thread - 1] : T(0);
    __syncthreads();
    return sum;
}

template <typename T>
__device__ T sum_after(const T value, T* buffer) {
    const int thread = threadIdx.x, lane = thread % LANES;
    buffer[thread] = value;
    __syncthreads();
    for (int step = 1; step < LANES; step *= 2) {
        const T other = lane + step < LANES ? buffer[thread + step] : T(0);
        __syncthreads();
        buffer[thread] += other;
        __syncthreads();
    }
    const T sum = lane + 1 < LANES ? buffer[thread + 1] : T(0);
    __syncthreads();
    return sum;
}

// Distances of one row under the GROUP coalitions.
//
// WALK: `columns` lists the log2(GROUP) columns whose subsets are the coalitions, then those that are in all of them,
// whose part of the distance is the same and is kept in `kept` between the phases.
// Otherwise `masks` has a 1 or a 0 per coalition for every listed column.
template <bool WALK>
__device__ __forceinline__ void row_distances(
    const Table& table, const Entry* entries, const long long* columns, const float* masks, const int n_listed, const int row,
    float* kept, const bool use_kept, float (&distances)[GROUP]
) {
    constexpr int LOW = GROUP == 1 ? 0 : GROUP == 2 ? 1 : GROUP == 4 ? 2 : GROUP == 8 ? 3 : 4;
    if (WALK) {
        float low[LOW];
#pragma unroll
        for (int j = 0; j < LOW; j++) low[j] = table.train[columns[j] + row];
        float base = 0.0f;
        if (use_kept) {
            base = kept[row];
        } else {
            for (int j = LOW; j < n_listed; j += AHEAD) {
                float codes[AHEAD];
#pragma unroll
                for (int i = 0; i < AHEAD; i++) codes[i] = table.train[columns[j + i] + row];
#pragma unroll
                for (int i = 0; i < AHEAD; i++) base = __fadd_rn(base, dissimilarity(codes[i], entries[j + i]));
            }
            if (kept != nullptr) kept[row] = base;
        }
        distances[0] = base;
#pragma unroll
        for (int j = 0; j < LOW; j++) {
            const float step = dissimilarity(low[j], entries[j]);
#pragma unroll
            for (int c = 0; c < (1 << j); c++) distances[c + (1 << j)] = __fadd_rn(distances[c], step);
        }
    } else {
#pragma unroll
        for (int c = 0; c < GROUP; c++) distances[c] = 0.0f;
        for (int j = 0; j < n_listed; j += AHEAD) {
            float codes[AHEAD];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) codes[i] = table.train[columns[j + i] + row];
#pragma unroll
            for (int i = 0; i < AHEAD; i++) {
                const float step = dissimilarity(codes[i], entries[j + i]);
                // A multiplication by 0 or 1, read four at a time, takes fewer instructions than a condition.
#if GROUP % 4 == 0
                const float4* inside = (const float4*)(masks + (j + i) * GROUP);
#pragma unroll
                for (int c = 0; c < GROUP; c += 4) {
                    const float4 four = inside[c / 4];
                    distances[c] = __fmaf_rn(four.x, step, distances[c]);
                    distances[c + 1] = __fmaf_rn(four.y, step, distances[c + 1]);
                    distances[c + 2] = __fmaf_rn(four.z, step, distances[c + 2]);
                    distances[c + 3] = __fmaf_rn(four.w, step, distances[c + 3]);
                }
#else
#pragma unroll
                for (int c = 0; c < GROUP; c++) 
                    distances[c] = __fmaf_rn(masks[(j + i) * GROUP + c], step, distances[c]);
#endif
            }
        }
    }
}

struct Game {
    const int2* runs;       // classification: the rows first .. last - 1 have the label of a validation row
    const float* z;         // regression: centred targets of the rows, in units of the largest
    const double* targets;  // of the validation rows, likewise
    const double *single, *single_beyond, *pair, *pair_beyond, *ranked_pair_beyond, *inverse;
    double alone;
    int n_neighbors;
};

// Weights of a walk by the number of its columns that are in a coalition: of the coalitions with a column, and of all.
struct Weights {
    float with[5], all[5];
};

#if REGRESSION

#define FIXED 1073741824.0  // sums of targets are whole numbers of this part of the largest

struct Counts {
    unsigned* rows;
    long long *z, *squares;

    __device__ Counts(unsigned char* memory) {
        z = (long long*)memory;
        squares = z + GROUP * LINE;
        rows = (unsigned*)(squares + GROUP * LINE);
    }
    __device__ __forceinline__ void add(const int c, const int bin, const float target) {
        const int place = c * LINE + PLACE(bin);
        const long long whole = __double2ll_rn((double)target * FIXED);
        const long long square = __double2ll_rn((double)target * (double)target * FIXED);
        atomicAdd(rows + place, 1u);
        atomicAdd((unsigned long long*)z + place, (unsigned long long)whole);
        atomicAdd((unsigned long long*)squares + place, (unsigned long long)square);
    }
    __device__ __forceinline__ unsigned size(const int c, const int bin) const { return rows[c * LINE + PLACE(bin)]; }
    __device__ __forceinline__ void clear(const int c, const int bin) {
        const int place = c * LINE + PLACE(bin);
        rows[place] = 0;
        z[place] = squares[place] = 0;
    }
};

#else

struct Counts {
    unsigned* rows;  // per coalition, those without the label of the validation row, then those with it

    __device__ Counts(unsigned char* memory) { rows = (unsigned*)memory; }
    __device__ __forceinline__ void add(const int c, const int bin, const int matches) {
        atomicAdd(rows + (2 * c + matches) * LINE + PLACE(bin), 1u);
    }
    __device__ __forceinline__ unsigned size(const int c, const int bin) const {
        return rows[2 * c * LINE + PLACE(bin)] + rows[(2 * c + 1) * LINE + PLACE(bin)];
    }
    __device__ __forceinline__ void clear(const int c, const int bin) {
        rows[2 * c * LINE + PLACE(bin)] = rows[(2 * c + 1) * LINE + PLACE(bin)] = 0;
    }
};

#endif

__device__ void find_edges(Counts& counts, const Bins bins, Limits* limits, double* buffer) {
    const int c = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    constexpr int PART = BINS / LANES;
    if (lane == 0) limits[c].edge = -1;
    unsigned sum = 0;
    for (int i = 0; i < PART; i++) sum += counts.size(c, lane * PART + i);
    unsigned end = sum_before(sum, (unsigned*)buffer);
    int edge = -1;
    for (int i = 0; i < PART; i++) {
        end += counts.size(c, lane * PART + i);
        if (end <= NEAR) edge = lane * PART + i;
    }
    if (edge >= 0) atomicMax(&limits[c].edge, edge);
    __syncthreads();
    edge = limits[c].edge;
    int digits = edge < 0 || edge + 1 == BINS ? -1 : 0;  // of two: the number of parts
    while (digits >= 0 && digits < bins.shift && 2 << digits <= edge + 1) digits++;
    const int first = digits < 0 ? edge + 1 : edge + 1 - (1 << digits);
    if (lane == 0) {
        limits[c].near = edge < 0 ? 0.0f : edge + 1 < BINS ? lower_end(edge + 1, bins) : 3.4e38f;
        limits[c].crowded = digits < 0 ? limits[c].near : edge + 2 < BINS ? lower_end(edge + 2, bins) : 3.4e38f;
        limits[c].shift = bins.shift - max(digits, 0);
        limits[c].offset = ((edge + 1 + bins.offset) << max(digits, 0)) - first;
        limits[c].first = first;
        limits[c].found = 0;
    }
    if (digits >= 0)
        for (int bin = first + lane; bin <= edge + 1; bin += LANES) counts.clear(c, bin);
    __syncthreads();
}

// Sorts the near rows of all coalitions by distance, then by row; the lists are filled up with the largest number.
__device__ void sort_lists(unsigned long long* lists, const Limits* limits) {
    __shared__ unsigned most;
    const int c = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    if (threadIdx.x == 0) most = 2;
    __syncthreads();
    if (lane == 0) atomicMax(&most, limits[c].found);
    unsigned long long* list = lists + c * NEAR;
    for (int i = limits[c].found + lane; i < NEAR; i += LANES) list[i] = ~0ull;
    __syncthreads();
    int room = 2;
    while (room < (int)most) room *= 2;
    for (int size = 2; size <= room; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            for (int i = lane; i < room / 2; i += LANES) {
                const int one = 2 * i - (i & (step - 1)), two = one + step;
                const unsigned long long a = list[one], b = list[two];
                if ((a > b) == ((one & size) == 0)) {
                    list[one] = b;
                    list[two] = a;
                }
            }
            __syncthreads();
        }
    }
}

// Where the rows at a distance begin among the listed ones, or (with 1 added to the distance) where they end.
__device__ __forceinline__ int boundary(const unsigned long long* list, const int found, const unsigned long long key) {
    int low = 0, high = found;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (list[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Adds the worth of one row under one coalition.
template <bool WALK>
__device__ __forceinline__ void add_one(void* sums, const int n_rows, const int row, const int c, const double worth,
                                        const float fixed, const Weights& weights) {
    if (WALK) {
        int* to = (int*)sums + row;
        const float value = (float)worth;
        const int with = __float2int_rn(value * weights.with[__popc(c)] * fixed);
        atomicAdd(to, __float2int_rn(value * weights.all[__popc(c)] * fixed));
        atomicAdd(to + n_rows, with);
        for (int j = 0; (1 << j) < GROUP; j++)
            if (c & (1 << j)) atomicAdd(to + (long long)(j + 2) * n_rows, with);
    } else {
        atomicAdd((unsigned long long*)sums + (long long)c * n_rows + row,
                  (unsigned long long)__double2ll_rn(worth * fixed));
    }
}

#if REGRESSION

struct Tails {
    double linear, product, square;
};

// One tie group as in shapley2d/_kernels/knn_regression.py: the coefficients of its members' values, and what it adds
// to the tails of nearer rows.
__device__ __forceinline__ Tails group_quadratic(
    const Game& game, const unsigned start, const unsigned end, const double nearer, const double total,
    const double squares, const double target, const Tails tails, double (&worth)[3]
) {
    const unsigned size = end - start;
    const double k = game.n_neighbors, share = game.inverse[size], share_pair = share * game.inverse[size - 1];
    const double share_triple = share_pair * game.inverse[size > 2 ? size - 2 : 0];
    const double last = game.single[end], weight = game.single_beyond[start] - game.single_beyond[end];
    const double drop = (weight - size * last) * share_pair;
    const double last_pair = game.pair[end], weight_pair = game.pair_beyond[start] - game.pair_beyond[end];
    const double placed =
        game.ranked_pair_beyond[start] - game.ranked_pair_beyond[end] - (start + 1.0) * weight_pair;
    const double drop_pair = (weight_pair - size * last_pair) * share_pair, mixed = placed * share_pair;
    const double drop_triple = (2.0 * placed - size * (size - 1.0) * last_pair) * share_triple;
    const double products = total * total - squares;
    const double linear_alpha = -total * drop - tails.linear, linear_beta = weight * share + drop;
    const double alpha =
        -k * squares * drop - 2.0 * (total * nearer * drop_pair + drop_triple * products) - tails.square;
    const double beta = 2.0 * nearer * (weight_pair * share + drop_pair) + 4.0 * total * (mixed + drop_triple) +
                        2.0 * tails.product;
    const double gamma = k * (weight * share + drop) - 4.0 * (mixed + drop_triple);
    const double step = game.single[start] - last, step_pair = game.pair[start] - last_pair, mean = total * share;
    const double scale = 1.0 / (k * k);
    worth[0] = 2.0 * target * linear_alpha - alpha * scale - game.alone * target * target;
    worth[1] = 2.0 * target * linear_beta - beta * scale;
    worth[2] = -gamma * scale;
    return {mean * step, mean * (weight_pair + step_pair),
            k * squares * share * step + 2.0 * (mean * nearer * step_pair + products * drop_pair)};
}

__device__ __forceinline__ void operator+=(Tails& tails, const Tails more) {
    tails.linear += more.linear;
    tails.product += more.product;
    tails.square += more.square;
}

template <bool WALK>
__device__ void find_worth(Counts& counts, unsigned long long* lists, unsigned char* before_memory, const Table& table,
                           const Game& game, const int valid, const Limits* limits, const float fixed,
                           const Weights& weights, void* sums, double* buffer) {
    __shared__ Tails far_tails[GROUP];
    const int c = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const int found = limits[c].found, first_far = limits[c].first;
    const double target = game.targets[valid];
    unsigned long long* list = lists + c * NEAR;
    double* before = (double*)before_memory + 2 * c * (NEAR + 1);
    double* squares_before = before + NEAR + 1;
    sort_lists(lists, limits);
    // Sums of targets up to every near rank.
    constexpr int PLACES = NEAR / LANES;
    double sum = 0.0, squares = 0.0;
    for (int k = lane * PLACES; k < (lane + 1) * PLACES && k < found; k++) {
        const double z = game.z[(unsigned)list[k]];
        sum += z;
        squares += z * z;
    }
    double running = sum_before(sum, buffer), running_squares = sum_before(squares, buffer);
    if (lane == 0) before[0] = squares_before[0] = 0.0;
    for (int k = lane * PLACES; k < (lane + 1) * PLACES && k < found; k++) {
        const double z = game.z[(unsigned)list[k]];
        before[k + 1] = running += z;
        squares_before[k + 1] = running_squares += z * z;
    }
    __syncthreads();
    const double near_sum = before[found];
    // The bins of far rows, twice from the far end: for what each part takes from nearer rows, then with what is taken.
    constexpr int PART = BINS / LANES;
    const int first = lane * PART;
    unsigned size = 0;
    long long total = 0;
    for (int bin = max(first, first_far); bin < first + PART; bin++) {
        size += counts.size(c, bin);
        total += counts.z[c * LINE + PLACE(bin)];
    }
    const unsigned start_of_part = found + sum_before(size, (unsigned*)buffer);
    const long long nearer = sum_before(total, (long long*)buffer);
    Tails tails = {0.0, 0.0, 0.0};
    for (int round = 0; round < 2; round++) {
        unsigned end = start_of_part + size;
        long long sum_z = nearer + total;
        for (int bin = first + PART - 1; bin >= first && bin >= first_far; bin--) {
            const int place = c * LINE + PLACE(bin);
            const unsigned members = counts.rows[place];
            if (members == 0) continue;
            const long long z = counts.z[place];
            sum_z -= z;
            double worth[3];
            tails += group_quadratic(game, end - members, end, near_sum + sum_z / FIXED, z / FIXED,
                                     counts.squares[place] / FIXED, target, tails, worth);
            if (round == 1) {
                ((float2*)counts.z)[place] = make_float2((float)worth[0], (float)worth[1]);
                ((float*)(counts.squares + place))[0] = (float)worth[2];
            }
            end -= members;
        }
        if (round == 0) {
            const Tails own = tails;
            tails.linear = sum_after(own.linear, buffer);
            tails.product = sum_after(own.product, buffer);
            tails.square = sum_after(own.square, buffer);
            if (lane == 0) {
                far_tails[c] = tails;
                far_tails[c] += own;
            }
        }
    }
    __syncthreads();
    // The near rows: a tie group is booked at its first place.
    Tails own = {0.0, 0.0, 0.0};
    for (int round = 0; round < 2; round++) {
        Tails beyond = {0.0, 0.0, 0.0};
        if (round == 1) {
            beyond.linear = sum_after(own.linear, buffer);
            beyond.product = sum_after(own.product, buffer);
            beyond.square = sum_after(own.square, buffer);
            beyond += far_tails[c];
        }
        for (int k = min((lane + 1) * PLACES, found) - 1; k >= lane * PLACES; k--) {
            const unsigned long long key = list[k] & ~0xFFFFFFFFull;
            const int start = boundary(list, found, key), end = boundary(list, found, key + (1ull << 32));
            double worth[3];
            const Tails more = group_quadratic(game, start, end, before[start], before[end] - before[start],
                                               squares_before[end] - squares_before[start], target, beyond, worth);
            if (round == 0) {
                if (k == start) own += more;
                continue;
            }
            const int row = (int)(unsigned)list[k];
            const double z = game.z[row];
            add_one<WALK>(sums, table.n_rows, row, c, worth[0] + z * (worth[1] + worth[2] * z), fixed, weights);
            if (k == start) beyond += more;
        }
    }
    __syncthreads();
}

#else

template <bool WALK>
__device__ void find_worth(Counts& counts, unsigned long long* lists, unsigned char* before_memory, const Table& table,
                           const Game& game, const int valid, const Limits* limits, const float fixed,
                           const Weights& weights, void* sums, double* buffer) {
    __shared__ double far_tail[GROUP];
    const int c = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    const int found = limits[c].found, first_far = limits[c].first;
    const int2 run = game.runs[valid];
    unsigned* others = counts.rows + 2 * c * LINE;
    unsigned* matches = others + LINE;
    sort_lists(lists, limits);
    // The bins of far rows, from the far end: what they take from nearer rows, then what their rows are worth.
    constexpr int PART = BINS / LANES;
    const int first = lane * PART;
    unsigned sum = 0;
    for (int bin = max(first, first_far); bin < first + PART; bin++) sum += others[PLACE(bin)] + matches[PLACE(bin)];
    const unsigned start_of_part = found + sum_before(sum, (unsigned*)buffer);
    double taken = 0.0;
    unsigned end = start_of_part + sum;
    for (int bin = first + PART - 1; bin >= first && bin >= first_far; bin--) {
        const unsigned size = others[PLACE(bin)] + matches[PLACE(bin)];
        if (size == 0) continue;
        const unsigned start = end - size;
        if (matches[PLACE(bin)] > 0) taken += matches[PLACE(bin)] * game.inverse[size] * (game.single[start] - game.single[end]);
        end = start;
    }
    double tail = sum_after(taken, buffer);
    if (lane == 0) far_tail[c] = tail + taken;
    end = start_of_part + sum;
    for (int bin = first + PART - 1; bin >= first && bin >= first_far; bin--) {
        const unsigned count = matches[PLACE(bin)], size = others[PLACE(bin)] + count;
        if (size == 0) continue;
        const unsigned start = end - size;
        const double last = game.single[end], share = game.inverse[size];
        const double total = game.single_beyond[start] - game.single_beyond[end];
        const double spread = (total - size * last) * game.inverse[size - 1] * share;
        const double other = -tail - count * spread;
        const double match = total * share - (count - 1.0) * spread - tail;
        tail += count * share * (game.single[start] - last);
        if (WALK) {
            others[PLACE(bin)] = __float_as_int((float)other);
            matches[PLACE(bin)] = __float_as_int((float)match);
        } else {
            others[PLACE(bin)] = __double2int_rn(other * fixed);
            matches[PLACE(bin)] = __double2int_rn(match * fixed);
        }
        end = start;
    }
    // The near rows: matches up to every rank, then from the far end; a tie group is booked at its first place.
    constexpr int PLACES = NEAR / LANES;
    unsigned long long* list = lists + c * NEAR;
    unsigned short* before = (unsigned short*)before_memory + c * (NEAR + 2);
    const int begin = lane * PLACES, stop = min(begin + PLACES, found);
    unsigned matching = 0;
    for (int k = begin; k < stop; k++) {
        const int row = (int)(unsigned)list[k];
        matching += row >= run.x && row < run.y;
    }
    unsigned running = sum_before(matching, (unsigned*)buffer);
    if (lane == 0) before[0] = 0;
    for (int k = begin; k < stop; k++) {
        const int row = (int)(unsigned)list[k];
        running += row >= run.x && row < run.y;
        before[k + 1] = running;
    }
    __syncthreads();
    double own = 0.0, beyond = 0.0;
    for (int round = 0; round < 2; round++) {
        if (round == 1) beyond = far_tail[c] + sum_after(own, buffer);
        int start = 0, end_of_group = -1;
        for (int k = stop - 1; k >= begin; k--) {
            if (end_of_group < 0 || k < start) {
                const unsigned long long key = list[k] & ~0xFFFFFFFFull;
                start = boundary(list, found, key);
                end_of_group = boundary(list, found, key + (1ull << 32));
            }
            const int size = end_of_group - start, count = before[end_of_group] - before[start];
            const double last = game.single[end_of_group], share = game.inverse[size];
            const double takes = count * share * (game.single[start] - last);
            if (round == 1) {
                const int row = (int)(unsigned)list[k];
                const double total = game.single_beyond[start] - game.single_beyond[end_of_group];
                const double spread = (total - size * last) * game.inverse[size - 1] * share;
                const bool match = row >= run.x && row < run.y;
                const double worth =
                    match ? total * share - (count - 1.0) * spread - beyond : -beyond - count * spread;
                add_one<WALK>(sums, table.n_rows, row, c, worth, fixed, weights);
                if (k == start) beyond += takes;
            } else if (k == start) {
                own += takes;
            }
        }
    }
    __syncthreads();
}

#endif

template <bool WALK>
__device__ __forceinline__ void value_rows(
    const Table table, const Game game, const int* chosen, const int n_chosen, const int* columns, const int* masks,
    const int n_listed, const Bins bins, const int phases, const int tile_rows, float* kept, unsigned char* state,
    Limits* kept_limits, const float fixed, const Weights weights, void* sums
) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ double buffer[THREADS];
    __shared__ Limits limits[GROUP];
    unsigned long long* lists = (unsigned long long*)(memory + COUNT_BYTES);
    unsigned char* before = memory + STATE_BYTES;
    Entry* entries = (Entry*)(before + BEFORE_BYTES);
    const int room = n_listed + AHEAD;
    float* masked = (float*)(entries + room);
    long long* listed = (long long*)(masked + (WALK ? 0 : GROUP * room));
    __shared__ Weights shared_weights;
    Counts counts(memory);
    const int thread = threadIdx.x;
    const bool whole = phases == (COUNT | EDGES | LIST | WORTH | ADD);
    const int begin = blockIdx.y * tile_rows;
    const int end = min(begin + tile_rows, table.n_rows);
    if (kept != nullptr) kept += (long long)blockIdx.x * table.n_rows;
    if (WALK && thread < 5) {
        shared_weights.with[thread] = weights.with[thread];
        shared_weights.all[thread] = weights.all[thread];
    }
    for (int j = thread; j < room; j += THREADS) {
        listed[j] = j < n_listed ? (long long)columns[j] * table.n_rows : 0;
        if (!WALK)
            for (int c = 0; c < GROUP; c++) masked[j * GROUP + c] = j < n_listed && (masks[j] >> c & 1) ? 1.0f : 0.0f;
    }
    for (int number = blockIdx.x; number < n_chosen; number += gridDim.x) {
        const int valid = chosen[number];
        unsigned* kept_state = (unsigned*)(state + (long long)number * STATE_BYTES);
        unsigned* words = (unsigned*)memory;
        __syncthreads();
        for (int j = thread; j < room; j += THREADS)
            entries[j] = j < n_listed ? table.entries[(long long)valid * table.n_columns + columns[j]]
                                      : Entry{0.0f, 0.0f, 0.0f, 0.0f};
        const bool reads = !whole && (phases & (EDGES | WORTH | ADD));
        for (int i = thread; i < STATE_BYTES / 4; i += THREADS) words[i] = reads ? kept_state[i] : 0;
        if (!whole && (phases & (LIST | WORTH | ADD)) && thread < GROUP)
            limits[thread] = kept_limits[number * GROUP + thread];
        __syncthreads();
#if REGRESSION
        const float* mark = game.z;
#else
        const int2 run = game.runs[valid];
#endif
        float distances[GROUP];
        if (phases & COUNT) {
            for (int row = begin + thread; row < end; row += THREADS) {
                row_distances<WALK>(table, entries, listed, masked, n_listed, row, kept, false, distances);
#if REGRESSION
                const float label = mark[row];
#else
                const int label = row >= run.x && row < run.y;
#endif
#pragma unroll
                for (int c = 0; c < GROUP; c++) counts.add(c, bin_of(distances[c], bins), label);
            }
            __syncthreads();
        }
        if (phases & EDGES) {
            find_edges(counts, bins, limits, buffer);
            if (!whole && thread < GROUP) kept_limits[number * GROUP + thread] = limits[thread];
            if (!whole)
                for (int i = thread; i < COUNT_BYTES / 4; i += THREADS) kept_state[i] = words[i];
        }
        if (phases & LIST) {
            if (!whole && thread < GROUP) limits[thread].found = 0;
            __syncthreads();
            for (int row = begin + thread; row < end; row += THREADS) {
                row_distances<WALK>(table, entries, listed, masked, n_listed, row, kept, whole, distances);
#if REGRESSION
                const float label = mark[row];
#else
                const int label = row >= run.x && row < run.y;
#endif
#pragma unroll
                for (int c = 0; c < GROUP; c++)
                    if (distances[c] < limits[c].crowded) {
                        if (distances[c] < limits[c].near)
                            lists[c * NEAR + atomicAdd(&limits[c].found, 1u)] =
                                (unsigned long long)(unsigned)__float_as_int(distances[c]) << 32 | (unsigned)row;
                        else
                            counts.add(c, part_of(distances[c], limits[c]), label);
                    }
            }
            __syncthreads();
        }
        // Whole numbers, and lists that are sorted later: the order of the tiles does not matter.
        if (!whole && (phases & (COUNT | LIST))) {
#if REGRESSION
            unsigned long long* to = (unsigned long long*)kept_state;
            for (int i = thread; i < 2 * GROUP * LINE; i += THREADS)
                if (counts.z[i]) atomicAdd(to + i, (unsigned long long)counts.z[i]);
            for (int i = thread; i < GROUP * LINE; i += THREADS)
                if (counts.rows[i]) atomicAdd(kept_state + 4 * GROUP * LINE + i, counts.rows[i]);
#else
            for (int i = thread; i < COUNT_BYTES / 4; i += THREADS)
                if (words[i]) atomicAdd(kept_state + i, words[i]);
#endif
        }
        if (!whole && (phases & LIST)) {
            __shared__ unsigned place[GROUP];
            if (thread < GROUP)
                place[thread] = atomicAdd(&kept_limits[number * GROUP + thread].found, limits[thread].found);
            __syncthreads();
            unsigned long long* to = (unsigned long long*)((unsigned char*)kept_state + COUNT_BYTES);
            for (int i = thread; i < GROUP * NEAR; i += THREADS)
                if (i % NEAR < limits[i / NEAR].found) to[i + place[i / NEAR]] = lists[i];
        }
        if (phases & WORTH) {
            find_worth<WALK>(counts, lists, before, table, game, valid, limits, fixed, shared_weights, sums, buffer);
            if (!whole)
                for (int i = thread; i < STATE_BYTES / 4; i += THREADS) kept_state[i] = words[i];
        }
        if (phases & ADD) {
            // Blocks begin at different rows: at one and the same they would wait for each other's sums.
            const int turn = (int)((long long)(end - begin) * (blockIdx.x % 64) / 64);
            for (int place = begin + thread; place < end; place += THREADS) {
                const int row = place + turn < end ? place + turn : place + turn - (end - begin);
                row_distances<WALK>(table, entries, listed, masked, n_listed, row, kept, whole, distances);
#if REGRESSION
                const float z = mark[row];
#else
                const int label = row >= run.x && row < run.y;
#endif
                float values[GROUP];
#pragma unroll
                for (int c = 0; c < GROUP; c++) {
                    const bool far = !(distances[c] < limits[c].near);
                    const int bin = distances[c] < limits[c].crowded ? max(part_of(distances[c], limits[c]), 0)
                                                                     : bin_of(distances[c], bins);
#if REGRESSION
                    const int at = c * LINE + PLACE(bin);
                    const float2 line = ((float2*)counts.z)[at];
                    const float bend = ((float*)(counts.squares + at))[0];
                    const int value = __float2int_rn((line.x + z * (line.y + bend * z)) * fixed);
                    if (far)
                        atomicAdd((unsigned long long*)sums + (long long)c * table.n_rows + row,
                                  (unsigned long long)(long long)value);
#else
                    const unsigned word = counts.rows[(2 * c + label) * LINE + PLACE(bin)];
                    if (WALK)
                        values[c] = far ? __int_as_float(word) : 0.0f;
                    else if (far)
                        atomicAdd((unsigned long long*)sums + (long long)c * table.n_rows + row,
                                  (unsigned long long)(long long)(int)word);
#endif
                }
                if (WALK) {
                    // Weighted sums over all coalitions (twice), and over those with each of the walk's columns.
                    constexpr int LOW = GROUP == 2 ? 1 : GROUP == 4 ? 2 : GROUP == 8 ? 3 : 4;
                    float total = 0.0f;
#pragma unroll
                    for (int c = 0; c < GROUP; c++) {
                        total += weights.all[__popc(c)] * values[c];
                        values[c] *= weights.with[__popc(c)];
                    }
                    int* to = (int*)sums + row;
                    atomicAdd(to, __float2int_rn(total * fixed));
#pragma unroll
                    for (int j = 0; j < LOW; j++) {
                        float with = 0.0f;
#pragma unroll
                        for (int c = 0; c < (GROUP >> (j + 1)); c++) {
                            with += values[2 * c + 1];
                            values[c] = values[2 * c] + values[2 * c + 1];
                        }
                        atomicAdd(to + (long long)(j + 2) * table.n_rows, __float2int_rn(with * fixed));
                    }
                    atomicAdd(to + table.n_rows, __float2int_rn(values[0] * fixed));
                }
            }
        }
    }
}

#define ARGUMENTS                                                                                                    \
    const float *train, const Entry *entries, const int n_rows, const int n_columns, const int2 *runs, const float *z, \
        const double *targets, const double *single, const double *single_beyond, const double *pair,                 \
        const double *pair_beyond, const double *ranked_pair_beyond, const double *inverse, const double alone,       \
        const int n_neighbors, const int *chosen, const int n_chosen, const int *columns,        \
        const int *masks, const int n_listed, const int shift, const int offset,                                      \
        const int phases, const int tile_rows, float *kept, unsigned char *state, Limits *limits, const float fixed
#define TABLE {train, entries, n_rows, n_columns}
#define GAME                                                                                                         \
    {runs,    z,     targets,     single,   single_beyond, pair, pair_beyond, ranked_pair_beyond, inverse, alone,     \
     n_neighbors}

// Adds the row values under GROUP coalitions to whole sums of 64 bits, a line per coalition.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) add_values(ARGUMENTS, long long* sums) {
    const Table table = TABLE;
    const Game game = GAME;
    const Bins bins = {shift, offset};
    const Weights none = {};
    value_rows<false>(table, game, chosen, n_chosen, columns, masks, n_listed, bins, phases, tile_rows, kept, state,
                      limits, fixed, none, sums);
}

#if !REGRESSION

// Adds weighted sums over the subsets of a few columns, with some others in all of them, to whole sums of 32 bits.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) add_walk(
    ARGUMENTS, const float with0, const float with1, const float with2, const float with3, const float with4,
    const float all0, const float all1, const float all2, const float all3, const float all4, int* sums
) {
    const Table table = TABLE;
    const Game game = GAME;
    const Bins bins = {shift, offset};
    const Weights weights = {{with0, with1, with2, with3, with4}, {all0, all1, all2, all3, all4}};
    value_rows<true>(table, game, chosen, n_chosen, columns, masks, n_listed, bins, phases, tile_rows, kept, state,
                     limits, fixed, weights, sums);
}

// Takes the sums of a walk over to the values of all columns, and clears them.
//
// role: for every column, 2 + j if it is the j-th of the walk's own, 1 if it is in all coalitions, 0 if in none.
extern "C" __global__ void fold_walk(
    int* sums, const int n_rows, const int* roles, const int n_columns, const int n_lines, const double unit,
    double* values
) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n_rows) return;
    const double all = unit * sums[row];
    for (int j = 0; j < n_columns; j++) {
        const int role = roles[j];
        const double with = role == 0 ? 0.0 : unit * sums[(long long)role * n_rows + row];
        values[(long long)j * n_rows + row] += with - all;
    }
    for (int line = 0; line < n_lines; line++) sums[(long long)line * n_rows + row] = 0;
}

#endif

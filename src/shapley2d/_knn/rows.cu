// Row values of the K-nearest-neighbour game under column subsets, summed over validation rows.
//
// Two kernels, launched one after the other on some validation rows and subsets:
//   find_bins   the bin of every training row, for every pair of validation row and subset
//   value_rows  counts the rows of every bin, ranks the near rows, and adds up the values
//
// Distances are sums of dissimilarities, which are whole numbers of a unit. A bin holds the rows whose distances agree in
// the exponent and the first ten bits behind the point; there are 16 octaves of them below the largest distance, and nearer
// rows share the first. The rows of the nearest bins, at least NEAR of them, are ranked by distance. A bin of far rows is a
// group of equals, and so are near rows at the same distance: all are valued by the same formulas, those of
// shapley2d/_knn/kernels/tie_groups.py. Sums are taken in a fixed order or in whole numbers: every run gives the same bits.
//
// Set when compiling, without fused products: NEAR, THREADS (of value_rows), REGRESSION, RANKED (all rows are near: there
// are no bins), WINDOW (bins that are on the chip at a time), LISTED (near rows that are ranked on the chip; more of them
// are ranked in global memory), BLOCKS (of value_rows that a processor takes at a time).

#define BINS 16384
#define FIELDS 7         // terms of a column: near, mirror, scale, base, gap, unit, reach
#define BIN_THREADS 256  // of find_bins
#define SAME 16
#define PLANES (REGRESSION ? 3 : 2)  // of a bin: rows with another and with the same label; in regression coefficients
#define WARPS (THREADS / 32)
#define PER (REGRESSION ? 1 : 2)  // bins that a thread values at a time
#define SIGHTS 32  // columns that a validation row sees from the chip

typedef long long Long;

__device__ __forceinline__ Long whole_of(const double x) { return (Long)rint(x); }

#if RANKED
typedef double Real;  // of values; small tables have the time
#else
typedef float Real;
#endif

// How a validation row sees the entries of a column: terms of its distances, ready for use.
struct Sight {
    double near, mirror, scale, base, gap, rounder;
    int column, nominal;

    __device__ __forceinline__ Sight(const double* own_terms, const int j, const unsigned char* kinds) {
        const double* own = own_terms + FIELDS * j;
        near = own[0], mirror = own[1], scale = own[2], base = own[3], gap = own[4];
        rounder = 6755399441055744.0 * own[5];  // 3 * 2^51: what is added has no digits below a unit
        column = j, nominal = kinds[j];
    }
    // How far an entry is: a whole number of units.
    __device__ __forceinline__ double dissimilarity(const double entry) const {
        double x = base + scale * (near - entry) * (mirror - entry);
        if (nominal) x = entry == near ? 0.0 : scale;
        if (entry != entry) x = gap;
        return x + rounder - rounder;
    }
};

// The bin of a distance; BINS says that it is in the first but not nought.
__device__ __forceinline__ unsigned short code_of(const double distance, const int begin) {
    const int bin = min(max((int)(__double_as_longlong(distance) >> 42) - begin, 0), BINS - 1);
    return bin || distance == 0.0 ? bin : BINS;
}

// The bins of all rows: a line of `stride` for every pair. A block takes `tile` rows beside one validation row. It adds up
// the dissimilarities of every subset of four columns, so that a distance takes one addition for every four columns; a warp
// takes some subsets, and a thread two rows.
//
// masks: the columns of every subset, four to a byte; SAME is set in the first where the others are as in the subset before
// begins: the keys of every pair's first bin
extern "C" __global__ void __launch_bounds__(BIN_THREADS) find_bins(
    const double* train, const unsigned char* nominal, const double* terms, const unsigned char* __restrict__ masks,
    const int* __restrict__ begins, const int n_rows, const int n_columns, const int stride, const int tile,
    const int n_subsets, unsigned short* __restrict__ bins
) {
    extern __shared__ __align__(16) unsigned char memory[];
    double* x = (double*)memory;  // 16 lines for every four columns
    const int first = blockIdx.x * tile, t = blockIdx.y, fours = (n_columns + 3) / 4;
    const double* own_terms = terms + (Long)t * FIELDS * n_columns;
    for (int e = threadIdx.x; e < tile * fours; e += BIN_THREADS) {
        const int four = e / tile, row = e - four * tile;
        const double* entries = train + (Long)(first + row) * n_columns;
        double own[4];
#pragma unroll
        for (int bit = 0; bit < 4; bit++) {
            const int j = 4 * four + bit;
            const bool there = j < n_columns && first + row < n_rows;
            own[bit] = there ? Sight(own_terms, j, nominal).dissimilarity(entries[j]) : 0.0;
        }
        const double low[4] = {0.0, own[0], own[1], own[0] + own[1]}, high[4] = {0.0, own[2], own[3], own[2] + own[3]};
#pragma unroll
        for (int k = 0; k < 16; k++) x[(16 * four + k) * tile + row] = low[k % 4] + high[k / 4];
    }
    __syncthreads();
    const int share = (n_subsets + BIN_THREADS / 32 - 1) / (BIN_THREADS / 32), start = threadIdx.x / 32 * share;
    for (int row = threadIdx.x % 32 * 2; row < tile && first + row < stride; row += 64) {
        double2 rest = {0.0, 0.0};
        for (int s = start; s < min(start + share, n_subsets); s++) {
            const unsigned char* mask = masks + (Long)s * fours;
            const int begin = begins[t * n_subsets + s];
            if (s == start || !(mask[0] & SAME)) {
                rest = {0.0, 0.0};
                for (int four = 1; four < fours; four++) {
                    const double2 part = *(const double2*)(x + (16 * four + mask[four]) * tile + row);
                    rest = {rest.x + part.x, rest.y + part.y};
                }
            }
            const double2 part = *(const double2*)(x + mask[0] % SAME * tile + row);
            *(ushort2*)(bins + ((Long)t * n_subsets + s) * stride + first + row) = {
                code_of(rest.x + part.x, begin), code_of(rest.y + part.y, begin)};
        }
    }
}

// The bins of eight rows.
struct __align__(16) Eight {
    unsigned words[4];

    __device__ __forceinline__ int bin(const int e) const { return words[e / 2] >> 16 * (e % 2) & (BINS - 1); }
    __device__ __forceinline__ bool nought(const int e) const { return !(words[e / 2] >> 16 * (e % 2) & 0xFFFF); }
};

// Bins pass by, and should leave the cache to the lines.
__device__ __forceinline__ Eight load(const Eight* from) {
    const uint4 words = __ldcs((const uint4*)from);
    return {{words.x, words.y, words.z, words.w}};
}

// The sum over all threads before this one, and over all. Two scans in a row need different rooms.
template <typename T> __device__ __forceinline__ T scan(T x, void* shared, T& all) {
    T* room = (T*)shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const T other = __shfl_up_sync(~0u, x, step);
        if (lane >= step) x += other;
    }
    if (lane == 31) room[warp] = x;
    __syncthreads();
    T sum = lane < WARPS ? room[lane] : T(0);
#pragma unroll
    for (int step = 1; step < WARPS; step *= 2) {
        const T other = __shfl_up_sync(~0u, sum, step);
        if (lane >= step) sum += other;
    }
    all = __shfl_sync(~0u, sum, WARPS - 1);
    const T before = __shfl_sync(~0u, sum, max(warp - 1, 0)), inside = __shfl_up_sync(~0u, x, 1);
    return (warp ? before : T(0)) + (lane ? inside : T(0));
}

// Lists those of the first numbers that are wanted, in their order, and counts them. A warp looks at some in a row.
template <typename T, typename Wanted>
__device__ __forceinline__ int list_those(const int size, void* room, T* list, const Wanted& wanted) {
    const int lane = threadIdx.x % 32, share = (size + THREADS - 1) / THREADS * 32, start = threadIdx.x / 32 * share;
    int place = 0, all;
#pragma unroll 4
    for (int i = start + lane; i < start + share; i += 32) place += __popc(__ballot_sync(~0u, i < size && wanted(i)));
    place = __shfl_sync(~0u, scan(lane ? 0 : place, room, all), 0);
#pragma unroll 4
    for (int i = start + lane; i < start + share; i += 32) {
        const bool here = i < size && wanted(i);
        const unsigned there = __ballot_sync(~0u, here);
        if (here) list[place + __popc(there & ((1u << lane) - 1))] = i;
        place += __popc(there);
    }
    __syncthreads();
    return all;
}

// The largest of all threads' numbers.
__device__ __forceinline__ double largest(double x, double* room) {
#pragma unroll
    for (int step = 1; step < 32; step *= 2) x = max(x, __shfl_sync(~0u, x, threadIdx.x % 32 ^ step));
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
    __syncthreads();
    x = room[min((int)threadIdx.x % 32, WARPS - 1)];
#pragma unroll
    for (int step = 1; step < 32; step *= 2) x = max(x, __shfl_sync(~0u, x, threadIdx.x % 32 ^ step));
    return x;
}

// The weights of a rank; the formulas of groups say which.
struct __align__(REGRESSION ? 8 : 16) Rank {
    double fields[REGRESSION ? 5 : 2];
};

#if REGRESSION

// Sums over a group's targets, over those of its squares, and over the targets of all nearer rows.
struct Members {
    double total, squares, nearer;
};

// What a group takes from all nearer rows: from the linear part, the factor of the target, the constant of the square.
struct Tail {
    double linear, product, square;
};

// A row with target z is worth constant + z (linear + z square).
struct Worth {
    Real constant, linear, square;
};

__device__ __forceinline__ Tail scan(const Tail& x, double (*rooms)[32], Tail& all) {
    const double linear = scan(x.linear, rooms[1], all.linear), product = scan(x.product, rooms[2], all.product);
    return {linear, product, scan(x.square, rooms[3], all.square)};
}
__device__ __forceinline__ Tail operator+(const Tail& a, const Tail& b) {
    return {a.linear + b.linear, a.product + b.product, a.square + b.square};
}

// The formulas of group_worth; ranks: single, single_beyond, pair, pair_beyond, ranked_pair_beyond of every rank.
struct Group {
    double share, last, weight, drop, step, step_pair, weight_pair, drop_pair, mixed, drop_triple, products, k;
    Members members;

    __device__ Group() {}
    __device__ Group(
        const int start, const int end, const Rank& at_start, const Rank& at_end, const Members& among, const int n_neighbors
    ) : k(n_neighbors), members(among) {
        const double *a = at_start.fields, *b = at_end.fields, size = max(end - start, 1);
        share = 1.0 / size;
        const double share_pair = size > 1.0 ? share / (size - 1.0) : 0.0;
        const double share_triple = size > 2.0 ? share_pair / (size - 2.0) : 0.0;
        weight = a[1] - b[1];
        drop = (weight - size * b[0]) * share_pair;
        weight_pair = a[3] - b[3];
        const double placed = a[4] - b[4] - (start + 1.0) * weight_pair;
        drop_pair = (weight_pair - size * b[2]) * share_pair;
        mixed = placed * share_pair;
        drop_triple = (2.0 * placed - size * (size - 1.0) * b[2]) * share_triple;
        products = members.total * members.total - members.squares;
        step = a[0] - b[0];
        step_pair = a[2] - b[2];
    }
    __device__ Tail tail() const {
        const double mean = members.total * share;
        return {mean * step, mean * (weight_pair + step_pair),
                k * members.squares * share * step + 2.0 * (mean * members.nearer * step_pair + products * drop_pair)};
    }
    // factor: the weight of the validation row; alone: of the empty coalition
    __device__ Worth worth(const Tail& tail, const double target, const double alone, const double factor) const {
        const double alpha = -k * members.squares * drop
            - 2.0 * (members.total * members.nearer * drop_pair + drop_triple * products) - tail.square;
        const double beta = 2.0 * members.nearer * (weight_pair * share + drop_pair)
            + 4.0 * members.total * (mixed + drop_triple) + 2.0 * tail.product;
        const double gamma = k * (weight * share + drop) - 4.0 * (mixed + drop_triple), scale = 1.0 / (k * k);
        return {(Real)(factor * (2.0 * target * (-members.total * drop - tail.linear) - alpha * scale - alone * target * target)),
                (Real)(factor * (2.0 * target * (weight * share + drop) - beta * scale)), (Real)(-factor * gamma * scale)};
    }
};

#else

// Members of a group with the label of the validation row.
struct Members {
    int matches;
};

typedef double Tail;

// What a row with another label is worth, and one with the same.
struct Worth {
    Real other, match;
};

__device__ __forceinline__ Tail scan(const Tail x, double (*rooms)[32], Tail& all) { return scan(x, (void*)rooms[1], all); }

// The linear part of group_worth; ranks: single, single_beyond of every rank.
struct Group {
    double share, weight, spread, step;
    Members members;

    __device__ Group() {}
    __device__ Group(
        const int start, const int end, const Rank& at_start, const Rank& at_end, const Members& among, int
    ) : members(among) {
        const double *a = at_start.fields, *b = at_end.fields, size = max(end - start, 1);
        share = 1.0 / size;
        weight = a[1] - b[1];
        spread = size > 1.0 ? (weight - size * b[0]) * share / (size - 1.0) : 0.0;
        step = a[0] - b[0];
    }
    __device__ Tail tail() const { return members.matches * share * step; }
    __device__ Worth worth(const Tail tail, double, double, const double factor) const {
        return {(Real)(factor * (-tail - members.matches * spread)),
                (Real)(factor * (weight * share - (members.matches - 1) * spread - tail))};
    }
};

#endif

// Sorts by distance. All exchanges are upwards, so that the size need not be a power of two. Places that are less than 32
// apart are held by threads of one warp, which need no barrier.
__device__ __forceinline__ void sort(double* distances, int* rows, const int size) {
    const int lane = threadIdx.x % 32;
    for (int span = 32; span < 2 * size || span == 32; span *= 2) {
        for (int step = span / 2; step >= 32; step /= 2) {
            const int flip = step == span / 2 ? span - 1 : step;  // the first step of a span pairs first with last
            for (int i = threadIdx.x; i < size; i += THREADS) {
                const int j = i ^ flip;
                if (j > i && j < size) {
                    const double a = distances[i], b = distances[j];
                    const int p = rows[i], q = rows[j];
                    if (a > b) {
                        distances[i] = b;
                        distances[j] = a;
                        rows[i] = q;
                        rows[j] = p;
                    }
                }
            }
            __syncthreads();
        }
        for (int i = threadIdx.x; i - lane < size; i += THREADS) {
            double distance = i < size ? distances[i] : 1e300;
            int row = i < size ? rows[i] : 0;
            const auto exchange = [&](const int flip) {
                const double other = __shfl_sync(~0u, distance, lane ^ flip);
                const int other_row = __shfl_sync(~0u, row, lane ^ flip);
                if ((lane ^ flip) > lane ? other < distance : other > distance) distance = other, row = other_row;
            };
            for (int inner = span == 32 ? 2 : 64; inner <= 32; inner *= 2) {  // all small spans at once
                exchange(inner - 1);
                for (int step = inner / 4; step; step /= 2) exchange(step);
            }
            for (int step = span == 32 ? 0 : 16; step; step /= 2) exchange(step);
            if (i < size) distances[i] = distance, rows[i] = row;
        }
        __syncthreads();
    }
}

#if REGRESSION
// Sums over targets and their squares, in whole numbers of the quantum.
struct Sums {
    Long total, squares;
};
#else
typedef int Sums;  // over matches
#endif

// What a block keeps about near rows: by place in the order, and by group.
struct Near {
    double* distances;
    Sums* before;  // over all nearer rows, of every group
    Worth* worths;
    int *groups, *starts;

    __device__ Near(unsigned char* memory, const int size) {
        before = (Sums*)memory;
        distances = (double*)(before + size + 1 + (size + 1) % 2);
        worths = (Worth*)(distances + size + 1);
        groups = (int*)(worths + size + 1);
        starts = groups + size + 1;
    }
};

// The values of all rows, added up over validation rows: a line of `stride` for every subset and slice of them.
//
// train, nominal, terms: as above, and train by columns; lists, sizes: the columns of every subset
// slacks: how far equal distances of a pair may be apart
// targets: of training rows (regression); labels: first and last row with the label of every validation row, or its target
// ranks: weights of ranks; factors: weights of validation rows; targets are whole numbers of 1 / quantum where summed
// taken: how many lines are being made or done; room: `room_bytes` of every block, for what does not fit the chip, and for
// sums over targets
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) value_rows(
    const double* train, const unsigned char* nominal, const double* by_column, const double* terms,
    const unsigned short* lists, const int* sizes, const double* slacks, const unsigned short* __restrict__ bins, const double* targets, const double* labels,
    const Rank* ranks, const double* factors, const double alone, const double quantum, const Long all_targets,
    const int n_neighbors, const int n_rows, const int n_columns, const int stride,
    const int n_subsets, const int n_valid, const int slice, int* taken, unsigned char* room, const Long room_bytes, Real* out
) {
    extern __shared__ __align__(16) unsigned char memory[];
    __shared__ double rooms[4][32];
    __shared__ int item, first_far, n_near, n_first, n_last, edge_start;
    __shared__ Members edge_members;
    const int me = threadIdx.x;
    room += blockIdx.x * room_bytes;
    const bool few = n_columns <= SIGHTS;
    Sight* sights = (Sight*)(few ? memory : room);
    room += few ? 0 : ((n_columns + 1) & ~1) * (Long)sizeof(Sight);
    int* list_on_chip = (int*)(memory + SIGHTS * sizeof(Sight));
    unsigned char* on_chip = (unsigned char*)(list_on_chip + LISTED);  // bins, then near rows
    int* list_in_room = (int*)room;
    unsigned char* in_room = room + 4 * (Long)stride;
#if !RANKED
    unsigned* table = (unsigned*)on_chip;
    unsigned short* filled = (unsigned short*)in_room;  // the bins that hold rows
    in_room += 2 * WINDOW;
#if REGRESSION
    Long* sums = (Long*)in_room;  // of targets and of squares
    in_room += 16 * WINDOW;
#endif
#endif
    for (;;) {
        if (me == 0) item = atomicAdd(taken, 1);
        __syncthreads();
        if (item >= n_subsets * ((n_valid + slice - 1) / slice)) break;
        const int s = item % n_subsets, from = item / n_subsets * slice, size = sizes[s];
        const unsigned short* list = lists + s * n_columns;
        Real* line = out + (Long)item * stride;
        for (int t = from; t < min(from + slice, n_valid); t++) {
            const double factor = factors[t], slack = slacks[t * n_subsets + s];
            for (int k = me; k < size; k += THREADS) sights[k] = Sight(terms + (Long)t * FIELDS * n_columns, list[k], nominal);
#if REGRESSION
            const double target = labels[2 * t];
            const int run = 0, run_size = 0;
#else
            const double target = 0.0;
            const int run = (int)labels[2 * t], run_size = (int)labels[2 * t + 1] - run;  // rows with the label
#endif
            Tail carry = {};
            if (me == 0) first_far = 0, n_near = n_rows, n_first = 0;
            int* rows = list_on_chip;
#if RANKED
            for (int row = me; row < n_rows; row += THREADS) rows[row] = row;
#else
            // Some bins at a time, from the far end on.
            const unsigned short* bin_of = bins + ((Long)t * n_subsets + s) * stride;
            const Eight* eights = (const Eight*)bin_of;
            int end = n_rows, crowd = -1;
            Worth crowd_worth = {};  // of the rows in the bin `crowd`
            Long noughts = 0, all_noughts;  // rows at distance 0; those with the label are counted in the upper half
#if REGRESSION
            Long whole = all_targets;
#endif
            for (int low = BINS - WINDOW; end >= NEAR; low -= WINDOW) {
                for (int i = me; i < PLANES * WINDOW / 4; i += THREADS) ((uint4*)table)[i] = {0, 0, 0, 0};
#if REGRESSION
                for (int i = me; i < WINDOW; i += THREADS) ((uint4*)sums)[i] = {0, 0, 0, 0};
#endif
                __syncthreads();
                for (int i = 8 * me; i < n_rows; i += 8 * THREADS) {  // count
                    const Eight eight = load(eights + i / 8);
#pragma unroll
                    for (int e = 0; e < 8; e++) {
                        const int bin = eight.bin(e) - low, row = i + e;
                        if (row >= n_rows) continue;
                        const bool match = !REGRESSION && (unsigned)(row - run) < (unsigned)run_size;
                        if ((unsigned)bin >= WINDOW) {
                            if (low == BINS - WINDOW && eight.nought(e)) noughts += match ? (1LL << 32) + 1 : 1;
                            continue;
                        }
#if REGRESSION
                        const double z = targets[row];
                        atomicAdd(table + bin, 1u);
                        atomicAdd((unsigned long long*)sums + 2 * bin, (unsigned long long)whole_of(z * quantum));
                        atomicAdd((unsigned long long*)sums + 2 * bin + 1, (unsigned long long)whole_of(z * z * quantum));
#else
                        atomicAdd(table + (match ? WINDOW : 0) + bin, 1u);
#endif
                    }
                }
                __syncthreads();
                if (low == BINS - WINDOW) scan(noughts, rooms[1], all_noughts);
                // The bins that hold rows, from the far end on.
                const auto rows_of = [&](const int bin) { return table[bin] + (REGRESSION ? 0 : table[WINDOW + bin]); };
                const int n_filled = list_those(WINDOW, rooms[0], filled, [&](const int i) { return rows_of(WINDOW - 1 - i) != 0; });
                // PER of them for every thread at a time: ranks, then tails, then values. A bin is far if at least NEAR rows
                // are nearer; the first that is not is at the edge.
                for (int first = 0; first < n_filled && end >= NEAR; first += PER * THREADS) {
                    int bin[PER], count[PER], own_rows = 0, all_rows;
#pragma unroll
                    for (int e = 0; e < PER; e++) {
                        const int g = first + PER * me + e;
                        bin[e] = g < n_filled ? WINDOW - 1 - filled[g] : 0;
                        count[e] = g < n_filled ? rows_of(bin[e]) : 0;
                        own_rows += count[e];
                    }
                    int b = end - scan(own_rows, rooms[0], all_rows);
#if REGRESSION
                    Long all_here;
                    const Long total = count[0] ? sums[2 * bin[0]] : 0, behind = scan(total, rooms[1], all_here);
                    const Long nearer = whole - behind - total;
                    whole -= all_here;
                    __syncthreads();
#endif
                    Rank starts[PER], at_end;
#pragma unroll
                    for (int e = 0, a = b; e < PER; e++) starts[e] = ranks[a -= count[e]];
                    for (int field = 0; field < sizeof(Rank) / 8; field++)  // a bin ends where the one before starts
                        at_end.fields[field] = __shfl_up_sync(~0u, starts[PER - 1].fields[field], 1);
                    if (me % 32 == 0) at_end = ranks[b];
                    Group groups[PER];
                    Tail tails[PER], own = {}, all;
#pragma unroll
                    for (int e = 0; e < PER; e++) {
                        const int a = b - count[e];
                        const bool far = count[e] && a >= NEAR;
#if REGRESSION
                        const Members members = {(double)total / quantum, (double)sums[2 * bin[e] + 1] / quantum, (double)nearer / quantum};
#else
                        const Members members = {(int)table[WINDOW + bin[e]]};
#endif
                        groups[e] = Group(a, b, starts[e], at_end, members, n_neighbors);
                        at_end = starts[e];
                        tails[e] = far ? groups[e].tail() : Tail{};
                        own = own + tails[e];
                        if (count[e] && a < NEAR && b >= NEAR) {
                            first_far = low + bin[e] + 1, n_near = b;
                            edge_start = a, edge_members = members;
                        }
                        if (!far) count[e] = 0;
                        b = a;
                    }
                    Tail tail = carry + scan(own, rooms, all);
#pragma unroll
                    for (int e = 0; e < PER; e++) {
                        const Worth worth = groups[e].worth(tail, target, alone, factor);
                        const float* parts = (const float*)&worth;
                        for (int plane = 0; plane < PLANES && count[e]; plane++)
                            table[plane * WINDOW + bin[e]] = __float_as_int(parts[plane]);
                        tail = tail + tails[e];
                    }
                    end -= all_rows;
                    carry = carry + all;
                }
                __syncthreads();
#if !REGRESSION
                if (end >= NEAR && end == (int)all_noughts) {  // there is nothing in between: the other bins need no look
                    if (me == 0) first_far = 1, n_near = end, edge_start = 0, edge_members = {(int)(all_noughts >> 32)};
                    end = 0;
                    __syncthreads();
                }
#endif
                const int edge = first_far - 1;
                if (end < NEAR && edge == 0 && n_near == (int)all_noughts) crowd = edge;
                if (end < NEAR && n_near > LISTED && crowd < 0) {
                    // Too many near rows, as a rule because those at the edge are all equal: then they are a group, as far
                    // ones are. Equal rows may also be on both sides of where a bin begins.
                    double nearest = 1e300, farthest = -1e300, nearer = -1e300;
                    const int all = list_those(
                        n_rows, rooms[0], list_in_room, [&](const int row) { return bin_of[row] % BINS <= edge; });
                    for (int i = me; i < all; i += 4 * THREADS) {  // four at a time
                        int row[4];
                        double x[4] = {};
#pragma unroll
                        for (int e = 0; e < 4; e++) row[e] = list_in_room[min(i + e * THREADS, all - 1)];
                        for (int k = 0; k < size; k++) {
                            const double* column = by_column + (Long)sights[k].column * n_rows;
                            const double entry[4] = {column[row[0]], column[row[1]], column[row[2]], column[row[3]]};
#pragma unroll
                            for (int e = 0; e < 4; e++) x[e] += sights[k].dissimilarity(entry[e]);
                        }
#pragma unroll
                        for (int e = 0; e < 4; e++)
                            if (bin_of[row[e]] % BINS < edge)
                                nearer = max(nearer, x[e]);
                            else
                                nearest = min(nearest, x[e]), farthest = max(farthest, x[e]);
                    }
                    nearest = -largest(-nearest, rooms[1]), farthest = largest(farthest, rooms[2]), nearer = largest(nearer, rooms[3]);
                    if (farthest - nearest <= slack && nearest - nearer > slack) crowd = edge;
                }
                if (crowd >= 0) {
                    const Group group(edge_start, n_near, ranks[edge_start], ranks[n_near], edge_members, n_neighbors);
                    crowd_worth = group.worth(carry, target, alone, factor);
                    carry = carry + group.tail();
                    __syncthreads();
                    if (me == 0) {
                        const float* parts = (const float*)&crowd_worth;
                        for (int plane = 0; plane < PLANES && edge >= low; plane++)
                            table[plane * WINDOW + edge - low] = __float_as_int(parts[plane]);
                        first_far = edge, n_near = edge_start;
                    }
                    __syncthreads();
                }
                const int far = first_far, least = max(low, far);
                rows = n_near > LISTED ? list_in_room : list_on_chip;
                for (int i = 8 * me; i < n_rows; i += 8 * THREADS) {  // far rows get their value, near ones are listed
                    const Eight eight = load(eights + i / 8);
                    float worth[8] = {};
                    float4* four = (float4*)(line + i);
                    const float4 a = four[0], b = four[1];  // asked for before they are needed
#pragma unroll
                    for (int e = 0; e < 8; e++) {
                        const int bin = eight.bin(e), row = i + e;
                        if (row >= n_rows) continue;
                        if (bin < far) rows[atomicAdd(&n_first, 1)] = row;
                        const unsigned* at = table + bin - low;
#if REGRESSION
                        if (bin < least || bin >= low + WINDOW) continue;
                        const float z = (float)targets[row];
                        worth[e] = __int_as_float(at[0]) + z * (__int_as_float(at[WINDOW]) + z * __int_as_float(at[2 * WINDOW]));
#else
                        const bool match = (unsigned)(row - run) < (unsigned)run_size;
                        if (bin >= least && bin < low + WINDOW)
                            worth[e] = __int_as_float(at[match ? WINDOW : 0]);
                        else if (bin == crowd)  // noughts, whose bin is not on the chip
                            worth[e] = match ? crowd_worth.match : crowd_worth.other;
#endif
                    }
                    four[0] = {a.x + worth[0], a.y + worth[1], a.z + worth[2], a.w + worth[3]};
                    four[1] = {b.x + worth[4], b.y + worth[5], b.z + worth[6], b.w + worth[7]};
                }
                __syncthreads();
            }
#endif
            __syncthreads();
            // Near rows: where the bins were, which are done with.
            const int found = n_near;
            const bool here = found <= LISTED;
            const Near near(here ? on_chip : in_room, here ? LISTED : n_rows);
            double most = 0.0;
            for (int first = 0; first < found; first += THREADS / 2) {  // two threads add up a distance
                const int i = first + me / 2;
                const double* entries = train + (Long)rows[min(i, found - 1)] * n_columns;
                double sum = 0.0;
#pragma unroll 4
                for (int k = me % 2; k < size; k += 2) sum += sights[k].dissimilarity(entries[sights[k].column]);
                sum += __shfl_sync(~0u, sum, me % 32 ^ 1);
                if (i < found && me % 2 == 0) near.distances[i] = sum;
                most = max(most, sum);
            }
            int n_sorted = found;
            if (!here) {
                // There are as many as that because many are equal, as a rule, and farthest: these go last, unsorted.
                most = largest(most, rooms[0]);
                double first = -most;
                for (int i = me; i < found; i += THREADS)
                    if (near.distances[i] >= most - slack) first = max(first, -near.distances[i]);
                first = -largest(first, rooms[1]);
                if (me == 0) n_first = 0, n_last = found;
                __syncthreads();
                double* distances = (double*)near.worths;
                for (int i = me; i < found; i += THREADS) {
                    const bool last = near.distances[i] >= most - slack;
                    const int place = last ? atomicAdd(&n_last, -1) - 1 : atomicAdd(&n_first, 1);
                    distances[place] = last ? first : near.distances[i];
                    near.groups[place] = rows[i];
                }
                __syncthreads();
                n_sorted = n_first;
                for (int i = me; i < found; i += THREADS) {
                    near.distances[i] = distances[i];
                    rows[i] = near.groups[i];
                }
            }
            __syncthreads();
            if (here)  // the compiler sees that this is memory on the chip
                sort(Near(on_chip, LISTED).distances, list_on_chip, n_sorted);
            else
                sort(near.distances, rows, n_sorted);
            int n_groups = 0;
            Sums sum = {};
            for (int i = me; i - me < found; i += THREADS) {  // groups of equals
                const bool head = i < found && (i == 0 || near.distances[i] - near.distances[i - 1] > slack);
                Sums before, all;
                int heads;
                const int group = n_groups + scan((int)head, rooms[0], heads) + head - 1;
#if REGRESSION
                const double z = i < found ? targets[rows[i]] : 0.0;
                const Sums own = {whole_of(z * quantum), whole_of(z * z * quantum)};
                before = {scan(own.total, rooms[1], all.total) + sum.total, scan(own.squares, rooms[2], all.squares) + sum.squares};
                sum = {sum.total + all.total, sum.squares + all.squares};
#else
                const Sums own = i < found && (unsigned)(rows[i] - run) < (unsigned)run_size;
                before = sum + scan(own, rooms[1], all);
                sum += all;
#endif
                if (i < found) near.groups[i] = group;
                if (head) near.starts[group] = i, near.before[group] = before;
                n_groups += heads;
            }
            if (me == 0) near.starts[n_groups] = found, near.before[n_groups] = sum;
            __syncthreads();
            for (int i = n_groups - 1 - me; i + me >= 0; i -= THREADS) {  // from the far end on
                Members members = {};
                int a = 0, b = 1;
                if (i >= 0) {
                    const Sums start = near.before[i], stop = near.before[i + 1];
                    a = near.starts[i], b = near.starts[i + 1];
#if REGRESSION
                    members = {(double)(stop.total - start.total) / quantum, (double)(stop.squares - start.squares) / quantum,
                               (double)start.total / quantum};
#else
                    members = {stop - start};
#endif
                }
                const Group group(a, b, ranks[a], ranks[b], members, n_neighbors);
                const Tail own = i >= 0 ? group.tail() : Tail{};
                Tail all;
                const Tail tail = carry + scan(own, rooms, all);
                if (i >= 0) near.worths[i] = group.worth(tail, target, alone, factor);
                carry = carry + all;
                __syncthreads();
            }
            for (int i = me; i < found; i += THREADS) {
                const Worth worth = near.worths[near.groups[i]];
#if REGRESSION
                const Real z = (Real)targets[rows[i]];
                line[rows[i]] += worth.constant + z * (worth.linear + z * worth.square);
#else
                line[rows[i]] += (unsigned)(rows[i] - run) < (unsigned)run_size ? worth.match : worth.other;
#endif
            }
            __syncthreads();
        }
    }
}

// Row values and utilities of the K-nearest-neighbour game by exact rank: distances of 64 bits, sorted.
//
// A pair is a validation row and a column coalition. Sums are whole numbers of 64 bits, so their bits do not depend on
// the order of the blocks.
//
// Set when compiling: THREADS (a power of two), REGRESSION.

#define ABSENT (-9223372036854775807LL - 1)  // a missing entry

struct Measures {
    const bool* nominal;
    const long long *weight, *missing;
};

__device__ __forceinline__ long long distance_of(
    const long long* train, const long long* valid, const Measures measures, const bool* coalition, const int n_rows,
    const int n_columns, const int row
) {
    long long sum = 0;
    for (int j = 0; j < n_columns; j++) {
        if (!coalition[j]) continue;
        const long long entry = train[(long long)j * n_rows + row], other = valid[j];
        const long long apart = entry - other;
        if (entry == ABSENT || other == ABSENT)
            sum += measures.missing[j];
        else if (measures.nominal[j])
            sum += apart != 0 ? measures.weight[j] : 0;
        else
            sum += measures.weight[j] * apart * apart;
    }
    return sum;
}

// Distances of all rows, a line per pair.
extern "C" __global__ void find_distances(
    const long long* train, const long long* valid, const bool* nominal, const long long* weight,
    const long long* missing, const int n_rows, const int n_columns, const int* pair_valid, const int* pair_coalition,
    const bool* coalitions, long long* keys
) {
    const int pair = blockIdx.y;
    const Measures measures = {nominal, weight, missing};
    const long long* entries = valid + (long long)pair_valid[pair] * n_columns;
    const bool* coalition = coalitions + (long long)pair_coalition[pair] * n_columns;
    for (int row = blockIdx.x * THREADS + threadIdx.x; row < n_rows; row += gridDim.x * THREADS)
        keys[(long long)pair * n_rows + row] =
            distance_of(train, entries, measures, coalition, n_rows, n_columns, row);
}

// The same for tables of few rows, sorted by distance, then by row; a block per pair. `room` is a power of two that
// holds all rows.
extern "C" __global__ void __launch_bounds__(THREADS) sort_few(
    const long long* train, const long long* valid, const bool* nominal, const long long* weight,
    const long long* missing, const int n_rows, const int n_columns, const int* pair_valid, const int* pair_coalition,
    const bool* coalitions, const int room, long long* keys, int* rows
) {
    extern __shared__ __align__(16) unsigned char memory[];
    long long* key = (long long*)memory;
    int* number = (int*)(key + room);
    const int pair = blockIdx.x;
    const Measures measures = {nominal, weight, missing};
    const long long* entries = valid + (long long)pair_valid[pair] * n_columns;
    const bool* coalition = coalitions + (long long)pair_coalition[pair] * n_columns;
    for (int row = threadIdx.x; row < room; row += THREADS) {
        key[row] = row < n_rows ? distance_of(train, entries, measures, coalition, n_rows, n_columns, row)
                                : 9223372036854775807LL;
        number[row] = row;
    }
    __syncthreads();
    for (int size = 2; size <= room; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            for (int i = threadIdx.x; i < room / 2; i += THREADS) {
                const int one = 2 * i - (i & (step - 1)), two = one + step;
                const bool upward = (one & size) == 0;
                const bool swaps = key[one] > key[two] || (key[one] == key[two] && number[one] > number[two]);
                if (swaps == upward) {
                    const long long spare = key[one];
                    key[one] = key[two];
                    key[two] = spare;
                    const int other = number[one];
                    number[one] = number[two];
                    number[two] = other;
                }
            }
            __syncthreads();
        }
    }
    for (int i = threadIdx.x; i < n_rows; i += THREADS) {
        keys[(long long)pair * n_rows + i] = key[i];
        rows[(long long)pair * n_rows + i] = number[i];
    }
}

// Inclusive sums over the threads of the block, from the first thread or from the last, always in the same order.
template <typename T, bool FROM_LAST>
__device__ T running_sum(const T value, T* buffer) {
    const int thread = threadIdx.x;
    buffer[thread] = value;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        T other = T(0);
        if (FROM_LAST ? thread + step < THREADS : thread >= step) other = buffer[FROM_LAST ? thread + step : thread - step];
        __syncthreads();
        buffer[thread] += other;
        __syncthreads();
    }
    const T sum = buffer[thread];
    __syncthreads();
    return sum;
}

// Where the rows at a distance begin in the ranking, or (with AFTER) where they end.
template <bool AFTER>
__device__ int boundary(const long long* keys, const int n_rows, const long long key) {
    int low = 0, high = n_rows;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (AFTER ? keys[middle] <= key : keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Adds the values of all rows; a block per pair. before: scratch, n_rows + 1 numbers per pair (twice that in regression).
extern "C" __global__ void __launch_bounds__(THREADS) add_ranked(
    const long long* all_keys, const int* all_rows, const int n_rows, const int* pair_valid,
    const int* pair_coalition, const int2* runs, const double* z, const double* targets, const double* single,
    const double* single_beyond, const double* pair_weight, const double* pair_beyond,
    const double* ranked_pair_beyond, const double* inverse, const double alone, const int n_neighbors,
    const double fixed, double* all_before, long long* sums
) {
    __shared__ double buffer[THREADS];
    __shared__ double carried[3];
    const int pair = blockIdx.x, thread = threadIdx.x, valid = pair_valid[pair];
    const long long* keys = all_keys + (long long)pair * n_rows;
    const int* rows = all_rows + (long long)pair * n_rows;
    unsigned long long* to = (unsigned long long*)sums + (long long)pair_coalition[pair] * n_rows;
    const int chunks = (n_rows + THREADS - 1) / THREADS;
#if REGRESSION
    double* before = all_before + (long long)pair * 2 * (n_rows + 1);
    double* squares_before = before + n_rows + 1;
    const double target = targets[valid], k = n_neighbors;
#else
    double* before = all_before + (long long)pair * (n_rows + 1);
    const int2 run = runs[valid];
#endif
    if (thread == 0) {
        before[0] = 0.0;
#if REGRESSION
        squares_before[0] = 0.0;
#endif
        carried[0] = carried[1] = carried[2] = 0.0;
    }
    __syncthreads();
    // What the rows up to each rank have: matches, or targets and their squares.
    for (int chunk = 0; chunk < chunks; chunk++) {
        const int rank = chunk * THREADS + thread;
        const int row = rank < n_rows ? rows[rank] : -1;
#if REGRESSION
        const double member = row >= 0 ? z[row] : 0.0;
        const double squares = carried[1] + running_sum<double, false>(member * member, buffer);
        if (row >= 0) squares_before[rank + 1] = squares;
#else
        const double member = row >= run.x && row < run.y ? 1.0 : 0.0;
#endif
        const double sum = carried[0] + running_sum<double, false>(member, buffer);
        if (row >= 0) before[rank + 1] = sum;
        __syncthreads();
        if (thread == THREADS - 1) {
            carried[0] = sum;
#if REGRESSION
            carried[1] = squares;
#endif
        }
        __syncthreads();
    }
    if (thread < 3) carried[thread] = 0.0;
    __syncthreads();
    // From the far end, with what all farther tie groups take: a group's part is booked at its first rank.
    for (int chunk = chunks - 1; chunk >= 0; chunk--) {
        const int rank = chunk * THREADS + thread;
        const bool there = rank < n_rows;
        const int start = there ? boundary<false>(keys, n_rows, keys[rank]) : 0;
        const int end = there ? boundary<true>(keys, n_rows, keys[rank]) : 1;
        const int size = end - start;
        const double share = inverse[size], share_pair = share * inverse[size - 1];
        const double last = single[end], weight = single_beyond[start] - single_beyond[end];
        const double drop = (weight - size * last) * share_pair, step = single[start] - last;
        const double total = there ? before[end] - before[start] : 0.0;
        const bool books = there && rank == start;
        double value;
#if REGRESSION
        const double nearer = there ? before[start] : 0.0;
        const double squares = there ? squares_before[end] - squares_before[start] : 0.0;
        const double share_triple = share_pair * inverse[size > 2 ? size - 2 : 0];
        const double last_pair = pair_weight[end], weight_pair = pair_beyond[start] - pair_beyond[end];
        const double placed = ranked_pair_beyond[start] - ranked_pair_beyond[end] - (start + 1.0) * weight_pair;
        const double drop_pair = (weight_pair - size * last_pair) * share_pair, mixed = placed * share_pair;
        const double drop_triple = (2.0 * placed - size * (size - 1.0) * last_pair) * share_triple;
        const double products = total * total - squares, mean = total * share;
        const double step_pair = pair_weight[start] - last_pair;
        const double own[3] = {
            books ? mean * step : 0.0, books ? mean * (weight_pair + step_pair) : 0.0,
            books ? k * squares * share * step + 2.0 * (mean * nearer * step_pair + products * drop_pair) : 0.0};
        double tails[3], reached[3];
        for (int part = 0; part < 3; part++) {
            reached[part] = running_sum<double, true>(own[part], buffer);
            tails[part] = carried[part] + (reached[part] - own[part]);
        }
        const double linear_alpha = -total * drop - tails[0], linear_beta = weight * share + drop;
        const double alpha =
            -k * squares * drop - 2.0 * (total * nearer * drop_pair + drop_triple * products) - tails[2];
        const double beta = 2.0 * nearer * (weight_pair * share + drop_pair) + 4.0 * total * (mixed + drop_triple) +
                            2.0 * tails[1];
        const double gamma = k * (weight * share + drop) - 4.0 * (mixed + drop_triple);
        const double scale = 1.0 / (k * k), member = there ? z[rows[rank]] : 0.0;
        value = 2.0 * target * linear_alpha - alpha * scale - alone * target * target +
                member * (2.0 * target * linear_beta - beta * scale - member * gamma * scale);
#else
        const double own[1] = {books ? total * share * step : 0.0};
        double reached[1] = {running_sum<double, true>(own[0], buffer)};
        const double tail = carried[0] + (reached[0] - own[0]);
        const int row = there ? rows[rank] : -1;
        const bool match = row >= run.x && row < run.y;
        value = match ? weight * share - (total - 1.0) * drop - tail : -tail - total * drop;
#endif
        if (there) atomicAdd(to + rows[rank], (unsigned long long)__double2ll_rn(value * fixed));
        __syncthreads();
        if (thread == 0)
            for (int part = 0; part < (REGRESSION ? 3 : 1); part++) carried[part] += reached[part];
        __syncthreads();
    }
}

// Adds the utilities of row coalitions: the mean over tie orders of what their K nearest rows are worth. A block per
// pair, a thread per row coalition. masks: a line of groups per row coalition.
extern "C" __global__ void __launch_bounds__(THREADS) add_utilities(
    const long long* all_keys, const int* all_rows, const int n_rows, const int* pair_valid,
    const int* pair_coalition, const double* y, const double* targets, const int* groups, const bool* masks,
    const int n_groups, const int n_masks, const int n_neighbors, const int n_coalitions, const double fixed,
    long long* sums
) {
    const int pair = blockIdx.x;
    const long long* keys = all_keys + (long long)pair * n_rows;
    const int* rows = all_rows + (long long)pair * n_rows;
    const double target = targets[pair_valid[pair]], k = n_neighbors;
    for (int a = threadIdx.x; a < n_masks; a += THREADS) {
        const bool* mask = masks + (long long)a * n_groups;
        double total = 0.0, variance = 0.0;
        int count = 0, rank = 0;
        while (rank < n_rows && count < n_neighbors) {
            const long long key = keys[rank];
            int size = 0;
            double part = 0.0, squares = 0.0;
            while (rank < n_rows && keys[rank] == key) {
                const int row = rows[rank];
                if (mask[groups[row]]) {
#if REGRESSION
                    const double member = y[row];
#else
                    const double member = y[row] == target ? 1.0 : 0.0;
#endif
                    size++;
                    part += member;
                    squares += member * member;
                }
                rank++;
            }
            if (count + size > n_neighbors) {
                const double taken = n_neighbors - count, mean = part / size;
                const double spread = fmax(squares / size - mean * mean, 0.0);
                total += taken * mean;
                variance = taken * (size - taken) / (size - 1) * spread;
                break;
            }
            count += size;
            total += part;
        }
#if REGRESSION
        const double off = total / k - target;
        const double utility = -(off * off + variance / (k * k));
#else
        const double utility = total / k;
#endif
        atomicAdd((unsigned long long*)sums + (long long)a * n_coalitions + pair_coalition[pair],
                  (unsigned long long)__double2ll_rn(utility * fixed));
    }
}

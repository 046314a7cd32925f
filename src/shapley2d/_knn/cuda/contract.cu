// Weighted sums of row values, where these lie: total[line, row] += sum over the group of weight[line, g] * value[g, row].
//
// One thread has one row, and adds in the order of the group: the same bits from run to run.
//
// GROUP  coalitions whose row values come at a time

template <typename Number>
__device__ void add_row(
    const double* weights, int lines, const Number* values, int n, double unit, double* total
) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) {
        return;
    }
    double own[GROUP];
#pragma unroll
    for (int g = 0; g < GROUP; ++g) {
        own[g] = unit * static_cast<double>(values[static_cast<long long>(g) * n + row]);
    }
    for (int line = 0; line < lines; ++line) {
        double sum = 0.0;
#pragma unroll
        for (int g = 0; g < GROUP; ++g) {
            sum += weights[line * GROUP + g] * own[g];
        }
        total[static_cast<long long>(line) * n + row] += sum;
    }
}

extern "C" __global__ void add_weighted(
    const double* weights, int lines, const double* values, int n, double unit, double* total
) {
    add_row<double>(weights, lines, values, n, unit, total);
}

extern "C" __global__ void add_weighted_counts(
    const double* weights, int lines, const long long* values, int n, double unit, double* total
) {
    add_row<long long>(weights, lines, values, n, unit, total);
}

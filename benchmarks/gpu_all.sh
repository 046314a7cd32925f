#!/bin/sh
# Everything that needs a GPU, in one go and without a network: the tests that are marked gpu, then the benchmark.
# Run from the repository: benchmarks/gpu_all.sh [parts of benchmarks/gpu.py]
# Needs CuPy and what shapley2d depends on; SHAPLEY2D_DATA names the folder with census_train.csv.gz.
set -eu
cd "$(dirname "$0")/.."
export PYTHONUNBUFFERED=1 PYTHONPATH="src${PYTHONPATH:+:$PYTHONPATH}"
python="${PYTHON:-python3}"
nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
"$python" -m pytest -q -rs -p no:cacheprovider -m gpu tests/knn/cuda
"$python" benchmarks/gpu.py "$@"

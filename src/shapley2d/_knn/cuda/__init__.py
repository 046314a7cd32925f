"""Row values on a GPU: the kernels in CUDA, what launches them, and a numpy twin of them."""

"""Row values on a GPU: CUDA sources and what launches them; :mod:`.binned` says which is used."""

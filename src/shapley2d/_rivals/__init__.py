"""What 2D-Shapley is compared with: leave-one-out, flat 1D values, 2D-OOB, random numbers."""

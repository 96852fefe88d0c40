"""What holds for every policy, every bias and every engine: one suite for all of them."""

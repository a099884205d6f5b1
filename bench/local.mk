# Benchmarks; built with the tree, run by make bench-*, never by check.

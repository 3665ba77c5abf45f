"""Items of benchmarks in training texts."""

"""The vocabulary: values and arithmetic, no input or output, no Qt."""

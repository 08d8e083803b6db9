"""llama.cpp's own word on 1,683 loads, and how close the planner comes: python -m tests.truth."""

"""Find the programs that run language models, and know how to talk to each."""

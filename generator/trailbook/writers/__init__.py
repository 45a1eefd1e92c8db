"""One file per output, each a pure function of a redacted `Chat` and its options."""

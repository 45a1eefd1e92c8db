"""What comes out before anything is derived, and the one pass that takes it out."""

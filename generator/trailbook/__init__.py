"""trailbook: how did the agent get there? Reports, notes and trajectories from the logs that agents leave."""

__version__ = "0.1.0"

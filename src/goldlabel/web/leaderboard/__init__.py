"""The leaderboard's routes and pages, live and as a static site; wiring only."""

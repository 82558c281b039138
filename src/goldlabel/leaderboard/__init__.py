"""The leaderboard: predictions for gold labels that never leave it, checked, scored, ranked and kept in a trail."""

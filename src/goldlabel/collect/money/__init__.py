"""Money: amounts, the ledger and its recount, payouts, budgets and forecasts."""

"""Which proxy runs to buy: plans for a budget, what to run next, and the replay that judges the strategies."""

WEIGHTS = {"web": 3, "code": 2}
PROBABILITIES = {name: weight / 5 for name, weight in WEIGHTS.items()}

"""Quality and speed of this package and its peers, by one evaluator."""

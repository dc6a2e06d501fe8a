"""Models that write keyphrases. Needs torch; knows nothing of spaCy."""

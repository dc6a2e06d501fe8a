"""Keyphrases as first-class metadata in Haystack pipelines."""

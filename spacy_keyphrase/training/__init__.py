"""Targets, losses and what else training needs."""

"""Language models that score phrases. Needs torch: imported only where one is used."""

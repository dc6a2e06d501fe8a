"""How a language model is called."""

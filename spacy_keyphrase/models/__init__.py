"""The trainable networks, one family a file."""

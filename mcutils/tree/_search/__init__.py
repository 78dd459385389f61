"""The search for the best question at a node: a file for each family of questions."""

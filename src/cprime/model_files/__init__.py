"""How does a model become a file, and come back?"""

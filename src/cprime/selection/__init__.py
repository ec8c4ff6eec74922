"""How many clusters, of which shape?"""

"""How is something kept in a file that survives power cuts and trusts nobody?"""

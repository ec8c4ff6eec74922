"""How do seeds become the best of several fits?"""

"""How does a fit survive its process?"""

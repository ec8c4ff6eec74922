"""How fast is cprime, how does it grow, and what does it need, beside its peers?"""

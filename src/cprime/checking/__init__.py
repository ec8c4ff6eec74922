"""What did a user hand in, and is it right?"""

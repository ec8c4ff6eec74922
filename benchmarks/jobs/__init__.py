"""What users wait for: the jobs of the experiment "default", by name.

Every module has `JOBS`, from names to functions of the settings. They return lines of
results, and a sentence for each that could not be measured.
"""

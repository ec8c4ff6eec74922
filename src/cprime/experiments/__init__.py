"""The paper's experiments: every table and figure, beside the published numbers.

Each module in `EXPERIMENTS` answers for one table or figure: `settings(quick)` is what
has to be run for it, `show(records, quick)` what that comes to.
"""

# By the names people type, in the order of the page.
EXPERIMENTS = {
    "table-s1": "table_s1",
    "figure-1": "figure_1",
    "figure-1-protein": "figure_1_protein",
    "figure-s1": "figure_s1",
    "figure-s2": "figure_s2",
    "figure-s3": "figure_s3",
    "figure-s4": "figure_s4",
    "claims": "claims",
}

"""What comes out: results.json, the pages in HTML and PDF, forms of others, signatures.

Begin with `write`; `contents` says what stands where, `answer` makes the first page. Imports assessment.
"""

"""Measures of localisation: several lesions a case, marks with ratings, cases as the unit."""

"""Values of cases: agreement with a reference, limits between readers, paired preferences.

`measurement` begins with arrays of differences; bias and limits of agreement are in
`trustreport.measures.repeatability`.
"""

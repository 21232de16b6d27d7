# Make icc.csv: intraclass correlations with their limits, by psych 2.2.9 in R 4.2.2 (Debian r-cran-psych).
#
#     Rscript tests/reference/icc.R > tests/reference/icc.csv
#
# `targets` is table 2 of Shrout and Fleiss (1979), 6 targets by 4 judges; `anxiety` the data of that name in the R
# package irr (20 patients by 3 raters, 1 to 6), for which icc(anxiety, "twoway", "agreement") of irr prints
# 0.198 (-0.039 to 0.494); `drawn` 30 cases by 5 raters made here.
suppressMessages(library(psych))
tables <- list(
  targets = matrix(c(9, 2, 5, 8, 6, 1, 3, 2, 8, 4, 6, 8, 7, 1, 2, 6, 10, 5, 6, 9, 6, 2, 4, 7), ncol = 4, byrow = TRUE),
  anxiety = cbind(
    c(3, 3, 3, 4, 5, 5, 2, 3, 5, 2, 2, 6, 1, 5, 2, 2, 1, 2, 4, 3),
    c(3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4),
    c(2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2)
  ),
  drawn = outer(1:30, 1:5, function(i, j) (i * 7) %% 11 + (i * j) %% 3 + j %% 2)
)
forms <- c(ICC1 = "1", ICC2 = "A,1", ICC3 = "C,1")
cat("table,form,value,low,high\n")
for (name in names(tables)) {
  found <- suppressWarnings(ICC(tables[[name]], lmer = FALSE, missing = FALSE))$results
  for (type in names(forms)) {
    row <- found[found$type == type, ]
    cat(sprintf("%s,\"%s\",%.10f,%.10f,%.10f\n", name, forms[[type]], row$ICC, row[["lower bound"]], row[["upper bound"]]))
  }
}

# Make coverage_accuracy.csv: accuracy on the most certain cases, counted in base R, with prop.test's score interval.
#
#     Rscript tests/reference/coverage_accuracy.R > tests/reference/coverage_accuracy.csv
#
# 90 cases, every 15th without a result, made here without randomness; scores have two decimals, so that many tie.
i <- 0:89
score <- ((37 * i) %% 83) / 100
truth <- ((11 * i) %% 17) / 20 + 0.15 * score > 0.5
score[i %% 15 == 7] <- NA
certainty <- round(abs(score - 0.4), 12)
right <- (score >= 0.4) == truth
cat("coverage,decided,right,value,low,high\n")
for (coverage in c(0.1, 0.5, 0.7, 0.9)) {
  wanted <- ceiling(coverage * length(i) - 1e-9)
  decided <- which(certainty >= sort(certainty, decreasing = TRUE)[wanted])
  k <- sum(right[decided])
  ends <- suppressWarnings(prop.test(k, length(decided), correct = FALSE))$conf.int
  cat(sprintf("%g,%d,%d,%.12f,%.12f,%.12f\n", coverage, length(decided), k, k / length(decided), ends[1], ends[2]))
}
cat(sprintf("# %s; written by tests/reference/coverage_accuracy.R\n", R.version.string))

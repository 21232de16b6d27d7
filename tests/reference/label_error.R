# Make label_error.csv: true prevalence from labels of known error (Rogan and Gladen), by epiR.
#
#     apt-get install r-base-core r-cran-epir
#     Rscript tests/reference/label_error.R > tests/reference/label_error.csv
#
# The samples are those of the examples of epi.prev: brucellosis in cows, Helicobacter pylori in children (Moujaber et
# al. 2008), and three dairy herds. A value below 0 is as epiR has it; limits of epiR are those of the apparent
# prevalence, corrected, with known error rates.
suppressMessages(library(epiR))
cat("positive,n,sensitivity,specificity,prevalence,low,high\n")
cat(sprintf("# %s; epiR %s\n", R.version.string, packageVersion("epiR")))
rows <- rbind(c(23, 150, 0.96, 0.89), c(6, 151, 0.964, 0.927), c(8, 210, 0.6, 0.9), c(12, 189, 0.65, 0.95),
              c(7, 124, 0.7, 0.99), c(240, 1000, 0.95, 0.9))
for (i in seq_len(nrow(rows))) {
  x <- rows[i, ]
  tp <- suppressWarnings(epi.prev(x[1], x[2], x[3], x[4], method = "wilson", units = 1)$tp)
  cat(c(x, format(unlist(tp), digits = 15)), sep = ","); cat("\n")
}

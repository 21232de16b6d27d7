# Writes loess_reference.csv: R's loess (stats, R 4.2.2; degree 2, span .75, interpolated) for six sets of
# scores, four of them with ties.  Rscript loess_reference.R
set.seed(20)
found <- NULL
sizes <- c(12, 60, 200, 97, 400, 150)
digits <- c(9, 1, 2, 1, 9, 3)
for (i in seq_along(sizes)) {
  x <- sort(round(rbeta(sizes[i], .6, 1), digits[i]))
  y <- as.integer(runif(sizes[i]) < x^1.4)
  found <- rbind(found, data.frame(set = i, x = x, y = y, fitted = fitted(loess(y ~ x))))
}
found$x <- sprintf("%.17g", found$x)
found$fitted <- sprintf("%.15g", found$fitted)
write.csv(found, "loess_reference.csv", row.names = FALSE, quote = FALSE)

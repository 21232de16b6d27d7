# Values of tests/dimensions/test_versions.py of examples/planned-change/scores.csv. Run in this folder:
#     Rscript versions.R > versions.csv
# Tango's and Miettinen and Nurminen's limits from their definitions: where the score statistic, its variance at the
# maximum of the likelihood under the difference found numerically, is the quantile. Areas by pROC.
suppressMessages(library(pROC))
every <- read.csv("../../examples/planned-change/scores.csv", colClasses = c(candidate = "character"))
z2 <- qchisq(0.95, 1)
limits <- function(statistic, value) {
  end <- function(from, to) if (statistic(to) < z2) to else uniroot(function(d) statistic(d) - z2, sort(c(from, to)), tol = 1e-12)$root
  c(end(value, -1 + 1e-9), end(value, 1 - 1e-9))
}
tango <- function(b, c, n) {
  statistic <- function(d) {
    # probabilities of the two discordant cells q + d and q, everything else 1 - 2q - d
    loglik <- function(q) b * log(q + d) + c * log(q) + (n - b - c) * log(1 - 2 * q - d)
    q <- optimize(loglik, c(max(0, -d) + 1e-14, (1 - d) / 2 - 1e-14), maximum = TRUE, tol = 1e-14)$maximum
    (b - c - n * d)^2 / (n * (2 * q + d - d^2))
  }
  limits(statistic, (b - c) / n)
}
miettinen <- function(x, n, y, m) {
  statistic <- function(d) {
    loglik <- function(p) dbinom(x, n, p + d, log = TRUE) + dbinom(y, m, p, log = TRUE)
    p <- optimize(loglik, c(max(0, -d), min(1, 1 - d)), maximum = TRUE, tol = 1e-14)$maximum
    v <- ((p + d) * (1 - p - d) / n + p * (1 - p) / m) * (n + m) / (n + m - 1)
    (x / n - y / m - d)^2 / v
  }
  limits(statistic, x / n - y / m)
}
line <- function(dataset, pair, what, how, x, low, high)
  cat(sprintf("%s,%s,%s,%s,%.10g,%.10g,%.10g\n", dataset, pair, what, how, x, low, high))
area <- function(a, b, paired) {
  test <- roc.test(a, b, method = "delong", paired = paired)
  gap <- as.numeric(auc(a) - auc(b))
  if (paired) { low <- test$conf.int[1]; high <- test$conf.int[2] }
  else { half <- qt(0.975, test$parameter) * abs(gap / test$statistic); low <- gap - half; high <- gap + half }
  c(gap, low, high)
}
of <- function(d) roc(d$truth, d$score, quiet = TRUE, direction = "<")
cat("dataset,versions,measure,analysis,value,low,high\n")
for (dataset in unique(every$dataset)) for (pair in list(c("1.1", "1.0"), c("2.0", "1.1"))) {
  now <- every[every$dataset == dataset & every$candidate == pair[1], ]
  old <- every[every$dataset == dataset & every$candidate == pair[2], ]
  stopifnot(now$case == old$case)
  name <- paste(pair, collapse = " ")
  for (what in c("sensitivity", "specificity")) {
    some <- now$truth == (what == "sensitivity")
    right <- cbind(now$score >= 0.5, old$score >= 0.5)[some, ] == now$truth[some]
    b <- sum(right[, 1] & !right[, 2]); c <- sum(!right[, 1] & right[, 2]); n <- nrow(right)
    at <- tango(b, c, n)
    line(dataset, name, what, "paired", (b - c) / n, at[1], at[2])
    # the newer version on the first 110 cases, the older on the others
    first <- seq_len(nrow(now)) <= 110
    one <- (now$score >= 0.5) == now$truth; two <- (old$score >= 0.5) == old$truth
    here <- some & first; there <- some & !first
    at <- miettinen(sum(one[here]), sum(here), sum(two[there]), sum(there))
    line(dataset, name, what, "two_sample", mean(one[here]) - mean(two[there]), at[1], at[2])
  }
  at <- area(of(now), of(old), TRUE)
  line(dataset, name, "auc", "paired", at[1], at[2], at[3])
  at <- area(of(now[1:110, ]), of(old[111:220, ]), FALSE)
  line(dataset, name, "auc", "two_sample", at[1], at[2], at[3])
}

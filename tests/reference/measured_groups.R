# Make measured_groups.csv: repeats of a case, two groups of cases, and ranks of candidates, in base R.
#
#     Rscript tests/reference/measured_groups.R > tests/reference/measured_groups.csv
#
# `rv` and `ic` are cardiac ejection by radionuclide ventriculography and impedance cardiography, several
# measurements of 12 subjects each, printed in Bland and Altman (2007), J. Biopharm. Stat. 17, 571-582, table 1,
# and used in (1999), Stat. Methods Med. Res. 8, 135-160: within-subject variances 0.1072 and 0.1379. The SD is that
# of aov. The groups are the differences of two peak flow meters of Bland and Altman (1986), the first 7 subjects
# and the others. The candidates' scores are made here without randomness; mean ranks are those of friedman.test's
# ranks, the share of resamples is over all 4^4 of four cases.
subject <- factor(c(rep(1, 5), rep(2, 4), rep(3, 6), rep(4, 5), rep(5, 6), rep(6, 4), rep(7, 4), rep(8, 6), rep(9, 3),
                    rep(10, 5), rep(11, 6), rep(12, 6)))
rv <- c(7.83, 7.42, 7.89, 7.12, 7.88, 6.16, 7.26, 6.71, 6.54, 4.75, 5.24, 4.86, 4.78, 6.05, 5.42, 4.21, 3.61, 3.72,
        3.87, 3.92, 3.13, 2.98, 2.85, 3.17, 3.09, 3.12, 5.92, 6.42, 5.92, 6.27, 7.13, 6.62, 6.58, 6.93, 4.54, 4.81,
        5.11, 5.29, 5.39, 5.57, 4.48, 4.92, 3.97, 4.22, 4.65, 4.74, 4.44, 4.50, 6.78, 6.07, 6.52, 6.42, 6.41, 5.76,
        5.06, 4.72, 4.90, 4.80, 4.90, 5.10)
ic <- c(6.57, 5.62, 6.90, 6.57, 6.35, 4.06, 4.29, 4.26, 4.09, 4.71, 5.50, 5.08, 5.02, 6.01, 5.67, 4.14, 4.20, 4.61,
        4.68, 5.04, 3.03, 2.86, 2.77, 2.46, 2.32, 2.43, 5.90, 5.81, 5.70, 5.76, 5.09, 4.63, 4.61, 5.09, 4.72, 4.61,
        4.36, 4.20, 4.36, 4.20, 3.17, 3.12, 2.96, 4.35, 4.62, 3.16, 3.53, 3.53, 7.20, 6.09, 7.00, 7.10, 7.40, 6.80,
        4.50, 4.20, 3.80, 3.80, 4.20, 4.50)
cat("name,value,low,high,se,df\n")
row <- function(name, value, low = NA, high = NA, se = NA, df = NA) {
  cat(name, paste(format(c(value, low, high, se, df), digits = 13, trim = TRUE), collapse = ","), sep = ",")
  cat("\n")
}

# The SD of aov; degrees of freedom from what each subject adds to the logarithm of it.
repeats <- function(name, x) {
  within <- summary(aov(x ~ subject))[[1]]["Residuals", ]
  variance <- within[["Mean Sq"]]
  squares <- tapply(x, subject, function(v) sum((v - mean(v))^2))
  more <- table(subject) - 1
  g <- nlevels(subject)
  influence <- (squares - more * variance) / (2 * variance * sum(more))
  se <- sqrt(sum(influence^2) * g / (g - 1))
  df <- min(within[["Df"]], max(1, 1 / (2 * (se * qt(0.975, g - 1) / qnorm(0.975))^2)))
  ends <- sqrt(df / qchisq(c(0.975, 0.025), df))
  row(name, sqrt(variance), sqrt(variance) * ends[1], sqrt(variance) * ends[2], df = df)
}
repeats("within_rv", rv)
repeats("within_ic", ic)

of_kurtosis <- function(x) {
  n <- length(x)
  k <- mean((x - mean(x))^4) / mean((x - mean(x))^2)^2
  min(n - 1, 2 * n / (k - (n - 3) / (n - 1)))
}
meters <- c(494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427) -
  c(512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451)
x <- meters[1:7]; y <- meters[8:17]
welch <- t.test(x, y)
v <- c(var(x) / 7, var(y) / 10)
stopifnot(all.equal(welch$stderr, sqrt(sum(v))))
df <- sum(v)^2 / (v[1]^2 / of_kurtosis(x) + v[2]^2 / of_kurtosis(y))
value <- mean(x) - mean(y)
row("groups", value, value - qt(0.975, df) * welch$stderr, value + qt(0.975, df) * welch$stderr, welch$stderr, df)

# Clusters over both groups: 1 and 2 hold cases of either.
cluster <- c(1, 1, 2, 3, 3, 4, 5, 1, 2, 6, 6, 7, 8, 8, 9, 10, 10)
influence <- c((x - mean(x)) / 7, -(y - mean(y)) / 10)
sums <- tapply(influence, cluster, sum)
least <- min(length(unique(cluster[1:7])), length(unique(cluster[8:17])))
se <- sqrt(sum(sums^2) * least / (least - 1))
df <- min(of_kurtosis(sums), least - 1)
row("groups_in_clusters", value, value - qt(0.975, df) * se, value + qt(0.975, df) * se, se, df)

i <- 1:20
scores <- cbind(A = 0.80 + ((i * 7) %% 13) / 100, B = 0.81 + ((i * 5) %% 11) / 90, C = 0.80 + ((i * 3) %% 7) / 60)
scores <- round(scores, 2)
ranks <- t(apply(-scores, 1, rank))
for (name in colnames(scores)) {
  own <- ranks[, name]
  se <- sqrt(mean((own - mean(own))^2) / 20)
  half <- qt(0.975, of_kurtosis(own)) * se
  row(paste0("mean_rank_", name), mean(own), mean(own) - half, mean(own) + half, se, of_kurtosis(own))
}
few <- scores[1:4, ]
all_draws <- as.matrix(expand.grid(1:4, 1:4, 1:4, 1:4))
drawn <- t(apply(all_draws, 1, function(rows) rank(-round(colMeans(few[rows, ]), 12))))
for (k in 1:3) {
  row(paste0("first_", colnames(scores)[k]), mean(drawn[, k] == apply(drawn, 1, min)),
      quantile(drawn[, k], 0.025, type = 1), quantile(drawn[, k], 0.975, type = 1))
}
cat(sprintf("# %s; written by tests/reference/measured_groups.R\n", R.version.string))

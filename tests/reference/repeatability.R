# Make repeatability.csv: two runs on the same cases, in base R and sandwich (Debian r-cran-sandwich).
#
#     Rscript tests/reference/repeatability.R > tests/reference/repeatability.csv
#
# `wright` and `mini` are the two readings of 17 subjects with each of two peak flow meters (l/min), printed in
# Bland and Altman (1986), Lancet 327, 307-310; `videos` are 60 scores in 12 clusters, made here without randomness.
suppressMessages(library(sandwich))
cat("set,quantity,value,low,high\n")
out <- function(set, quantity, value, low, high) {
  cat(sprintf("%s,%s,%.12g,%.12g,%.12g\n", set, quantity, value, low, high))
}
wright <- list(
  c(494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427),
  c(490, 397, 512, 401, 470, 611, 415, 431, 638, 429, 420, 633, 275, 492, 165, 372, 421)
)
mini <- list(
  c(512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451),
  c(525, 415, 508, 444, 500, 625, 460, 390, 642, 432, 420, 605, 227, 467, 268, 370, 443)
)
i <- 0:59
videos <- list(((i * 37) %% 60) / 60, ((i * 37) %% 60) / 60 + ((i * 7) %% 11 - 5) / 80 + ((i %/% 5) %% 4 - 1) / 50)
cluster <- i %/% 5

# Limits of a standard deviation of n degrees of freedom at most, and of mean -+ 1.96 standard deviations, from
# the standard errors of the mean and of the squares' mean (Shoemaker 2003; Donner and Zou 2012).
of_spread <- function(se_of_log, most, t) {
  df <- min(most, max(1, 1 / (2 * (se_of_log * t / qnorm(0.975))^2)))
  sqrt(df / qchisq(c(0.975, 0.025), df))
}
of_limits <- function(set, d, se_of_mean, se_of_log, most, t) {
  ends <- sd(d) * of_spread(se_of_log, most, t)
  about <- mean(d) + c(-1, 1) * t * se_of_mean
  for (side in c(-1, 1)) {
    limit <- mean(d) + side * 1.96 * sd(d)
    far <- if (side < 0) rev(ends) else ends
    below <- sqrt((mean(d) - about[1])^2 + (1.96 * (sd(d) - far[1]))^2)
    above <- sqrt((mean(d) - about[2])^2 + (1.96 * (sd(d) - far[2]))^2)
    out(set, if (side < 0) "agreement_limit_low" else "agreement_limit_high", limit, limit - below, limit + above)
  }
}

alone <- function(set, pair) {
  d <- pair[[2]] - pair[[1]]
  n <- length(d)
  mean_test <- t.test(pair[[2]], pair[[1]], paired = TRUE)
  out(set, "repeat_bias", mean_test$estimate, mean_test$conf.int[1], mean_test$conf.int[2])
  t <- qt(0.975, n - 1)
  of_mean <- function(x) sd(x) / sqrt(n)
  of_log <- function(square) of_mean(square) / (2 * mean(square))
  of_limits(set, d, of_mean(d), of_log((d - mean(d))^2), n - 1, t)
  long <- data.frame(score = unlist(pair), case = factor(rep(seq_len(n), 2)))
  within <- summary(aov(score ~ case, long))[[1]]["Residuals", ]
  sd_within <- sqrt(within[["Mean Sq"]])
  ends <- of_spread(of_log(d^2), within[["Df"]], t)
  out(set, "within_case_sd", sd_within, sd_within * ends[1], sd_within * ends[2])
  times <- 1.96 * sqrt(2)
  out(set, "repeatability_coefficient", times * sd_within, times * sd_within * ends[1], times * sd_within * ends[2])
}
alone("wright", wright)
alone("mini", mini)

# With clusters: the sandwich of sandwich, and the delta method.
d <- videos[[2]] - videos[[1]]
groups <- length(unique(cluster))
t <- qt(0.975, groups - 1)
of_mean <- function(x) sqrt(vcovCL(lm(x ~ 1), cluster = cluster, type = "HC0", cadjust = TRUE)[1, 1])
out("videos", "repeat_bias", mean(d), mean(d) - t * of_mean(d), mean(d) + t * of_mean(d))
of_log <- function(square) of_mean(square) / (2 * mean(square))
of_limits("videos", d, of_mean(d), of_log((d - mean(d))^2), length(d) - 1, t)
sd_within <- sqrt(mean(d^2) / 2)
ends <- of_spread(of_log(d^2), length(d), t)
out("videos", "within_case_sd", sd_within, sd_within * ends[1], sd_within * ends[2])

# Kappa of the decisions at .5 with clusters: the gradient of kappa by differences, at the sums of the cells.
kappa_of <- function(cells) {
  p <- matrix(cells / sum(cells), 2)
  by_chance <- sum(rowSums(p) * colSums(p))
  (sum(diag(p)) - by_chance) / (1 - by_chance)
}
cells <- table(cluster, factor(2 * (videos[[2]] >= 0.5) + (videos[[1]] >= 0.5), levels = 0:3))
total <- colSums(cells)
gradient <- sapply(1:4, function(k) {
  step <- replace(numeric(4), k, 1e-5)
  (kappa_of(total + step) - kappa_of(total - step)) / 2e-5
})
influence <- as.vector(cells %*% gradient)
se <- sqrt(groups / (groups - 1) * sum((influence - mean(influence))^2))
ends <- tanh(atanh(kappa_of(total)) + c(-1, 1) * t * se / (1 - kappa_of(total)^2))
out("videos", "repeat_kappa", kappa_of(total), ends[1], ends[2])
cat(sprintf("# %s; sandwich %s; written by tests/reference/repeatability.R\n", R.version.string, packageVersion("sandwich")))

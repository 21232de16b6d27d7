# Make measurement.csv: agreement of two peak flow meters, by R.
#
#     apt-get install r-base-core r-cran-epir
#     Rscript tests/reference/measurement.R > tests/reference/measurement.csv
#
# The readings are the first of each meter of Bland and Altman (1986), Lancet 327, 307-310, litres a minute.
# The concordance is epi.ccc of epiR. Deming's line with a ratio of 1 is the first principal axis (prcomp), with
# other ratios that of the rescaled values; its standard errors leave out one subject at a time. Passing and
# Bablok's line is written out from its definition (1983), with every slope in a list. Limits of a quantile are
# from the binomial distribution.
suppressMessages(library(epiR))
x <- c(494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427)
y <- c(512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451)
row <- function(name, value, low = NA, high = NA, se = NA) {
  cat(name, format(value, digits = 15), format(low, digits = 15), format(high, digits = 15),
      format(se, digits = 15), sep = ","); cat("\n")
}
cat("name,value,low,high,se\n")
cat(sprintf("# %s; epiR %s\n", R.version.string, packageVersion("epiR")))

row("concordance", epi.ccc(x, y)$rho.c$est)
d <- x - y
row("mean_absolute_error", mean(abs(d)), se = sd(abs(d)) / sqrt(length(d)))
row("root_mean_square_error", sqrt(mean(d^2)))

axis <- function(x, y, ratio) { # ratio: variance of the error of x over that of y
  of <- prcomp(cbind(x / sqrt(ratio), y))$rotation[, 1]
  slope <- of[[2]] / of[[1]] / sqrt(ratio)
  c(slope, mean(y) - slope * mean(x))
}
for (ratio in c(1, 0.25, 4)) {
  whole <- axis(x, y, ratio)
  apart <- sapply(seq_along(x), function(i) axis(x[-i], y[-i], ratio))
  n <- length(x)
  for (k in 1:2) {
    pseudo <- n * whole[k] - (n - 1) * apart[k, ]
    se <- sd(pseudo) / sqrt(n)
    half <- qt(0.975, n - 2) * se
    row(sprintf("deming_%s_%g", c("slope", "intercept")[k], ratio), whole[k], whole[k] - half, whole[k] + half, se)
  }
}

slopes <- c()
for (i in 1:(length(x) - 1)) for (j in (i + 1):length(x)) {
  dx <- x[j] - x[i]; dy <- y[j] - y[i]
  if (dx == 0 && dy == 0) next
  slope <- if (dx == 0) sign(dy) * Inf else dy / dx
  if (slope != -1) slopes <- c(slopes, slope)
}
slopes <- sort(slopes)
N <- length(slopes); K <- sum(slopes < -1); n <- length(x)
b <- if (N %% 2) slopes[(N + 1) / 2 + K] else (slopes[N / 2 + K] + slopes[N / 2 + 1 + K]) / 2
C <- qnorm(0.975) * sqrt(n * (n - 1) * (2 * n + 5) / 18)
M1 <- round((N - C) / 2); M2 <- N - M1 + 1
row("ranks_slope", b, slopes[M1 + K], slopes[M2 + K])
row("ranks_intercept", median(y - b * x), median(y - slopes[M2 + K] * x), median(y - slopes[M1 + K] * x))

z <- abs(c(d, 7 * sin(1:103))) # 120 values: a limit of the .95 quantile exists
row("deviation_95", sort(z)[ceiling(0.95 * 120)], sort(z)[qbinom(0.025, 120, 0.95)], sort(z)[qbinom(0.975, 120, 0.95) + 1])
row("deviation_50", sort(z)[60], sort(z)[qbinom(0.025, 120, 0.5)], sort(z)[qbinom(0.975, 120, 0.5) + 1])

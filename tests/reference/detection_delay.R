# Reference values of tests/reference/detection_delay.csv, of functions that this project did not write.
# R 4.2.2, spc 0.6.7 (Debian 12: r-cran-spc).
#   Rscript tests/reference/detection_delay.R > tests/reference/detection_delay.csv
suppressPackageStartupMessages(library(spc))
line <- function(what, arguments, value) cat(sprintf("%s,%s,%.12g\n", what, arguments, value))
cat("what,arguments,value\n")

# Upper CUSUM of normal values: reference value k, limit h, true mean. ARL, then the median run length: the least
# n whose survival is at most a half.
for (a in list(c(.5, 4, 0), c(.5, 4, .5), c(.5, 4, 1), c(.5, 4, 2), c(.5, 5, 1), c(.25, 8, .5))) {
  line("normal_arl", paste(a, collapse = " "), xcusum.arl(a[1], a[2], a[3]))
  survival <- xcusum.sf(a[1], a[2], a[3], 600)
  line("normal_median", paste(a, collapse = " "), which(survival <= .5)[1])
}

# Bernoulli charts in whole steps, by base R's dense matrices: up, down, limit, rate. CUSUM never below 0; tests that
# begin again at 0 after the lower limit (SPRT: up, down, low, high, rate).
chain <- function(P, start) {
  n <- nrow(P); at <- replace(numeric(n), start, 1); looks <- 0
  while (sum(at) > .5) { at <- at %*% P; looks <- looks + 1 }
  c(sum(solve(diag(n) - P)[start, ]), looks)
}
for (a in list(c(7, 1, 30, .2), c(9, 2, 61, .15), c(30, 7, 180, .3))) {
  P <- matrix(0, a[3], a[3])
  for (s in 0:(a[3] - 1)) {
    if (s + a[1] < a[3]) P[s + 1, s + a[1] + 1] <- P[s + 1, s + a[1] + 1] + a[4]
    P[s + 1, max(0, s - a[2]) + 1] <- P[s + 1, max(0, s - a[2]) + 1] + 1 - a[4]
  }
  found <- chain(P, 1)
  line("bernoulli_cusum_mean", paste(a, collapse = " "), found[1])
  line("bernoulli_cusum_median", paste(a, collapse = " "), found[2])
}
for (a in list(c(7, 1, -20, 30, .2), c(9, 2, -41, 52, .15))) {
  states <- (a[3] + 1):(a[4] - 1); P <- matrix(0, length(states), length(states)); zero <- which(states == 0)
  for (i in seq_along(states)) for (move in list(c(a[1], a[5]), c(-a[2], 1 - a[5]))) {
    to <- states[i] + move[1]
    j <- if (to <= a[3]) zero else match(to, states)
    if (to < a[4]) P[i, j] <- P[i, j] + move[2]
  }
  found <- chain(P, zero)
  line("bernoulli_sprt_mean", paste(a, collapse = " "), found[1])
  line("bernoulli_sprt_median", paste(a, collapse = " "), found[2])
}

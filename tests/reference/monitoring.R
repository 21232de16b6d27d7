# Reference values of tests/reference/monitoring.csv, of functions that this project did not write.
# R 4.2.2, spc 0.6.7, surveillance 1.20.3, metafor 3.8-1 (Debian 12: r-cran-spc r-cran-surveillance r-cran-metafor).
#   Rscript tests/reference/monitoring.R > tests/reference/monitoring.csv
suppressPackageStartupMessages({library(spc); library(surveillance); library(metafor)})
line <- function(what, arguments, value) cat(sprintf("%s,%s,%.12g\n", what, arguments, value))
cat("what,arguments,value\n")

# Average run length of an upper Poisson CUSUM with steps of 1/m: mean, km, hm, m.
for (a in list(c(4, 5, 10, 1), c(6, 5, 10, 1), c(1, 4, 12, 3), c(1.5, 4, 12, 3), c(2, 5, 14, 2)))
  line("poisson_cusum_arl", paste(a, collapse = " "), pois.cusum.arl(a[1], a[2], a[3], a[4]))

# Average run length of a binomial log-likelihood-ratio CUSUM: cases a look, rate, in control, to detect, limit.
# Takes six minutes. g = 2000 states; the states of the approximation are not those of the chart, so this holds to about one per cent.
density <- function(y, mu, log = FALSE, ...) dbinom(y, size = size, prob = mu, log = log)
for (a in list(c(1, .10, .10, .20, 3.5), c(1, .20, .10, .20, 3.5), c(25, .10, .10, .20, 3.5),
               c(25, .20, .10, .20, 3.5), c(5, .05, .05, .15, 3))) {
  size <- a[1]
  run <- LRCUSUM.runlength(mu = t(a[2]), mu0 = t(a[3]), mu1 = t(a[4]), h = a[5], n = size, g = 2000,
                           dfun = density)
  line("binomial_cusum_arl", paste(a, collapse = " "), run$arl)
}

# Between-unit variance by moments: shares of units with the binomial variance at the pooled share.
events <- c(12, 8, 30, 9, 22, 15); n <- c(100, 120, 100, 90, 150, 80); pooled <- sum(events) / sum(n)
fit <- rma(yi = events / n, vi = pooled * (1 - pooled) / n, method = "DL")
line("dersimonian_laird_tau2", "12 8 30 9 22 15 | 100 120 100 90 150 80", fit$tau2)
line("dersimonian_laird_q", "12 8 30 9 22 15 | 100 120 100 90 150 80", fit$QE)

for (x in c(1, 3, 10, 42)) {
  test <- poisson.test(x, 1000)
  line("poisson_low", x, test$conf.int[1]); line("poisson_high", x, test$conf.int[2])
}
line("poisson_none", 0, poisson.test(0, 1000)$conf.int[2])
line("poisson_upper", 0, poisson.test(0, 1000, alternative = "less")$conf.int[2])

test <- chisq.test(matrix(c(30, 50, 20, 45, 35, 20), 3), correct = FALSE)
line("chi_square", "30 50 20 | 45 35 20", test$statistic); line("chi_square_p", "30 50 20 | 45 35 20", test$p.value)
a <- (1:50) / 7; b <- (1:40) / 5.3 + 1
line("ks", "(1:50)/7 | (1:40)/5.3+1", ks.test(a, b, exact = FALSE)$statistic)
line("ks_p", "(1:50)/7 | (1:40)/5.3+1", ks.test(a, b, exact = FALSE)$p.value)

# Reference values for sites of unequal size: degrees of freedom of the mean, and where a new site lies.
# R 4.2.2, metafor 3.8-1, clubSandwich 0.5.8 (Debian 12: r-cran-metafor r-cran-clubsandwich);
# run: Rscript uneven_sites.R
suppressMessages({library(metafor); library(clubSandwich)})
sets <- list(
  uneven = list(y = c(1.2, 0.4, 1.9, 1.5), v = c(0.9, 0.7, 0.12, 0.008)),
  equal  = list(y = c(1.2, 0.4, 1.9, 1.5, 0.8), v = rep(0.05, 5)),
  many   = list(y = c(1.9, 1.1, 1.4, 0.6, 1.3, 2.2), v = c(0.5, 0.3, 0.06, 0.01, 0.2, 0.25)))
for (name in names(sets)) {
  y <- sets[[name]]$y; v <- sets[[name]]$v; k <- length(y)
  m <- rma(y, v, method = "REML", control = list(threshold = 1e-10, maxiter = 1000))
  found <- coef_test(m, vcov = "CR2", cluster = seq_len(k))
  df <- if ("df_Satt" %in% names(found)) found$df_Satt else found$df
  cat(sprintf("%s: tau2 %.7g, df %.7g\n", name, m$tau2, df))
  # A new site over the confidence distribution of tau2 (Nagashima et al. 2019), by drawing.
  set.seed(1)
  q <- function(t) { w <- 1 / (v + t); mu <- sum(w * y) / sum(w); sum(w * (y - mu)^2) }
  drawn <- replicate(200000, {
    c <- rchisq(1, k - 1)
    t <- if (q(0) <= c) 0 else uniroot(function(t) q(t) - c, c(0, 1e9), tol = 1e-12)$root
    w <- 1 / (v + t); mu <- sum(w * y) / sum(w)
    mu + sqrt(t) * rnorm(1) + rt(1, k - 1) * sqrt(max(1, q(t) / (k - 1)) / sum(w))
  })
  cat(sprintf("  new site %.3f to %.3f\n", quantile(drawn, .025), quantile(drawn, .975)))
}
cat(R.version.string, "metafor", as.character(packageVersion("metafor")), "clubSandwich",
    as.character(packageVersion("clubSandwich")), "\n")

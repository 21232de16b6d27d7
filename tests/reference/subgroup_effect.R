# Gain of readers in one group of cases against another: Obuchowski-Rockette for one arm, written out.
# R 4.2 or newer; run: Rscript subgroup_effect.R. The outcomes are those of right() in the test.
right <- function(arm, reader, case) as.numeric(((arm + 2) * (reader + 3) * (case + 1) + case * case + 5 * reader) %% 7 > (1 + arm))
readers <- 0:5; first <- 0:24; second <- 25:43
gain <- function(j, cases) sapply(cases, function(k) right(0, j, k) - right(1, j, k))
g1 <- sapply(readers, gain, cases = first); g2 <- sapply(readers, gain, cases = second) # cases x readers
e <- colMeans(g1) - colMeans(g2)
cv <- cov(g1) / length(first) + cov(g2) / length(second)
r <- length(readers); ms <- var(e); cov2 <- mean(cv[row(cv) != col(cv)]); v <- mean(diag(cv))
d <- ms + r * max(cov2, 0); df <- d^2 * (r - 1) / ms^2
out <- function(name, error, df) {
  se <- sqrt(error / r); q <- if (is.finite(df)) qt(0.975, df) else qnorm(0.975)
  p <- 2 * if (is.finite(df)) pt(-abs(mean(e) / se), df) else pnorm(-abs(mean(e) / se))
  cat(sprintf("%s %.12g %.12g %.12g p %.12g\n", name, mean(e), mean(e) - q * se, mean(e) + q * se, p))
}
out("or_rrrc", d, df); out("or_frrc", v + (r - 1) * cov2, Inf); out("or_rrfc", ms, r - 1)
cat(R.version.string, "\n")

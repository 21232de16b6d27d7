# Power of t tests and the variance of an area, by R alone: pwr for paired t tests (each reader has cases of the
# own, so that readers are the pairs), integrate() for two one-sided tests and for areas of normal ratings.
# Run: Rscript sizing.R > sizing.csv
library(pwr)
cat(sprintf("# R %s, pwr %s\n", getRversion(), packageVersion("pwr")))
cat("what,a,b,c,d,value\n")
line <- function(what, a, b, c, d, value) cat(sprintf("%s,%g,%g,%g,%g,%.12g\n", what, a, b, c, d, value))

# a readers, b true difference, c SD of a reader's difference, d margin
for (r in c(4, 8, 20)) for (d in c(0.03, 0.06)) {
  line("superiority", r, d, 0.06, 0, pwr.t.test(n = r, d = d / 0.06, sig.level = 0.05, type = "paired")$power)
  line("non_inferiority", r, 0, 0.06, d,
       pwr.t.test(n = r, d = d / 0.06, sig.level = 0.025, type = "paired", alternative = "greater")$power)
}
tost <- function(r, d, sd, m, tail) {
  se <- sd / sqrt(r); df <- r - 1; t <- qt(1 - tail, df)
  inside <- function(u) pmax(pnorm((m - d) / se - t * u) - pnorm(-(m + d) / se + t * u), 0) *
    2 * df * u * dchisq(df * u^2, df)
  integrate(inside, 0, (m + abs(d)) / se / t + 1, rel.tol = 1e-10, subdivisions = 2000L)$value
}
for (r in c(4, 8, 20)) for (d in c(0, 0.02)) line("equivalence", r, d, 0.06, 0.06, tost(r, d, 0.06, 0.06, 0.025))

# a area, b positives, c negatives
area <- function(a, n1, n0) {
  mu <- sqrt(2) * qnorm(a)
  q1 <- integrate(function(x) pnorm(x)^2 * dnorm(x - mu), -Inf, Inf, rel.tol = 1e-12)$value
  q2 <- integrate(function(x) pnorm(mu - x)^2 * dnorm(x), -Inf, Inf, rel.tol = 1e-12)$value
  (a * (1 - a) + (n0 - 1) * (q1 - a^2) + (n1 - 1) * (q2 - a^2)) / (n1 * n0)
}
for (a in c(0.6, 0.8, 0.95)) for (n in list(c(50, 50), c(30, 90))) line("area", a, n[1], n[2], 0, area(a, n[1], n[2]))

# Values for tests/measures: R's own tests, and exact conditional limits from log binomial coefficients and
# uniroot to 1e-12 (fisher.test stops at about 1e-3). Run: Rscript twobytwo.R > twobytwo.csv
set_digits <- function(x) format(x, digits = 17, scientific = TRUE)
out <- function(kind, a, b, c, d, level, value, low, high, p) {
  cat(kind, a, b, c, d, level, set_digits(value), set_digits(low), set_digits(high), set_digits(p), sep = ",")
  cat("\n")
}

# (x1, n1, x2, n2): events and cases of two groups
groups <- list(c(7, 34, 1, 34), c(352, 1548, 367, 1548), c(10, 100, 20, 100), c(5, 200, 80, 200),
               c(12, 12, 7, 12), c(0, 50, 6, 50), c(3, 5, 2, 9), c(40, 60, 55, 58), c(1, 1000, 8, 400))
# b corrected and c introduced errors
pairs <- list(c(12, 4), c(131, 146), c(6, 0), c(0, 5), c(10, 10), c(1, 0), c(1500, 1200), c(3, 9))

log_weights <- function(g) {
  m <- g[1] + g[3]
  t <- max(0, m - g[4]):min(g[2], m)
  list(t = t, w = lchoose(g[2], t) + lchoose(g[4], m - t))
}
probabilities <- function(lw, b) {
  e <- lw$w + lw$t * b
  e <- exp(e - max(e))
  e / sum(e)
}
root <- function(f) uniroot(f, c(-40, 40), tol = 1e-13)$root

cat("kind,a,b,c,d,level,value,low,high,p\n")
for (level in c(0.90, 0.95)) {
  tail <- (1 - level) / 2
  for (g in groups) {
    fit <- fisher.test(matrix(c(g[1], g[2] - g[1], g[3], g[4] - g[3]), 2), conf.level = level)
    out("fisher.test", g[1], g[2], g[3], g[4], level, fit$estimate, fit$conf.int[1], fit$conf.int[2], fit$p.value)
    lw <- log_weights(g)
    low <- if (g[1] == min(lw$t)) 0 else exp(root(function(b) sum(probabilities(lw, b)[lw$t >= g[1]]) - tail))
    high <- if (g[1] == max(lw$t)) Inf else exp(root(function(b) sum(probabilities(lw, b)[lw$t <= g[1]]) - tail))
    mle <- if (g[1] == min(lw$t)) 0 else if (g[1] == max(lw$t)) Inf else
      exp(root(function(b) sum(probabilities(lw, b) * lw$t) - g[1]))
    out("exact_conditional", g[1], g[2], g[3], g[4], level, mle, low, high, NA)
    one <- binom.test(g[1], g[2], conf.level = level)
    out("clopper_pearson", g[1], g[2], NA, NA, level, one$estimate, one$conf.int[1], one$conf.int[2], NA)
    score <- suppressWarnings(prop.test(g[1], g[2], conf.level = level, correct = FALSE))
    out("wilson", g[1], g[2], NA, NA, level, score$estimate, score$conf.int[1], score$conf.int[2], NA)
  }
  for (b in pairs) {
    fit <- binom.test(b[1], sum(b), conf.level = level)
    out("mcnemar_exact", b[1], b[2], NA, NA, level, fit$estimate, fit$conf.int[1], fit$conf.int[2], fit$p.value)
    against <- binom.test(b[2], sum(b), conf.level = level)
    odds <- function(p) p / (1 - p)
    out("matched_exact", b[1], b[2], NA, NA, level, b[2] / b[1], odds(against$conf.int[1]), odds(against$conf.int[2]), NA)
    # mid-p from its definition: all that is further from the half than b, and half of what is as far
    x <- 0:sum(b)
    further <- abs(2 * x - sum(b)) - abs(b[1] - b[2])
    weight <- dbinom(x, sum(b), 0.5)
    out("mcnemar_midp", b[1], b[2], NA, NA, level, NA, NA, NA, sum(weight[further > 0]) + sum(weight[further == 0]) / 2)
  }
}
cat(sprintf("# %s; stats %s; written by tests/reference/twobytwo.R\n", R.version.string, packageVersion("stats")))

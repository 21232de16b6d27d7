# Values of tests/measures/calibration/test_recalibrated.py, with glm of R alone. Run in this folder:
#     Rscript recalibration.R > recalibration.csv
# Cases 1, 2 of external/heart_ext_hungarian.csv are cluster 0, cases 3, 4 cluster 1 and so on; cluster mod 5 is the
# fold. Standard errors: 2,000 resamples of clusters, each copy in the fold of its cluster, all fitted anew.
d <- read.csv("external/heart_ext_hungarian.csv")
y <- d$label; s <- pmin(pmax(d$score, 1e-8), 1 - 1e-8); lp <- qlogis(s)
cluster <- (seq_along(y) - 1) %/% 2; fold <- cluster %% 5
tight <- glm.control(epsilon = 1e-14, maxit = 100)
updated <- function(w, line) {
  p <- numeric(length(y))
  for (k in 0:4) {
    some <- fold != k & w > 0
    data <- data.frame(y = y[some], lp = lp[some], w = w[some])
    fit <- if (line) glm(y ~ lp, binomial, data, weights = w, control = tight)
           else glm(y ~ 1 + offset(lp), binomial, data, weights = w, control = tight)
    p[fold == k] <- predict(fit, data.frame(lp = lp[fold == k]), type = "response")
  }
  p
}
measured <- function(p, w) {
  x <- qlogis(p); some <- w > 0
  c(oe_ratio = sum(w * y) / sum(w * p),
    calibration_intercept = unname(coef(glm(y[some] ~ 1, offset = x[some], family = binomial, weights = w[some], control = tight))),
    calibration_slope = unname(coef(glm(y[some] ~ x[some], family = binomial, weights = w[some], control = tight))[2]),
    brier = sum(w * (p - y)^2) / sum(w))
}
set.seed(1)
cat("update,measure,value,se\n")
for (line in c(FALSE, TRUE)) {
  one <- rep(1, length(y))
  value <- measured(updated(one, line), one)
  drawn <- suppressWarnings(replicate(2000, {
    w <- tabulate(sample.int(max(cluster) + 1, replace = TRUE), max(cluster) + 1)[cluster + 1]
    measured(updated(w, line), w)
  }))
  se <- c(sd(log(drawn[1, ])), sd(drawn[2, ]), sd(drawn[3, ]), sd(qlogis(drawn[4, ])) * value[4] * (1 - value[4]))
  name <- if (line) "intercept and slope" else "intercept"
  cat(sprintf("%s,%s,%.10g,%.4g\n", name, names(value), value, se), sep = "")
}

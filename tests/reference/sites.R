# Reference values for tests/dimensions/test_sites_within_a_set.py, of each site in sites.csv by itself
# R 4.2 or newer (stats alone); run: Rscript sites.R
data <- read.csv("sites.csv")
for (own in split(data, data$site)) {
  y <- own$truth; s <- own$score; lp <- qlogis(s)
  slope <- coef(summary(glm(y ~ lp, family = binomial, control = glm.control(epsilon = 1e-14))))["lp", 1:2]
  large <- coef(summary(glm(y ~ 1, offset = lp, family = binomial, control = glm.control(epsilon = 1e-14))))[1, 1:2]
  # DeLong by definition: all pairs
  pairs <- outer(s[y == 1], s[y == 0], function(a, b) (a > b) + (a == b) / 2)
  v <- var(rowMeans(pairs)) / nrow(pairs) + var(colMeans(pairs)) / ncol(pairs)
  called <- s >= 0.5
  spec <- prop.test(sum(!called & y == 0), sum(y == 0), correct = FALSE)  # the interval is Wilson's
  cat(sprintf("%s: n %d, slope %.10g (se %.10g), in the large %.10g (se %.10g)\n", own$site[1], length(y),
              slope[1], slope[2], large[1], large[2]))
  cat(sprintf("  Brier %.10g, O/E %.10g, area %.10g (se %.10g)\n", mean((s - y)^2), sum(y) / sum(s), mean(pairs), sqrt(v)))
  cat(sprintf("  specificity %.10g (%.10g to %.10g)\n", spec$estimate, spec$conf.int[1], spec$conf.int[2]))
}
cat(R.version.string, "\n")

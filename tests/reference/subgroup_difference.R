# Reference values for tests/measures/subgroups/test_subgroup_difference.py
# R 4.2 or newer (stats), metafor; run: Rscript subgroup_difference.R
two <- function(x1, n1, x2, n2) {
  m <- matrix(c(x1, n1 - x1, x2, n2 - x2), 2)
  chi <- suppressWarnings(chisq.test(m, correct = FALSE))$statistic
  n <- n1 + n2
  cat(sprintf("%d/%d %d/%d: p = %.12g\n", x1, n1, x2, n2,
              pchisq(chi * (n - 1) / n, 1, lower.tail = FALSE)))
}
two(56, 70, 48, 80); two(9, 10, 3, 10); two(29, 40, 61, 73); two(2, 31, 30, 211)
library(metafor)
fit <- rma.uni(yi = c(0.91, 0.84, 0.78), vi = c(0.0009, 0.0016, 0.0025), method = "FE")
cat(sprintf("Q = %.12g, p = %.12g\n", fit$QE, fit$QEp))
# Heterogeneity of a share over groups
cat(sprintf("chi-square p = %.12g\n", prop.test(c(40, 52, 61), c(60, 70, 75))$p.value))
cat(R.version.string, "metafor", as.character(packageVersion("metafor")), "\n")

# DeLong by definition (all pairs), then Cochran's Q of three groups of cases
area <- function(pos, neg) {
  s <- outer(pos, neg, function(a, b) (a > b) + (a == b) / 2)
  x <- rowMeans(s); y <- colMeans(s)
  c(mean(s), var(x) / length(x) + var(y) / length(y))
}
groups <- list(list(c(5, 4, 4, 3, 6, 2), c(1, 2, 3, 1, 4)), list(c(3, 2, 5, 1, 4), c(2, 3, 1, 4, 2, 3)),
               list(c(1, 2, 6, 3), c(4, 2, 3, 1, 2)))
found <- sapply(groups, function(g) area(g[[1]], g[[2]]))
fit <- rma.uni(yi = found[1, ], vi = found[2, ], method = "FE")
cat(sprintf("areas %s; Q = %.12g, p = %.12g\n", paste(sprintf("%.6f", found[1, ]), collapse = " "), fit$QE, fit$QEp))

# Linear model with errors clustered by patient: the sandwich, sums over clusters, G / (G - 1)
y <- c(1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1); g <- c(1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1)
id <- c(1, 1, 2, 3, 4, 4, 5, 6, 6, 7, 7, 8)
fit <- lm(y ~ g); x <- model.matrix(fit); u <- rowsum(x * resid(fit), id); k <- nrow(u)
v <- solve(crossprod(x)) %*% crossprod(u) %*% solve(crossprod(x)) * k / (k - 1)
cat(sprintf("difference %.12g, se %.12g\n", coef(fit)[["g"]], sqrt(v[2, 2])))

# Clustered areas: what leaving out all contributions of a cluster does is the sum of its placements
truth <- c(0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1); score <- c(1, 3, 2, 2, 4, 5, 2, 1, 3, 3, 6, 2, 5, 4)
first <- c(1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0); id <- c(1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)
total <- rep(0, 7); values <- c()
for (of in c(1, 0)) {
  pos <- which(first == of & truth == 1); neg <- which(first == of & truth == 0)
  s <- outer(score[pos], score[neg], function(a, b) (a > b) + (a == b) / 2); a <- mean(s); values <- c(values, a)
  sign <- if (of == 1) 1 else -1
  for (i in seq_along(pos)) total[id[pos[i]]] <- total[id[pos[i]]] + sign * (rowMeans(s)[i] - a) / length(pos)
  for (j in seq_along(neg)) total[id[neg[j]]] <- total[id[neg[j]]] + sign * (colMeans(s)[j] - a) / length(neg)
}
cat(sprintf("areas differ by %.12g, se %.12g\n", values[1] - values[2], sqrt(7 / 6 * sum(total^2))))

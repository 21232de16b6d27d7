# Reference values for tests/measures/test_binomial_normal.py: a proportion over sites, cases binomial, logits normal
# R 4.2.2, metafor 3.8-1, lme4 1.1-31 (Debian 12: r-base-core r-cran-metafor r-cran-lme4); run: Rscript binomial_normal.R
suppressMessages(library(metafor))
studies <- list(
  one_at_zero = list(c(36, 37, 35, 0), c(40, 40, 40, 10)),
  some_at_all = list(c(20, 19, 58, 60, 150, 20), c(20, 20, 60, 60, 160, 21)),
  unequal     = list(c(180, 45, 70, 12, 33), c(200, 60, 75, 20, 40)),
  alike       = list(c(36, 37, 35), c(40, 40, 40)))

for (name in names(studies)) {
  x <- studies[[name]][[1]]; n <- studies[[name]][[2]]; k <- length(x)
  m <- suppressWarnings(rma.glmm(measure = "PLO", xi = x, ni = n, nAGQ = 100))
  cat(sprintf("%s: rma.glmm mu %.6g se %.6g tau2 %.6g\n", name, m$beta, m$se, m$tau2))

  # The limits, from the likelihood written out and integrated by integrate()
  site <- function(x, n, mu, tau) {
    if (tau == 0) return(dbinom(x, n, plogis(mu), log = TRUE))
    at <- optimize(function(u) dbinom(x, n, plogis(mu + tau * u), log = TRUE) + dnorm(u, log = TRUE), c(-40, 40), maximum = TRUE)
    f <- function(u) exp(dbinom(x, n, plogis(mu + tau * u), log = TRUE) + dnorm(u, log = TRUE) - at$objective)
    sides <- c(integrate(f, at$maximum - 12, at$maximum, rel.tol = 1e-10)$value, integrate(f, at$maximum, at$maximum + 12, rel.tol = 1e-10)$value)
    log(sum(sides)) + at$objective
  }
  value <- function(mu, tau) sum(mapply(site, x, n, MoreArgs = list(mu = mu, tau = tau)))
  over <- function(f, low, high) { # the highest of f, wherever it is
    grid <- seq(low, high, length.out = 60); i <- which.max(sapply(grid, f))
    optimize(f, grid[pmin(60, pmax(1, c(i - 1, i + 1)))], maximum = TRUE, tol = 1e-9)
  }
  of_mu <- function(mu) max(over(function(t) value(mu, exp(t)), log(.01), log(60))$objective, value(mu, 0))
  of_tau <- function(tau) over(function(mu) value(mu, tau), -12, 12)$objective
  top <- max(over(function(t) of_tau(exp(t)), log(.01), log(60))$objective, of_tau(0))
  mu <- m$beta[1]
  # Satterthwaite degrees of freedom of the mean of logits of such precision, written with whole matrices
  spread <- diag(m$tau2 + 1 / (n * plogis(mu) * plogis(-mu))); w <- solve(spread); one <- rep(1, k)
  hat <- one %*% solve(t(one) %*% w %*% one) %*% t(one) %*% w; rest <- diag(k) - hat; p <- diag(hat)
  form <- t(rest) %*% diag(p^2 / (1 - p)) %*% rest %*% spread; df <- sum(diag(form))^2 / sum(diag(form %*% form))
  cat(sprintf("  df %.7g\n", df))
  t <- qt(.975, df); bound <- (df + 1) * log1p(t^2 / df)
  limit <- function(f, from, to, b) if (2 * (top - f(to)) <= b) NA else uniroot(function(z) 2 * (top - f(z)) - b, c(from, to), tol = 1e-9)$root
  ends <- plogis(c(limit(of_mu, mu, mu - 12, bound), limit(of_mu, mu, mu + 12, bound)))
  r <- qchisq(c(.975, .025), k - 1) / k; b <- k * (r - 1 - log(r)); b[1] <- max(b[1], qchisq(.95, 1))
  low <- if (2 * (top - of_tau(0)) <= b[1]) 0 else exp(limit(function(z) of_tau(exp(z)), log(sqrt(m$tau2)), log(.01), b[1]))
  high <- exp(limit(function(z) of_tau(exp(z)), log(max(.01, sqrt(m$tau2))), log(60), b[2]))
  cat(sprintf("  median %.7g (%.7g to %.7g), tau2 %.6g to %.6g\n", plogis(mu), ends[1], ends[2], low^2, high^2))
  equal <- suppressWarnings(prop.test(x, n, correct = FALSE))
  cat(sprintf("  equal proportions: chi-square %.8g, df %g, p %.6g\n", equal$statistic, equal$parameter, equal$p.value))
}
cat(R.version.string, "\nmetafor", as.character(packageVersion("metafor")), "lme4", as.character(packageVersion("lme4")), "\n")

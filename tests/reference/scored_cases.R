# Intervals of scored cases, by pROC, glm and the formulas written out; of external/heart_ext_va.csv and _hungarian.csv,
# alone and in made-up clusters, and of small tables. Run in this folder: Rscript scored_cases.R > scored_cases.csv
# Made with R 4.2.2, pROC 1.18.0.
suppressMessages(library(pROC))
row <- function(what, of, value, low, high, p = NA)
  cat(what, of, format(c(value, low, high, p), digits = 15), sep = ",", fill = 1000)
cat("what,of,value,low,high,p\n")
z <- qnorm(.975)
back <- function(a, half) plogis(qlogis(a) + c(-half, half))
exponential <- function(a, n1, n0) {  # Hanley and McNeil, both classes alike
  m <- (n1 + n0) / 2 - 1
  a * (1 - a) * (1 + m * (1 - a) / (2 - a) + m * a / (1 + a)) / (n1 * n0)
}
newcombe <- function(a, n1, n0, t) {
  f <- function(c) (a - c)^2 - t^2 * exponential(c, n1, n0)
  c(uniroot(f, c(1e-12, a - 1e-12), tol = 1e-15)$root)
}
obuchowski <- function(y, s, g) {  # from all pairs
  pos <- which(y == 1); neg <- which(y == 0)
  win <- outer(s[pos], s[neg], function(a, b) (a > b) + (a == b) / 2)
  a <- mean(win); n1 <- length(pos); n0 <- length(neg)
  x <- rowMeans(win) - a; v <- colMeans(win) - a
  gs <- unique(g)
  X <- sapply(gs, function(k) sum(x[g[pos] == k])); Y <- sapply(gs, function(k) sum(v[g[neg] == k]))
  g1 <- length(unique(g[pos])); g0 <- length(unique(g[neg])); G <- length(gs)
  V <- g1 / (g1 - 1) * sum(X^2) / n1^2 + g0 / (g0 - 1) * sum(Y^2) / n0^2 + 2 * G / (G - 1) * sum(X * Y) / (n1 * n0)
  list(a = a, V = V, df = min(g1, g0) - 1)
}
wilson <- function(x, n, t) {
  p <- x / n; mid <- (p + t^2 / (2 * n)) / (1 + t^2 / n)
  mid + c(-1, 1) * t / (1 + t^2 / n) * sqrt(p * (1 - p) / n + t^2 / (4 * n^2))
}
mover <- function(p, n, u, t = z) {  # p shares, u worths
  m <- sum(p * u); c <- u - m
  lim <- sapply(p, function(q) wilson(q * n, n, t)); k <- length(p)
  R <- -sqrt(outer(p / (1 - p), p / (1 - p))); diag(R) <- 1
  size <- function(up) c * ifelse(up, lim[2, ] - p, p - lim[1, ])
  quad <- function(x) sqrt(max(0, sum(outer(x, x) * R)))
  c(m, m - quad(size(c < 0)), m + quad(size(c > 0)))
}
for (set in c("heart_ext_va", "heart_ext_hungarian")) {
  d <- read.csv(file.path("external", paste0(set, ".csv"))); y <- d$label; s <- d$score; n <- length(y)
  n1 <- sum(y); n0 <- n - n1
  r <- roc(y, s, direction = "<", quiet = TRUE); a <- as.numeric(auc(r))
  se <- sqrt(max(var(r, method = "delong"), exponential(a, n1, n0)))
  half <- z * se / (a * (1 - a))
  row("auc_logit_larger", set, a, back(a, half)[1], back(a, half)[2], 2 * pnorm(-abs(qlogis(a)) * a * (1 - a) / se))
  g <- (seq_len(n) * 7) %% 37
  o <- obuchowski(y, s, g); se <- sqrt(max(o$V, exponential(o$a, n1, n0))); k <- o$a * (1 - o$a)
  lim <- back(o$a, qt(.975, o$df) * se / k)
  row("auc_logit_obuchowski", set, o$a, lim[1], lim[2], 2 * pt(-abs(qlogis(o$a)) * k / se, o$df))
  b <- mean((s - y)^2); half <- qt(.975, n - 1) * sd((s - y)^2) / sqrt(n) / (b * (1 - b))
  row("logit_t", set, b, back(b, half)[1], back(b, half)[2])
  i <- y / sum(y) - s / sum(s); half <- qt(.975, n - 1) * sqrt(n / (n - 1) * sum(i^2)); oe <- sum(y) / sum(s)
  row("oe_delta", set, oe, oe * exp(-half), oe * exp(half), 2 * pt(-abs(log(oe)) / (half / qt(.975, n - 1)), n - 1))
  fit <- glm(y ~ 1, offset = qlogis(s), family = binomial, epsilon = 1e-14); p <- fitted(fit); v <- coef(fit)
  se <- sqrt(n / (n - 1) * sum((y - p)^2)) / sum(p * (1 - p))
  row("sandwich", set, v, v - qt(.975, n - 1) * se, v + qt(.975, n - 1) * se, 2 * pt(-abs(v) / se, n - 1))
  for (t in c(.2, .5)) {
    w <- t / (1 - t); hit <- s >= t
    tp <- sum(hit & y == 1); fp <- sum(hit & y == 0); fn <- n1 - tp
    value <- (tp - w * fp) / n1; P <- c(tp, fp, fn, n - tp - fp - fn) / n
    at <- function(L, side) mover(P, n, c(1 - L, -w, -L, 0))[side]
    low <- uniroot(at, c(value - 5, value), side = 2, tol = 1e-13)$root
    high <- uniroot(at, c(value, 1), side = 3, tol = 1e-13)$root
    row(paste0("snb_mover_", t), set, value, low, high)
    m <- mover(c(P[1], P[2], P[3] + P[4]), n, c(1, -w, 0)); row(paste0("net_benefit_", t), set, m[1], m[2], m[3])
    without <- sapply(unique(g), function(k) {
      q <- g != k; pos <- sum(y[q]); log(1 - (sum(hit[q] & y[q] == 1) - w * sum(hit[q] & y[q] == 0)) / pos)
    })
    G <- length(without); V <- (G - 1) / G * sum((without - mean(without))^2)
    half <- qt(.975, length(unique(g[y == 1])) - 1) * sqrt(V)
    row(paste0("snb_jackknife_", t), set, value, 1 - (1 - value) * exp(half), 1 - (1 - value) * exp(-half))
  }
  # weighted utility, cases with thresholds and relevances of their own; its loss a ratio of sums, linearised
  k <- seq_len(n); own <- c(.2, .3, .5)[k %% 3 + 1]; rel <- .5 + (k * 3) %% 5 / 4
  lost <- rel * ifelse(y == 1, s < own, (s >= own) * own / (1 - own)); L <- sum(lost) / sum(rel * y)
  part <- (lost - L * rel * y) / sum(lost)  # of log(L)
  half <- qt(.975, n1 - 1) * sqrt(sum(part^2)); row("wu_log_t", set, 1 - L, 1 - L * exp(half), 1 - L * exp(-half))
  sums <- tapply(part, g, sum); held <- length(unique(g[y == 1]))
  half <- qt(.975, held - 1) * sqrt(var(sums) * length(sums))
  row("cluster_wu_log_t", set, 1 - L, 1 - L * exp(half), 1 - L * exp(-half))
  bin <- cut(s, seq(0, 1, .1), right = FALSE, include.lowest = TRUE); nb <- tapply(y, bin, length); nb[is.na(nb)] <- 0
  eb <- tapply(y, bin, sum); tb <- tapply(s, bin, sum); eb[is.na(eb)] <- 0; tb[is.na(tb)] <- 0
  gap <- (eb - tb) / pmax(nb, 1); ece <- sum(abs(eb - tb)) / n; q <- (eb + 1) / (nb + 2); noise <- nb * q * (1 - q)
  inf <- (sign(gap)[bin] * (y - s) - ece) / n
  S <- sqrt(sum(inf^2) + sum(pmax(noise - eb * (1 - eb / pmax(nb, 1)), 0)[nb > 0]) / n^2)
  B <- sum(sqrt(2 * noise[nb > 0] / pi)) / n
  row("gap_bounds", set, ece, max(0, ece - B - z * S), min(1, ece + z * S))
}
for (k in list(c(5, 40), c(12, 12))) row("auc_newcombe", paste(k, collapse = "-"), 1, newcombe(1, k[1], k[2], z), 1)
tables <- list(c(4, 9, 0, 87), c(27, 23, 15, 35), c(1, 0, 0, 59))  # tp fp fn tn
for (x in tables) {
  m <- mover(x / sum(x), sum(x), c(20, -1, -100, 0.5)); row("yield_mover", paste(x, collapse = "-"), m[1], m[2], m[3])
}

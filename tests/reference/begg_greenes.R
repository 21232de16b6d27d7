# Make begg_greenes.csv: sensitivity and specificity under partial verification, by maximum likelihood in R 4.2.2.
#
#     Rscript tests/reference/begg_greenes.R > tests/reference/begg_greenes.csv
#
# The likelihood of all cases in sensitivity, specificity and prevalence (logits), where verification depends on the
# result alone: its maximum is the estimate of Begg and Greenes, its curvature gives the standard errors of the logits.
# `hepatic`: liver scans of Drum and Christacopoulos (1972), 344 verified and 306 unverified, as in Begg and Greenes
# (1983) and Zhou, Obuchowski and McClish (2011), which print 0.836 and 0.738; the other table is made up.
tables <- rbind(
  hepatic = c(tp = 231, fp = 32, fn = 27, tn = 54, unverified_positive = 166, unverified_negative = 140),
  made_up = c(12, 3, 2, 40, 0, 260)
)
cat("table,tp,fp,fn,tn,unverified_positive,unverified_negative,sensitivity,se_logit,specificity,se_logit_specificity\n")
for (name in rownames(tables)) {
  x <- tables[name, ]
  loss <- function(theta) {
    p <- plogis(theta)
    cells <- c(p[3] * p[1], (1 - p[3]) * (1 - p[2]), p[3] * (1 - p[1]), (1 - p[3]) * p[2])
    -sum(x[1:4] * log(cells)) - x[5] * log(cells[1] + cells[2]) - x[6] * log(cells[3] + cells[4])
  }
  found <- optim(c(1, 1, 0), loss, method = "BFGS", control = list(reltol = 1e-15, maxit = 5000))
  found <- optim(found$par, loss, method = "BFGS", hessian = TRUE, control = list(reltol = 1e-16, ndeps = rep(1e-4, 3)))
  se <- sqrt(diag(solve(found$hessian)))
  cat(name, x, plogis(found$par[1]), se[1], plogis(found$par[2]), se[2], sep = ",")
  cat("\n")
}

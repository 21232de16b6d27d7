# Make weighted.csv and weighted_cases.csv: design-based estimates by survey 4.1-1 in R 4.2.2 (Debian r-cran-survey).
#
#     cd tests/reference && Rscript weighted.R
#
# 60 cases drawn here without randomness, sampling weights 1 to 5, in clusters of three for the second design.
# `se` is that of the estimate, `low` and `high` those of svyciprop (logit) for shares, t on the log scale for ratios,
# and t on the plain scale else; degrees of freedom: the clusters (or cases) of the denominator less one.
suppressMessages(library(survey))
i <- 0:59
d <- data.frame(case = i, patient = i %/% 3, truth = as.integer((i * 7) %% 5 < 2), weight = 1 + (i * 3) %% 5)
d$score <- round((0.1 + 0.25 * d$truth + ((i * 37) %% 29) / 45) / 1.1, 3)
d$decision <- as.integer(d$score >= 0.5)
write.csv(d, "weighted_cases.csv", row.names = FALSE)
d$right <- as.integer(d$decision == d$truth)
d$loss <- (d$score - d$truth)^2
d$gain <- d$decision * (d$truth - (1 - d$truth) * 0.5 / 0.5)
designs <- list(cases = svydesign(~1, weights = ~weight, data = d), patients = svydesign(~patient, weights = ~weight, data = d))
rows <- list()
add <- function(design, name, value, se, low, high) {
  found <- list(design, name, as.numeric(value), as.numeric(se), as.numeric(low), as.numeric(high))
  rows[[length(rows) + 1]] <<- setNames(data.frame(found), c("design", "name", "value", "se", "low", "high"))
}
for (design in names(designs)) {
  s <- designs[[design]]
  df <- degf(s)
  share <- function(name, formula, part) {
    e <- svymean(formula, part)
    ci <- confint(svyciprop(formula, part, method = "logit", df = degf(part)))
    add(design, name, coef(e), SE(e), ci[1], ci[2])
  }
  share("sensitivity", ~decision, subset(s, truth == 1))
  share("specificity", ~I(1 - decision), subset(s, truth == 0))
  share("ppv", ~truth, subset(s, decision == 1))
  share("npv", ~I(1 - truth), subset(s, decision == 0))
  share("accuracy", ~right, s)
  share("prevalence", ~truth, s)
  share("brier", ~loss, s)
  e <- svymean(~gain, s)
  add(design, "net_benefit", coef(e), SE(e), coef(e) - qt(0.975, df) * SE(e), coef(e) + qt(0.975, df) * SE(e))
  e <- svyratio(~truth, ~score, s)
  half <- qt(0.975, df) * SE(e) / coef(e)
  add(design, "oe_ratio", coef(e), SE(e), coef(e) * exp(-half), coef(e) * exp(half))
}
write.csv(format(do.call(rbind, rows), digits = 12), "weighted.csv", row.names = FALSE, quote = FALSE)
